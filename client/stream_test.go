package client

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"confined/client/api"
)

// events are the lines of a sound stream, without their newlines. A character is
// cut in two by its two events of output.
func events(r received) []string {
	id, result := *r.document().ID, observed(r)
	event := func(seq int, kind, rest string) string {
		return fmt.Sprintf(`{"seq":%d,"at":"2026-11-29T10:00:00.250Z","type":%q,"runId":%q,"elapsedMs":1.5,%s}`, seq, kind, id, rest)
	}
	output := func(seq int, stream, bytes string) string {
		return event(seq, "output", `"stream":"`+stream+`","bytes":{"encoding":"base64","data":"`+base64.StdEncoding.EncodeToString([]byte(bytes))+`"}`)
	}
	return []string{
		event(0, "accepted", `"position":2`),
		event(1, "stage", `"stage":"launched"`),
		output(2, "stdout", printed[:2]),
		output(3, "stderr", warned),
		strings.Replace(event(4, "heartbeat", ""), ",}", "}", 1),
		output(5, "stdout", printed[2:]),
		event(6, "new", `"what":{"a":1}`),
		event(7, "result", `"contentDigest":"`+digestOf(result)+`","result":`+result),
	}
}

// problemEvent ends a stream.
func problemEvent(r received, seq, status int) string {
	code := map[int]string{500: "internal", 503: "draining"}[status]
	return fmt.Sprintf(`{"seq":%d,"at":"2026-11-29T10:00:00Z","type":"problem","runId":%q,"elapsedMs":2,"problem":%s}`, seq, *r.document().ID, problem(status, code))
}

// streamAnswer is the whole answer, each line in a chunk of its own.
func streamAnswer(lines []string) string {
	return streamOf(strings.Join(lines, "\n") + "\n")
}

// streamOf is the whole answer with that body, in two chunks.
func streamOf(body string) string {
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	half := len(body)/2 + 1
	return "HTTP/1.1 200 OK\r\nContent-Type: " + streamType + "\r\nTransfer-Encoding: chunked\r\n\r\n" +
		chunk(body[:half]) + chunk(body[half:]) + "0\r\n\r\n"
}

