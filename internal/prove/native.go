package prove

import "context"

func nativeProbes(goos, goarch string) []Probe     { return nil }
func soloActs(goarch string) []Probe               { return nil }
func nativeVictims() []string                      { return nil }
func nativeActs(table []Probe) string              { return "" }
func addNativeTargets(files map[string]string)     {}
func (s *scene) lookNative(seen map[string]string) {}
func compileProbe(ctx context.Context, out string) (compiler string, err error) {
	return "", errNoCompiler
}
