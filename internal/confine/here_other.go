//go:build !linux && !darwin

package confine

// native is a boundary that no process can be launched in: it says so.
func native() Boundary { return linuxBoundary{} }
