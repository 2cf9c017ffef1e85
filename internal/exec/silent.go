package exec

// silentStart says what is known to keep Node from its first word on an
// operating system, where a run was stopped for its time before it said one.
// Facts: reports of other projects; nobody has seen it with confined.
func silentStart(goos string, f ProcessFacts) string {
	if goos != "darwin" || f.Stopped != StopTimeout || f.OutputBytes > 0 {
		return ""
	}
	return "; it said nothing at all: CoreFoundation, which Node's binary loads, was seen to hang before a program begins where __CF_USER_TEXT_ENCODING is not set " +
		"(openai/codex#25118), and a run has five variables, without that one"
}
