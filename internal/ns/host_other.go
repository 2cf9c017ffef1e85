//go:build !linux && !darwin

package ns

import "errors"

const (
	fitFileSystems = "a supported operating system"
	listBytes      = 8 << 10
)

var errUnsupported = errors.New("namespaces are kept on linux and darwin only")

func fileSystemProblem(int) (string, error)                { return "", errUnsupported }
func leaseProblem() (problem, cure string)                 { return "", "" }
func bornAt(int, string) (ns int64, known bool, err error) { return 0, false, errUnsupported }
func isMountPoint(int, string) (bool, error)               { return false, errUnsupported }
func readEntries(int, []byte) (int, error)                 { return 0, errUnsupported }
func cutEntry([]byte) (l listed, rest []byte)              { return listed{}, nil }
func takeLease(int) error                                  { return errUnsupported }
func leaseIntact(int) (bool, error)                        { return false, errUnsupported }
func dropLease(int) error                                  { return errUnsupported }
func syncToDisk(int) error                                 { return errUnsupported }
