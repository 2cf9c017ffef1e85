package exec

import (
	"bytes"
	"strconv"
	"strings"
)

// The control text, as the launch stage and the preload write it to descriptor
// 3. Nothing else ever holds that descriptor:
//
//	stage    <cpu soft>\n <cpu hard>\n <descriptors soft>\n <descriptors hard>\n
//	         <core soft>\n <core hard>\n <file size soft>\n <file size hard>\n
//	preload  sf-confined/1 admitted\n   (or refused)
//
// A value is a decimal number without leading zeros, or `unlimited`.
const (
	maxControlBytes = 1024
	limitLines      = 8
	recordAdmitted  = "sf-confined/1 admitted\n"
	recordRefused   = "sf-confined/1 refused\n"
	wordUnlimited   = "unlimited"
	maxLimitDigits  = 18
)

// controlText reads the control text as it arrives. It refuses ambiguity: what
// it has accepted at any moment is a prefix of exactly one well-formed text.
type controlText struct {
	rest      []byte // arrived and not yet part of a value
	size      int
	values    []Limit
	admission Admission // empty until something decides it
}

// feed takes the next bytes.
func (c *controlText) feed(chunk []byte) {
	c.size += len(chunk)
	if c.admission == AdmissionMalformed {
		return
	}
	if c.size > maxControlBytes || c.admission != "" {
		c.admission = AdmissionMalformed
		return
	}
	c.rest = append(c.rest, chunk...)
	for len(c.values) < limitLines {
		line, rest, whole := bytes.Cut(c.rest, []byte("\n"))
		value, ok := parseLimit(string(line))
		if whole && ok {
			c.values, c.rest = append(c.values, value), rest
			continue
		}
		if whole || !limitPrefix(string(line)) {
			c.admission = AdmissionMalformed
		}
		return
	}
	c.record(string(c.rest))
}

// record judges what follows the eight limit lines.
func (c *controlText) record(text string) {
	switch {
	case text == recordAdmitted:
		c.admission = AdmissionAdmitted
	case text == recordRefused:
		c.admission = AdmissionRefused
	case !strings.HasPrefix(recordAdmitted, text) && !strings.HasPrefix(recordRefused, text):
		c.admission = AdmissionMalformed
	}
}

// end says that no more will come: a clean prefix is an absent admission.
func (c *controlText) end() {
	if c.admission == "" {
		c.admission = AdmissionAbsent
	}
}

// limits are the measured limits once all eight lines arrived, else nil.
func (c *controlText) limits() *MeasuredLimits {
	if len(c.values) < limitLines {
		return nil
	}
	pair := func(i int) LimitPair { return LimitPair{Soft: c.values[i], Hard: c.values[i+1]} }
	return &MeasuredLimits{CPUSeconds: pair(0), Descriptors: pair(2), CoreBlocks: pair(4), FileBlocks: pair(6)}
}

func parseLimit(s string) (Limit, bool) {
	if s == wordUnlimited {
		return Unlimited, true
	}
	if s == "" || !limitDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return Limit(n), err == nil
}

// limitPrefix says whether s can still become a value.
func limitPrefix(s string) bool {
	return strings.HasPrefix(wordUnlimited, s) || limitDigits(s)
}

func limitDigits(s string) bool {
	if len(s) > maxLimitDigits || len(s) > 1 && s[0] == '0' {
		return false
	}
	return strings.Trim(s, "0123456789") == ""
}

// asked are the limits that open the gate for b: soft equal to hard, no core
// file, no file written.
func (b Bounds) asked() MeasuredLimits {
	same := func(n int64) LimitPair { return LimitPair{Soft: Limit(n), Hard: Limit(n)} }
	return MeasuredLimits{CPUSeconds: same(b.CPUSeconds), Descriptors: same(b.MaxDescriptors)}
}
