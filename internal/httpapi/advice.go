package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"confined/internal/pins"
)

// adviseMedia says what the client most likely did whose body has this type.
func adviseMedia(media string) string {
	switch media {
	case "application/x-www-form-urlencoded":
		return "as curl sends it for -d: send multipart/form-data (curl: -F request=@request.json -F program/main.mjs=@main.mjs), application/json or application/x-tar (curl: " +
			"-H 'Content-Type: application/json' --data-binary @request.json)"
	case "application/gzip", "application/x-gzip", "application/zstd", "application/zip":
		return "send an archive as it is, an uncompressed application/x-tar"
	}
	return ""
}

// adviseDocument says what the client most likely did whose part `request` is
// no JSON.
func adviseDocument(text []byte) string {
	said := strings.TrimSpace(string(text))
	switch {
	case said == "":
		return "it is empty: where a pipe fills it (curl: -F 'request=<-'), see what the command before the pipe said"
	case strings.HasSuffix(said, ".json") && pins.CheckPath(strings.TrimLeft(said, "./")) == nil:
		return fmt.Sprintf("it holds the name of a file, %s: put an @ before it to send the file (curl: -F request=@%s)", said, said)
	}
	return ""
}

// adviseInline says how the files of a JSON request are written, where a field
// of them is wrong; empty for any other field.
func adviseInline(pointer string) string {
	const content = `{"encoding": "utf-8", "data": "…"}`
	switch {
	case strings.HasSuffix(pointer, "/files"):
		return `: each file is {"path": "` + exampleOf(strings.HasPrefix(pointer, "/input/")) + `", "content": ` + content + "}, no files are [], and files of their own go with a form (curl: -F) or an archive"
	case strings.HasSuffix(pointer, "/content"):
		return ", as in " + content
	}
	return ""
}

// adviseStart says what the client most likely did whose JSON document is none
// from its first byte on.
func adviseStart(err error) string {
	var syntax *syntaxError
	if errors.As(err, &syntax) && syntax.line == 1 && syntax.byte == 1 {
		return "; curl sends a file only where an @ stands before its name (--data-binary @request.json)"
	}
	return ""
}

// treeNames is the rule of names.
const treeNames = "files are named program/<path> or input/<path>"

// adviseName says what a file must be called that is called name, and that had
// filename as its file name.
func adviseName(name, filename string) string {
	meant := strings.TrimLeft(path.Clean("/"+name), "/")
	tree, rest, _ := strings.Cut(meant, "/")
	tree = strings.ToLower(tree)
	switch {
	case inTree(filename):
		return fmt.Sprintf("%s, and file names are ignored: make %s the part's own name (curl: -F %s=@…)", treeNames, filename, filename)
	case isTree(tree) && rest == "":
		file := path.Base("/" + filename)
		if pins.CheckPath(file) != nil {
			file = exampleOf(tree == "input")
		}
		return fmt.Sprintf("%s, as in %s/%s (curl: -F %s/%s=@%s)", treeNames, tree, file, tree, file, file)
	case pins.CheckPath(meant) != nil:
		return treeNames
	case isTree(tree):
		return fmt.Sprintf("%s, exactly so: name this one %s/%s", treeNames, tree, rest)
	}
	return fmt.Sprintf("%s, so this one program/%s or input/%s (curl: -F program/%s=@%s)", treeNames, meant, meant, meant, meant)
}

// exampleOf is a name that a file of the input or of the program could have.
func exampleOf(input bool) string {
	if input {
		return "data.csv"
	}
	return "main.mjs"
}

func isTree(name string) bool { return name == "program" || name == "input" }

func inTree(name string) bool {
	tree, rest, _ := strings.Cut(name, "/")
	return isTree(tree) && pins.CheckPath(rest) == nil
}

// adviseStranger says who a client is that the daemon does not serve.
func adviseStranger(p Peer, known bool) string {
	if !known {
		return ""
	}
	return fmt.Sprintf(", and you are uid %d: be that user, or start a daemon of your own", p.UID)
}

// adviseMethod says how curl came by a method that a path does not have, or what
// there is in its place.
func adviseMethod(method, path string, allowed []string) string {
	if method == http.MethodGet && strings.HasPrefix(path, "/v1/runs/") {
		return "; a result goes only to whoever sent the run; GET /v1/runs lists the live ones"
	}
	if !slices.Contains(allowed, http.MethodPost) {
		return ""
	}
	switch method {
	case http.MethodPut:
		return " (curl -T sends PUT: add -X POST)"
	case http.MethodGet:
		return " (curl sends GET unless -F or --data-binary gives it a body)"
	}
	return ""
}

// listing is every path that there is, with its methods.
func listing(routes chi.Routes) string {
	methods := map[string][]string{}
	var paths []string
	_ = chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if methods[route] == nil {
			paths = append(paths, route)
		}
		methods[route] = append(methods[route], method)
		return nil
	})
	slices.Sort(paths)
	for i, route := range paths {
		slices.Sort(methods[route])
		paths[i] = strings.Join(methods[route], " ") + " " + route
	}
	return strings.Join(paths, ", ")
}
