// Package pins says what things are: the digest of a snapshot of files, the identity of the Node runtime that will
// run them (its binary, the libraries the loader would map, every symlink on the way, what starts it, the host), the
// identity of the profile that confines it, and what proves that this runtime may be used.
//
// Nothing here decides whether a run may start. A caller compares the digests computed here with those it was given.
// Content is always read through an open descriptor and hashed while it is read, so that a digest speaks of the bytes
// that were seen and not of a path. Node is copied and sealed first where the host can, and read from the copy: what runs
// then is what was hashed, whatever becomes of the file.
//
// What a loader maps is worked out on paper, and nothing is executed for it: loader.go does what ld.so of glibc does (Linux, ELF), dyld.go
// what dyld does (macOS, Mach-O). Both take files by way of taker.go, and compile on every system.
package pins
