//go:build linux

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// fileHeavy is a program of n files of 4 KiB, of which it imports a few.
func fileHeavy(b testing.TB, d *daemon, n int) job {
	b.Helper()
	program, entry, sum := files{}, "let sum = 0\n", 0
	for i := range n - 1 {
		path := fmt.Sprintf("lib/%02d/%04d.mjs", i/100, i)
		source := fmt.Sprintf("export default %d\n", i)
		program[path] = source + "//" + strings.Repeat("-", 4096-len(source)-3) + "\n"
		if i%(max(n/5, 1)) == 0 {
			entry += fmt.Sprintf("sum += (await import('./%s')).default\n", path)
			sum += i
		}
	}
	program["main.mjs"] = entry + "console.log(sum)\n"
	return job{d.run(b, program, "main.mjs"), fmt.Sprintf("%d\n", sum)}
}

// largeInput reads 64 MiB that came with it.
func largeInput(b *testing.B, d *daemon) job {
	b.Helper()
	r := d.script(b, "import fs from 'node:fs'\nconsole.log(fs.readFileSync('big').length)\n")
	r.input = files{"big": strings.Repeat("0123456789abcdef", 64<<20/16)}
	return job{r, fmt.Sprintln(64 << 20)}
}

// largeOutput prints 3 MiB.
func largeOutput(b *testing.B, d *daemon) job {
	b.Helper()
	return job{d.script(b, "process.stdout.write('x'.repeat(3 << 20))\n"), strings.Repeat("x", 3<<20)}
}

// programs compares programs of several kinds with two twins each: plain Node.js
// whose files are on disk already, and one that has them brought and taken away.
func (r *report) programs(b *testing.B, p plan) {
	t := &table{title: "Programs", head: []string{"", "x plain", "x twin", "least to most", "confined ms", "plain ms", "twin ms", "rounds"}}
	d := benchDaemon(b)
	for _, row := range []struct {
		name string
		job  job
		extent
	}{
		{"10,000 files of 4 KiB", fileHeavy(b, d, 10_000), p.programs},
		{"64 MiB of input", largeInput(b, d), p.programs},
		{"3 MiB of output", largeOutput(b, d), p.small},
	} {
		files := onDisk(b, d, row.job)
		plain, twin := enter("plain", files.plain(files.five())), enter("twin", files.twin())
		here, copied := enter("confined", overSocket(b, d, row.job)), enter("cp -r and rm -r", files.copied())
		field, many := []*contestant{plain, here, twin}, len(row.job.program) > 1
		if many {
			field = append(field, copied)
		}
		rounds := race(b, row.extent, field...)
		d.mustFitContract(b)
		fair := here.whole().per(twin.whole())
		t.row(cells(row.name, []string{here.whole().per(plain.whole()).ratio()}, fair.ratios(),
			[]string{here.whole().millis(), plain.whole().millis(), twin.whole().millis(), fmt.Sprint(rounds)})...)
		r.ratio(row.name+": confined / cp -r, node, rm -r", fair)
		if many {
			r.ratio(row.name+": "+strings.Join(keeping, " + ")+" / cp -r, rm -r", here.sum(keeping...).per(copied.whole()))
			r.keeping(here, copied)
		}
	}
	t.notes = append(t.notes, "The twin is plain node between `cp -r` of all files and `rm -r` of the copy.")
	r.add(t)
}

// keeping says where the time of many files goes.
func (r *report) keeping(here, copied *contestant) {
	t := &table{title: "10,000 files by stage", head: []string{"", "ms", "least to most"}}
	for _, name := range keeping {
		t.row(cells(name, here.parts[name].times())...)
	}
	t.row(cells("these together", here.sum(keeping...).times())...)
	t.row(cells(copied.name, copied.whole().times())...)
	r.add(t)
}
