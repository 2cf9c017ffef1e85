package pins

import (
	"bytes"
	"errors"
	"fmt"
)

// Load commands that are read (mach-o/loader.h). With cmdRequired in its number, dyld refuses a file for a command that it
// does not know.
const (
	cmdRequired     = 0x80000000
	cmdLoadDylib    = 0xc
	cmdIDDylib      = 0xd
	cmdLoadDylinker = 0xe
	cmdSegment64    = 0x19
	cmdLazyDylib    = 0x20
	cmdVersionMin   = 0x24
	cmdEncryption64 = 0x2c
	cmdBuildVersion = 0x32
	cmdWeakDylib    = 0x18 | cmdRequired
	cmdRPath        = 0x1c | cmdRequired
	cmdReexport     = 0x1f | cmdRequired
	cmdUpward       = 0x23 | cmdRequired
	cmdMain         = 0x28 | cmdRequired
)

const dyldPath = "/usr/lib/dyld"

// harmlessCommands are those that name no other file and do not change which are loaded.
func harmlessCommands() map[uint32]string {
	return map[uint32]string{
		0x2:                "LC_SYMTAB",
		0xb:                "LC_DYSYMTAB",
		0x12:               "LC_SUB_FRAMEWORK", // with LC_SUB_CLIENT: who may link with it
		0x14:               "LC_SUB_CLIENT",
		0x1a:               "LC_ROUTINES_64", // a function of its own that runs first
		0x1b:               "LC_UUID",
		0x1d:               "LC_CODE_SIGNATURE",
		0x1e:               "LC_SEGMENT_SPLIT_INFO",
		0x22:               "LC_DYLD_INFO",
		0x22 | cmdRequired: "LC_DYLD_INFO_ONLY",
		0x26:               "LC_FUNCTION_STARTS",
		0x29:               "LC_DATA_IN_CODE",
		0x2a:               "LC_SOURCE_VERSION",
		0x2b:               "LC_DYLIB_CODE_SIGN_DRS",
		0x2d:               "LC_LINKER_OPTION",
		0x2e:               "LC_LINKER_OPTIMIZATION_HINT",
		0x31:               "LC_NOTE",
		0x33 | cmdRequired: "LC_DYLD_EXPORTS_TRIE",
		0x34 | cmdRequired: "LC_DYLD_CHAINED_FIXUPS",
		0x36:               "LC_ATOM_INFO",
		0x37:               "LC_FUNCTION_VARIANTS", // which of its own functions fits the processor
		0x38:               "LC_FUNCTION_VARIANT_FIXUPS",
		0x39:               "LC_TARGET_TRIPLE",
	}
}

// refusedCommands are known, and change what dyld does in ways that are not followed here, or mean nothing in such a file.
func refusedCommands() map[uint32]string {
	return map[uint32]string{
		0x1:                "LC_SEGMENT, which is of 32 bits",
		0x4:                "LC_THREAD, which starts it without dyld",
		0x5:                "LC_UNIXTHREAD, which starts it without dyld",
		0x6:                "LC_LOADFVMLIB, which loads a library in a form of old",
		0x7:                "LC_IDFVMLIB, which is of a library in a form of old",
		0x9:                "LC_FVMFILE, which loads a file in a form of old",
		0xf:                "LC_ID_DYLINKER, which only dyld itself has",
		0x10:               "LC_PREBOUND_DYLIB, which binds libraries ahead",
		0x13:               "LC_SUB_UMBRELLA, which re-exports in a form of old",
		0x15:               "LC_SUB_LIBRARY, which re-exports in a form of old",
		0x16:               "LC_TWOLEVEL_HINTS, which binds libraries ahead",
		0x17:               "LC_PREBIND_CKSUM, which binds libraries ahead",
		0x25:               "LC_VERSION_MIN_IPHONEOS, which is for another system than macOS",
		0x27:               "LC_DYLD_ENVIRONMENT, which sets variables of dyld",
		0x2f:               "LC_VERSION_MIN_TVOS, which is for another system than macOS",
		0x30:               "LC_VERSION_MIN_WATCHOS, which is for another system than macOS",
		0x35 | cmdRequired: "LC_FILESET_ENTRY, which only a kernel has",
		0x3a:               "LC_LAZY_LOAD_DYLIB_INFO, which names libraries in a form that is not read here",
	}
}

// machoParser collects what the commands of one slice say.
type machoParser struct {
	slice             extent
	end               uint64 // of header and commands, from the start of the slice
	file              machoFile
	segments          []machoSegment
	mains             int
	macOS, other      bool // platforms that it says it is for
	harmless, refused map[uint32]string
}

