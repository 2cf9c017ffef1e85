package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is openapi.yaml, read strictly: an object in an answer has the
// fields that are declared and no others. Clients must let answers gain fields,
// but this daemon and this file belong together. It is safe for concurrent use.
type Contract struct {
	Doc *openapi3.T

	codes map[string]int // status of each problem code

	mu       sync.Mutex // guards what follows
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// Load reads the text of openapi.yaml, which must be valid and agree with
// itself: see checkCodes.
func Load(text []byte) (*Contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err == nil {
		err = doc.Validate(context.Background())
	}
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	c := &Contract{Doc: doc, compiled: map[string]*jsonschema.Schema{}}
	if c.compiler, err = compilerOf(doc); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	if c.codes, err = codesOf(doc); err == nil {
		err = c.checkCodes()
	}
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return c, nil
}

// resource names the contract inside the compiler of its schemas.
const resource = "openapi.json"

func compilerOf(doc *openapi3.T) (*jsonschema.Compiler, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	closeObjects(tree.(map[string]any)["components"].(map[string]any)["schemas"])
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: validTime})
	compiler.AssertFormat()
	return compiler, compiler.AddResource(resource, tree)
}

// closeObjects forbids undeclared fields wherever fields are declared.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, declares := node["properties"]; declares && node["additionalProperties"] == nil {
			node["additionalProperties"] = false
		}
		for _, below := range node {
			closeObjects(below)
		}
	case []any:
		for _, below := range node {
			closeObjects(below)
		}
	}
}

// Valid says why text is not one JSON value of the schema at pointer, such as
// /components/schemas/Event.
func (c *Contract) Valid(pointer string, text []byte) error {
	schema, err := c.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema.Validate(value)
}

func (c *Contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(resource + "#" + pointer)
	if err == nil {
		c.compiled[pointer] = s
	}
	return s, err
}

// route is what the contract has at one path.
type route struct {
	template string // empty: nothing
	item     *openapi3.PathItem
}

// find looks a path up, percent-encoded as it was sent.
func (c *Contract) find(path string) route {
	if item := c.Doc.Paths.Value(path); item != nil {
		return route{path, item}
	}
	for template, item := range c.Doc.Paths.Map() {
		if strings.Contains(template, "{") && matches(template, path) {
			return route{template, item}
		}
	}
	return route{}
}

func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, name := range want {
		if parameter := strings.HasPrefix(name, "{"); parameter && got[i] == "" || !parameter && got[i] != name {
			return false
		}
	}
	return true
}

// operation is the one for a method, nil where there is none. HEAD is what GET is.
func (r route) operation(method string) *openapi3.Operation {
	switch {
	case r.item == nil:
		return nil
	case method == http.MethodHead:
		return r.item.Get
	case method == http.MethodGet, method == http.MethodPost, method == http.MethodDelete, method == http.MethodPut, method == http.MethodPatch:
		return r.item.GetOperation(method)
	}
	return nil
}

// allowed is what Allow says of the path.
func (r route) allowed() string {
	var out []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if r.operation(method) != nil {
			out = append(out, method)
		}
	}
	return strings.Join(out, ", ")
}
