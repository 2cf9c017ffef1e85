package ns

import "testing"

const ownMounts = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
29 27 254:1 / /var\040x rw - ext4 /dev/vdb rw
31 27 0:44 /@home /home rw,relatime - btrfs /dev/sda rw,subvol=/@home
broken
`

// TestHoldings: where a slot is within its file system is read from this process's own mounts.
func TestHoldings(t *testing.T) {
	top := &entry{facts: facts{dev: 7, ino: 10}, entries: []*entry{{facts: facts{dev: 7, ino: 11}}}}
	for _, c := range []struct {
		mount                uint64
		path, device, inside string
	}{
		{27, "/srv/root/slot-0", "254:0", "/srv/root/slot-0"}, {31, "/home/me/root/slot-1", "0:44", "/@home/me/root/slot-1"},
		{99, "/srv/root/slot-0", "", ""}, {31, "/homes/root/slot-0", "", ""},
	} {
		h, err := holdingsOf(top, ownMounts, c.mount, c.path)
		if h.device != c.device || h.path != c.inside || (err == nil) != (c.device != "") || len(h.inodes) != 2 {
			t.Errorf("%+v: %+v, %v", c, h, err)
		}
	}
}

func TestMountedAndMapped(t *testing.T) {
	h := holdings{device: "254:16", path: "/@/r/slot-1", numbers: map[uint64]bool{11: true}}
	for line, want := range map[string]bool{
		"73 63 254:16 /@/r/slot-1/program /x ro,noexec - ext4 /dev/vda rw\n": true, "73 63 254:16 /@/r/slot-1 /x ro - ext4 /dev/vda rw": true,
		"1 1 0:1 / / rw - tmpfs none rw\n73 63 254:16 /@/r/slot-1/input/a\\040b /x ro shared:1 - ext4 /dev/vda rw\n": true,
		"73 63 254:16 /@/r/slot-1/program//deleted /x ro - ext4 /dev/vda rw":                                         false,
		"73 63 254:16 /@/r/slot-10 /x ro - ext4 /dev/vda rw":                                                         false,
		"73 63 254:16 /@/r /x ro - ext4 /dev/vda rw":                                                                 false,
		"73 63 254:1 /@/r/slot-1 /x ro - ext4 /dev/vda rw":                                                           false,
		"x 63 254:16 /@/r/slot-1 /x":                                                                                 false, "": false,
	} {
		if h.mountedIn(line) != want {
			t.Errorf("mounted: %q", line)
		}
	}
	for line, want := range map[string]bool{
		"00400000-00812000 r--p 00000000 fe:10 11                         /r/slot-1/program/main.mjs\n":       true,
		"00400000-00812000 rw-p 00000000 00:00 0 \n00400000-00812000 r--p 00000000 fe:10 11 /a b (deleted)\n": true,
		"00400000-00812000 r--p 00000000 fe:10 12 /r/x\n":                                                     false, "00400000-00812000 r--p 00000000 fe:01 11 /r/x\n": false,
		"00400000-00812000 r--p 00000000 254:16 11 /r/x\n": false, "7fff-8000 rw-p 00000000 00:00 0 [stack]\n": false, "": false, "x": false,
	} {
		if h.mappedIn(line) != want {
			t.Errorf("mapped: %q", line)
		}
	}
}
