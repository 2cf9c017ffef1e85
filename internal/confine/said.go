package confine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine is what a process said as one bounded line that a terminal and JSON can take: valid UTF-8, and without controls. Of what is too
// long it has both ends, since the reason comes last.
func oneLine(said string) string {
	const most = 800
	said = strings.Join(strings.FieldsFunc(said, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	said = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return utf8.RuneError
		}
		return r // RuneError for each byte that is no UTF-8
	}, said)
	if len(said) <= most {
		return said
	}
	return strings.ToValidUTF8(said[:most/2], "") + " ... " + strings.ToValidUTF8(said[len(said)-most/2:], "")
}

// refusedStep is the step that a launch stage or a preload refused, by one of the lines it said. Any program can exit with [RefusalCode].
func refusedStep(said string) (step string, ours bool) {
	_, step, ours = strings.Cut("; "+said, "; confined: ")
	step, _, _ = strings.Cut(step, ":")
	return step, ours
}
