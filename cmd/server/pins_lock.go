package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"confined/client"
	"confined/client/api"
	"confined/internal/pins"
)

// lockVersion is that of the lock files this build writes and reads.
const lockVersion = 1

// lock is what `confined pins` prints: the two digests that a request quotes,
// and what they were computed from, so that a later change can be named.
type lock struct {
	Version int           `json:"version"`
	Runtime lockedRuntime `json:"runtime"`
	Profile lockedProfile `json:"profile"`
}

// lockedRuntime is a Runtime of the contract, the digest first and every list
// in the order of its paths.
type lockedRuntime struct {
	Digest        string      `json:"digest"`
	ClosureDigest string      `json:"closureDigest"`
	OS            string      `json:"os"`
	Arch          string      `json:"arch"`
	OSBuild       string      `json:"osBuild"`
	NodeVersion   string      `json:"nodeVersion"`
	Node          string      `json:"node"`
	Files         []api.File  `json:"files"`
	Aliases       []api.Alias `json:"aliases"`
	Launchers     []api.File  `json:"launchers"`
	Proof         api.Proof   `json:"proof"`
}

// lockedProfile is a Profile of the contract, with the digest of its text in
// place of the text.
type lockedProfile struct {
	Name        string   `json:"name"`
	Digest      string   `json:"digest"`
	Template    string   `json:"templateDigest"`
	Environment []string `json:"environment"`
}

// newLock keeps of two answers what a lock file holds.
func newLock(rt api.Runtime, p api.Profile) lock {
	template := sha256.Sum256([]byte(p.Template))
	return lock{
		Version: lockVersion,
		Runtime: lockedRuntime{
			Digest: rt.Digest, ClosureDigest: rt.ClosureDigest, OS: string(rt.Os), Arch: string(rt.Arch), OSBuild: rt.OsBuild,
			NodeVersion: rt.NodeVersion, Node: rt.Node, Files: byPath(rt.Files), Launchers: byPath(rt.Launchers),
			Aliases: ordered(rt.Aliases, func(a api.Alias) string { return a.Path }), Proof: rt.Proof,
		},
		Profile: lockedProfile{
			Name: p.Name, Digest: p.Digest, Template: string(pins.DigestOf(template)),
			Environment: ordered(p.Environment, func(name string) string { return name }),
		},
	}
}

func byPath(files []api.File) []api.File {
	return ordered(files, func(f api.File) string { return f.Path })
}

// ordered is a sorted copy that is written as [] when it is empty.
func ordered[T any](list []T, key func(T) string) []T {
	out := append([]T{}, list...)
	slices.SortFunc(out, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return out
}

// write is the lock file: the same bytes for the same pins.
func (l lock) write(to io.Writer) error { return writeIndented(to, l) }

// pins are the two digests that a request quotes.
func (l lock) pins() client.Pins {
	return client.Pins{Runtime: l.Runtime.Digest, Profile: l.Profile.Digest}
}

// readLock reads a lock file. Fields it does not know are ignored.
func readLock(path string) (lock, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return lock{}, err
	}
	l, err := parseLock(text)
	if err != nil {
		return lock{}, fmt.Errorf("%s: %w; `confined pins > FILE` writes one", path, err)
	}
	return l, nil
}

// inWords is an error of encoding/json without the names of Go types.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("it is no JSON object (%s)", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("`%s` cannot hold what it does (%s)", wrong.Field, wrong.Value)
	}
	return err
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func parseLock(text []byte) (lock, error) {
	var l lock
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&l); err != nil {
		return lock{}, fmt.Errorf("this is no lock file: %w", inWords(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return lock{}, errors.New("this is no lock file: something follows its end")
	}
	switch {
	case l.Version != lockVersion:
		return lock{}, fmt.Errorf("this is no lock file of version %d", lockVersion)
	case !digestForm.MatchString(l.Runtime.Digest):
		return lock{}, errors.New("runtime.digest is no digest")
	case !digestForm.MatchString(l.Profile.Digest):
		return lock{}, errors.New("profile.digest is no digest")
	}
	return l, nil
}
