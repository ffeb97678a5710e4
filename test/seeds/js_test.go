package seeds

import (
	"os/exec"
	"regexp"
	"testing"

	"github.com/monotable/monotable/test/internal/npm"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// somePassed matches a line of node's summary.
var somePassed = regexp.MustCompile(`pass [1-9]`)

// TestJavaScript runs the tests under js/, which send the documents' requests with @aws-sdk/lib-dynamodb over
// HTTP, against the built server.
func TestJavaScript(t *testing.T) {
	npm.WantInstalled(t, "js")
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
