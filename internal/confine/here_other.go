//go:build !linux && !darwin

package confine

// boundaryHere is a boundary that no process can be launched in: it says so.
func boundaryHere() Boundary { return linuxBoundary{} }
