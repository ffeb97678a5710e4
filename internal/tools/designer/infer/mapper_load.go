package infer

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed dump.mjs
var dump string

// Load reads a library's model from a file: JSON as it is, or a JavaScript or TypeScript module, which Node.js runs with
// the application's own copy of the library. The module's output goes to stderr.
func Load(ctx context.Context, of Mapper, file string, stderr io.Writer) ([]byte, error) {
	if strings.EqualFold(filepath.Ext(file), ".json") {
		return os.ReadFile(file) //nolint:gosec // the user names the file to read
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no file %s", file)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("loading a module needs Node.js 20 or newer, but there is no node on the PATH; a .json model does not need it")
	}
	cmd := exec.CommandContext(ctx, node, "--input-type=module", "-", string(of), path) //nolint:gosec // the user asks to run the module
	cmd.Dir = filepath.Dir(path)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(dump), &out, stderr
	err = cmd.Run()
	_, model, found := strings.Cut(out.String(), "\x1e")
	fault, failed := strings.CutPrefix(model, "!")
	switch {
	case found && failed:
		return nil, fmt.Errorf("%s: %s", file, strings.TrimSpace(fault))
	case err != nil:
		return nil, fmt.Errorf("%s: node: %w", file, err)
	case !found:
		return nil, fmt.Errorf("%s: the module ended before its models could be read", file)
	}
	return []byte(model), nil
}
