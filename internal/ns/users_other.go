//go:build !linux

package ns

// usersOf finds nobody: only Linux shows what a process has open to whoever may see it by files alone. Elsewhere `lsof +D` is for the person
// who releases.
func usersOf(int, string, *entry) ([]int, error) { return nil, nil }
