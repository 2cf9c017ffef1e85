package pins

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// miss is one thing that keeps a receipt from being about a runtime, this user, this machine or this build.
type miss struct {
	text      string
	kind      ReceiptState
	otherNode bool
	build     bool // it may be of another build of confined
}

// misses are all of them for r, and none when r proves rt.
func (p *Proofs) misses(r Receipt, rt Runtime) []miss {
	return append(p.setting(r), aboutOther(r, rt)...)
}

// setting are those that have nothing to do with a runtime.
func (p *Proofs) setting(r Receipt) []miss {
	var found []miss
	if r.Host != p.host {
		found = append(found, miss{text: "was written on another machine", kind: ReceiptForeign})
	}
	if r.UID != os.Geteuid() {
		found = append(found, miss{text: fmt.Sprintf("was written by uid %d, and this is uid %d", r.UID, os.Geteuid()), kind: ReceiptForeign})
	}
	if r.Profile != p.o.Profile {
		found = append(found, miss{text: "is of a build of confined with another boundary (profile)", kind: ReceiptStale, build: true})
	}
	if r.Suite != p.o.Suite {
		found = append(found, miss{text: "is of a build of confined with another suite", kind: ReceiptStale, build: true})
	}
	return found
}

// aboutOther are those that are about the runtime. A receipt holds digests, so of what is behind one it is said only that it differs.
func aboutOther(r Receipt, rt Runtime) []miss {
	var found []miss
	add := func(differs bool, format string, args ...any) {
		if differs {
			found = append(found, miss{text: fmt.Sprintf(format, args...), kind: ReceiptOther})
		}
	}
	if r.NodeSHA256 != rt.NodeSHA256() {
		return []miss{{text: fmt.Sprintf("is about another Node, version %s, %s", r.NodeVersion, r.Node), kind: ReceiptOther, otherNode: true}}
	}
	add(r.OS != rt.OS || r.Arch != rt.Arch, "is for %s/%s, and this is %s/%s", r.OS, r.Arch, rt.OS, rt.Arch)
	add(r.Node != rt.Node, "found it at %s", r.Node)
	switch {
	case r.Closure != rt.ClosureDigest && r.Node == rt.Node:
		add(true, "with another library or link, or with another build of confined as launcher")
		found[len(found)-1].build = true
	case r.Closure == rt.ClosureDigest && r.Runtime != rt.Digest:
		add(true, "on another kernel: then %s, now %s", r.OSBuild, rt.OSBuild())
	}
	if len(found) == 0 {
		add(r.NodeVersion != rt.NodeVersion || r.Runtime != rt.Digest || r.Closure != rt.ClosureDigest, "for another runtime")
	}
	return found
}

// restart is what may have to be done beside a new receipt: a daemon that is older than the confined that proves goes on refusing what that writes.
func restart(list []miss) string {
	if slices.ContainsFunc(list, func(m miss) bool { return m.build }) {
		return "; where confined was updated since the daemon started, restart the daemon"
	}
	return ""
}

func joinMisses(list []miss) string {
	texts := make([]string, len(list))
	for i, m := range list {
		texts[i] = m.text
	}
	return strings.Join(texts, ", and ")
}
