package httpapi

import "context"

// GetSlot is what is in one slot.
func (a operations) GetSlot(_ context.Context, request GetSlotRequestObject) (GetSlotResponseObject, error) {
	return nil, refuse(ProblemCodeSlotUnknown, "there is no %s", request.Name)
}

// ReleaseSlot removes what an ETag covers.
func (a operations) ReleaseSlot(_ context.Context, request ReleaseSlotRequestObject) (ReleaseSlotResponseObject, error) {
	return nil, refuse(ProblemCodeSlotUnknown, "there is no %s", request.Name)
}
