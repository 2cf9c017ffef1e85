package prove

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
)

// Programs of macOS that the host's looks ask.
const (
	lsofPath  = "/usr/sbin/lsof"
	otoolPath = "/usr/bin/otool"
)

// process is what the kernel's table says of a process.
type process struct {
	parent, group int
	uid, realUID  int
	state         string // T: stopped; Z: ended, and not yet reaped; else another letter
	terminal      bool   // it has a controlling one
}

// macLooks are what the host of macOS can see of a live process without more than an ordinary user's rights. Limits are not among it: the process
// alone can ask for its own, and the launch and the native rows do.
func macLooks() []Probe {
	const same = "the unconfined process is no different, on purpose: it shows what the boundary alone does"
	table := []Probe{
		{Name: "exactly five environment variables", Evidence: Evidence{Text: "sysctl kern.procargs2", look: macEnvironment}},
		{Name: "no descriptor but its pipes and its own", Evidence: Evidence{Text: "lsof -p", look: macDescriptors, tool: lsofPath}},
		{Name: "the pinned executable", NoControl: same, Evidence: is("the path in sysctl kern.procargs2",
			func(v *view) string { return v.start().path }, func(v *view) string { return v.runtime.Node })},
		{Name: "the daemon is its parent", NoControl: same, Evidence: is("sysctl kern.proc.pid",
			ofTable(func(p process) string { return strconv.Itoa(p.parent) }), func(*view) string { return strconv.Itoa(os.Getpid()) })},
		{Name: "a user that is not root", NoControl: same, Evidence: Evidence{Text: "sysctl kern.proc.pid", look: macUser}},
		{Name: "a group of its own, without a terminal", NoControl: same, Evidence: is("sysctl kern.proc.pid",
			ofTable(func(p process) string { return fmt.Sprint(p.group, p.terminal) }), func(v *view) string { return fmt.Sprint(v.pid, false) })},
		{Name: "no child", NoControl: same, Evidence: is("sysctl kern.proc.all", macChildren, func(*view) string { return "[]" })},
		{Name: "the closure as otool has it", NoControl: "it is about files: there is no unconfined one", Evidence: Evidence{
			Text: "otool -L of Node and of each library that it names, against the pins", look: closureLook, tool: otoolPath}},
	}
	for i := range table {
		table[i].Kind, table[i].Only = Look, "darwin"
	}
	return family("The live process", "", "", table)
}

// ofTable is what the kernel's table says of the process, or why it does not.
func ofTable(word func(process) string) func(*view) string {
	return func(v *view) string {
		p, err := processOf(v.pid)
		if err != nil {
			return err.Error()
		}
		return word(p)
	}
}

// start is what the process was started with; nothing where that cannot be read.
func (v *view) start() startText {
	text, err := startOf(v.pid)
	if err != nil {
		return startText{path: err.Error()}
	}
	s, err := parseStart(text)
	if err != nil {
		return startText{path: err.Error()}
	}
	return s
}

func macEnvironment(v *view) (found string, weak bool) {
	return v.judgeEnvironment(v.start().environment)
}

func macUser(v *view) (found string, weak bool) {
	p, err := processOf(v.pid)
	if err != nil {
		return err.Error(), true
	}
	return fmt.Sprint(p.uid), v.user.uid == 0 || p.uid != v.user.uid || p.realUID != v.user.uid
}

func macChildren(v *view) string {
	all, err := childrenOf(v.pid)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(all)
}

func macDescriptors(v *view) (found string, weak bool) {
	text, err := tell(lsofPath, "-n", "-P", "-w", "-a", "-p", strconv.Itoa(v.pid), "-d", "0-4096", "-F", "ftn")
	open := parseOpenFiles(text)
	if len(open) == 0 {
		return fmt.Sprintf("none can be seen: %v", err), true
	}
	kinds := map[string]int{}
	for _, f := range open {
		kinds[f.kind]++
	}
	if careless := carelessFiles(open); len(careless) > 0 {
		return fmt.Sprint(kinds, careless), true
	}
	return fmt.Sprint(kinds), false
}

// closureLook compares the pinned closure with otool's.
func closureLook(v *view) (found string, weak bool) {
	derived, err := closureByOtool(v.runtime.Node, func(arguments ...string) (string, error) { return tell(otoolPath, arguments...) })
	if err != nil {
		return err.Error(), true
	}
	var pinned []string
	for _, f := range v.runtime.Files {
		pinned = append(pinned, f.Path)
	}
	if differs := closureDiffers(pinned, derived); differs != "" {
		return differs, true
	}
	return fmt.Sprintf("%d files", len(derived)), false
}

// tell runs a program of the host, in no environment of the careless daemon's, and returns what it printed.
func tell(program string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), controlTime)
	defer cancel()
	cmd := osexec.CommandContext(ctx, program, arguments...)
	cmd.Env, cmd.WaitDelay = []string{"LC_ALL=C"}, patience
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w", program, strings.Join(arguments, " "), err)
	}
	return string(out), nil
}

// hasTool says whether a program of macOS can be asked. /usr/bin has otool and clang on every Mac, and without the command line tools these only
// open a window that offers to install them.
func hasTool(path string) bool {
	_, err := os.Stat(path)
	return err == nil && (!slices.Contains([]string{otoolPath, clangPath}, path) || developerTools())
}

// developerTools says whether the command line tools, or Xcode, are installed and chosen.
func developerTools() bool {
	_, err := tell("/usr/bin/xcode-select", "-p")
	return err == nil
}
