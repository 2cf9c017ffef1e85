package pins

import (
	"bytes"
	"errors"
	"fmt"
)

// Tags of the dynamic section (elf.h).
const (
	tagNull       = 0
	tagNeeded     = 1
	tagStrTab     = 5
	tagStrSize    = 10
	tagSoname     = 14
	tagRPath      = 15
	tagRunPath    = 29
	tagFlags1     = 0x6ffffffb
	flagNoDefault = 0x800 // DF_1_NODEFLIB
)

// refusedTags are the tags that make the loader map further objects in ways the closure does not follow.
func refusedTags() map[uint64]string {
	return map[uint64]string{
		0x6ffffefa: "DT_CONFIG",
		0x6ffffefb: "DT_DEPAUDIT",
		0x6ffffefc: "DT_AUDIT",
		0x7ffffffd: "DT_AUXILIARY",
		0x7fffffff: "DT_FILTER",
	}
}

// dynamicTags is the dynamic section as far as the closure depends on it. Each tag but DT_NEEDED occurs once at most.
type dynamicTags struct {
	once   map[uint64]uint64
	needed []uint64 // offsets into the string table, in order
}

// dynamicTags reads the dynamic section up to its end mark. It is read at its offset in the file; the loader reads it at
// its address, and both must be the same bytes.
func (p *elfParser) dynamicTags() (dynamicTags, error) {
	d := *p.dynamic
	if d.fileSize == 0 || d.fileSize > maxDynamicBytes || d.fileSize%dynamicEntrySize != 0 {
		return dynamicTags{}, fmt.Errorf("has an ELF dynamic section of %d bytes", d.fileSize)
	}
	if at, room := p.fileOffset(d.address); room < d.fileSize || at != d.offset {
		return dynamicTags{}, errors.New("has an ELF dynamic section that is not mapped from where it is in the file")
	}
	raw := make([]byte, d.fileSize)
	if err := p.read(raw, int64(d.offset)); err != nil {
		return dynamicTags{}, err
	}
	tags := dynamicTags{once: map[uint64]uint64{}}
	for ; len(raw) > 0; raw = raw[dynamicEntrySize:] {
		tag, value := le64(raw, 0), le64(raw, 8)
		if tag == tagNull {
			return tags, nil
		}
		if err := tags.add(tag, value); err != nil {
			return dynamicTags{}, err
		}
	}
	return dynamicTags{}, errors.New("has an ELF dynamic section without an end")
}

func (t *dynamicTags) add(tag, value uint64) error {
	if name, refused := refusedTags()[tag]; refused {
		return fmt.Errorf("has the ELF tag %s, which loads further objects", name)
	}
	switch tag {
	case tagNeeded:
		if len(t.needed) == maxNeeded {
			return fmt.Errorf("needs more than %d libraries", maxNeeded)
		}
		t.needed = append(t.needed, value)
	case tagStrTab, tagStrSize, tagSoname, tagRPath, tagRunPath, tagFlags1:
		if _, again := t.once[tag]; again {
			return fmt.Errorf("has the ELF tag %#x twice", tag)
		}
		t.once[tag] = value
	}
	return nil
}

// dependencies fills f from tags.
func (p *elfParser) dependencies(tags dynamicTags, f *elfFile) error {
	for _, at := range tags.needed {
		name, err := p.stringAt(tags, at)
		if err != nil {
			return err
		}
		if name == "" {
			return errors.New("needs a library without a name")
		}
		f.needed = append(f.needed, name)
	}
	soname, err := p.stringOf(tags, tagSoname)
	if err != nil {
		return err
	}
	if soname != nil {
		f.soname = *soname
	}
	if f.rpath, err = p.stringOf(tags, tagRPath); err != nil {
		return err
	}
	if f.runpath, err = p.stringOf(tags, tagRunPath); err != nil {
		return err
	}
	f.noDefault = tags.once[tagFlags1]&flagNoDefault != 0
	return nil
}

// stringOf is the string that the tag names, or nil without that tag.
func (p *elfParser) stringOf(tags dynamicTags, tag uint64) (*string, error) {
	at, found := tags.once[tag]
	if !found {
		return nil, nil
	}
	s, err := p.stringAt(tags, at)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// stringAt is the NUL-terminated string at that offset of the string table, which must lie in one mapped segment.
func (p *elfParser) stringAt(tags dynamicTags, at uint64) (string, error) {
	table, found := tags.once[tagStrTab]
	size, sized := tags.once[tagStrSize]
	if !found || !sized {
		return "", errors.New("has an ELF dynamic section without a string table")
	}
	offset, room := p.fileOffset(table)
	if room < size || at >= size {
		return "", errors.New("has an ELF string outside its string table")
	}
	raw := make([]byte, min(size-at, maxELFString))
	if err := p.read(raw, int64(offset+at)); err != nil {
		return "", err
	}
	end := bytes.IndexByte(raw, 0)
	if end < 0 {
		return "", fmt.Errorf("has an ELF string without an end, or of more than %d bytes", maxELFString)
	}
	return string(raw[:end]), nil
}

// fileOffset is where in the file the byte at a mapped address comes from, and how many bytes from there on come from the
// file in order. The room is 0 for an address that no segment maps from the file.
func (p *elfParser) fileOffset(address uint64) (offset, room uint64) {
	for _, s := range p.loads {
		if s.address <= address && address < s.address+s.fileSize {
			return s.offset + (address - s.address), s.fileSize - (address - s.address)
		}
	}
	return 0, 0
}
