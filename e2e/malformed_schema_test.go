package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// site is one value of a document, and what the contract says of it.
type site struct {
	pointer string
	value   any
	ref     *openapi3.SchemaRef
	object  map[string]any // that it is a field of; nil: it is none
	list    []any          // that it is an item of
	index   int
	must    bool // it is a required field
}

// set puts another value there.
func (s site) set(v any) {
	if s.object != nil {
		s.object[s.name()] = v
	} else {
		s.list[s.index] = v
	}
}

func (s site) name() string { return s.pointer[strings.LastIndexByte(s.pointer, '/')+1:] }

// sites are all values of doc, from the outermost in.
func sites(ref *openapi3.SchemaRef, doc map[string]any) []site {
	var out []site
	var walk func(s site)
	walk = func(s site) {
		out = append(out, s)
		switch value := s.value.(type) {
		case map[string]any:
			for name, field := range s.ref.Value.Properties {
				if value[name] == nil {
					panic("the good request has no " + s.pointer + "/" + name + ", which the contract has")
				}
				walk(site{pointer: s.pointer + "/" + name, value: value[name], ref: field, object: value, must: slices.Contains(s.ref.Value.Required, name)})
			}
		case []any:
			for i, item := range value {
				walk(site{pointer: s.pointer + "/" + strconv.Itoa(i), value: item, ref: s.ref.Value.Items, list: value, index: i})
			}
		}
	}
	walk(site{value: doc, ref: ref})
	return out
}

// at is a change of the value at pointer.
func at(ref *openapi3.SchemaRef, pointer string, change func(site)) func(*draft) {
	return func(d *draft) {
		d.tree = func(doc map[string]any) {
			all := sites(ref, doc)
			change(all[slices.IndexFunc(all, func(s site) bool { return s.pointer == pointer })])
		}
	}
}

// schemaDefects break each rule of the document's schema at each place where
// it holds.
func schemaDefects(r *rand.Rand, b *base) []defect {
	if b.schema == "" {
		return nil
	}
	ref := shared.contract.Doc.Components.Schemas[b.schema[strings.LastIndexByte(b.schema, '/')+1:]]
	whole := clone(b.document)
	if b.media == jsonType {
		b.draft().addFiles(whole)
	}
	all := sites(ref, whole)
	slices.SortFunc(all, func(a, b site) int { return strings.Compare(a.pointer, b.pointer) })
	var out []defect
	for _, s := range all {
		for _, m := range slices.Concat(ofPresence(r, s), ofType(r, s), ofRange(r, s)) {
			change := m.change
			out = append(out, defect{
				name: m.name + " at " + s.pointer, code: "invalid-request", faults: m.faults, schema: true,
				among:  strings.HasSuffix(s.pointer, "/files"), // without files the digests are wrong as well
				change: at(ref, s.pointer, change),
			})
		}
	}
	return out
}

// breach is one broken rule.
type breach struct {
	name   string
	faults []string
	change func(site)
}

// ofPresence leaves a required field out, and adds fields that are none.
func ofPresence(r *rand.Rand, s site) []breach {
	var out []breach
	if s.must {
		out = append(out, breach{"nothing", []string{"missing-field " + s.pointer}, func(s site) { delete(s.object, s.name()) }})
	}
	if s.object != nil {
		other := respelt(r, s.name())
		faults := []string{"unknown-field " + s.pointer[:len(s.pointer)-len(s.name())] + other}
		if s.must {
			faults = append(faults, "missing-field "+s.pointer)
		}
		out = append(out, breach{"the spelling " + other, faults, func(s site) {
			delete(s.object, s.name())
			s.object[other] = s.value
		}})
	}
	if _, ok := s.value.(map[string]any); ok {
		value := pick[any](r, nil, 1, "x", true, []any{}, map[string]any{})
		name := pick(r, "extra", "a~b", "c/d", "ü", "__proto__", "constructor", "toString", "$ref", "files2", " ", "", "0")
		out = append(out, breach{fmt.Sprintf("a field %q", name), []string{"unknown-field " + s.pointer + "/" + escaped(name)}, func(s site) {
			s.value.(map[string]any)[name] = value
		}})
	}
	return out
}

