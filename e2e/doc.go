// Package e2e drives the real daemon over its real socket, with a real Node.js
// behind the real boundary. It imports nothing internal: what it knows of the
// daemon is the command line, the contract (openapi.yaml) and the host.
//
// Every answer of a daemon is held against the contract, whoever asked: the one
// Transport of these tests' clients does it, and a test sees to it that there
// is no other.
package e2e
