package prove

import (
	"context"
	"errors"
	"fmt"
	osexec "os/exec"
)

// errNoCompiler says that no C compiler was found: rows that need native code stay untried.
var errNoCompiler = errors.New("there is no C compiler: install gcc, or clang")

// compile builds C sources into one file, a shared library or a program, and names the compiler.
func compile(ctx context.Context, out string, shared bool, sources ...string) (compiler string, err error) {
	compiler, err = osexec.LookPath("cc")
	if err != nil {
		return "", errNoCompiler
	}
	args := []string{"-O1", "-o", out}
	if shared {
		args = append(args, "-shared", "-fPIC")
	}
	said, err := osexec.CommandContext(ctx, compiler, append(args, sources...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", compiler, err, said)
	}
	return compiler, nil
}
