// Package systems runs the tests of the systems against a DynamoDB implementation that is not ours: DynamoDB Local, AWS's
// own for development, from npm (test/setup installs the version that package-lock.json pins). What passes on both leans on
// nothing but DynamoDB's documented behaviour.
package systems_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/monotable/monotable/test/internal/localproc"
)

// TestOnDynamoDBLocal runs a test of the console, and every test of the systems but for those of their pages, with the other
// implementation's address in the environment.
func TestOnDynamoDBLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the systems' tests a second time")
	}
	endpoint := localproc.Start(t, ".")
	run := func(name string, variables []string, packages ...string) {
		command := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1"}, packages...)...) //nolint:gosec // packages of our own
		command.Dir = filepath.Join("..", "..")
		command.Env = append(os.Environ(), variables...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("the tests of %s on DynamoDB Local: %v\n%s", name, err, out)
		}
		t.Logf("%s", out)
	}
	run("the console", []string{"CONSOLE_ENDPOINT=" + endpoint}, "./internal/tools/console", "-run", "TestEndpoint")
	run("the systems", []string{"SYSTEMS_ENDPOINT=" + endpoint, "WEBTEST=off"}, "./systems/...")
}
