// Package sbpl reads, checks, prints and evaluates the part of Apple's sandbox profile language, version 1, that Confined uses. It is pure:
// it compiles and is tested on every OS, and asks the system nothing.
package sbpl
