package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"confined/internal/exec"
	"confined/internal/ns"
)

// resultBuffers are the buffers of encodeResult, which alone takes them and gives
// them back: two new ones would be most of what a small run's request allocates.
var resultBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, jsonBuffer) }}

// encodeResult writes r as the contract's RunResult: fields in the order of the
// reference, every field always there, no HTML escaping, no newline at the end.
// The same result gives the same bytes, so it can be encoded once to measure it
// and once to send it. It returns the first error of w.
func encodeResult(w io.Writer, r exec.Result) error {
	out := resultBuffers.Get().(*bufio.Writer)
	defer func() {
		out.Reset(nil)
		resultBuffers.Put(out)
	}()
	out.Reset(w)
	e := encoder{jsonWriterTo(out)}
	switch r := r.(type) {
	case exec.NotStarted:
		e.notStarted(r)
	case exec.Observed:
		e.observed(r)
	case exec.Unresolved:
		e.unresolved(r)
	default:
		panic(fmt.Sprintf("httpapi: bug: %T is no result", r))
	}
	return e.done()
}

type encoder struct{ *jsonWriter }

func (e encoder) text(key, value string) {
	e.key(key)
	e.string(value)
}

func (e encoder) notStarted(r exec.NotStarted) {
	e.object(func() {
		e.text("status", string(r.Status()))
		e.text("runId", r.RunID)
		e.text("reason", string(r.Reason))
		e.text("message", r.Message)
		e.key("namespace")
		if r.Namespace == nil {
			e.null()
		} else {
			e.disposition(*r.Namespace)
		}
	})
}

func (e encoder) observed(r exec.Observed) {
	e.object(func() {
		e.text("status", string(r.Status()))
		e.text("runId", r.RunID)
		e.key("attributable")
		e.bool(r.Attributable)
		e.problems(r.Problems)
		e.identities(r.Identities)
		e.process(r.Process)
		e.key("namespace")
		e.disposition(r.Namespace)
	})
}

func (e encoder) unresolved(r exec.Unresolved) {
	e.object(func() {
		e.text("status", string(r.Status()))
		e.text("runId", r.RunID)
		e.problems(r.Problems)
		e.identities(r.Identities)
		e.process(r.Process)
		e.key("namespace")
		e.disposition(r.Namespace)
	})
}

func (e encoder) problems(list []exec.Problem) {
	e.key("problems")
	e.array(len(list), func(i int) {
		e.object(func() {
			e.text("code", string(list[i].Code))
			e.text("message", list[i].Message)
		})
	})
}

func (e encoder) identities(id exec.Identities) {
	e.key("identities")
	e.object(func() {
		e.key("program")
		e.object(func() {
			e.text("digest", string(id.Program.Digest))
			e.text("entry", id.Program.Entry)
			e.key("args")
			e.array(len(id.Program.Args), func(i int) { e.string(id.Program.Args[i]) })
		})
		e.text("input", string(id.Input))
		e.text("runtime", string(id.Runtime))
		e.key("profile")
		e.object(func() {
			e.text("name", id.Profile.Name)
			e.text("digest", string(id.Profile.Digest))
			e.text("instantiated", string(id.Profile.Instantiated))
		})
		e.bounds(id.Bounds)
	})
}

func (e encoder) bounds(b exec.Bounds) {
	e.key("bounds")
	e.object(func() {
		e.number("timeoutMs", b.TimeoutMs)
		e.number("maxOutputBytes", b.MaxOutputBytes)
		e.number("cpuSeconds", b.CPUSeconds)
		e.number("maxDescriptors", b.MaxDescriptors)
	})
}

func (e encoder) number(key string, v int64) {
	e.key(key)
	e.integer(v)
}

func (e encoder) process(p exec.ProcessFacts) {
	e.key("process")
	e.object(func() {
		e.number("pid", int64(p.PID))
		e.text("admission", string(p.Admission))
		e.limits(p.Limits)
		e.exit(p.Exit)
		e.key("pipesClosed")
		e.bool(p.PipesClosed)
		e.key("stopped")
		if p.Stopped == "" {
			e.null()
		} else {
			e.string(string(p.Stopped))
		}
		e.key("killSent")
		e.bool(p.KillSent)
		e.key("stdout")
		e.bytes(p.Stdout)
		e.key("stderr")
		e.bytes(p.Stderr)
		e.number("outputBytes", p.OutputBytes)
		e.key("durationMs")
		e.millis(p.Duration)
		e.usage(p.Usage)
	})
}

func (e encoder) limits(m *exec.MeasuredLimits) {
	e.key("limits")
	if m == nil {
		e.null()
		return
	}
	e.object(func() {
		e.pair("cpuSeconds", m.CPUSeconds)
		e.pair("descriptors", m.Descriptors)
		e.pair("coreBlocks", m.CoreBlocks)
		e.pair("fileBlocks", m.FileBlocks)
	})
}

func (e encoder) pair(key string, p exec.LimitPair) {
	e.key(key)
	e.object(func() {
		e.limit("soft", p.Soft)
		e.limit("hard", p.Hard)
	})
}

func (e encoder) limit(key string, l exec.Limit) {
	if l == exec.Unlimited {
		e.text(key, string(Limit1Unlimited))
		return
	}
	e.number(key, int64(l))
}

func (e encoder) exit(x *exec.Exit) {
	e.key("exit")
	if x == nil {
		e.null()
		return
	}
	e.object(func() {
		e.key("code")
		if x.Code == nil {
			e.null()
		} else {
			e.integer(int64(*x.Code))
		}
		e.key("signal")
		if x.Signal == nil {
			e.null()
		} else {
			e.string(*x.Signal)
		}
	})
}

func (e encoder) usage(u *exec.Usage) {
	e.key("usage")
	if u == nil {
		e.null()
		return
	}
	e.object(func() {
		e.key("userMs")
		e.millis(u.User)
		e.key("systemMs")
		e.millis(u.System)
		e.number("maxRssBytes", u.MaxRSSBytes)
	})
}

func (e encoder) disposition(d ns.Disposition) {
	e.object(func() {
		e.text("state", d.State)
		if d.State == ns.StateRemoved {
			e.key("durable")
			e.bool(d.Durable)
			return
		}
		e.text("path", d.Path)
		e.text("reason", string(d.Reason))
		e.text("message", d.Message)
	})
}
