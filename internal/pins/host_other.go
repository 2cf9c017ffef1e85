//go:build !linux && !darwin

package pins

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

var errHost = errors.New("pins: runtimes are pinned on linux and darwin only, this is " + runtime.GOOS)

func hostFacts() ([]HostFact, error) { return nil, errHost }

func openNoSymlinks(string) (*os.File, error) { return nil, errHost }

func spelledOnDisk(int, string) (string, error) { return "", errHost }

func fileID(fs.FileInfo) (FileID, error) { return FileID{}, errHost }

func ownerOf(fs.FileInfo) (uid, gid int, known bool) { return 0, 0, false }

func tellsChanges(*os.File) bool { return false }

func mountedNoexec(string) bool { return false }

func machineID() string { return "" }
