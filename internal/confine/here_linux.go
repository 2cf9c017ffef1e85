package confine

func native() Boundary { return linuxBoundary{} }
