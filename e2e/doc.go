// Package e2e drives the real daemon over its real socket, with a real Node.js
// behind the real boundary. It imports nothing internal: what it knows of the
// daemon is the command line, the contract (openapi.yaml) and the host.
//
// Every answer that passes through (*daemon).ask is checked against the
// contract and for the headers that every answer carries.
package e2e
