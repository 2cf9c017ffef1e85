package main

import (
	"fmt"
	"slices"
	"strings"

	"confined/client/api"
)

// change is one difference between two lock files.
type change struct {
	Kind string `json:"kind"` // platform, node, library, alias, launcher, os, profile, or proof
	Text string `json:"text"` // in words: what it is now, what it was
}

// diffPins names everything that differs. The pins themselves differ exactly
// when a change other than of the proof is in the list.
func diffPins(was, now lock) []change {
	var d diff
	d.runtime(was.Runtime, now.Runtime)
	d.profile(was.Profile, now.Profile)
	if a, b := proofText(was.Runtime.Proof), proofText(now.Runtime.Proof); a != b {
		d.add("proof", "the runtime is proven by %s, it was by %s: no part of a pin", b, a)
	}
	return d.changes
}

type diff struct{ changes []change }

func (d *diff) add(kind, format string, args ...any) {
	d.changes = append(d.changes, change{kind, fmt.Sprintf(format, args...)})
}

func (d *diff) runtime(was, now lockedRuntime) {
	if was.Digest == now.Digest {
		return
	}
	if was.ClosureDigest == now.ClosureDigest && was.OSBuild != now.OSBuild {
		d.add("os", "only the operating system is another: Node, its libraries and the launcher are the same. It is %q, it was %q", now.OSBuild, was.OSBuild)
		return
	}
	if a, b := was.OS+"/"+was.Arch, now.OS+"/"+now.Arch; a != b {
		d.add("platform", "this is %s, it was %s", b, a)
	}
	if was.NodeVersion != now.NodeVersion {
		d.add("node", "Node is %s, it was %s", now.NodeVersion, was.NodeVersion)
	}
	wasNode, wasLibraries := takeFile(was.Files, was.Node)
	nowNode, nowLibraries := takeFile(now.Files, now.Node)
	d.one("node", "Node", wasNode, nowNode)
	d.files("library", "the library", wasLibraries, nowLibraries)
	d.aliases(was.Aliases, now.Aliases)
	d.launchers(was, now)
	if was.OSBuild != now.OSBuild {
		d.add("os", "the operating system is %q, it was %q", now.OSBuild, was.OSBuild)
	}
	if len(d.changes) == 0 {
		d.add("runtime", "the digest is %s, it was %s, and nothing that is listed explains it: was the lock file edited?", now.Digest, was.Digest)
	}
}

// launchers compares them. On Linux the only one is the confined binary.
func (d *diff) launchers(was, now lockedRuntime) {
	if now.OS == "linux" && len(was.Launchers) == 1 && len(now.Launchers) == 1 {
		d.one("launcher", "confined itself", was.Launchers[0], now.Launchers[0])
		return
	}
	d.files("launcher", "the launcher", was.Launchers, now.Launchers)
}

// one compares a thing of which there is exactly one.
func (d *diff) one(kind, name string, was, now api.File) {
	same := was.Sha256 == now.Sha256
	switch {
	case was.Path != now.Path && same:
		d.add(kind, "%s is at %s, it was at %s, with the same bytes", name, now.Path, was.Path)
	case was.Path != now.Path:
		d.add(kind, "%s is at %s, it was at %s, with other bytes: %s", name, now.Path, was.Path, bytesText(was, now))
	case !same:
		d.add(kind, "%s at %s has other bytes: %s", name, now.Path, bytesText(was, now))
	}
}

// files compares two lists by path, and finds what moved by its bytes.
func (d *diff) files(kind, name string, was, now []api.File) {
	var gone []api.File
	for _, f := range was {
		if there, ok := find(now, f.Path); !ok {
			gone = append(gone, f)
		} else {
			d.one(kind, name, f, there)
		}
	}
	for _, f := range now {
		if _, ok := find(was, f.Path); ok {
			continue
		}
		i := slices.IndexFunc(gone, func(g api.File) bool { return g.Sha256 == f.Sha256 })
		if i < 0 {
			d.add(kind, "%s %s is new", name, f.Path)
			continue
		}
		d.one(kind, name, gone[i], f)
		gone = slices.Delete(gone, i, i+1)
	}
	for _, f := range gone {
		d.add(kind, "%s %s is gone", name, f.Path)
	}
}

func (d *diff) aliases(was, now []api.Alias) {
	targets := map[string]string{}
	for _, a := range was {
		targets[a.Path] = a.Target
	}
	for _, a := range now {
		before, ok := targets[a.Path]
		delete(targets, a.Path)
		switch {
		case !ok:
			d.add("alias", "the link %s is new, and leads to %s", a.Path, a.Target)
		case before != a.Target:
			d.add("alias", "the link %s leads to %s, it led to %s", a.Path, a.Target, before)
		}
	}
	for _, a := range was {
		if _, left := targets[a.Path]; left {
			d.add("alias", "the link %s is gone, it led to %s", a.Path, a.Target)
		}
	}
}

func (d *diff) profile(was, now lockedProfile) {
	if was.Digest == now.Digest {
		return
	}
	before := len(d.changes)
	if was.Name != now.Name {
		d.add("profile", "the profile is %s, it was %s", now.Name, was.Name)
	}
	if was.Template != now.Template {
		d.add("profile", "the text of the profile is another: GET /v1/profile has it")
	}
	if !slices.Equal(was.Environment, now.Environment) {
		d.add("profile", "programs see the variables %s, they saw %s", strings.Join(now.Environment, " "), strings.Join(was.Environment, " "))
	}
	if len(d.changes) == before {
		d.add("profile", "what %s fixes beside its text is another (launch stage, preload or tools): it comes with another build of confined", now.Name)
	}
}

func proofText(p api.Proof) string {
	if p.Receipt != nil {
		return string(p.Kind) + " " + *p.Receipt
	}
	return string(p.Kind)
}

// takeFile parts the file at path from the others.
func takeFile(files []api.File, path string) (api.File, []api.File) {
	one, _ := find(files, path)
	return one, slices.DeleteFunc(slices.Clone(files), func(f api.File) bool { return f.Path == path })
}

func find(files []api.File, path string) (api.File, bool) {
	i := slices.IndexFunc(files, func(f api.File) bool { return f.Path == path })
	if i < 0 {
		return api.File{Path: path}, false
	}
	return files[i], true
}

// bytesText is how the bytes of two files differ: enough of each digest to tell
// them apart at sight.
func bytesText(was, now api.File) string {
	return fmt.Sprintf("sha256 %.12s… (%d bytes), it was %.12s… (%d bytes)", now.Sha256, now.Size, was.Sha256, was.Size)
}
