package main

import "net"

// exclusive is a listener whose connections no program inherits. It takes l
// over, and closes it where it fails.
func exclusive(l fileListener) (net.Listener, error) { return newExclusiveListener(l) }
