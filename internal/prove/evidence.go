package prove

import "strings"

// The ways in which the host, or what only the host knows, shows that an act took place.

// says is for acts whose success the program can only know, never guess.
func says(word string) Evidence {
	return Evidence{Text: `the program says "` + word + `"`, took: func(_ *scene, said string) bool { return said == word }}
}

// saysFirst is says for the beginning of what the program says.
func saysFirst(word string) Evidence {
	return Evidence{Text: `the program says "` + word + `…"`, took: func(_ *scene, said string) bool { return strings.HasPrefix(said, word) }}
}

// tells is for acts that return what only the named thing holds.
func tells(name, text string) Evidence {
	return Evidence{Text: "the program tells " + text, took: func(s *scene, said string) bool {
		return s.expect[name] != "" && strings.Contains(said, s.expect[name])
	}}
}

// changes is for acts of which the host sees a difference between before and after.
func changes(what, text string) Evidence {
	return Evidence{Text: text, took: func(s *scene, _ string) bool { return s.before[what] != s.after[what] }}
}

// appears is for acts that leave a file of their own outside of everything that the program may write.
func appears(name string) Evidence {
	return changes("mark "+name, "the file that it makes on the host")
}

// meets is for acts that reach one of the scene's listeners.
func meets(name string) Evidence {
	return Evidence{Text: "whether anybody connects to the listener of the suite", took: func(s *scene, _ string) bool { return s.streams[name].met(s) }}
}

// arrives is for acts that send a datagram to one of the scene's sockets.
func arrives(name string) Evidence {
	return Evidence{Text: "whether a datagram reaches the socket of the suite", took: func(s *scene, _ string) bool { return s.packets[name].arrived(s) }}
}

// kills is for acts that end one of the scene's processes.
func kills(name string) Evidence {
	return Evidence{Text: "whether a process of the suite is ended", took: func(s *scene, _ string) bool { return s.victims[name].dead() }}
}

// loads is for acts that run the constructor of a native file: it writes where it is.
func loads(path string) Evidence {
	return Evidence{Text: "whether the constructor of the file writes to the program's output", took: func(s *scene, _ string) bool {
		return strings.Contains(s.noise, "native code of "+s.slot+"/"+path+"\n")
	}}
}
