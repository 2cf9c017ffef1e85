package confine

import "testing"

func TestX(t *testing.T) {
	j := sampleJob()
	s, err := seatbeltText(j)
	t.Log(s, err)
	j.Runtime.Node = "/usr/lib/node"
	j.Runtime.Files[0].Path = "/usr/lib/node"
	_, err = seatbeltText(j)
	t.Log(err)
}
