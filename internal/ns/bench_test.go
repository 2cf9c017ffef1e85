package ns

import (
	"bytes"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"confined/internal/pins"
)

// BenchmarkSlot takes a program through the whole life of a slot, in turn with `cp -r` and `rm -r` of the same files on the same file system, and
// compares the medians. The numbers are for people: nothing is judged.
func BenchmarkSlot(b *testing.B) {
	for _, c := range []struct {
		name  string
		files map[string]string
	}{
		{"tiny", map[string]string{"lib/main.mjs": "console.log('hello')\n"}},
		{"small", filesOf(100, 4<<10)},
		{"large", filesOf(4, 16<<20)},
		{"many", filesOf(10_000, 4<<10)},
		{"flat", inOne(filesOf(10_000, 4<<10))},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkSlot(b, c.files) })
	}
}

// filesOf are so many files of that size, none like another, in a tree of directories.
func filesOf(count, size int) map[string]string {
	files := map[string]string{}
	for i := range count {
		line := fmt.Appendf(nil, "%06d\n", i)
		files[fmt.Sprintf("dir%02d/sub%d/f%05d.js", i%40, i%3, i)] = string(bytes.Repeat(line, size/len(line)+1)[:size])
	}
	return files
}

// inOne are the same files in a single directory.
func inOne(files map[string]string) map[string]string {
	flat := map[string]string{}
	for path, content := range files {
		flat[filepath.Base(path)] = content
	}
	return flat
}

func benchmarkSlot(b *testing.B, files map[string]string) {
	w := newWorld(b, 8)
	source, input := filepath.Dir(w.root)+"/source", snapshot(b, nil)
	for path, content := range files {
		must(b, os.MkdirAll(filepath.Dir(source+"/"+path), 0o700))
		must(b, os.WriteFile(source+"/"+path, []byte(content), 0o400))
	}
	program := snapshot(b, files)
	laps := map[string][]float64{}
	copied(b, laps, source)
	lived(b, laps, w, program, input)
	clear(laps) // the first round found everything cold
	for b.Loop() {
		copied(b, laps, source)
		lived(b, laps, w, program, input)
	}
	for lap, times := range laps {
		b.ReportMetric(median(times), "ms-"+lap)
	}
	b.ReportMetric(median(laps["slot"])/median(laps["copy"]), "ratio")
	b.ReportMetric(0, "ns/op")
}

func median(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)/2]
}

// copied makes and removes a copy as a user would.
func copied(b *testing.B, laps map[string][]float64, source string) {
	began := time.Now()
	for _, args := range [][]string{{"cp", "-r", source, source + "-copy"}, {"rm", "-r", source + "-copy"}} {
		if out, err := osexec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	lap(laps, "copy", began)
}

// lived is the life of one slot.
func lived(b *testing.B, laps map[string][]float64, w *world, program, input pins.Snapshot) {
	s := claim(b, w.pool)
	began := time.Now()
	must(b, s.Materialise("bench", program, input, ourselves()))
	at := lap(laps, "materialise", began)
	v, err := s.Verify()
	must(b, err)
	at = lap(laps, "verify", at)
	must(b, s.Recheck(v))
	at = lap(laps, "recheck", at)
	if d := s.Remove(NamespaceChanged); d != (Disposition{State: StateRemoved, Durable: true}) {
		b.Fatalf("%+v", d)
	}
	lap(laps, "remove", at)
	lap(laps, "slot", began)
}

func lap(laps map[string][]float64, name string, began time.Time) time.Time {
	now := time.Now()
	laps[name] = append(laps[name], float64(now.Sub(began).Microseconds())/1000)
	return now
}
