package pins

import (
	"fmt"
	"runtime"
	"strings"
)

// cureStable is for a file that somebody is writing.
const cureStable = "wait until the installation has ended and try again"

// CureOfficial says how to get a Node that the boundary is proven with.
func CureOfficial() string {
	versions := BuiltInVersions()
	if len(versions) == 0 {
		return "run the daemon on another system: no official Node is proven for " + runtime.GOOS + "/" + runtime.GOARCH + " yet"
	}
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	pkg := fmt.Sprintf("node-%s-%s", runtime.GOOS, arch)
	return fmt.Sprintf("name the official Node %s with --node: `make node` in confined's repository brings it to .node, "+
		"`npm install --prefix DIR %s@%s` to DIR/node_modules/%s/bin/node", strings.Join(versions, " or "), pkg, versions[len(versions)-1], pkg)
}

// CureUnproven says what admits a Node that nothing proves the boundary with.
// The receipt is one of the daemon whose private directory is state, and of its user.
func CureUnproven(node, state string) string {
	return "run `confined prove --node " + node + " --state " + state + "` as the user of the daemon, which tries the boundary with it on this host " +
		"and writes a receipt, or " + CureOfficial()
}

// cureExecPath is for a path that leads to something else than Node.
func cureExecPath() string {
	if len(BuiltInVersions()) == 0 {
		return CureOfficial()
	}
	return "give --node the path that `node -p process.execPath` prints, where that is a Node " + strings.Join(BuiltInVersions(), " or ")
}

// cureInstall is for a library that is not there.
func cureInstall() string { return "install what is missing, or " + CureOfficial() }
