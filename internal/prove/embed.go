package prove

import "embed"

// javaScript is what runs beside the acts of the table.
//
//go:embed js/*
var javaScript embed.FS

// cSources are the native probe and the native module.
//
//go:embed native
var cSources embed.FS

// source is an embedded file. The names are constants of this package.
func source(from embed.FS, name string) string {
	content, err := from.ReadFile(name)
	if err != nil {
		panic("prove: bug: " + err.Error())
	}
	return string(content)
}
