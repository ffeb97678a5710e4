//go:build unix

package tikvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// nodeProgram is the name of the stand-in's program. It is not node: whoever ends Node.js by name would end the cluster's nodes.
const nodeProgram = "tikv-stand-in"

// build builds the placement driver and the stand-in, and returns their directory. Of concurrent processes, only one builds.
var build = sync.OnceValues(func() (dir string, err error) {
	mod, err := runGo("", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	root := filepath.Dir(mod)
	dir = filepath.Join(root, "bin", "tikv")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, "lock")) //nolint:gosec // in the tree
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	node := filepath.Join(root, "test", "tikv", "node")
	modfile, err := correct(node, dir)
	if err != nil {
		return "", err
	}
	for _, b := range []struct {
		in, name string
		args     []string
	}{
		{filepath.Join(root, "test", "tikv", "pd"), "pd-server", []string{"-tags=without_dashboard", "github.com/tikv/pd/cmd/pd-server"}},
		// Its dependencies are older than Go's check of linkname, and register a Protocol Buffers file twice.
		{node, nodeProgram, []string{
			"-modfile=" + modfile,
			"-ldflags=-checklinkname=0 -X google.golang.org/protobuf/reflect/protoregistry.conflictPolicy=ignore", ".",
		}},
	} {
		if _, err := runGo(b.in, append([]string{"build", "-o", filepath.Join(dir, b.name)}, b.args...)...); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// corrections of the stand-in's dependencies, without which reads return wrong values.
var corrections = []struct{ module, file, old, corrected string }{
	{ // A reverse scan also returned values committed after its timestamp: it created its iterator before it set the timestamp.
		"github.com/pingcap/tidb", "store/mockstore/unistore/tikv/dbreader/db_reader.go",
		"\titer := r.getReverseIter()\n\tr.txn.SetReadTS(startTS)\n",
		"\tr.txn.SetReadTS(startTS)\n\titer := r.getReverseIter()\n",
	},
	{ // A scan returned another key's value if a batch of writes that was just being applied had several versions of one key.
		"github.com/pingcap/badger", "table/memtable/table.go",
		"return it.n.entries[it.idx].Value", "return it.n.entries[it.getEntryIdx()].Value",
	},
}

// correct copies the modules to correct into dir, corrects them, and returns a go.mod file for the stand-in that uses the copies.
func correct(node, dir string) (modfile string, err error) {
	modfile = filepath.Join(dir, "node.mod")
	if err := errors.Join(copyFile(modfile, filepath.Join(node, "go.mod")), copyFile(filepath.Join(dir, "node.sum"), filepath.Join(node, "go.sum"))); err != nil {
		return "", err
	}
	for _, c := range corrections {
		if _, err := runGo(node, "mod", "download", c.module); err != nil {
			return "", err
		}
		original, err := runGo(node, "list", "-m", "-f", "{{.Dir}}", c.module)
		if err != nil {
			return "", err
		}
		corrected := filepath.Join(dir, "corrected", filepath.Base(c.module))
		if err := os.RemoveAll(corrected); err != nil {
			return "", err
		}
		if err := os.CopyFS(corrected, os.DirFS(original)); err != nil {
			return "", err
		}
		file := filepath.Join(corrected, c.file)
		text, err := os.ReadFile(file) //nolint:gosec // a copy
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), c.old) != 1 {
			return "", fmt.Errorf("%s of %s: the text to correct has changed: %s", c.file, c.module, c.old)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), c.old, c.corrected, 1)), 0o600); err != nil {
			return "", err
		}
		if _, err := runGo(dir, "mod", "edit", "-replace="+c.module+"="+corrected, modfile); err != nil {
			return "", err
		}
	}
	return modfile, nil
}

// runGo runs the go command in a directory, and returns what it prints.
func runGo(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...) //nolint:gosec // arguments of this package
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &errs)
	}
	return strings.TrimSpace(out.String()), nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from) //nolint:gosec // in the tree
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
