package tikvtest

import (
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
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
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
		cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(dir, b.name)}, b.args...)...) //nolint:gosec // constants
		cmd.Dir = b.in
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", b.name, err, text)
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
		list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", c.module) //nolint:gosec // a constant
		list.Dir = node
		original, err := list.Output()
		if err != nil {
			return "", fmt.Errorf("looking for %s: %w", c.module, err)
		}
		corrected := filepath.Join(dir, "corrected", filepath.Base(c.module))
		if err := os.RemoveAll(corrected); err != nil {
			return "", err
		}
		if err := os.CopyFS(corrected, os.DirFS(strings.TrimSpace(string(original)))); err != nil {
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
		edit := exec.Command("go", "mod", "edit", "-replace="+c.module+"="+corrected, modfile) //nolint:gosec // our own paths
		if text, err := edit.CombinedOutput(); err != nil {
			return "", fmt.Errorf("replacing %s: %w\n%s", c.module, err, text)
		}
	}
	return modfile, nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from) //nolint:gosec // in the tree
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
