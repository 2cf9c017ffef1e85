package httpapi

import (
	"io"
	"strings"

	"github.com/google/uuid"

	"confined/internal/exec"
	"confined/internal/pins"
)

// readRun reads the whole body of a POST /v1/runs. It returns a request without
// a fault, or the refusal that names every fault. mostDescriptors is the host's
// own bound.
func (c *call) readRun(mostDescriptors int64) (exec.Request, error) {
	in := intake{body: c.body}
	program, input := in.tree("program/", "/program/files"), in.tree("input/", "/input/files")
	doc, inline, err := c.taken().run(&in)
	if err != nil {
		return exec.Request{}, err
	}
	var found faults
	spec := decodeRequest(doc, inline, &found)
	found.join(&in.faults)
	spec.Program = program.snapshot(&found)
	spec.Input = input.snapshot(&found)
	return c.judge(spec, doc, mostDescriptors, &found)
}

// taken is the call's form, to be read: what that keeps of the files must not
// outlive the reading.
func (c *call) taken() form {
	f := c.form
	c.form = nil
	return f
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

// letGo gives up the files of a run that are on disk, or never will be: the
// memory, and what was reserved for it. A second call does nothing.
func (c *call) letGo(req exec.Request) {
	req.Forget()
	c.body.release()
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
	in := intake{body: c.body}
	files := in.tree("", "/files")
	if err := c.taken().snapshot(&in); err != nil {
		return pins.Snapshot{}, err
	}
	s := files.snapshot(&in.faults)
	if in.faults.total > 0 {
		return pins.Snapshot{}, invalid(&in.faults)
	}
	return s, nil
}

// intake is what a body is read into, whatever its form.
type intake struct {
	body   *body
	trees  []*tree
	files  int    // so far, in all trees and in none
	faults faults // of what the form holds beside the request document
}

// tree is one snapshot on its way.
type tree struct {
	in      *intake
	prefix  string // of its files' names in forms with one list of files
	pointer string // of its files in the request
	builder pins.Builder
	files   int // that were added
	unfit   int // that are none: no snapshot can be made
}

func (in *intake) tree(prefix, pointer string) *tree {
	t := &tree{in: in, prefix: prefix, pointer: pointer}
	in.trees = append(in.trees, t)
	return t
}

// at is the tree that a name lies in, and the path there; nil where it lies in
// none.
func (in *intake) at(name string) (*tree, string) {
	for _, t := range in.trees {
		if path, ok := strings.CutPrefix(name, t.prefix); ok {
			return t, path
		}
	}
	return nil, ""
}

// count counts a file, or what stands where one could, before anything is done
// about it.
func (in *intake) count() error {
	if in.files++; in.files > maxFiles {
		return refuse(ProblemCodeTooLarge, "the body has more than %d parts, members or files", maxFiles)
	}
	return nil
}

// fileCost is about what a file takes in memory beside its content. It is
// reserved too, as far as files are kept: in a body one can be a few bytes.
const fileCost = 256

// add reads a file. Its error is content's own.
func (t *tree) add(path string, content io.Reader) error {
	if t.files++; t.files <= pins.MaxSnapshotFiles {
		t.in.body.hold(fileCost)
	}
	return t.builder.Add(path, content)
}

// refuse records that something that stands for a file is none.
func (t *tree) refuse(code FaultCode, pointer, detail string) {
	if t.unfit++; t.unfit <= pins.MaxFaults {
		t.in.faults.add(code, pointer, detail)
	}
}

// snapshot finishes the tree. Where something in it is wrong, that is in f, and
// the snapshot is the zero one.
func (t *tree) snapshot(f *faults) pins.Snapshot {
	s, found := t.builder.Snapshot()
	f.ofSnapshot(t.pointer, found)
	if t.unfit > 0 {
		return pins.Snapshot{}
	}
	return s
}
