package confine

import (
	"strings"
	"testing"
)

func TestParseRoundTrip(t *testing.T) {
	text := sample(t)
	p, err := parseProfile(text)
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != text {
		t.Error("printed form differs")
	}
}

// edit is one change of an accepted text. It says what it replaces, so that no row can outlive its line.
type edit struct{ name, old, new string }

// TestParseRefuses makes one change to an accepted text.
func TestParseRefuses(t *testing.T) {
	text := sample(t)
	for _, row := range append(fileEdits(), ruleEdits()...) {
		t.Run(row.name, func(t *testing.T) {
			if !strings.Contains(text, row.old) {
				t.Fatalf("the text has no %q", row.old)
			}
			if p, err := parseProfile(strings.Replace(text, row.old, row.new, 1)); err == nil || p != nil {
				t.Error("accepted")
			}
		})
	}
}

func fileEdits() []edit {
	return []edit{
		{"comment", "limit cpu 10\n", "limit cpu 10 # seconds\n"},
		{"blank line", "limit cpu 10\n", "limit cpu 10\n\n"},
		{"two spaces", "limit cpu 10\n", "limit  cpu 10\n"},
		{"trailing space", "limit cpu 10\n", "limit cpu 10 \n"},
		{"leading zero", "limit cpu 10\n", "limit cpu 010\n"},
		{"sign", "limit cpu 10\n", "limit cpu +10\n"},
		{"hexadecimal limit", "limit cpu 10\n", "limit cpu 0xa\n"},
		{"repeated limit", "limit cpu 10\n", "limit cpu 10\nlimit cpu 10\n"},
		{"missing limit", "limit threads 128\n", ""},
		{"unknown limit", "limit threads 128\n", "limit processes 128\n"},
		{"order of limits", "limit core 0\nlimit file 0\n", "limit file 0\nlimit core 0\n"},
		{"other version", "confined-linux/1\n", "confined-linux/2\n"},
		{"root outside", "outside 61003\ngroup", "outside 0\ngroup"},
		{"root inside", "user 65534", "user 0"},
		{"uid too large", "user 65534", "user 4294967295"},
		{"missing root", "root 262144 bytes 512 inodes\n", ""},
		{"unknown entry", "dir \"", "overlay \""},
		{"right of another kind", "read list\n", "read list execute\n"},
		{"readable canary", "66307:24\n", "66307:24 read\n"},
		{"order of rights", "read execute\n", "execute read\n"},
		{"repeated right", "read execute\n", "read execute execute\n"},
		{"inode without device", "66307:24\n", "24\n"},
		{"negative inode", "66307:24\n", "66307:-24\n"},
		{"raw quote", "\"/opt/node/bin/node\" 66306", "`/opt/node/bin/node` 66306"},
		{"needless escape", "\"/opt/node/bin/node\" 66306", "\"/opt/n\\x6fde/bin/node\" 66306"},
		{"unclosed quote", "execute \"/opt/node/bin/node\"", "execute \"/opt/node/bin/node"},
		{"junk after a quote", "execute \"/opt/node/bin/node\"", "execute \"/opt/node/bin/node\"x"},
		{"relative path", "\"/dev/null\" 1:3", "\"dev/null\" 1:3"},
		{"the root itself", "\"/dev/null\" 1:3", "\"/\" 1:3"},
		{"path with ..", "\"/dev/null\" 1:3", "\"/dev/../dev/null\" 1:3"},
		{"another start", "chdir \"/\"", "chdir \"/srv\""},
		{"executable not in the root", "execute \"/opt/node/bin/node\"", "execute \"/bin/sh\""},
		{"executable that may not execute", "bin/node\" 66306:11 read execute", "bin/node\" 66306:11 read"},
		{"more environment", "environment TZ \"UTC\"\n", "environment TZ \"UTC\"\nenvironment LD_PRELOAD \"/x\"\n"},
		{"less environment", "environment TZ \"UTC\"\n", ""},
		{"line break in the environment", "environment TZ \"UTC\"\n", "environment TZ \"UTC\\n\"\n"},
	}
}

func ruleEdits() []edit {
	return []edit{
		{"other default", "default EPERM\n", "default allow\n"},
		{"no default", "default EPERM\n", ""},
		{"foreign architecture", "foreign-architecture kill\n", "foreign-architecture allow\n"},
		{"unknown call", "allow exit ", "allow exec "},
		{"call of another table", "allow exit ", "allow read:0 "},
		{"call twice", "allow exit ", "allow read exit "},
		{"conditional and not", "allow exit ", "allow kill exit "},
		{"alternatives with two answers", "& 0x42120 = 0 else EPERM", "& 0x42120 = 0 else EINVAL"},
		{"no answer", "allow clone when arg0 = 0x3d0f00 else EPERM", "allow clone when arg0 = 0x3d0f00"},
		{"unknown answer", "allow clone when arg0 = 0x3d0f00 else EPERM", "allow clone when arg0 = 0x3d0f00 else EWHAT"},
		{"decimal flags", "arg0 = 0x3d0f00", "arg0 = 4001536"},
		{"no seventh argument", "allow clone when arg0", "allow clone when arg6"},
		{"value outside of the mask", "arg0 & 0x80000000 = 0", "arg0 & 0x80000000 = 1"},
		{"halves differ", "arg0 = 0x3d0f00", "arg0 = 0x3d0f00 0x1000003d0f00"},
		{"conditions for two", "allow kill when", "allow kill tgkill when"},
		{"condition on an answer", "return 0 sched_getparam sched_getscheduler", "return 0 sched_getparam when arg0 = 0 else EPERM"},
		{"execve allowed", "allow exit ", "allow execve exit "},
		{"execveat allowed", "once execveat\n", "allow execveat\n"},
		{"two locks", "once execveat\n", "once execveat\nonce exit\n"},
		{"no lock", "once execveat\n", ""},
		{"no end", "once execveat\n", "once execveat"},
		{"text after the end", "once execveat\n", "once execveat\ndir \"/tmp\"\n"},
	}
}

// FuzzProfile: what is accepted is exactly what is printed, and a refusal gives nothing away.
func FuzzProfile(f *testing.F) {
	text := sample(f)
	lines := strings.SplitAfter(text, "\n")
	if len(lines) < 50 {
		f.Fatalf("only %d seeds", len(lines))
	}
	f.Add(text)
	for i := range lines {
		f.Add(strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), ""))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseProfile(text)
		if (p == nil) != (err != nil) {
			t.Fatalf("profile %v with error %v", p, err)
		}
		if err == nil && p.String() != text {
			t.Fatalf("accepted %q, printed %q", text, p.String())
		}
	})
}
