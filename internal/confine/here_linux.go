package confine

func boundaryHere() Boundary { return linuxBoundary{} }
