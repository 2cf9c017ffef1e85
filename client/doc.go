// Package client runs programs on a confined daemon.
package client
