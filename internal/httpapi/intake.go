package httpapi

import (
	"io"
	"mime/multipart"
	"strings"

	"github.com/google/uuid"

	"confined/internal/exec"
	"confined/internal/pins"
)

// readRun reads the whole body of a POST /v1/runs. It returns a request without
// a fault, or the refusal that names every fault. mostDescriptors is the host's
// own bound.
func (c *call) readRun(mostDescriptors int64) (exec.Request, error) {
	f := form{parts: multipart.NewReader(c.body, c.boundary), body: c.body}
	doc, err := f.document()
	if err != nil {
		return exec.Request{}, err
	}
	spec := decodeRequest(doc, &f.faults)
	var program, input pins.Builder
	if err := f.readTrees(&program, &input); err != nil {
		return exec.Request{}, err
	}
	spec.Program = f.snapshot(&program, "/program/files")
	spec.Input = f.snapshot(&input, "/input/files")
	return c.judge(spec, doc, mostDescriptors, &f.faults)
}

// readTrees sorts the parts after the first into the two trees.
func (f *form) readTrees(program, input *pins.Builder) error {
	for {
		p, err := f.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		tree, path, _ := strings.Cut(p.name, "/")
		switch {
		case p.name == partRequest:
			return refuse(ProblemCodeMalformedRequest, "there are two parts %q; which of them is meant cannot be known", partRequest)
		case tree == "program" && tree != p.name:
			err = f.add(program, path, p)
		case tree == "input" && tree != p.name:
			err = f.add(input, path, p)
		default:
			err = f.stray(p)
		}
		if err != nil {
			return err
		}
	}
}

// judge makes the request, under the caller's id or a new one.
func (c *call) judge(spec exec.Spec, doc *node, mostDescriptors int64, f *faults) (exec.Request, error) {
	if !has(doc, "id") {
		id, err := uuid.NewV7()
		if err != nil {
			return exec.Request{}, err
		}
		spec.RunID, c.anonymous = id.String(), true
	}
	req, found := exec.NewRequest(spec, mostDescriptors)
	f.ofRequest(found)
	if f.total > 0 {
		return exec.Request{}, invalid(f)
	}
	c.runID = req.RunID()
	return req, nil
}

func has(doc *node, name string) bool {
	for _, m := range doc.members {
		if m.name == name {
			return true
		}
	}
	return false
}

// readSnapshot reads the whole body of a POST /v1/snapshots.
func (c *call) readSnapshot() (pins.Snapshot, error) {
	f := form{parts: multipart.NewReader(c.body, c.boundary), body: c.body}
	var files pins.Builder
	for {
		p, err := f.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f.add(&files, p.name, p)
		}
		if err != nil {
			return pins.Snapshot{}, err
		}
	}
	s := f.snapshot(&files, "/files")
	if f.faults.total > 0 {
		return pins.Snapshot{}, invalid(&f.faults)
	}
	return s, nil
}
