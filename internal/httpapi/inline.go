package httpapi

import "errors"

// openInline is the form application/json: one document with the files in it.
func openInline(b *body, _ map[string]string) (form, error) {
	b.bound(maxInline)
	return &inline{body: b, json: newJSONReader(b, b.length)}, nil
}

// inline reads a document whose files go to their trees while it is read, so
// that their data is never held as text. The order of names does not matter.
type inline struct {
	body    *body
	json    *jsonReader
	decoder base64Reader // of one file after the other: a new one for each would be many times what a small file holds
}

func (f *inline) run(in *intake) (*node, bool, error) {
	doc, err := f.document(in)
	return doc, true, err
}

func (f *inline) snapshot(in *intake) error {
	doc, err := f.document(in)
	if err == nil {
		decoder{&in.faults}.object(doc, "", []string{"files"}).list("files")
	}
	return err
}

func (f *inline) document(in *intake) (*node, error) {
	takers := map[string]taker{}
	for _, t := range in.trees {
		takers[t.pointer] = func(pointer string, depth int) error { return f.file(t, pointer, depth) }
	}
	doc, err := f.json.document(takers)
	if err != nil {
		return nil, f.unreadable(err)
	}
	return doc, nil
}

func (f *inline) unreadable(err error) error {
	var ready *refusal
	switch {
	case f.body.failed() != nil:
		return f.body.refusal(err)
	case errors.As(err, &ready):
		return ready
	}
	r := notJSON("the body", err)
	r.detail += adviseStart(err)
	return r
}

// file reads one entry of a list of files. Nothing of it stays but the file, so
// it does not count towards what the document may hold.
func (f *inline) file(t *tree, pointer string, depth int) error {
	if err := t.in.count(); err != nil {
		return err
	}
	values, kept := f.json.values, f.json.kept
	e := entry{json: f.json, decoder: &f.decoder, tree: t, pointer: pointer}
	err := e.read(depth)
	f.json.values, f.json.kept = values, kept
	return err
}
