package client

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"confined/client/api"
)

// maxAnswer bounds what is read of one answer, in bytes. The largest result
// holds 16 MiB of output in which each byte is escaped with six.
const maxAnswer = 128 << 20

// readBody reads an answer to its end. One of known length is held once.
func readBody(response *http.Response) ([]byte, error) {
	n := response.ContentLength
	switch {
	case n > maxAnswer:
		return nil, fmt.Errorf("%d bytes are too many for an answer", n)
	case n >= 0:
		body := make([]byte, n)
		_, err := io.ReadFull(response.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("more than %d bytes are too many for an answer", maxAnswer)
	}
	return body, err
}

// checkDigest compares bytes with the sha-256 in the value of a Content-Digest
// (RFC 9530), which may list other algorithms too.
func checkDigest(stated string, body []byte) error {
	sum := sha256.Sum256(body)
	computed := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	for member := range strings.SplitSeq(stated, ",") {
		member = strings.TrimSpace(member)
		if member == computed {
			return nil
		}
		if strings.HasPrefix(member, "sha-256=") {
			return fmt.Errorf("the answer is not what was sent: its digest is %s, and %s was stated", computed, member)
		}
	}
	return fmt.Errorf("the answer states no sha-256 of itself (Content-Digest is %.200q)", stated)
}

// problemOf is the error that an answer other than a 200 is: a [*ProblemError]
// when it is a problem of the contract, whole and of the status it came with.
func problemOf(response *http.Response) error {
	body, err := readBody(response)
	if err != nil {
		return fmt.Errorf("the answer is cut, after the status %d: %w", response.StatusCode, err)
	}
	var p api.Problem
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if mediaType != problemType || json.Unmarshal(body, &p) != nil || p.Code == "" || p.Status != response.StatusCode {
		return fmt.Errorf("the answer has the status %d and is no problem of the contract: %.200q", response.StatusCode, body)
	}
	return newProblemError(p, response.Header.Get("Retry-After"))
}

// newProblemError is the error of p, which came with that Retry-After.
func newProblemError(p api.Problem, retryAfter string) *ProblemError {
	e := &ProblemError{Problem: p}
	if p.Status != http.StatusTooManyRequests && p.Status != http.StatusServiceUnavailable {
		return e
	}
	if p.RetryAfterMs != nil {
		e.RetryAfter = time.Duration(*p.RetryAfterMs) * time.Millisecond
	} else if seconds, err := strconv.ParseUint(retryAfter, 10, 16); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// bare is err without what [http.Client] puts before it: a method and an address
// that say nothing on a socket.
func bare(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}
