package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// memory samples the resident memory of a daemon.
type memory struct {
	done    chan struct{}
	samples chan []int64
}

// growth is resident memory over time, in bytes.
type growth []int64

func (d *daemon) watchMemory() memory {
	m := memory{done: make(chan struct{}), samples: make(chan []int64, 1)}
	status := fmt.Sprintf("/proc/%d/status", d.command.Process.Pid)
	go func() {
		var samples []int64
		for ticks := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-ticks.C:
				samples = append(samples, resident(status))
			case <-m.done:
				m.samples <- samples
				return
			}
		}
	}()
	return m
}

func (m memory) stop() growth {
	close(m.done)
	return <-m.samples
}

// resident reads VmRSS, which is in kibibytes.
func resident(status string) int64 {
	text, err := os.ReadFile(status)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}

// allowance is what the last quarter may have at its median above the second:
// a garbage-collected heap breathes, and does not grow with what it served.
const allowance = 16 << 20

func (g growth) judge() error {
	if len(g) < 20 {
		return fmt.Errorf("memory was sampled %d times, too few to judge", len(g))
	}
	early, late := g.median(len(g)/4, len(g)/2), g.median(3*len(g)/4, len(g))
	if late > early+allowance {
		return fmt.Errorf("resident memory grew from %d MiB to %d MiB", early>>20, late>>20)
	}
	return nil
}

func (g growth) median(from, to int) int64 {
	part := slices.Sorted(slices.Values(g[from:to]))
	return part[len(part)/2]
}

// String is the memory quarter by quarter.
func (g growth) String() string {
	if len(g) < 20 {
		return ""
	}
	out := "  resident memory, medians of quarters:"
	for q := range 4 {
		out += fmt.Sprintf(" %d", g.median(q*len(g)/4, (q+1)*len(g)/4)>>20)
	}
	return out + fmt.Sprintf(" MiB, at most %d MiB\n", slices.Max(g)>>20)
}
