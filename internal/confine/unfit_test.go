package confine

import (
	"errors"
	"strings"
	"testing"
)

// TestUnfitJobsAreCured: what is wrong with the places of a run is said with a cure of its own, and in a version run the place is --state.
func TestUnfitJobsAreCured(t *testing.T) {
	mac := func(j Job) error { _, err := (Seatbelt{AppleTools()}).Instantiate(j); return err }
	linux := func(j Job) error { _, err := instantiate(j); return err }
	for name, row := range map[string]struct {
		write func(Job) error
		edit  func(*Job)
		cure  string // PLACE is the root, or --state
	}{
		"a slot that is no ASCII":         {mac, func(j *Job) { moveSlot(j, "/Users/ad\u00e9/x") }, "have PLACE under a path of printable ASCII"},
		"such a slot on Linux":            {linux, func(j *Job) { moveSlot(j, "/home/ad\u00e9/x") }, "have PLACE under a path of printable ASCII"},
		"a library that is no ASCII":      {mac, func(j *Job) { addLibrary(j, "/opt/\u00e9.dylib") }, "have Node and its libraries under paths of printable ASCII"},
		"such a library on Linux":         {linux, func(j *Job) { addLibrary(j, "/opt/\u00e9.so") }, "have Node and its libraries under paths of printable ASCII"},
		"a slot by another name":          {mac, func(j *Job) { moveSlot(j, dataVolume+"/Users/ada/x") }, "name PLACE without /System/Volumes/Data"},
		"a library by another name":       {mac, func(j *Job) { addLibrary(j, dataVolume+"/opt/x.dylib") }, "name Node without /System/Volumes/Data"},
		"Node in the slot":                {mac, func(j *Job) { moveNode(j, j.Program.Path+"/node") }, "have Node and PLACE apart"},
		"a slot among the system's files": {mac, func(j *Job) { moveSlot(j, "/usr/lib/x") }, "have Node and PLACE elsewhere"},
	} {
		for place, version := range map[string]bool{"the root": false, "--state": true} {
			j := macs()[1].job
			if j.Version = version; version {
				j.Args = nil
			}
			row.edit(&j)
			err := row.write(j)
			var unfit *UnfitError
			if want := strings.ReplaceAll(row.cure, "PLACE", place); !errors.As(err, &unfit) || !strings.Contains(unfit.Cure, want) {
				t.Errorf("%s, version run %v: %v, want the cure %q", name, version, err, want)
			}
		}
	}
	j := macs()[1].job
	j.Args = append(j.Args, strings.Repeat("x", argMax))
	err := mac(j)
	if unfit := (*UnfitError)(nil); !errors.As(err, &unfit) || !strings.HasPrefix(unfit.Cure, "give the program less by its arguments") {
		t.Error(err)
	}
}
