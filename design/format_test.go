package design_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
)

// TestFormat runs testdata/format: a text (format), or a document (markdown), to its canonical form.
func TestFormat(t *testing.T) {
	datadriven.Walk(t, "testdata/format", func(t *testing.T, path string) {
		t.Helper()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			name := "x.yaml"
			if d.Cmd == "markdown" {
				name = "x.md"
			}
			out, err := design.Format(name, []byte(d.Input))
			if err != nil {
				return err.Error()
			}
			again, err := design.Format(name, out)
			if err != nil {
				t.Fatalf("%s: the output of Format is rejected: %v\n%s", d.Pos, err, out)
			}
			if diff := cmp.Diff(string(out), string(again)); diff != "" {
				t.Fatalf("%s: formatting is not idempotent:\n%s", d.Pos, diff)
			}
			return string(out)
		})
	})
}

// TestFormatDrafts tests that formatting a draft does not change its meaning, and formatting it
// again changes nothing.
func TestFormatDrafts(t *testing.T) {
	for name, text := range drafts(t) {
		out, err := design.Format(name, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(form(t, name, text), form(t, name, out)); diff != "" {
			t.Errorf("%s: formatting changes the design:\n%s", name, diff)
		}
		again, err := design.Format(name, out)
		if diff := cmp.Diff(string(out), string(again)); err != nil || diff != "" {
			t.Errorf("%s: formatting is not idempotent: %v\n%s", name, err, diff)
		}
	}
}

// form is the interchange form of a text.
func form(tb testing.TB, name string, text []byte) string {
	tb.Helper()
	d, err := design.Parse(name, text)
	if err != nil {
		tb.Fatal(err)
	}
	j, err := d.JSON()
	if err != nil {
		tb.Fatal(err)
	}
	return string(j)
}
