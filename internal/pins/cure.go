package pins

import (
	"fmt"
	"runtime"
	"strings"
)

// cureStable is for a file that somebody is writing.
const cureStable = "wait until the installation has ended and try again"

// CureOfficial says how to get a Node that the boundary is proven with: the newest one.
func CureOfficial() string {
	proven := builtInsHere()
	if len(proven) == 0 && runtime.GOOS == "darwin" {
		return "name with --node the binary of nodejs.org's Node 26.8.1 for macOS (arm64), or another that `confined prove --node` has passed with"
	}
	if len(proven) == 0 {
		return "run the daemon on another system: no official Node is proven for " + runtime.GOOS + "/" + runtime.GOARCH + " yet"
	}
	newest := proven[len(proven)-1]
	return fmt.Sprintf("name an official Node with --node (%[1]s): `make node NODE=%[2]s` in confined's repository brings it to .node, "+
		"`npm install --prefix DIR %[3]s@%[2]s` to DIR/node_modules/%[3]s/bin/node", oneOf(BuiltInVersions()), newest.nodeVersion, newest.npmPackage)
}

// oneOf is a choice in words: "a", "a or b", "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// CureUnproven says what admits a Node that nothing proves the boundary with.
// The receipt is one of the daemon whose private directory is state, and of its user. An official Node is a way out unless receipts alone count.
func CureUnproven(node, state string, receiptsOnly bool) string {
	cure := "run `confined prove --node " + ShellWord(node) + " --state " + ShellWord(state) + "` as the user of the daemon, which tries the boundary with it on this host " +
		"and writes a receipt"
	if receiptsOnly || len(BuiltInVersions()) == 0 {
		return cure
	}
	return cure + ", or " + CureOfficial()
}

// cureExecPath is for a path that leads to something else than Node.
func cureExecPath() string {
	if len(BuiltInVersions()) == 0 {
		return CureOfficial()
	}
	return "give --node the path that `node -p process.execPath` prints, where that is a Node " + oneOf(BuiltInVersions())
}

// cureInstall is for a library that is not there.
func cureInstall() string { return "install what is missing, or " + CureOfficial() }
