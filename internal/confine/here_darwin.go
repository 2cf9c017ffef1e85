package confine

func native() Boundary { return Seatbelt{AppleTools()} }
