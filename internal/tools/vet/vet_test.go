package vet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/vet"
)

const shop = `design: 1
name: Shop
tables: { shop: { key: { pk: PK, sk: SK }, type_attr: none, indexes: { ByState: { pk: G } } }, log: { name: "log-{stage}", key: { pk: PK } } }
entities:
  User:
    table: shop
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    index: { ByState: { pk: "STATE#{state}" } }
    unique: { Mail: { pk: "MAIL#{mail}", sk: X } }
    copies: { plain: { pk: "PLAIN#{orderId}", sk: X, fields: all } }
    fields: { userId: id, orderId: id, state: text, mail: email }
  Event: { table: log, key: { pk: "{eventId}" }, fields: { eventId: id } }
`

func TestRun(t *testing.T) {
	d, err := design.Parse("shop.design.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"around.go", "refusal.go"} {
		source, err := os.ReadFile("testdata/around/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if _, rule, is := strings.Cut(line, "// want "); is {
				want = append(want, fmt.Sprintf("%s:%d %s", name, i+1, rule))
			}
			if strings.HasSuffix(line, "//monotable:allow") { // without a reason it has no effect
				want = append(want, fmt.Sprintf("%s:%d %s", name, i+1, vet.TableRule), fmt.Sprintf("%s:%d %s", name, i+1, vet.AllowRule))
			}
		}
	}
	for _, tests := range []bool{false, true} {
		found, err := vet.Run(vet.Options{Packages: []string{"./testdata/around", "./testdata/arounddb"}, Designs: []*design.Design{d}, Tests: tests})
		if err != nil {
			t.Fatal(err)
		}
		if tests {
			want = append(want, "around_test.go:8 "+vet.TableRule)
		}
		var got []string
		for _, f := range found {
			got = append(got, fmt.Sprintf("%s:%d %s", filepath.Base(f.File), f.Line, f.Rule))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("tests %v: found\n%s\nwant\n%s", tests, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if _, err := vet.Run(vet.Options{Packages: []string{"./testdata/nothing"}}); err == nil || !strings.HasPrefix(err.Error(), "./testdata/nothing: stat ") {
		t.Errorf("a package that is not there: %v", err)
	}
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "go.mod"), []byte("module empty\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := vet.Run(vet.Options{Dir: empty, Packages: []string{"./..."}}); err == nil || err.Error() != "no packages match ./..." {
		t.Errorf("no packages: %v", err)
	}
}
