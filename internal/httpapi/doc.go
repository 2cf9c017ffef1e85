// Package httpapi translates between HTTP and runs: it takes in snapshots and
// requests, answers results and problems, and decides when a run may start.
//
// openapi.yaml at the root of the module is the contract; api.gen.go is
// generated from it. What the generator leaves open is settled here: bodies are
// read as streams and bounded by hand, JSON is read strictly, every refusal is
// one problem made in one place, and a result is encoded by one encoder whose
// bytes are the same each time.
//
// The rule that everything here serves: an answer of class 4xx, 429 or 503 means
// that no process existed.
package httpapi

//go:generate go tool -modfile=codegen/go.mod oapi-codegen -config codegen/config.yaml ../../openapi.yaml
