// Package contract holds HTTP answers against openapi.yaml: a second reading of
// the contract, by other libraries than the one the daemon is generated with.
// It is for tests alone, of every package, and imports nothing of the daemon.
//
// A Contract judges one answer; a Transport judges every answer that a client
// gets, streams line by line; a Ledger keeps which kinds of answers came.
package contract
