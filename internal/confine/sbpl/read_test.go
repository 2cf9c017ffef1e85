package sbpl

import "testing"

func TestRoundTrip(t *testing.T) {
	text := "; why\n(allow file-read* (literal \"/a \\\"b\\\\\") ; why\n (literal $node) 12 ())\nx\n"
	nodes, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	want := "(allow file-read* (literal \"/a \\\"b\\\\\") (literal $node) 12 ())\nx\n"
	if got := Print(nodes); got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
}
