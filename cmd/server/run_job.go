package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"confined/client"
	"confined/internal/pins"
)

// stdinName is what the program from stdin is called where --entry says nothing
// else.
const stdinName = "main.mjs"

// job reads everything that the request will hold: the trees, and the pins
// where a file has them.
func (o runOptions) job(in surroundings) (client.Job, error) {
	job := client.Job{ID: o.id, Entry: o.entry, Args: o.args, Bounds: o.bounds}
	if o.pins != "" {
		l, err := readLock(o.pins)
		if err != nil {
			return client.Job{}, fmt.Errorf("--pins: %w", err)
		}
		job.Pins = l.pins()
	}
	var err error
	if o.program == fromStdin {
		job.Program, job.Entry, err = o.stdinProgram(in.stdin)
	} else {
		job.Program, job.Entry, err = o.directoryProgram()
	}
	if err == nil && o.input != "" {
		if job.Input, err = client.ReadTree(o.input, o.exclude...); err != nil {
			err = fmt.Errorf("--input: %w", err)
		}
	}
	return job, err
}

// stdinProgram is one file, from in.
func (o runOptions) stdinProgram(in io.Reader) (client.Tree, string, error) {
	content, err := io.ReadAll(io.LimitReader(in, pins.MaxSnapshotBytes+1))
	switch {
	case err != nil:
		return client.Tree{}, "", fmt.Errorf("reading stdin: %w", err)
	case len(content) > pins.MaxSnapshotBytes:
		return client.Tree{}, "", errors.New("stdin holds more than the 64 MiB that a program may have")
	}
	name := o.entry
	if name == "" {
		name = stdinName
	}
	tree, err := client.NewTree(client.File{Path: name, Content: content})
	return tree, name, err
}

// directoryProgram is a whole directory, and the entry in it.
func (o runOptions) directoryProgram() (client.Tree, string, error) {
	if info, err := os.Stat(o.program); err == nil && !info.IsDir() {
		return client.Tree{}, "", fmt.Errorf("%s is no directory: name the one it is in, with --entry %s, or send it alone: confined run - < %s",
			o.program, filepath.Base(o.program), pins.ShellWord(o.program))
	}
	tree, err := client.ReadTree(o.program, o.exclude...)
	if err != nil {
		return client.Tree{}, "", err
	}
	entry := o.entry
	if entry == "" {
		entry, err = defaultEntry(tree.Has)
	}
	return tree, entry, err
}
