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

// TestOnDynamoDBLocal runs every test of the systems, but for those of their pages, with the other implementation's address in the
// environment, and copies tables from it.
func TestOnDynamoDBLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the systems' tests a second time")
	}
	endpoint := localproc.Start(t, ".")
	t.Run("copy", func(t *testing.T) { testCopy(t, endpoint) })
	t.Run("systems", func(t *testing.T) { testSystems(t, endpoint) })
}

func testSystems(t *testing.T, endpoint string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "./systems/...")
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), "SYSTEMS_ENDPOINT="+endpoint, "WEBTEST=off")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("the systems' tests on DynamoDB Local: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
