package main

import (
	"strings"

	"confined/internal/confine"
)

// hostWords are what doctor says in the words of one operating system.
type hostWords struct {
	raise string    // how a daemon's hard limit of open files is raised
	seals bool      // a sealed copy of Node can be had there
	notes []finding // what a user of the boundary there should know
}

// wordsOf are those of an operating system, by its Go name.
func wordsOf(goos string) hostWords {
	raise := confine.HardLimitSettings(goos, "n")
	if goos == "darwin" {
		return hostWords{raise: raise, notes: macNotes(confine.AppleTools())}
	}
	return hostWords{raise: raise, seals: true}
}

// macNotes say what the boundary of macOS is made with, and what of Linux's it
// does not have. Whether the tools are as they must be, the boundary's own line
// says.
func macNotes(t confine.Tools) []finding {
	note := func(name, detail string) finding { return finding{name, verdictNote, detail, ""} }
	return []finding{
		note("tools", strings.Join(t.Paths(), ", ")+": they start each run, and their bytes are a part of the runtime's identity"),
		note("sandbox", "Seatbelt, by sandbox-exec, which Apple calls deprecated; a sandbox around the daemon shows when a run is started, and is named then"),
		note("processor time", "a run that uses up its processor time gets one SIGXCPU, which a program can catch; the time limit of the request is what ends it"),
		note("memory", "macOS gives a run no bound on its memory, nor on its threads"),
		note("daemon's end", "macOS does not end a run whose daemon was killed: it goes on until it ends by itself or by its processor time, if it does not catch SIGXCPU"),
		note("prove", "it also needs clang and otool, of Apple's command line tools: xcode-select --install"),
	}
}
