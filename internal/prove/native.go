package prove

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// probeSources are the parts of the native probe on an operating system.
func probeSources(goos string) []string {
	both := []string{"probe.c", "start.c", "files.c", "reads.c", "network.c", "processes.c", "execlock.c", "others.c", "memory.c", "host.c", "ipc.c", "limits.c"}
	if goos == "darwin" {
		return append(both, "mac.c")
	}
	return append(both, "locks.c", "kernel.c")
}

// compileProbe builds the native probe, which takes Node's part in a run.
func compileProbe(ctx context.Context, out string) (compiler string, err error) {
	return compile(ctx, out, false, probeSources(runtime.GOOS)...)
}

// nativeProbes are the native rows for an operating system and an architecture.
func nativeProbes(goos, goarch string) []Probe {
	table := slices.Concat(nativeStart(), nativeFiles(), nativeReads(), nativeNetwork(), nativeProcesses(), nativeExec(), nativeOthers(), nativeMemory(), nativeIPC(),
		nativeLimits())
	if goos == "linux" {
		table = slices.Concat(table, linuxStart(), linuxFiles(), linuxReads(), linuxNetwork(), linuxProcesses(), linuxExec(), linuxOthers(), linuxLocks(),
			linuxMemory(), linuxNamespaces(), linuxKernel(), linuxHost(), linuxIPC(), linuxLimits())
	}
	if goos == "darwin" {
		table = slices.Concat(table, macFiles(), macReads(), macNetwork(), macAlone())
	}
	if goos == "linux" && goarch == "amd64" {
		table = append(table, linuxAMD64()...)
	}
	return table
}

// native completes rows of one family. Their names begin with the word that sets them apart from the same thing tried in JavaScript, and without
// other evidence it is the kernel's answer that counts.
func native(family string, rows ...Probe) []Probe {
	for i := range rows {
		p := &rows[i]
		p.Family, p.Kind, p.Name = family, Native, nativeName(p.Name)
		if !p.Allowed() {
			p.Twin = nativeName(cmp.Or(p.Twin, familyTwin(family)))
		}
		if p.Evidence.took == nil {
			p.Evidence = answer()
		}
	}
	return rows
}

func nativeName(name string) string { return "native: " + name }

// familyTwin is the allowed act that stands beside the denied ones of a family, unless a row names one that is closer.
func familyTwin(family string) string {
	switch family {
	case familyFiles, familyReads:
		return "one's input, read"
	case familyProcesses, familyExec:
		return "a thread"
	case familyOthers:
		return "a question for oneself"
	case familyLocks:
		return "a lock to read"
	case familyMemory:
		return "private memory"
	case familyLimits, familyStart:
		return "a limit, asked"
	case familyNetwork, familyIPC:
		return "a pipe"
	case familyMac:
		return "a port of one's own"
	}
	return "uname"
}

// answer is for calls whose effect is gone when the host looks, or was never more than an answer. The native probe speaks of an act only if the
// kernel let it through.
func answer() Evidence {
	return Evidence{Text: "the kernel's answer to the call", took: func(_ *fixture, said string) bool { return said != "" }}
}

// Reasons why an act has no control.
const (
	needsRights   = "it needs rights that an ordinary user lacks"
	mayBeReserved = "a host may reserve it to root, or be built without it"
	harmsHost     = "it would change the host"
	notByOrdinary = "process 1 is root's as a rule, and denies this to an ordinary user by itself"
	aboutAll      = "it would be about all programs of this user"
	onlyCareless  = "only a careless parent hands it on"
	noneElsewhere = "outside there may be nothing to tell it from"
	untriedOnMac  = "nobody has yet seen it on a Mac, and outside it may be refused too"
)

// without is a row whose act has no control, for a reason.
func without(reason string, p Probe) Probe {
	p.NoControl = reason
	return p
}

// onMac is a row that macOS is expected to answer in words of its own.
func onMac(code string, p Probe) Probe {
	p.MacCode = code
	return p
}

// linuxAlone is a row of what macOS has too, where the boundary is not known to deny it.
func linuxAlone(p Probe) Probe {
	p.Only, p.MacCode = "linux", Unpromised
	return p
}

// call is a row of one call; rights and reserved are such rows that have no control for the reason most common among them.
func call(name, act, code string) Probe     { return Probe{Name: name, Act: act, Code: code} }
func rights(name, act, code string) Probe   { return without(needsRights, call(name, act, code)) }
func reserved(name, act, code string) Probe { return without(mayBeReserved, call(name, act, code)) }

// nativeActs is the content of the input's acts.txt: what the native probe is to do, a name and an act a line, in the order of the table.
func nativeActs(table []Probe) string {
	var b strings.Builder
	for _, p := range table {
		fmt.Fprintf(&b, "%s\t%s\n", p.Name, p.Act)
	}
	return b.String()
}

// soloActs are native acts that end the process if they are denied: each has a run of its own, with the arguments `act` and its Act, and Code is
// the signal that ends it. The filter answers a call of the 32-bit architecture with SIGSYS; a kernel without a way in for such calls (built
// so, booted with ia32_emulation=0, or a guest of some hypervisors) faults at the instruction, outside the boundary too, and the filter is not
// asked. Which of the two a host gives is not checked: either way the call did not take place.
func soloActs(goarch string) []Probe {
	if goarch != "amd64" {
		return nil
	}
	e := answer()
	e.Text = "how the process ended"
	return native(familyKernel, Probe{Name: "a call of the 32-bit architecture", Act: "by_int80", Code: "SIGSYS or SIGSEGV", NoControl: mayBeReserved, Only: "linux",
		Evidence: e})
}
