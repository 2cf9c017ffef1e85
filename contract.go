// Package confined holds the HTTP contract, so that the daemon can serve the
// very file its handlers are generated from. It lives at the root because
// openapi.yaml does, and go:embed cannot reach upwards.
package confined

import _ "embed"

//go:embed openapi.yaml
var contract string

// Contract is openapi.yaml, verbatim.
func Contract() string { return contract }
