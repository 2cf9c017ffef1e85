package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The two ways in which a run is answered: when it is over, or as it goes.
const (
	mediaResult = "application/json"
	mediaStream = "application/x-ndjson"
)

// wantsStream says which of the two the client likes better; where it likes
// both alike it gets the result. A client that takes neither is refused.
func wantsStream(r *http.Request) (bool, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return false, nil
	}
	result, stream := quality(accept, mediaResult), quality(accept, mediaStream)
	if max(result, stream) == 0 {
		return false, refuse(ProblemCodeNotAcceptable, "a run is answered as %s or as %s, and Accept (%.200q) excludes both", mediaResult, mediaStream, accept)
	}
	return stream > result, nil
}

// quality is the q that an Accept header gives to a media type: that of the most
// specific range which covers it, and 0 where none does (RFC 9110 §12.5.1).
func quality(accept, media string) float64 {
	kind, _, _ := strings.Cut(media, "/")
	specific := map[string]int{"*/*": 1, kind + "/*": 2, media: 3}
	best, q := 0, 0.0
	for item := range strings.SplitSeq(accept, ",") {
		name, params, err := mime.ParseMediaType(item)
		if rank := specific[name]; err == nil && rank > best {
			best, q = rank, weight(params["q"])
		}
	}
	return q
}

// weight is 1 also for what is no weight.
func weight(q string) float64 {
	if v, err := strconv.ParseFloat(q, 64); err == nil && v >= 0 && v <= 1 {
		return v
	}
	return 1
}
