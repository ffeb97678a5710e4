package partiql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/partiql"
)

// Each script gives a statement per directive; the output is the statement as Print writes it, or the error.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			s, err := partiql.Parse(d.Input)
			if err != nil {
				return err.Error() + "\n"
			}
			return partiql.Print(s) + "\n"
		})
	})
}

// TestKeywordsAsNames tests that keywords are only names in quotation marks.
func TestKeywordsAsNames(t *testing.T) {
	for _, name := range []string{"user", "KEY", "size", "value", "Timestamp"} {
		if _, err := partiql.Parse("SELECT * FROM t WHERE " + name + " = 1"); err == nil {
			t.Errorf("%s is a name", name)
		}
		s, err := partiql.Parse(`SELECT * FROM t WHERE "` + name + `" = 1`)
		if err != nil {
			t.Errorf("%s in quotation marks: %v", name, err)
			continue
		}
		want := &partiql.Comparison{
			Op:    "=",
			Left:  &partiql.Path{Steps: []partiql.Step{{Name: name, ByName: true}}},
			Right: &partiql.Number{Text: "1"},
		}
		if diff := cmp.Diff(want, s.Select.Where); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestBounds tests that nesting and operators are bounded, of any kind.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       partiql.Detail
	}{
		{"parentheses", "SELECT * FROM t WHERE " + strings.Repeat("(", 4000), partiql.TooDeep},
		{"lists", "INSERT INTO t VALUE " + strings.Repeat("[", 4000), partiql.TooDeep},
		{"maps", "INSERT INTO t VALUE " + strings.Repeat("{'a':", 1600), partiql.TooDeep},
		{"sets", "INSERT INTO t VALUE " + strings.Repeat("<<", 4000), partiql.TooDeep},
		{"calls", "SELECT * FROM t WHERE " + strings.Repeat("f(", 4000), partiql.TooDeep},
		{"negations", "SELECT * FROM t WHERE " + strings.Repeat("NOT ", 2000), partiql.TooDeep},
		{"sums", "SELECT * FROM t WHERE a = 1" + strings.Repeat("+1", 2000), partiql.TooManyOperators},
		{"comparisons", "SELECT * FROM t WHERE a" + strings.Repeat("=1", 2000), partiql.TooManyOperators},
		{"terms", "SELECT * FROM t WHERE a" + strings.Repeat(" AND a", 1000), partiql.TooManyOperators},
	} {
		_, err := partiql.Parse(tt.text)
		if got, ok := errors.AsType[*partiql.Error](err); !ok || got.Detail != tt.want {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := partiql.Parse("SELECT * FROM t WHERE " + strings.Repeat("(", 90) + "a = 1" + strings.Repeat(")", 90)); err != nil {
		t.Errorf("90 parentheses: %v", err)
	}
}

// FuzzParse: no text panics; what parses is printed as a text of the same tree.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`SELECT * FROM "Orders" WHERE OrderID IN [100, 300, 234] ORDER BY OrderID DESC`,
		`SELECT Devices.FireStick.DateWatched[0] FROM "t"."i" WHERE a BETWEEN 1 AND 2 OR NOT (b IS NOT MISSING AND c <> ?)`,
		`INSERT INTO t VALUE {'a': <<1, -2.5e3>>, 'b': [NULL, TRUE, {'it''s': ?}]}`,
		`UPDATE "Music" SET a = set_add(a, <<'x'>>) SET b = b + 1, c = list_append(c, [1]) REMOVE d[2] WHERE p = 'x' RETURNING MODIFIED NEW *`,
		`DELETE FROM t WHERE a = 1 AND size(b) > 2 AND c NOT IN (1, 2) RETURNING ALL OLD * ;`,
		`EXISTS(SELECT * FROM t WHERE a = 'b' /* c */) -- d`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := partiql.Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a sentence")
			}
			return
		}
		printed := partiql.Print(s)
		again, err := partiql.Parse(printed)
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, printed, err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("%q is printed as %q (-before +after)\n%s", text, printed, diff)
		}
	})
}
