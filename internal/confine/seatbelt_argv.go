package confine

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"confined/internal/pins"
)

// launchScript is what the shell performs: limits, report, exec.
//
//go:embed launch.dash
var launchScript string

// seatbeltPreload is the JavaScript that holds the program back until a denial is seen and the host agrees.
//
//go:embed preload.mjs
var seatbeltPreload string

// argMax is what the arguments and the environment of an exec may take up together on macOS, in bytes: kern.argmax, which is ARG_MAX of
// sys/syslimits.h. That an exec of about as much fails with E2BIG was measured elsewhere (anthropics/claude-code#95538), not here.
const argMax = 1 << 20

// argReserve is for what the kernel lays beside them: the path, padding, strings of its own. Its size is an estimate from above.
const argReserve = 4096

// parts are what is fixed beside the template. The order of the shell's arguments is a part of the script's meaning, and stands in it.
func (s Seatbelt) parts() []pins.ProfilePart {
	return []pins.ProfilePart{
		{Name: "script", Content: []byte(launchScript)},
		{Name: "preload", Content: []byte(seatbeltPreload)},
		{Name: "dash", Content: []byte(s.Tools.Dash)},
		{Name: "env", Content: []byte(s.Tools.Env)},
		{Name: "sandbox-exec", Content: []byte(s.Tools.SandboxExec)},
	}
}

// preloadURL is the preload as an argument. Node neither resolves nor reads anything for it.
func preloadURL() string {
	return "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(seatbeltPreload))
}

// argv is what the shell is started with, for a job whose profile is text. See launch.dash for the order.
func (s Seatbelt) argv(j Job, text string) ([]string, error) {
	if j.Image != nil {
		return nil, errors.New("Seatbelt executes Node from its path: there is no sealed copy here")
	}
	for _, tool := range s.Tools.Paths() {
		if checkPath(tool) != nil || strings.ContainsRune(tool, '=') { // env would take it for a variable
			return nil, fmt.Errorf("the tool %q is no path that env would execute", tool)
		}
	}
	node, err := j.nodeArgs("--import", preloadURL())
	if err != nil {
		return nil, err
	}
	argv := append([]string{
		s.Tools.Dash, "-c", launchScript, "confined-stage", s.Tools.Env, s.Tools.SandboxExec,
		strconv.Itoa(j.Limits.CPUSeconds), strconv.Itoa(j.Limits.Descriptors), j.Home, text,
	}, node...)
	if size := argSize(argv, j.Home); size > argMax {
		return nil, &UnfitError{fmt.Sprintf("the profile and the arguments take %d bytes, and an exec passes %d", size, argMax),
			"give the program less by its arguments and more by its input"}
	}
	return argv, nil
}

// argSize bounds what the largest exec of the launch takes: each of the later ones drops more of the shell's arguments than it adds, if
// the environment, which env is given as arguments, is counted with the shell's.
func argSize(argv []string, home string) int {
	const pointer, end = 8, 1
	size := argReserve
	for _, arg := range argv {
		size += len(arg) + end + pointer
	}
	for _, name := range environmentNames() {
		size += len(name) + len("=/dev/null") + len(home) + end + pointer
	}
	return size
}
