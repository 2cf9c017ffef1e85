package prove

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// startBytes lays out what kern.procargs2 would tell.
func startBytes(count int, path string, pad int, words ...string) []byte {
	text := binary.LittleEndian.AppendUint32(nil, uint32(count))
	text = append(text, path+strings.Repeat("\x00", 1+pad)...)
	return append(text, strings.Join(words, "\x00")...)
}

func TestParseStart(t *testing.T) {
	for name, row := range map[string]struct {
		text []byte
		want startText
		bad  bool
	}{
		"whole": {startBytes(2, "/n", 6, "node", "x.mjs", "LC_ALL=C", "TZ=UTC", "", "ptr_munge=", "x"),
			startText{"/n", []string{"node", "x.mjs"}, []string{"LC_ALL=C", "TZ=UTC"}}, false},
		"an empty argument": {startBytes(2, "/n", 0, "a", "", "A=b", ""), startText{"/n", []string{"a", ""}, []string{"A=b"}}, false},
		"no variables":      {startBytes(1, "/n", 3, "a", "", "stack="), startText{"/n", []string{"a"}, nil}, false},
		"cut in the last":   {startBytes(1, "/n", 3, "a", "A=b"), startText{"/n", []string{"a"}, []string{"A=b"}}, false},
		"too few":           {startBytes(3, "/n", 0, "a", "b"), startText{}, true},
		"far too many":      {startBytes(1<<30, "/n", 0, "a", ""), startText{}, true},
		"short":             {[]byte{1, 0}, startText{}, true},
		"no path":           {[]byte{1, 0, 0, 0, 'x'}, startText{}, true},
	} {
		got, err := parseStart(row.text)
		if (err != nil) != row.bad || got.path != row.want.path || !slices.Equal(got.arguments, row.want.arguments) || !slices.Equal(got.environment, row.want.environment) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// FuzzParseStart: whatever the kernel says, each word of the answer is one of it, and there are as many arguments as it counts.
func FuzzParseStart(f *testing.F) {
	f.Add(startBytes(2, "/n", 6, "node", "x.mjs", "LC_ALL=C", ""))
	f.Add(startBytes(0, "", 0, ""))
	f.Add([]byte{255, 255, 255, 255, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseStart(text)
		if err != nil {
			return
		}
		if uint32(len(s.arguments)) != binary.LittleEndian.Uint32(text) {
			t.Errorf("%d arguments", len(s.arguments))
		}
		for _, word := range slices.Concat([]string{s.path}, s.arguments, s.environment) {
			if strings.Contains(word, "\x00") || !strings.Contains(string(text[4:]), word) {
				t.Errorf("%q is no word of it", word)
			}
		}
	})
}

const lsofText = "p4711\nfcwd\ntDIR\nn/private/x/input\nftxt\ntREG\nn/opt/node\nf0\ntPIPE\nn->0xabc\nf1\ntPIPE\nf2\ntPIPE\nf4\ntKQUEUE\nncount=0, state=0xa\nf11\ntCHR\nn/dev/null\n"

func TestParseOpenFiles(t *testing.T) {
	open := parseOpenFiles(lsofText)
	if len(open) != 5 || open[0] != (openFile{0, "PIPE", "->0xabc"}) || open[3].kind != "KQUEUE" || open[4].name != "/dev/null" {
		t.Errorf("%+v", open)
	}
	if found := carelessFiles(open); len(found) != 0 {
		t.Errorf("a run has %+v", found)
	}
	for _, more := range []string{"f5\ntREG\nn/secret\n", "f9\ntDIR\nn/\n", "f6\ntIPv4\n", "f7\ntunix\n", "f7\ntCHR\nn/dev/ttys001\n", "f7\ntCHR\n", "f8\ntPSXSHM\nn/shared\n",
		"f8\ntPSXSEM\n", "f9\ntFSEVENT\n", "f9\ntNPOLICY\n", "f9\ntFIFO\nn/fifo\n", "f9\nn(an error)\n", "f2\ntCHR\nn/dev/null\n", "f2\ntKQUEUE\n", "f9\ntREG\nn/dev/null\n"} {
		if found := carelessFiles(parseOpenFiles(lsofText + more)); len(found) != 1 {
			t.Errorf("of %q it is said %+v", more, found)
		}
	}
	if found := carelessFiles(parseOpenFiles("p1\nf0\ntCHR\nn/dev/ttys001\n")); len(found) != 1 {
		t.Errorf("a terminal is taken for a pipe: %+v", found)
	}
}

func FuzzParseOpenFiles(f *testing.F) {
	f.Add(lsofText)
	f.Add("f\nt\nn\nf-1\ntREG")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range parseOpenFiles(text) {
			if file.number < 0 || strings.Contains(file.kind+file.name, "\n") {
				t.Errorf("%+v", file)
			}
		}
	})
}

func TestStateName(t *testing.T) {
	for state, want := range map[int8]string{1: "I", 2: "R", 3: "S", 4: "T", 5: "Z", 0: "?", 6: "?", -1: "?"} {
		if got := stateName(state); got != want {
			t.Errorf("%d: %s", state, got)
		}
	}
}
