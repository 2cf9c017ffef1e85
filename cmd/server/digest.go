package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"confined/client"
	"confined/client/api"
)

// digest is `confined digest`: what POST /v1/snapshots answers, without a daemon.
func digest(args []string, in surroundings) error {
	var exclude globs
	var asJSON bool
	fs := newFlagSet("digest")
	fs.Var(&exclude, "exclude", "leave out what this glob matches, as in *.log or docs/draft.md; may be repeated")
	fs.BoolVar(&asJSON, "json", false, "print every file too, as JSON")
	operands, rest, err := parseOperands(fs, args, in)
	if err != nil {
		return err
	}
	if operands = append(operands, rest...); len(operands) != 1 {
		return usageError{errors.New("name one directory")}
	}
	tree, err := client.ReadTree(operands[0], exclude...)
	if err != nil {
		return err
	}
	if asJSON {
		return writeIndented(in.stdout, describe(tree))
	}
	_, err = fmt.Fprintln(in.stdout, tree.Digest())
	return err
}

// snapshot is a Snapshot of the contract, in its order.
type snapshot struct {
	Digest   string     `json:"digest"`
	Protocol string     `json:"protocol"`
	Bytes    int64      `json:"bytes"`
	Files    []api.File `json:"files"`
}

func describe(t client.Tree) snapshot {
	s := snapshot{Digest: t.Digest(), Protocol: t.Protocol(), Bytes: t.Bytes(), Files: []api.File{}}
	for path, content := range t.Files() {
		sum := sha256.Sum256(content)
		s.Files = append(s.Files, api.File{Path: path, Size: int64(len(content)), Sha256: hex.EncodeToString(sum[:])})
	}
	return s
}
