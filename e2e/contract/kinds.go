package contract

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Kind is one kind of answer: of an operation, with a status, and with the code
// of the problem it is, or the media type where it is none. Where no operation
// answered, Operation is the path, or * where there is no such path either.
type Kind struct {
	Operation string
	Status    int
	What      string
}

func (k Kind) String() string {
	return strings.TrimSpace(k.Operation + " " + strconv.Itoa(k.Status) + " " + k.What)
}

// everywhere are the codes that any request may be answered with.
var everywhere = []string{"forbidden", "internal"}

// Kinds are all that the contract declares, each once, sorted.
func (c *Contract) Kinds() []Kind {
	kinds := []Kind{{"*", http.StatusNotFound, "not-found"}}
	for path, item := range c.Doc.Paths.Map() {
		kinds = append(kinds, Kind{path, http.StatusMethodNotAllowed, "method-not-allowed"})
		for _, operation := range item.Operations() {
			for status, response := range successes(operation) {
				for _, media := range mediaOf(response) {
					kinds = append(kinds, Kind{operation.OperationID, status, media})
				}
			}
			for _, code := range slices.Concat(problemsOf(operation), everywhere) {
				kinds = append(kinds, Kind{operation.OperationID, c.codes[code], code})
			}
		}
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// mediaOf are the types that a response can have: one empty one where it has no body.
func mediaOf(r *openapi3.Response) []string {
	if len(r.Content) == 0 {
		return []string{""}
	}
	return slices.Collect(maps.Keys(r.Content))
}

func successes(o *openapi3.Operation) map[int]*openapi3.Response {
	out := map[int]*openapi3.Response{}
	for key, ref := range o.Responses.Map() {
		if status, err := strconv.Atoi(key); err == nil && status < 400 {
			out[status] = ref.Value
		}
	}
	return out
}

// problemsOf is x-problems: the codes of one operation.
func problemsOf(o *openapi3.Operation) []string {
	list, _ := o.Extensions["x-problems"].([]any)
	out := make([]string, len(list))
	for i, code := range list {
		out[i], _ = code.(string)
	}
	return out
}

var described = regexp.MustCompile("((?:`[a-z-]+`(?:, )?)+) \\(([0-9]{3})\\)")

// codesOf reads the status of each problem code where people read it, in the
// description of ProblemCode, and insists that every code has one.
func codesOf(doc *openapi3.T) (map[string]int, error) {
	schema := doc.Components.Schemas["ProblemCode"]
	if schema == nil {
		return nil, fmt.Errorf("there is no ProblemCode")
	}
	text, out := strings.Join(strings.Fields(schema.Value.Description), " "), map[string]int{}
	for _, found := range described.FindAllStringSubmatch(text, -1) {
		status, _ := strconv.Atoi(found[2])
		for code := range strings.SplitSeq(found[1], ", ") {
			if code = strings.Trim(code, "`"); out[code] != 0 {
				return nil, fmt.Errorf("ProblemCode gives %s two statuses", code)
			}
			out[code] = status
		}
	}
	for _, code := range schema.Value.Enum {
		if out[code.(string)] == 0 {
			return nil, fmt.Errorf("ProblemCode gives %s no status", code)
		}
	}
	if len(out) != len(schema.Value.Enum) {
		return nil, fmt.Errorf("ProblemCode describes %d codes and has %d", len(out), len(schema.Value.Enum))
	}
	return out, nil
}

// Codes are the problem codes and the status of each.
func (c *Contract) Codes() map[string]int { return maps.Clone(c.codes) }

// checkCodes holds the two lists of each operation against each other: the
// statuses of its responses, and those of the codes in its x-problems.
func (c *Contract) checkCodes() error {
	for _, item := range c.Doc.Paths.Map() {
		for _, operation := range item.Operations() {
			want := []int{c.codes["forbidden"]}
			for _, code := range problemsOf(operation) {
				if c.codes[code] == 0 || slices.Contains(everywhere, code) {
					return fmt.Errorf("x-problems of %s names %q", operation.OperationID, code)
				}
				want = append(want, c.codes[code])
			}
			var got []int
			for key := range operation.Responses.Map() {
				if status, err := strconv.Atoi(key); err == nil && status >= 400 {
					got = append(got, status)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if want = slices.Compact(want); !slices.Equal(got, want) || operation.Responses.Default() == nil {
				return fmt.Errorf("%s has the responses %v and a default, its x-problems ask for %v", operation.OperationID, got, want)
			}
		}
	}
	return nil
}

// kindOf is the kind of an answer; code is that of its problem, if it is one.
// An error says that the contract has no such kind.
func (c *Contract) kindOf(a Answer, code string) (Kind, error) {
	at := c.find(a.Path)
	operation, what := at.operation(a.Method), code
	if a.Status < 400 {
		what = mediaType(a.Header)
	}
	kind, codes := Kind{"*", a.Status, what}, []string{"not-found"}
	switch {
	case operation != nil:
		kind.Operation, codes = operation.OperationID, problemsOf(operation)
	case at.item != nil:
		kind.Operation, codes = at.template, []string{"method-not-allowed"}
	}
	if a.Status < 400 {
		if operation == nil || successes(operation)[a.Status] == nil || !slices.Contains(mediaOf(successes(operation)[a.Status]), what) {
			return kind, fmt.Errorf("the contract has no answer %s", kind)
		}
		return kind, nil
	}
	if a.Method == http.MethodHead { // without a body there is no code
		for _, code := range slices.Concat(codes, everywhere) {
			if c.codes[code] == a.Status {
				return kind, nil
			}
		}
	} else if slices.Contains(slices.Concat(codes, everywhere), code) && c.codes[code] == a.Status {
		return kind, nil
	}
	return kind, fmt.Errorf("the contract has no answer %s", kind)
}
