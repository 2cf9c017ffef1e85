// Package confine is what a run may do: it writes the profile of one run and starts Node in the boundary that the profile describes.
//
// A [Boundary] is one kernel's way to do so, and [Here] the one of this system. What follows is the boundary of Linux; that of macOS is
// described at its type, [Seatbelt], and its profile in macos.sb.
//
// # The profile
//
// linux.profile is a list for reviewers: every file that the program can see, every system call it can make, every limit, each with its
// reason. Instantiate fills in what differs between runs; the launch is planned from the text that comes out, and its digest is part of the
// run's result. What is planned from it (the parser, the layout of the private root, the Landlock rules, the filters' programs) is pure,
// compiles everywhere and is tested everywhere. The launch is a plan too, in this kernel's calls: stage_linux.go and the files of its
// steps. Only launch_linux.go, child_linux.go and consent_linux.go act.
//
// # The launch
//
//	host                                        a copy of the daemon, then Node: one process
//	Launch: plan, fork(NEWUSER, NEWNS) ───────→ takes its descriptors, closes all else, says so
//	waits for that, maps its ids, answers ────→ performs the plan: it can do less and less
//	eight lines ←────────────── descriptor 3 ── the limits as the kernel has them
//	the exec lock's listener ←───────────────── a filter that asks about execveat
//	consents, once, and lets go of it ────────→ execveat Node, the one exec of its life
//	                                            preload: each layer denies one act
//	GoByte ─── descriptor 0 ──────────────────→ waits; end of file refuses
//	record ←─────────────────── descriptor 3 ── admitted, then closed
//	                                            the program loads
//
// The plan is a list of system calls with their arguments, laid out by the daemon (stage_linux.go and the files of the steps). The child
// makes them one after the other (child_linux.go) and has no other code: no runtime starts, nothing is parsed, allocated or decided in it.
//
// Descriptors 1 and 2 are the program's output. A stage that fails says `confined: STEP: reason` on descriptor 2 and exits with
// [RefusalCode]; so does a preload that refuses, after its record. Nothing the process says or does decides whether it was confined: the
// host knows it from having started the stage, and the record from a descriptor that the program never holds.
//
// # What holds it
//
// A user namespace makes the stage powerful enough to build the root and is worth nothing to the program, which has no capability in it.
// The private root holds what the profile lists, read-only. Landlock denies what the modes of those files would allow. The filter leaves
// the system calls that an ordinary Node program needs. Limits bound the rest. Each layer is complete in itself where it can be, so that
// the fall of one is not the fall of all.
package confine
