// Package sbpl reads, checks, prints and evaluates the part of Apple's sandbox profile language (SBPL, version 1) that Confined uses. It
// asks the system nothing: it compiles, and is tested, on every OS.
//
// A profile is made as a tree and not as a text. [Read] reads the commented template, [Fill] puts the paths of one run into the tree,
// [Print] writes the text that sandbox-exec gets, and [Parse] reads that text back, strictly. [Profile.Decide] answers what the profile
// allows.
//
// # What the evaluator takes for true
//
// Apple documents none of this. Each sentence names what it rests on. Nothing of it was run on a Mac by this project.
//
//   - Open operations. (deny default) does not close all of version 1: [Operation.Open] marks the rest. Decoded from two profiles compiled
//     by macOS 14.4 on arm64; inferred for later versions.
//   - Wildcards. A rule for file-read* is one for file-read-data too, and for no operation outside of the tree of [Operations]. The tree
//     follows the names; for file-map-executable, file-link and others right below file* it is reported.
//   - Precedence. The last matching rule of an operation decides, as measured by several projects. Whether a later rule for a wildcard
//     beats an earlier one for the operation itself is reported once, as a no (for file-write-unlink and file-write*). So a rule for the
//     operation goes first, then those of each wildcard above. The other model, the last of all these rules in the order of the text, is
//     computed too: where they differ, [Decision.Disputed] says so, and a profile should not depend on the answer.
//   - Filters of one rule are alternatives. A rule without any matches everything.
//   - Paths. Seatbelt compares the resolved path, and asks for file-read-metadata of every symbolic link on the way (measured on 14.4). One
//     measurement contradicts the second half: with a rule for /private/tmp/x, /tmp/x could be opened without a rule for /tmp. The
//     evaluator is strict and always asks. So an answer of no that is for a link's sake is not to be relied upon as a denial.
//   - Comparison is by bytes. On a volume that ignores case the kernel is inferred to compare the spelling on the disk; a [Query] must have
//     it. `literal` is the whole path, `subpath` the path and all below it, `prefix` also what merely begins so.
//   - target. `self` is the asking process, `others` all but it (inferred).
//   - signal. Without a rule a process may perhaps signal itself (inferred from one compiled profile). The evaluator says no.
//   - process-exec is another name of process-exec*, so a rule for it covers process-exec-interpreter as well (inferred). The evaluator
//     errs here on the side of allowed.
//
// Not modelled: extensions, descriptors that are already open (never asked about again), what sandbox-exec, entitlements or other policies
// add, and rights that one system call needs beside the operation named.
package sbpl
