package exec

import (
	"fmt"
	"slices"
	"sync"

	"confined/internal/pins"
)

// cureStale is what to do about a pin that is no longer right.
const cureStale = "if that is what you expect, read both pins again: `confined pins` (--diff LOCKFILE says what changed), or GET /v1/runtime and GET /v1/profile"

// acquaintances are the last runtimes that this daemon described, so that it
// can say what changed since a request was pinned. Its methods may be called
// from any goroutine.
type acquaintances struct {
	mu   sync.Mutex
	seen []pins.Runtime // the newest last
}

const maxAcquaintances = 8

func (a *acquaintances) note(rt pins.Runtime) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := func(other pins.Runtime) bool { return other.Digest == rt.Digest }
	a.seen = append(slices.DeleteFunc(a.seen, known), rt)
	a.seen = a.seen[max(0, len(a.seen)-maxAcquaintances):]
}

func (a *acquaintances) find(d pins.Digest) (pins.Runtime, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, rt := range a.seen {
		if rt.Digest == d {
			return rt, true
		}
	}
	return pins.Runtime{}, false
}

// runtimeMismatch says that the runtime now is not the one that was pinned, and
// in what it differs, as far as this daemon can know.
func (a *acquaintances) runtimeMismatch(pinned pins.Digest, now pins.Runtime, profile pins.Digest) string {
	text := fmt.Sprintf("the request pins runtime %s; the runtime here is %s (Node %s, %s)", pinned, now.Digest, now.NodeVersion, now.OSBuild())
	before, known := a.find(pinned)
	switch {
	case pinned == profile:
		return text + "; what it pins is the digest of the profile"
	case pinned == now.ClosureDigest:
		return text + "; what it pins is closureDigest, which leaves out the kernel: pin digest"
	case known:
		return text + "; since that was pinned, " + difference(before, now) + "; " + cureStale
	}
	return text + "; this daemon never had the one it pins: the kernel, Node, a library or confined itself was another; " + cureStale
}

func profileMismatch(pinned pins.Digest, profile pins.Profile, runtime pins.Digest) string {
	text := fmt.Sprintf("the request pins profile %s; this daemon's profile %s is %s", pinned, profile.Name, profile.Digest)
	if pinned == runtime {
		return text + "; what it pins is the digest of the runtime"
	}
	return text + "; a profile changes with confined itself and with nothing else; " + cureStale
}

// difference says what changed from one runtime to another on the same kernel,
// by the same daemon.
func difference(before, now pins.Runtime) string {
	var changes []string
	if before.NodeVersion != now.NodeVersion {
		changes = append(changes, fmt.Sprintf("Node %s became %s", before.NodeVersion, now.NodeVersion))
	}
	had, has := slices.Concat(before.Files, before.Launchers), slices.Concat(now.Files, now.Launchers)
	files := byPath(had)
	for _, f := range has {
		old, there := files[f.Path]
		switch delete(files, f.Path); {
		case !there:
			changes = append(changes, f.Path+" came")
		case old.SHA256 != f.SHA256:
			changes = append(changes, f.Path+" changed")
		}
	}
	for _, f := range had {
		if _, left := files[f.Path]; left {
			changes = append(changes, f.Path+" went")
		}
	}
	if len(changes) == 0 {
		return "the symlinks that lead to Node and its libraries changed"
	}
	return some(changes)
}

func byPath(files []pins.RuntimeFile) map[string]pins.RuntimeFile {
	out := map[string]pins.RuntimeFile{}
	for _, f := range files {
		out[f.Path] = f
	}
	return out
}
