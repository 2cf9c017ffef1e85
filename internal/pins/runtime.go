package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// runtimeHeader is the first line of the text that a runtime's digests are computed over.
const runtimeHeader = "sf-confined-runtime/1\n"

// HostFact is one thing the kernel says about itself, such as its release.
type HostFact struct{ Key, Value string }

// HostFacts asks the kernel what identifies it. Linux: kernel-release and kernel-version (uname) and landlock-abi (the
// version landlock_create_ruleset answers, 0 without Landlock). macOS: kern.osversion. Elsewhere it is an error.
func HostFacts() ([]HostFact, error) { return hostFacts() }

// Runtime is the whole identity of what runs a program: the closure of the Node binary, Node's version and the host.
type Runtime struct {
	Closure
	OS, Arch, NodeVersion string
	Host                  []HostFact
	Digest, ClosureDigest Digest
}

// NewRuntime computes the digests of a runtime of this build's OS and architecture. Digest is sha256 over
// "sf-confined-runtime/1\n" and these lines, sorted bytewise, their fields separated by one tab:
//
//	file      path  size in bytes  sha256 in hexadecimal
//	launcher  path  size in bytes  sha256 in hexadecimal
//	alias     path  target
//	node      version
//	os        key   value
//
// ClosureDigest is the same without the os lines, so that a new Node and a new OS can be told apart. nodeVersion is what
// `node --version` prints, without the newline. A field that holds a control character or begins with a quotation mark
// is written as a Go string literal (no path is, see [TakeClosure]), so that each text has one reading.
func NewRuntime(c Closure, nodeVersion string, host []HostFact) Runtime {
	lines := closureLines(c, nodeVersion)
	rt := Runtime{Closure: c, OS: runtime.GOOS, Arch: runtime.GOARCH, NodeVersion: nodeVersion, Host: slices.Clone(host)}
	rt.ClosureDigest = digestOfLines(lines)
	for _, h := range host {
		lines = append(lines, line("os", h.Key, h.Value))
	}
	rt.Digest = digestOfLines(lines)
	return rt
}

// OSBuild is the host in one line for people: the value of its only fact, or each fact as "key value".
func (rt Runtime) OSBuild() string {
	if len(rt.Host) == 1 {
		return rt.Host[0].Value
	}
	facts := make([]string, len(rt.Host))
	for i, h := range rt.Host {
		facts[i] = h.Key + " " + h.Value
	}
	return strings.Join(facts, ", ")
}

func closureLines(c Closure, nodeVersion string) []string {
	lines := []string{line("node", nodeVersion)}
	for _, f := range c.Files {
		lines = append(lines, fileLine("file", f))
	}
	for _, l := range c.Launchers {
		lines = append(lines, fileLine("launcher", l))
	}
	for _, a := range c.Aliases {
		lines = append(lines, line("alias", a.Path, a.Target))
	}
	return lines
}

func fileLine(kind string, f RuntimeFile) string {
	return line(kind, f.Path, strconv.FormatInt(f.Size, 10), hex.EncodeToString(f.SHA256[:]))
}

func line(fields ...string) string {
	for i, f := range fields {
		if hasControl(f) || strings.HasPrefix(f, `"`) {
			fields[i] = strconv.Quote(f)
		}
	}
	return strings.Join(fields, "\t") + "\n"
}

// digestOfLines does not keep the order of lines.
func digestOfLines(lines []string) Digest {
	slices.Sort(lines)
	return DigestOf(sha256.Sum256([]byte(runtimeHeader + strings.Join(lines, ""))))
}

// hasControl reports whether s holds an ASCII control character, tab and newline among them.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
