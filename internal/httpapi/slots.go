package httpapi

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"confined/internal/ns"
)

// GetSlot is what is in one slot.
func (a operations) GetSlot(ctx context.Context, request GetSlotRequestObject) (GetSlotResponseObject, error) {
	contents, err := a.opts.Pool.Show(ctx, request.Name)
	if err != nil {
		return nil, a.slotRefusal(request.Name, err)
	}
	return GetSlot200JSONResponse{Body: slotDetailOf(contents), Headers: GetSlot200ResponseHeaders{ETag: contents.Tag}}, nil
}

// ReleaseSlot removes what an ETag covers. The log keeps who asked for it, by
// the request's own line, and what became of the slot.
func (a operations) ReleaseSlot(ctx context.Context, request ReleaseSlotRequestObject) (ReleaseSlotResponseObject, error) {
	tag := request.Params.IfMatch
	d, err := a.opts.Pool.Release(ctx, request.Name, tag)
	if errors.Is(err, ns.ErrSlotChanged) {
		return nil, refuse(ProblemCodeSlotChanged, "%s; GET /v1/slots/%s shows it as it is", whyNoMatch(tag), request.Name)
	}
	if err != nil {
		return nil, a.slotRefusal(request.Name, err)
	}
	a.log.InfoContext(ctx, "slot release", "requestId", callOf(ctx).id, "slot", request.Name, "state", d.State, "durable", d.Durable, "message", d.Message)
	n, err := namespaceOf(d)
	return ReleaseSlot200JSONResponse(n), err
}

// slotRefusal is the problem of a slot that is not shown or not released.
func (a operations) slotRefusal(name string, err error) error {
	var busy *ns.BusyError
	switch {
	case errors.Is(err, ns.ErrSlotUnknown) && a.isFree(name):
		return refuse(ProblemCodeSlotUnknown, "%s is free: there is nothing to release", name)
	case errors.Is(err, ns.ErrSlotUnknown):
		return refuse(ProblemCodeSlotUnknown, "the root has no entry %q; GET /v1/slots lists what it has", name)
	case errors.As(err, &busy):
		return refuse(ProblemCodeSlotBusy, "%s", busy.Error())
	}
	return rootRefusal(err)
}

// isFree says whether a slot of that name is there for the next run.
func (a operations) isFree(name string) bool {
	listing, err := a.opts.Pool.List()
	return err == nil && slices.ContainsFunc(listing.Slots, func(s ns.SlotInfo) bool { return s.Name == name && s.State == ns.Free })
}

var etagForm = regexp.MustCompile(`^"[0-9a-f]{64}"$`)

// whyNoMatch tells an If-Match that could never match from one that no longer
// does.
func whyNoMatch(tag string) string {
	switch {
	case tag == "*":
		return "If-Match: * does not say what was shown; quote the ETag"
	case strings.HasPrefix(tag, "W/"):
		return "If-Match is a weak tag; quote the ETag, which is a strong one"
	case !etagForm.MatchString(tag):
		return "If-Match is not an ETag of a slot; quote one verbatim, with its double quotes"
	}
	return "what is in it is not, or no longer, what this ETag covers"
}
