package confine

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"confined/internal/confine/sbpl"
)

// seatbeltTemplate is the commented profile of macOS.
//
//go:embed macos.sb
var seatbeltTemplate string

// seatbeltRules are the template's expressions. That it can be read is for a test to show.
var seatbeltRules = sync.OnceValue(func() []sbpl.Node {
	nodes, err := sbpl.Read(seatbeltTemplate)
	if err != nil {
		panic("confine: bug: macos.sb: " + err.Error())
	}
	return nodes
})

// seatbeltText writes the profile of one run for sandbox-exec: canonical, without comments. It looks at nothing but j. It establishes that
// the text reads back as the very rules that were meant, and that they mean for this run's own paths what they are there for: where Node,
// the root or a library lies in a place that the system's own rules open or shut, the run is refused with an [*UnfitError].
func seatbeltText(j Job) (string, error) {
	paths, err := j.seatbeltPaths()
	if err != nil {
		return "", err
	}
	rules, err := sbpl.Fill(seatbeltRules(), paths)
	if err != nil {
		return "", err
	}
	text := sbpl.Print(rules)
	profile, err := sbpl.Parse(text)
	if err != nil {
		return "", err
	}
	if profile.String() != text {
		return "", fmt.Errorf("bug: the profile does not read back as it was written:\n%s", text)
	}
	if problem := j.questions().ask(profile); problem != "" {
		return "", &UnfitError{problem, "have Node and " + j.place() + " elsewhere, not among the system's own files"}
	}
	return text, nil
}

// seatbeltPaths gives the template's placeholders their paths, sorted, each once.
func (j Job) seatbeltPaths() (map[string][]string, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	var libraries, links []string
	for _, f := range j.Runtime.Files {
		if f.Path != j.Runtime.Node {
			libraries = append(libraries, f.Path)
		}
	}
	for _, a := range j.Runtime.Aliases {
		links = append(links, a.Path)
	}
	if len(libraries) == len(j.Runtime.Files) {
		return nil, fmt.Errorf("%q is not a file of the runtime's closure", j.Runtime.Node)
	}
	if p, twice := repeated(j.closure()); twice {
		return nil, fmt.Errorf("%q is in the runtime's closure twice", p)
	}
	paths := map[string][]string{
		"node": {j.Runtime.Node}, "program": {j.Program.Path}, "input": {j.Input.Path}, "home": {j.Home},
		"libraries": distinct(libraries), "links": distinct(links),
	}
	for _, some := range paths {
		for _, p := range some {
			if err := checkPath(p); err != nil {
				return nil, err
			}
		}
	}
	if err := j.checkPlaces(); err != nil {
		return nil, err
	}
	paths["ancestors"] = ancestorsOf(slices.Concat(j.closure(), paths["program"], paths["input"], paths["home"]))
	return paths, nil
}

// checkPlaces refuses a run whose files lie where no rule means what it says.
func (j Job) checkPlaces() error {
	slot := path.Dir(j.Home)
	if strings.HasPrefix(slot, dataVolume+"/") {
		return &UnfitError{"no rule matches " + slot, "name " + j.place() + " without " + dataVolume}
	}
	for _, p := range j.closure() {
		switch {
		case strings.HasPrefix(p, dataVolume+"/"):
			return &UnfitError{"no rule matches " + p, "name Node without " + dataVolume}
		case strings.HasPrefix(p, slot+"/"):
			return &UnfitError{fmt.Sprintf("%q, which Node is made of, lies among the files of the run in %q", p, slot),
				"have Node and " + j.place() + " apart"}
		}
	}
	return nil
}

// ancestorsOf are the directories above paths, without the root, which has a rule of its own.
func ancestorsOf(paths []string) []string {
	var all []string
	for _, p := range paths {
		for dir := path.Dir(p); dir != path.Dir(dir); dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	return distinct(all)
}

// dataVolume is the other name of the volume that people's files are on. Seatbelt knows them without it.
const dataVolume = "/System/Volumes/Data"

// distinct are the words sorted, each once, in memory of their own.
func distinct(words []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(words)))
}

// repeated is a word that is there more than once, if there is one.
func repeated(words []string) (string, bool) {
	sorted := slices.Sorted(slices.Values(words))
	for n := 1; n < len(sorted); n++ {
		if sorted[n] == sorted[n-1] {
			return sorted[n], true
		}
	}
	return "", false
}
