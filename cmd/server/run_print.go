package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"confined/client"
	"confined/internal/pins"
)

// commandLimit is how long a command line may be to be printed: the least that
// a supported system takes as arguments is 1 MiB, the environment included.
const commandLimit = 512 << 10

// document is the part `request` of a job, in the order of the contract.
type document struct {
	ID      string `json:"id,omitempty"`
	Runtime string `json:"runtime"`
	Profile string `json:"profile"`
	Program struct {
		Digest string   `json:"digest"`
		Entry  string   `json:"entry"`
		Args   []string `json:"args,omitempty"`
	} `json:"program"`
	Input struct {
		Digest string `json:"digest"`
	} `json:"input"`
	TimeoutMs      int64 `json:"timeoutMs"`
	MaxOutputBytes int64 `json:"maxOutputBytes"`
	CPUSeconds     int64 `json:"cpuSeconds"`
	MaxDescriptors int64 `json:"maxDescriptors"`
}

func newDocument(job client.Job) document {
	d := document{
		ID: job.ID, Runtime: job.Pins.Runtime, Profile: job.Pins.Profile,
		TimeoutMs: job.Bounds.TimeoutMs, MaxOutputBytes: job.Bounds.MaxOutputBytes,
		CPUSeconds: job.Bounds.CPUSeconds, MaxDescriptors: job.Bounds.MaxDescriptors,
	}
	d.Program.Digest, d.Program.Entry, d.Program.Args = job.Program.Digest(), job.Entry, job.Args
	d.Input.Digest = job.Input.Digest()
	return d
}

// printRequest writes one command for sh: curl, with the request document as
// its stdin and each file as a part, named by its absolute path. Whoever copies
// it sends what this command line would have sent.
func printRequest(o runOptions, job client.Job, in surroundings) error {
	if o.program == fromStdin {
		return usageError{errors.New("--print-request needs files that curl can send, and stdin is none: save it as a file in a directory, and name that")}
	}
	command, err := curlCommand(o, job)
	if err != nil {
		return err
	}
	if len(command) > commandLimit {
		return fmt.Errorf("a curl line with %d files would be longer than systems take: send a tar archive instead, request.json first, as POST /v1/runs in openapi.yaml shows",
			job.Program.Len()+job.Input.Len())
	}
	if _, err := fmt.Fprintf(in.stdout, "%s <<'JSON'\n", command); err != nil {
		return err
	}
	if err := writeIndented(in.stdout, newDocument(job)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(in.stdout, "JSON")
	return err
}

// curlCommand is the command line, without its stdin.
func curlCommand(o runOptions, job client.Job) (string, error) {
	words := []string{"curl -sS --unix-socket " + pins.ShellWord(o.socket) + " http://confined/v1/runs -F 'request=<-'"}
	for _, tree := range []struct {
		name, dir string
		paths     []string
	}{{"program", o.program, paths(job.Program)}, {"input", o.input, paths(job.Input)}} {
		dir, err := filepath.Abs(tree.dir)
		if err != nil {
			return "", err
		}
		for _, path := range tree.paths {
			words = append(words, "-F "+pins.ShellWord(tree.name+"/"+path+"="+formFile(filepath.Join(dir, filepath.FromSlash(path)))))
		}
	}
	return strings.Join(words, " \\\n  "), nil
}

// formFile is how curl's -F names a file: as it is, or in quotes where it would
// read a character of it as its own.
func formFile(path string) string {
	if !strings.ContainsAny(path, `",;\`) && strings.TrimSpace(path) == path {
		return "@" + path
	}
	return `@"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

func paths(t client.Tree) []string {
	var out []string
	for path := range t.Files() {
		out = append(out, path)
	}
	return slices.Clip(out)
}
