package confine

func boundaryHere() Boundary { return Seatbelt{AppleTools()} }
