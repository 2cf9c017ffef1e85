package prove

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"confined/internal/exec"
	"confined/internal/pins"
)

// subject is who acts: Node with the JavaScript of the table, or the native probe in Node's part.
type subject struct {
	kind     Kind
	executor *exec.Executor
	runtime  pins.Runtime
	sealed   bool   // what runs is a sealed copy
	addon    string // a native module, for Node to load; empty when none could be compiled
}

// does says whether a row is for this subject to act, or for the host to look at while it does.
func (c *subject) does(p Probe) bool {
	if c.kind == JavaScript && p.Kind == Look {
		return p.Evidence.tool == "" || hasTool(p.Evidence.tool)
	}
	return p.Kind == c.kind && (c.addon != "" || !p.needsNative())
}

// entry is the program file that a run is started with. The native probe has no use for it.
const entry = "runner.mjs"

// program is the program that does the acts of a table.
func (c *subject) program(table []Probe) files {
	if c.kind == Native {
		return files{"runner.mjs": "// The native probe is in Node's place.\n"}
	}
	f := files{"runner.mjs": source(javaScript, "js/runner.mjs"), "cue.mjs": source(javaScript, "js/cue.mjs"), "again.mjs": source(javaScript, "js/again.mjs"),
		"reborn.mjs": source(javaScript, "js/reborn.mjs")}
	f["acts.mjs"] = source(javaScript, "js/imports.mjs") + module("acts", table, func(p Probe) bool { return !comesLast(p) }) +
		module("last", table, comesLast)
	f.addTargets("program")
	if c.addon != "" {
		f["addon.node"] = c.addon
	}
	return f
}

// module is the JavaScript of some rows of a table, as an exported list.
func module(name string, table []Probe, some func(Probe) bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "export const %s = [\n", name)
	for _, p := range table {
		if p.Kind == JavaScript && some(p) {
			fmt.Fprintf(&text, "[%q, async (w) => { %s }],\n", p.Name, p.Act)
		}
	}
	return text.String() + "];\n"
}

// input is the input of a fixture: what it is about, in the form that the program reads, and what the acts aim at there.
func (c *subject) input(s *fixture, table []Probe) (files, error) {
	if c.kind == Native {
		f := files{"world.txt": plainWorld(s.world), "acts.txt": nativeActs(table)}
		addNativeTargets(f)
		return f, nil
	}
	world, err := json.Marshal(s.world)
	if err != nil {
		return nil, err
	}
	f := files{"world.json": string(world), "own.txt": "mine"}
	f.addTargets("input")
	if c.addon != "" {
		f["addon.node"], f["extension.so"] = c.addon, c.addon
	}
	return f, nil
}

// plainWorld is a world in lines of a key, a tab and a value; what is below a key has a dot in its own.
func plainWorld(world map[string]any) string {
	flat := map[string]string{}
	for key, value := range world {
		switch value := value.(type) {
		case map[string]int:
			for name, v := range value {
				flat[key+"."+name] = fmt.Sprint(v)
			}
		case map[string]string:
			for name, v := range value {
				flat[key+"."+name] = v
			}
		default:
			flat[key] = fmt.Sprint(value)
		}
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		fmt.Fprintf(&text, "%s\t%s\n", key, strings.ReplaceAll(flat[key], "\x00", "@")) // an abstract socket's name begins with a NUL
	}
	return text.String()
}

// furnish lays the slot of an unconfined fixture out like a run's. Its files may be written by their owner: nothing but the boundary is to
// make the difference.
func (c *subject) furnish(s *fixture, table []Probe) error {
	input, err := c.input(s, table)
	if err != nil {
		return err
	}
	for name, snapshot := range map[string]files{"program": c.program(table), "input": input} {
		for path, content := range snapshot {
			if err := put(s.slot+"/"+name+"/"+path, content); err != nil {
				return err
			}
		}
	}
	if err := put(s.slot+"/canary", "canary\n"); err != nil {
		return err
	}
	if err := os.Mkdir(s.slot+"/home", 0o700); err != nil {
		return err
	}
	return give(s.slot, s.user)
}