// ofType puts a value of every wrong type there.
func ofType(r *rand.Rand, s site) []breach {
	if s.pointer == "" {
		return nil
	}
	values := map[string]any{
		"string":  pick(r, "", "1", "null"),
		"number":  pick[any](r, 0, -1, 1e9, 0.5),
		"boolean": r.IntN(2) == 0,
		"array":   pick[any](r, []any{}, []any{"x"}, []any{nil}),
		"object":  pick[any](r, map[string]any{}, map[string]any{"x": 1}),
		"null":    nil,
	}
	own := s.ref.Value.Type.Slice()[0]
	if own == "integer" {
		own, values["fraction"] = "number", json.Number(pick(r, "1.5", "100.5", "0.1", "1e-3"))
	}
	delete(values, own)
	var out []breach
	for _, kind := range []string{"string", "number", "fraction", "boolean", "array", "object", "null"} {
		if value, wrong := values[kind]; wrong {
			out = append(out, breach{fmt.Sprintf("%s %.20v", kind, value), []string{"wrong-type " + s.pointer}, func(s site) { s.set(value) }})
		}
	}
	return out
}

// ofRange puts a value of the right type there that breaks a rule. Which fault
// that is, the contract says in words: a rule that this does not know is one
// that nobody tests.
func ofRange(r *rand.Rand, s site) []breach {
	schema, component := s.ref.Value, s.ref.Ref[strings.LastIndexByte(s.ref.Ref, '/')+1:]
	var out []breach
	add := func(fault string, values ...any) {
		for _, v := range values {
			out = append(out, breach{fmt.Sprintf("%.40v", v), []string{fault}, func(s site) { s.set(v) }})
		}
	}
	if schema.Min != nil {
		low, high := int64(*schema.Min), int64(*schema.Max)
		add("out-of-range "+s.pointer, low-1, high+1, low-1-r.Int64N(1<<40), high+1+r.Int64N(1<<40), json.Number(pick(r, "-", "")+"1"+strings.Repeat("0", 19+r.IntN(300))))
	}
	if schema.Pattern != "" {
		add(patternFaults[component]+" "+s.pointer, broken(r, s.value.(string)), broken(r, s.value.(string)), "")
	}
	if schema.Enum != nil {
		add("out-of-range "+s.pointer, pick(r, "utf8", "UTF-8", "Base64", "hex", "", " utf-8"))
	}
	if schema.MaxLength != nil {
		unit := pick(r, "a", "b/")
		long := strings.Repeat(unit, int(*schema.MaxLength)/len(unit)) + "x" + pick(r, ".mjs", ".cjs", ".ts")
		switch {
		case s.name() == "path":
			list := s.pointer[:strings.LastIndex(s.pointer, "/files/")+len("/files/")]
			add("bad-path "+list+escaped(long), long)
		case s.name() == "entry":
			add("entry-missing "+s.pointer, long)
		default: // an argument
			add("bad-argument "+s.pointer, long, strings.Repeat("ü", int(*schema.MaxLength)+1))
		}
	}
	if schema.MaxItems != nil && component == "Args" {
		add("out-of-range "+s.pointer, strings.Split(strings.Repeat(",", int(*schema.MaxItems)+r.IntN(10)), ","))
	} else if schema.MaxItems != nil {
		list := manyFiles(int(*schema.MaxItems))
		add("too-many-files "+s.pointer+"/"+list[len(list)-1].(map[string]any)["path"].(string), list)
	}
	return out
}

// patternFaults is the fault of each component that has a pattern.
var patternFaults = map[string]string{"Digest": "digest-form", "RunId": "out-of-range"}

// manyFiles is one file more than n.
func manyFiles(n int) []any {
	list := make([]any, n+1)
	for i := range list {
		list[i] = map[string]any{"path": fmt.Sprintf("f%05d", i), "content": inline("")}
	}
	return list
}

// broken is a string with something in it that neither a digest nor an id has.
func broken(r *rand.Rand, s string) string {
	i := r.IntN(len(s) + 1)
	return pick(r, s[:i]+pick(r, " ", "/", "ü", "%", "\n", "\x00", "G!", "\u2028")+s[i:], s+strings.Repeat("a", 65), "-"+s, strings.Repeat("0", 70))
}

// respelt is another spelling of a name.
func respelt(r *rand.Rand, name string) string {
	return pick(r, strings.ToUpper(name), strings.ToUpper(name[:1])+name[1:], name+"s", "_"+name, name+" ", name[:len(name)-1])
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// word is a name that nothing has.
func word(r *rand.Rand) string {
	b := make([]byte, 6+r.IntN(8))
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return "w" + string(b)
}
