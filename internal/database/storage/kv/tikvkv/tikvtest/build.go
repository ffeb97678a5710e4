package tikvtest

import (
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
	for _, b := range [][]string{
		{"pd", "pd-server", "-tags=without_dashboard", "github.com/tikv/pd/cmd/pd-server"},
		// Its dependencies are older than Go's check of linkname, and register a Protocol Buffers file twice.
		{"node", nodeProgram, "-ldflags=-checklinkname=0 -X google.golang.org/protobuf/reflect/protoregistry.conflictPolicy=ignore", "."},
	} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, b[1]), b[2], b[3]) //nolint:gosec // constants
		cmd.Dir = filepath.Join(root, "test", "tikv", b[0])
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", b[1], err, text)
		}
	}
	return dir, nil
})
