package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"confined/internal/confine"
)

// release is the version of this source tree.
const release = "0.1.0-dev"

// build says which binary this is.
type build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision"` // of the source, empty when the build did not record it
	Modified  bool   `json:"modified"` // the source differed from that revision
	GoVersion string `json:"goVersion"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	Profile   string `json:"profile"` // the boundary, with its digest
	Digest    string `json:"profileDigest"`
}

func thisBuild() build {
	profile := confine.Here().Profile()
	b := build{
		Version: release, GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Profile: profile.Name, Digest: string(profile.Digest),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is the version in one word, as in 0.1.0-dev+1a2b3c4d5e6f.modified.
func (b build) String() string {
	text := b.Version
	if b.Revision != "" {
		text += "+" + b.Revision[:min(12, len(b.Revision))]
	}
	if b.Modified {
		text += ".modified"
	}
	return text
}

func version(args []string, in surroundings) error {
	var c config
	fs := newFlagSet("version")
	fs.BoolVar(&c.json, "json", false, "print JSON")
	if err := parse(fs, args, in); err != nil {
		return err
	}
	b := thisBuild()
	if c.json {
		return writeIndented(in.stdout, b)
	}
	_, err := fmt.Fprintf(in.stdout, "confined %s\n%s, %s/%s\nboundary %s %s\n", b, b.GoVersion, b.OS, b.Arch, b.Profile, b.Digest)
	return err
}
