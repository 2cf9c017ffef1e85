// Package prove is the boundary suite: it shows, on one host and with one Node, what a confined run cannot do.
//
// # What it does
//
// [Probes] is a table of acts. [Run] does every act twice. Once confined, by the same executor as the daemon's, in a slot of a root of its own
// and beside another run that is alive. And once unconfined: by the same Node, as the same user, on the same layout. An act that must be denied
// must not take place confined, and must take place unconfined, so that the boundary alone is what stops it; a row for which that cannot be done
// says why. An act without a code is allowed: it stands beside denied ones and takes place in both, so that denied never means broken. Looks are
// rows in which nobody acts: the host compares a live process with what is promised of it, and an unconfined process must compare worse.
//
// # What decides
//
// Whether an act took place is judged from outside wherever it can be: by files, sockets, ports, processes and datagrams of the host that are
// looked at before and after. Where only the program can know, it has to say a word that it cannot guess. The code of the error that the program
// was told is compared as well, since docs and programs rely on it, but decides nothing alone.
//
// # How the two sides talk
//
//	program                                     suite
//	prints "ready" ───────────────── stdout ──→ looks at the process, and at all that acts aim at
//	               ←──────────────── SIGUSR2 ── goes on
//	acts; one line of JSON for each ─ stdout ──→
//	prints "done"  ───────────────── stdout ──→ looks again
//	               ←──────────────── SIGUSR2 ── goes on
//	ends                                        judges, and takes everything away
//
// # What it makes, and leaves
//
// Everything private lies in one directory below Options.State; what the user of a run must be able to reach unconfined lies in temporary
// directories that everybody can read, also in /tmp and /dev/shm, since these are among the places where writing is tried. All of it, and every
// process, is gone when Run returns. The process that calls Run plays the daemon and is careless meanwhile, see [Run].
//
// If that process is killed, the kernel of Linux kills what it has started: Node and the native probe, confined or not, the processes that acts aim
// at, and the compiler. A child of one of these, such as a part of the compiler or a shell that makes a file, ends by itself within moments. macOS
// has no such kernel: Node and the probe see that their parent is another, and end within seconds; the processes that acts aim at are sleepers of
// five minutes. The files stay: prove-* in Options.State and confined-prove-* in the temporary directory, /tmp and /dev/shm. The next Run with the
// same State removes them.
//
// # On macOS
//
// Nobody has run the suite there. Its table is the same but for what only one of both systems has: [ProbesOn] gives either. The codes are what
// Seatbelt is expected to say; where two will do, which of them comes is not known. The host sees less there without root's rights: mac_looks.go has
// what it sees. Some rows need Apple's command line tools (clang, otool). Without these they stay untried, and so there is no receipt.
package prove
