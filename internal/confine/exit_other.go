//go:build !linux && !darwin

package confine

type exitWatch struct{}

func watchExit(int) (exitWatch, error) { return exitWatch{}, unsupported() }

func (exitWatch) wait() error { return unsupported() }
