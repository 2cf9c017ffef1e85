package main

import "net"

// exclusive is a listener whose connections no program inherits.
func exclusive(l fileListener) (net.Listener, error) { return newExclusiveListener(l) }