// TestStream is one stream as it should be.
func TestStream(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(r received) string { return streamAnswer(events(r)) })
	var told []Event
	result, err := New(f.socket).Stream(t.Context(), job(t), func(e Event) { told = append(told, e) })
	if err != nil {
		t.Fatal(err)
	}
	if r := f.requests()[0]; r.Header.Get("Accept") != streamType || string(result.Raw) != observed(r) {
		t.Errorf("Accept %q, the result is %s", r.Header.Get("Accept"), result.Raw)
	}
	var types []EventType
	out := map[api.OutputEventStream]string{}
	for i, e := range told {
		types = append(types, e.Type)
		out[e.Stream] += string(e.Output)
		if e.Seq != int64(i) || e.Elapsed != 1500*time.Microsecond || e.At.UnixMilli() != 1795946400250 {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	want := []EventType{EventAccepted, EventStage, EventOutput, EventOutput, EventHeartbeat, EventOutput, "new"}
	if !slices.Equal(types, want) || told[0].Position != 2 || told[1].Stage != api.StageLaunched || out["stdout"] != printed || out["stderr"] != warned {
		t.Errorf("told %+v", told)
	}
}

// TestStreams: what is not one whole sound stream is unknown.
func TestStreams(t *testing.T) {
	t.Parallel()
	lines := func(edit func(lines []string) []string) func(received) string {
		return func(r received) string { return streamAnswer(edit(events(r))) }
	}
	changed := func(i int, oldnew ...string) func(received) string {
		return lines(func(l []string) []string { l[i] = replace(l[i], oldnew...); return l })
	}
	ending := func(events func(received) []string, status int) func(received) string {
		return func(r received) string {
			before := events(r)
			return streamAnswer(append(before, problemEvent(r, len(before), status)))
		}
	}
	accepted := func(r received) []string { return events(r)[:1] }
	launched := func(r received) []string { return events(r)[:2] }
	printing := func(r received) []string {
		return []string{events(r)[0], replace(events(r)[2], `"seq":2`, `"seq":1`)}
	}
	withResult := func(result func(received) string, before int) func(received) string {
		return func(r received) string {
			l, text := events(r), result(r)
			last := replace(l[7], digestOf(observed(r)), digestOf(text), observed(r), text)
			return streamAnswer(append(l[:before], strings.Replace(last, `"seq":7`, fmt.Sprintf(`"seq":%d`, before), 1)))
		}
	}
	for name, row := range map[string]struct {
		answer func(received) string
		want   outcome
	}{
		"as asked":                  {lines(func(l []string) []string { return l }), isResult},
		"not started":               {withResult(notStarted, 1), isResult},
		"unresolved":                {withResult(unresolved, 7), isResult},
		"a problem":                 {ending(accepted, 503), isProblem},
		"a problem that is a 500":   {ending(accepted, 500), isUnknown},
		"a problem after a process": {ending(launched, 503), isUnknown},
		"a problem after output":    {ending(printing, 503), isUnknown},
		"a problem without a code": {func(r received) string {
			return replace(ending(accepted, 503)(r), `"code":"draining"`, `"code":""`+"        ")
		}, isUnknown},
		"no last event": {lines(func(l []string) []string { return l[:7] }), isUnknown},
		"an empty stream": {func(received) string {
			return "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: 0\r\n\r\n"
		}, isUnknown},
		"no last newline":            {func(r received) string { return streamOf(strings.Join(events(r), "\n")) }, isUnknown},
		"an empty line at the end":   {lines(func(l []string) []string { return append(l, "") }), isUnknown},
		"two results":                {lines(func(l []string) []string { return append(l, replace(l[7], `"seq":7`, `"seq":8`)) }), isUnknown},
		"a gap":                      {lines(func(l []string) []string { return slices.Delete(l, 4, 5) }), isUnknown},
		"an event twice":             {lines(func(l []string) []string { return slices.Insert(l, 4, l[4]) }), isUnknown},
		"no seq":                     {changed(0, `"seq":0,`, ``), isUnknown},
		"not from 0":                 {changed(0, `"seq":0`, `"seq":1`), isUnknown},
		"not accepted":               {changed(0, `"accepted"`, `"heartbeat"`), isUnknown},
		"accepted twice":             {changed(4, `"heartbeat"`, `"accepted"`), isUnknown},
		"an event of another run":    {changed(4, `"runId":"`, `"runId":"x`), isUnknown},
		"a line that is no event":    {changed(4, `{"seq"`, `{seq`), isUnknown},
		"a line that is no object":   {lines(func(l []string) []string { l[4] = "[]"; return l }), isUnknown},
		"output that differs":        {changed(3, `"data":"`, `"data":"AAAA`), isUnknown},
		"output of the other stream": {changed(3, `"stderr"`, `"stdout"`), isUnknown},
		"output of a third stream":   {changed(3, `"stderr"`, `"stdlog"`), isUnknown},
		"output in no encoding":      {changed(3, `"base64"`, `"base32"`), isUnknown},
		"output without base64":      {changed(3, `"data":"`, `"data":"*`), isUnknown},
		"output missing":             {lines(func(l []string) []string { return append(l[:5], replace(l[7], `"seq":7`, `"seq":5`)) }), isUnknown},
		"not started, with output":   {withResult(notStarted, 7), isUnknown},
		"another digest":             {func(r received) string { return replace(streamAnswer(events(r)), digestOf(observed(r)), digestOf("")) }, isUnknown},
		"result written otherwise":   {changed(7, `"pid":4711,`, `"pid": 4711,`), isUnknown},
		"no result":                  {changed(7, `"result":{`, `"outcome":{`), isUnknown},
		"another program":            {withResult(func(r received) string { return replace(observed(r), `"entry":"main.mjs"`, `"entry":"x.mjs"`) }, 7), isUnknown},
		"200 as JSON":                {func(r received) string { return resultAnswer(observed(r)) }, isUnknown},
		"406":                        {func(received) string { return answerOf(406, problemType, problem(406, "not-acceptable")) }, isProblem},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, row.answer)
			j := job(t)
			j.ID = "run-1"
			result, err := New(f.socket).Stream(t.Context(), j, func(Event) {})
			if got := outcomeOf(t, j.ID, err); got != row.want || (result != nil) != (got == isResult) {
				t.Errorf("it is %s: %v, %v", got, result, err)
			}
			if n := len(f.requests()); n != 1 {
				t.Errorf("%d requests arrived", n)
			}
		})
	}
}
