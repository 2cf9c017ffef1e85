package prove

// macActs are acts in JavaScript that only macOS has a use for: other spellings of a path, its programs that speak for the system, its sockets.
// Nobody has seen the codes on a Mac yet.
func macActs() []Probe {
	secret := knows("file")
	input, compute := "put the file into the input", "compute in a worker thread, or with WebAssembly: a run is one process"
	table := family(familyReads, "read a file of the input", input, seatbelt([]Probe{
		{Name: "a file by the alias of its volume", Act: readIt + `"/System/Volumes/Data" + w.secret, "utf8")`, Evidence: secret},
		{Name: "a file by the alias of a folder above", Act: readIt + `w.secret.replace(/^[/]private/, ""), "utf8")`, Evidence: secret}, // /var and /tmp are links
		{Name: "a file by its number on its volume", Act: readIt + `w.volume, "utf8")`, NoControl: untriedOnMac, Evidence: secret},
		{Name: "a file in capitals", Act: readIt + `w.secret.toUpperCase(), "utf8")`, MacCode: "EPERM or ENOENT", NoControl: "a volume may tell capitals apart", Evidence: secret},
	}))
	table = append(table, family("Starting programs", "compute in a worker", compute, seatbelt([]Probe{
		{Name: "the arguments of another process, by ps", Act: `return cp.execFileSync("/bin/ps", ["-p", String(w.victims.read), "-o", "command="], { encoding: "utf8" })`, Evidence: saysFirst("sleep 300")},
		{Name: "launchctl", Act: `cp.execFileSync("/bin/launchctl", ["managername"]); return "asked"`, Evidence: says("asked")},
		{Name: "the clipboard, by pbpaste", Act: `cp.execFileSync("/usr/bin/pbpaste"); return "pasted"`, NoControl: "what is in it is nobody else's", Evidence: says("pasted")},
		{Name: "an application, opened", Act: `cp.execFileSync("/usr/bin/open", ["-g", "-a", "TextEdit"]); return "opened"`, NoControl: harmsHost, Evidence: says("opened")},
		{Name: "a script for applications", Act: `cp.execFileSync("/usr/bin/osascript", ["-e", "return 1"]); return "scripted"`, Evidence: says("scripted")},
	}))...)
	table = append(table, family("Connecting", "look up an address that is one", "put what the program needs into its input", seatbelt([]Probe{
		{Name: "the socket of the system's resolver", Act: `return await connect({ path: "/var/run/mDNSResponder" })`, NoControl: untriedOnMac, Evidence: says("connected")},
	}))...)
	return table
}

// seatbelt completes rows of macOS that Seatbelt denies.
func seatbelt(rows []Probe) []Probe {
	for i := range rows {
		rows[i].Only, rows[i].Code = "darwin", "EPERM"
	}
	return rows
}
