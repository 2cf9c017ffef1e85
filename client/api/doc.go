// Package api is the HTTP contract of confined as Go types, and a client of
// every operation, generated from openapi.yaml. Package client is what programs
// use; its results and its rarer calls are in these types.
//
// A union, such as [Namespace], holds JSON: its method ValueByDiscriminator
// decodes it into the one type that it is, to be told apart with a type switch.
package api

//go:generate go tool -modfile=../../internal/httpapi/codegen/go.mod oapi-codegen -config codegen.yaml ../../openapi.yaml
