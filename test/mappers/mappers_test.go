// Package mappers imports models of ElectroDB, OneTable and dynamodb-toolbox, lets the libraries write items to a server,
// and checks that the imported designs recognize each item: the templates must produce the same keys as the libraries.
package mappers

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/monotable/monotable/test/internal/npm"
	"github.com/monotable/monotable/test/internal/serverproc"
)

func TestMappers(t *testing.T) {
	npm.WantInstalled(t, "js")
	binary := serverproc.Build(t)
	for _, c := range []struct {
		library string
		// items is the number of items the module writes, indexes are the indexes that its reads must use.
		items   int
		indexes []string
		left    []string
	}{
		{"electrodb", 6, []string{"bikes", "bikes gsi1", "bikes gsi2", "bikes gsi3"}, []string{
			"Rider: default of vip",
			"Repair: extra, whose type is any",
			"Repair: items without bay in index gsi2: the library may write part of the key",
			"Tool: the query byBay, which filters what others have in the clustered index gsi2; the collection has them all",
		}},
		{"onetable", 6, []string{"library", "library gs1", "library ls1"}, []string{
			"Member: unique of email",
			"Loan: value of prefix",
			"Loan: items without shelf in index gs1: the library writes only one of the two key attributes",
		}},
		{"toolbox", 4, []string{"railway", "railway byLine", "railway byKind"}, []string{"Station: transform of motto", "Station: default of g1pk"}},
	} {
		t.Run(c.library, func(t *testing.T) {
			server := serverproc.Start(t, binary, "--memory")
			design := filepath.Join(t.TempDir(), "imported.design.yaml")
			module := filepath.Join("js", c.library+".mjs")
			_, said := run(t, binary, "infer", "--"+c.library, module, "-o", design)
			text, err := os.ReadFile(design)
			if err != nil {
				t.Fatal(err)
			}
			for _, left := range c.left {
				_, comment, _ := strings.Cut(left, ": ")
				if !strings.Contains(said, "not imported: "+left+"\n") || !strings.Contains(string(text), "# not imported: "+comment+"\n") {
					t.Errorf("that %q is left out is not said:\n%s\n%s", left, said, text)
				}
			}
			run(t, binary, "fmt", "--check", design)
			run(t, binary, "provision", design, "--apply", "--endpoint", server.Endpoint)

			script := "import('./" + c.library + ".mjs').then((m) => m.seed(process.argv[1])).then(() => process.exit(0))"
			node := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", script, server.Endpoint) //nolint:gosec // our own
			node.Dir = "js"
			if out, err := node.CombinedOutput(); err != nil {
				t.Fatalf("the library does not write: %v\n%s", err, out)
			}
			var report struct {
				Tables []struct {
					Places []struct{ Items int }
				}
				Findings []any
			}
			out, _ := run(t, binary, "conform", design, "--endpoint", server.Endpoint, "--json")
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatal(err)
			}
			known := 0
			for _, p := range report.Tables[0].Places {
				known += p.Items
			}
			if known != c.items || len(report.Findings) > 0 {
				t.Errorf("%d items are known, want %d:\n%s\n%s", known, c.items, out, text)
			}
			plans, _ := run(t, binary, "explain", design)
			for _, index := range c.indexes {
				if !strings.Contains(plans, "Query "+index+"\n") {
					t.Errorf("no read is served by a Query of %s:\n%s", index, plans)
				}
			}
			if strings.Contains(plans, "Scan ") {
				t.Errorf("a read is a Scan:\n%s", plans)
			}
		})
	}
}

// TestModules: modules without a model, or that fail, are reported.
func TestModules(t *testing.T) {
	npm.WantInstalled(t, "js")
	binary := serverproc.Build(t)
	dir := t.TempDir()
	for name, c := range map[string]struct{ module, want string }{
		"nothing.mjs": {"export const x = 1; console.log('hello')", "it exports no model of electrodb"},
		"throws.mjs":  {"throw new Error('no such thing')", "no such thing"},
		"exits.mjs":   {"process.exit(3)", "node: exit status 3"},
		"absent.mjs":  {"", "there is no file"},
		"text.json":   {"[]", "the model has no entity"},
		"other.json":  {`{"a": 1}`, "not an ElectroDB model"},
	} {
		file := filepath.Join(dir, name)
		if c.module != "" {
			if err := os.WriteFile(file, []byte(c.module), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), binary, "infer", "--electrodb", file) //nolint:gosec // our own
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: got %v and %s, want an error with %q", name, err, out, c.want)
		}
	}
}

// run runs a command that must succeed.
func run(t *testing.T, binary string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && args[0] != "conform" { // conform also reports findings in its exit status
		t.Fatalf("%v: %v\n%s%s", args, err, &out, &said)
	}
	return out.String(), said.String()
}