// commands reads that many commands, which must fill raw exactly.
func (p *machoParser) commands(raw []byte, count uint32) error {
	p.harmless, p.refused = harmlessCommands(), refusedCommands()
	for range count {
		if len(raw) < 8 {
			return errors.New("has more Mach-O commands than bytes of them")
		}
		size := le32(raw, 4)
		if size < 8 || size%8 != 0 || uint64(size) > uint64(len(raw)) {
			return fmt.Errorf("has a Mach-O command of %d bytes where %d are left", size, len(raw))
		}
		if err := p.command(le32(raw, 0), raw[:size]); err != nil {
			return err
		}
		raw = raw[size:]
	}
	if len(raw) > 0 {
		return fmt.Errorf("has %d bytes after its Mach-O commands", len(raw))
	}
	return nil
}

func (p *machoParser) command(kind uint32, raw []byte) error {
	switch kind {
	case cmdLoadDylib, cmdWeakDylib, cmdReexport, cmdUpward, cmdLazyDylib:
		return p.dylib(kind, raw)
	case cmdIDDylib:
		return setOnce(&p.file.installName, raw, 24, "LC_ID_DYLIB")
	case cmdLoadDylinker:
		return setOnce(&p.file.dylinker, raw, 12, "LC_LOAD_DYLINKER")
	case cmdRPath:
		return p.rpath(raw)
	case cmdSegment64:
		return p.segment(raw)
	case cmdMain:
		p.mains++
		return nil
	case cmdVersionMin, cmdBuildVersion:
		return p.platform(kind, raw)
	case cmdEncryption64:
		return notEncrypted(raw)
	}
	if _, ok := p.harmless[kind]; ok {
		return nil
	}
	if what, ok := p.refused[kind]; ok {
		return fmt.Errorf("has the Mach-O command %s", what)
	}
	if kind&cmdRequired != 0 {
		return fmt.Errorf("has the Mach-O command %#x, which dyld would have to know", kind)
	}
	return fmt.Errorf("has the Mach-O command %#x, which is not known here", kind)
}

// dylib keeps a library. LC_LAZY_LOAD_DYLIB is one too, though newer versions of dyld pass over it: what is named may be
// loaded.
//
// Since macOS 15 there is a form (dylib_use_command) in which a mark stands where the time was, and flags follow. They say
// instead of the command whether the library is weak (dyld's mach_o/Header.cpp, loadCommandToDylibKind). Older versions of
// dyld go by the command. The official Node has nothing in that form, and no file in it was tried on a Mac.
func (p *machoParser) dylib(kind uint32, raw []byte) error {
	const header, marked, mark, weakLink, knownFlags = 24, 28, 0x1a741800, 0x1, 0xf
	name, err := commandString(raw, header)
	if err != nil {
		return err
	}
	if len(p.file.dylibs) == maxDylibs {
		return fmt.Errorf("names more than %d libraries", maxDylibs)
	}
	weak := kind == cmdWeakDylib
	if le32(raw, 12) == mark {
		if le32(raw, 8) != marked || le32(raw, 24)&^knownFlags != 0 {
			return errors.New("names a library in a form that is not known here")
		}
		weak = le32(raw, 24)&weakLink != 0
	}
	p.file.dylibs = append(p.file.dylibs, machoDylib{name, weak})
	return nil
}

func (p *machoParser) rpath(raw []byte) error {
	path, err := commandString(raw, 12)
	if err != nil {
		return err
	}
	if len(p.file.rpaths) == maxRPaths {
		return fmt.Errorf("has more than %d LC_RPATH", maxRPaths)
	}
	p.file.rpaths = append(p.file.rpaths, path)
	return nil
}

func setOnce(to *string, raw []byte, header uint32, name string) error {
	if *to != "" {
		return fmt.Errorf("has more than one %s", name)
	}
	var err error
	*to, err = commandString(raw, header)
	return err
}

// commandString is the string of a command: it begins where the third field says, after the fields, is not empty, and only
// NULs follow it.
func commandString(raw []byte, header uint32) (string, error) {
	if uint64(len(raw)) < uint64(header) {
		return "", fmt.Errorf("has a Mach-O command of %d bytes, too short for its fields", len(raw))
	}
	at := le32(raw, 8)
	if at < header || uint64(at) >= uint64(len(raw)) {
		return "", errors.New("has a Mach-O string outside its command")
	}
	name, rest, found := bytes.Cut(raw[at:], []byte{0})
	switch {
	case !found:
		return "", errors.New("has a Mach-O string without an end")
	case len(bytes.Trim(rest, "\x00")) > 0:
		return "", errors.New("has a Mach-O command with more than one string")
	case len(name) == 0:
		return "", errors.New("has an empty Mach-O string")
	case len(name) >= maxMachOString:
		return "", fmt.Errorf("has a Mach-O string of more than %d bytes", maxMachOString-1)
	}
	return string(name), nil
}

// notEncrypted: dyld would map other bytes than those of the file.
func notEncrypted(raw []byte) error {
	if len(raw) != 24 {
		return fmt.Errorf("has an LC_ENCRYPTION_INFO_64 of %d bytes", len(raw))
	}
	if le32(raw, 16) != 0 {
		return errors.New("is encrypted")
	}
	return nil
}
