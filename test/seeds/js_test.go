package seeds

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// somePassed matches a line of node's summary.
var somePassed = regexp.MustCompile(`pass [1-9]`)

// TestJavaScript runs the tests under js/, which send the documents' requests with @aws-sdk/lib-dynamodb over
// HTTP, against the built server.
func TestJavaScript(t *testing.T) {
	wantInstalledPackages(t)
	buckets := t.TempDir()
	server := serverproc.Start(t, serverproc.Build(t), "--memory", "--s3-dir", buckets)
	node := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec")
	node.Dir = "js"
	node.Env = append(server.Env(), "S3_DIR="+buckets)
	output, err := node.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", node, err, output)
	}
	if !somePassed.Match(output) {
		t.Errorf("node ran no tests:\n%s", output)
	}
}

// wantInstalledPackages compares the installed packages with those pinned by the lock file.
func wantInstalledPackages(t *testing.T) {
	t.Helper()
	const remedy = "run `make setup`"
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("%v: install Node.js 20 or newer, then %s", err, remedy)
	}
	pinned, err := os.ReadFile(filepath.Join("js", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	installed, err := os.ReadFile(filepath.Join("js", "node_modules", ".installed"))
	if err != nil || !bytes.Equal(pinned, installed) {
		t.Fatalf("js/node_modules is not what js/package-lock.json pins: %s", remedy)
	}
}
