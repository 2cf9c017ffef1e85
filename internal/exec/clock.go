package exec

import "time"

// stopwatch splits a run into stages. It reads the monotonic clock only: every
// figure is a difference, none is a time of day.
type stopwatch struct {
	last   time.Time
	spawn  time.Time
	stages []StageTime
}

func startStopwatch() *stopwatch { return &stopwatch{last: time.Now()} }

// mark ends a stage. A stage that a run never reached is never marked.
func (s *stopwatch) mark(stage Stage) {
	now := time.Now()
	s.stages = append(s.stages, StageTime{Stage: stage, Duration: now.Sub(s.last)})
	s.last = now
}

// spawned is the zero of a process's times.
func (s *stopwatch) spawned() { s.spawn = time.Now() }

func (s *stopwatch) sinceSpawn() time.Duration { return time.Since(s.spawn) }
