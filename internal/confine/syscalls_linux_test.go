package confine

import "testing"

// TestSyscallTable compares the numbers of every call that the profile names with the kernel's.
func TestSyscallTable(t *testing.T) {
	p, err := parseProfile(sample(t))
	must(t, err)
	a, err := hostArchitecture()
	must(t, err)
	kernel := kernelNumbers()
	for _, call := range p.filter.calls() {
		n, _ := syscallNumbers(call.name)
		want, exists := kernel[call.name]
		if !exists {
			want = absent
		}
		if n.on(a) != want {
			t.Errorf("%s is %d in the table, %d in the kernel", call.name, n.on(a), want)
		}
		delete(kernel, call.name)
	}
	if len(kernel) > 0 {
		t.Errorf("not in the profile: %v", kernel)
	}
}
