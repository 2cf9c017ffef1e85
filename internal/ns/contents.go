package ns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// namedEntries is how many entries of a full root are named before the others are only counted.
const namedEntries = 4

// Contents says, for people, what takes up the root, and how to be rid of each kind of it.
func (l Listing) Contents() (said, cure string) {
	var there, cures []string
	var kept, foreign string // the first entry that a release is for, and the first that it is not
	for _, s := range l.Slots {
		if s.State == Free {
			continue
		}
		there = append(there, s.said())
		switch {
		case s.State == Running || s.State == Elsewhere: // they end by themselves
		case s.State != Foreign && slotLike.MatchString(s.Name):
			kept = cmp.Or(kept, s.name())
		default:
			foreign = cmp.Or(foreign, s.name())
		}
	}
	if kept != "" {
		cures = append(cures, fmt.Sprintf("when nothing needs %s any more, `confined slots release %s` removes it (GET /v1/slots/%s shows what is in it, DELETE with its ETag removes that)", kept, kept, kept))
	}
	if foreign != "" {
		cures = append(cures, fmt.Sprintf("move %s out of the root, which is for slots only", foreign))
	}
	if len(cures) == 0 {
		cures = []string{"wait until one of these runs ends"}
	}
	if more := len(there) - namedEntries; more > 0 {
		there = append(there[:namedEntries], fmt.Sprintf("%d more", more))
	}
	return strings.Join(there, ", "), "leftovers are never reclaimed automatically: " + strings.Join(cures, "; ")
}

func (s SlotInfo) said() string {
	if s.Reason != "" {
		return fmt.Sprintf("%s (%s, %s)", s.name(), s.State, s.Reason)
	}
	return fmt.Sprintf("%s (%s)", s.name(), s.State)
}

// name is the entry's own where that is plain text.
func (s SlotInfo) name() string {
	if quoted := strconv.QuoteToASCII(s.Name); quoted != `"`+s.Name+`"` || strings.Contains(s.Name, " ") {
		return quoted
	}
	return s.Name
}
