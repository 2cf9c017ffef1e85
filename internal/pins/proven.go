package pins

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// provenText is the built-in table; its head says what an entry establishes. packaging/fetch-node.sh reads the same file.
//
//go:embed proven.txt
var provenText string

// builtIn is one official Node binary that the whole boundary suite was run with.
type builtIn struct{ os, arch, nodeVersion, sha256, npmPackage string }

// BuiltIn returns the built-in proof of rt: its OS, architecture, Node version (with or without the leading "v") and the
// SHA-256 of its Node binary are those of one entry. It says nothing about the libraries, which are the host's.
func BuiltIn(rt Runtime) (Proof, bool) {
	for _, b := range builtIns() {
		if b.os == rt.OS && b.arch == rt.Arch && b.nodeVersion == strings.TrimPrefix(rt.NodeVersion, "v") && b.sha256 == rt.NodeSHA256() {
			return Proof{Kind: ProofBuiltIn}, true
		}
	}
	return Proof{}, false
}

// BuiltInVersions are the Node versions of the built-in entries for this OS and architecture, the newest last.
func BuiltInVersions() []string {
	var versions []string
	for _, b := range builtInsHere() {
		versions = append(versions, b.nodeVersion)
	}
	return versions
}

// builtInsHere are the entries for this OS and architecture, the newest last.
func builtInsHere() []builtIn {
	return slices.DeleteFunc(builtIns(), func(b builtIn) bool { return b.os != runtime.GOOS || b.arch != runtime.GOARCH })
}

// isOfficial says whether a file is one of the built-in Node binaries, of whatever system.
func isOfficial(sum [sha256.Size]byte) bool {
	return slices.ContainsFunc(builtIns(), func(b builtIn) bool { return b.sha256 == hex.EncodeToString(sum[:]) })
}

// builtIns is the table as it was compiled in. A test reads it, so that no build with a malformed one passes.
func builtIns() []builtIn {
	table, err := parseProven(provenText)
	if err != nil {
		panic("pins: bug: proven.txt, " + err.Error())
	}
	return table
}

// parseProven reads a table. Comments aside, it accepts one spelling of each entry and one order of them: no line is ever passed over, and
// no version of a platform, and no binary, stands twice.
func parseProven(text string) ([]builtIn, error) {
	if !strings.HasSuffix(text, "\n") {
		return nil, errors.New("its last line has no end")
	}
	var table []builtIn
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.HasPrefix(line, "#") {
			continue
		}
		b, err := parseBuiltIn(strings.TrimSuffix(line, "\n"))
		if err == nil {
			err = follows(table, b)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		table = append(table, b)
	}
	return table, nil
}

// parseBuiltIn reads the line of one entry.
func parseBuiltIn(line string) (builtIn, error) {
	fields := strings.Split(line, " ")
	if len(fields) != 6 {
		return builtIn{}, fmt.Errorf("%d fields, want os, architecture, version, sha256, package and sha512, with one space between", len(fields))
	}
	b := builtIn{os: fields[0], arch: fields[1], nodeVersion: fields[2], sha256: fields[3], npmPackage: fields[4]}
	switch {
	case b.npmPackage != fmt.Sprintf("node-%s-%s", b.os, npmArch(b.arch)):
		return builtIn{}, fmt.Errorf("%q is not the package for %s/%s", b.npmPackage, b.os, b.arch)
	case versionNumbers(b.nodeVersion) == nil:
		return builtIn{}, fmt.Errorf("%q is no version: three numbers with dots between", b.nodeVersion)
	case !isLowerHex(b.sha256, sha256.Size):
		return builtIn{}, fmt.Errorf("%q is no sha256 in lowercase hexadecimal", b.sha256)
	case !isLowerHex(fields[5], sha512.Size):
		return builtIn{}, fmt.Errorf("%q is no sha512 in lowercase hexadecimal", fields[5])
	}
	return b, nil
}

// follows says why b cannot be the next entry of a table.
func follows(table []builtIn, b builtIn) error {
	if len(table) == 0 {
		return nil
	}
	last := table[len(table)-1]
	if cmp.Or(cmp.Compare(last.os, b.os), cmp.Compare(last.arch, b.arch),
		slices.Compare(versionNumbers(last.nodeVersion), versionNumbers(b.nodeVersion))) >= 0 {
		return fmt.Errorf("version %s for %s/%s does not come after the entry above it", b.nodeVersion, b.os, b.arch)
	}
	if slices.ContainsFunc(table, func(other builtIn) bool { return other.sha256 == b.sha256 }) {
		return fmt.Errorf("the binary %s is in another entry already", b.sha256)
	}
	return nil
}

// versionNumbers are the three numbers of a version in its one spelling, and nil for anything else.
func versionNumbers(version string) []int {
	parts := strings.Split(version, ".")
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || strconv.Itoa(n) != part {
			return nil
		}
		numbers[i] = n
	}
	if len(numbers) != 3 {
		return nil
	}
	return numbers
}

func isLowerHex(s string, size int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == size && hex.EncodeToString(b) == s
}

// npmArch is npm's name of an architecture of Go's.
func npmArch(arch string) string {
	if arch == "amd64" {
		return "x64"
	}
	return arch
}
