package prove

import "strings"

// The ways in which the host, or what only the host knows, shows that an act took place.

// says is for acts whose success the program can only know, never guess.
func says(word string) Evidence {
	return Evidence{Text: `the program says "` + word + `"`, took: func(_ *fixture, said string) bool { return said == word }}
}

// saysFirst is says for the beginning of what the program says.
func saysFirst(word string) Evidence {
	return Evidence{Text: `the program says "` + word + `…"`, took: func(_ *fixture, said string) bool { return strings.HasPrefix(said, word) }}
}

// knows is for acts that return what only the named thing holds.
func knows(name string) Evidence {
	return Evidence{Text: "the program tells what it holds", took: func(s *fixture, said string) bool {
		return s.expect[name] != "" && strings.Contains(said, s.expect[name])
	}}
}

// changed is for acts of which the host sees a difference between before and after.
func changed(what string) Evidence {
	kind, _, _ := strings.Cut(what, " ")
	return Evidence{Text: lookedAt(kind) + ", before and after", took: func(s *fixture, _ string) bool { return s.before[what] != s.after[what] }}
}

// orSaid is evidence that the program may also give by saying a word: more ways to be seen than e alone.
func orSaid(word string, e Evidence) Evidence {
	took := e.took
	e.Text += "; or the program says so"
	e.took = func(s *fixture, said string) bool { return said == word || took(s, said) }
	return e
}

// lookedAt says for people what the host looks at, by the first word of its name.
func lookedAt(kind string) string {
	switch kind {
	case "files":
		return "names, contents, modes, owners and times of the files"
	case "mark":
		return "a folder of the host, where the program that is started makes a file"
	case "home":
		return "what home holds on the host"
	case "hollow":
		return "the folder"
	case "canary":
		return "the canary's content and times"
	case "oom":
		return "oom_score_adj of the process"
	case "port":
		return "whether the suite itself can listen on the port"
	case "path":
		return "the socket's file"
	case "abstract":
		return "the kernel's list of Unix sockets"
	case "stopped":
		return "the state of a stopped process"
	case "nice":
		return "the priority of the process"
	}
	return "the " + kind + " that the act is about"
}

// strangers is for acts that reach one of the fixture's listeners.
func strangers(name string) Evidence {
	return Evidence{Text: "whether anybody connects to the listener of the suite", took: func(s *fixture, _ string) bool { return s.streams[name].met(s) }}
}

// datagrams is for acts that send something to one of the fixture's sockets.
func datagrams(name string) Evidence {
	return Evidence{Text: "whether a datagram reaches the socket of the suite", took: func(s *fixture, _ string) bool { return s.packets[name].arrived(s) }}
}

// visited is for acts that ask the suite's web server for a path.
func visited(path string) Evidence {
	return Evidence{Text: "whether the suite's web server is asked", took: func(s *fixture, _ string) bool { return s.asked(path) }}
}

// killed is for acts that end one of the fixture's processes.
func killed(name string) Evidence {
	return Evidence{Text: "whether a process of the suite is ended", took: func(s *fixture, _ string) bool { return s.victims[name].dead() }}
}

// loaded is for acts that run the constructor of a native file: it writes where it is.
func loaded(path string) Evidence {
	return Evidence{Text: "whether the constructor of the file writes to the program's output", took: func(s *fixture, _ string) bool {
		return strings.Contains(s.noise, "native code of "+s.slot+"/"+path+"\n")
	}}
}
