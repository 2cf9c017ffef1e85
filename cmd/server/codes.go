package main

import "confined/internal/httpapi"

// problemCodes are all codes that a problem of this daemon can carry.
func problemCodes() []string {
	return words([]httpapi.ProblemCode{
		httpapi.ProblemCodeMalformedRequest, httpapi.ProblemCodeForbidden, httpapi.ProblemCodeNotFound,
		httpapi.ProblemCodeMethodNotAllowed, httpapi.ProblemCodeNotAcceptable, httpapi.ProblemCodeRunIDUsed,
		httpapi.ProblemCodeTooLarge, httpapi.ProblemCodeUnsupportedMediaType, httpapi.ProblemCodeInvalidRequest,
		httpapi.ProblemCodeQueueFull, httpapi.ProblemCodeDraining, httpapi.ProblemCodeUploadMemoryFull,
		httpapi.ProblemCodeNotReady, httpapi.ProblemCodeUnsupportedHost, httpapi.ProblemCodeRuntimeUnavailable,
		httpapi.ProblemCodeInternal,
	})
}

// notReadyCodes are all reasons for not being ready.
func notReadyCodes() []string {
	return words([]httpapi.NotReadyCode{
		httpapi.NotReadyCodeDraining, httpapi.NotReadyCodeUnsupportedHost, httpapi.NotReadyCodeRuntimeUnavailable,
		httpapi.NotReadyCodeRuntimeUnproven, httpapi.NotReadyCodeRootUnsound, httpapi.NotReadyCodeNoFreeSlot,
	})
}

func words[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
