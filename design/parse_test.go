package design_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
)

const least = "design: 1\nname: Shop\ntables: { Shop: { key: { pk: PK } } }\n"

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	d, err := design.Parse("x", []byte(least))
	if err != nil {
		t.Fatal(err)
	}
	form, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.yaml": least, "a.design.yml": least, "plain": least, "a.json": string(form), "a.JSON": string(form),
		"a.md": "# Shop\n\n```yaml design\n" + least + "```\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := design.Load(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got.Name != "Shop" || got.Source == nil || got.Source.Name != name {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := design.Load(filepath.Join(dir, "nowhere")); err == nil || !strings.HasPrefix(err.Error(), "there is no file ") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := design.Load(dir); err == nil {
		t.Error("a directory was loaded")
	}
}

// TestTexts tests line ends, byte order marks and invalid texts.
func TestTexts(t *testing.T) {
	for _, text := range []string{least, "\ufeff" + least, strings.ReplaceAll(least, "\n", "\r\n"), strings.TrimSuffix(least, "\n")} {
		if _, err := design.Parse("x", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"\xff\xfe":                        "x:1:1: the byte 0xff is not UTF-8 text (save the file as UTF-8)",
		"design: 1\nname: é\ufffd\xe9b":   "x:2:12: the byte 0xe9 is not UTF-8 text (save the file as UTF-8)",
		"design: 1\nname: a\x00b":         `x:2:8: the text contains the control character '\x00' (write it as \x.. in double quotes)`,
		"design: 1\rname: a":              `x:1:10: the text contains the control character '\r' (write it as \x.. in double quotes)`,
		"name: ñandú\n\ttab: [":           `x:2:1: the text contains a tab (indent with spaces; write \t in double quotes)`,
		"# áéí\nnámé: ú\nname: { ñ: 1 }.": "x:3:16: invalid YAML: value is not allowed in this context",
	} {
		if _, err := design.Parse("x", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// TestLimits tests that the time for any text within the limits is bounded, with the texts that take the YAML
// library longest.
func TestLimits(t *testing.T) {
	var keys strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for name, text := range map[string]string{
		"too large":   least + strings.Repeat("# comment\n", 30_000),
		"brackets":    strings.Repeat("[", 200_000),
		"braces":      strings.Repeat("{a: ", 60_000),
		"dashes":      strings.Repeat("- ", 100_000),
		"colons":      strings.Repeat("a: ", 80_000),
		"quotes":      strings.Repeat(`"a" `, 60_000),
		"anchors":     strings.Repeat("&a ", 80_000),
		"keys":        keys.String(),
		"list":        strings.Repeat("- a\n", 60_000),
		"line":        "name: " + strings.Repeat("x", 250_000),
		"types":       strings.Replace(least, "tables", "types: { A: { fields: { a: "+strings.Repeat("list<", 40_000)+" } } }\ntables", 1),
		"many errors": least + "reads:\n" + strings.Repeat("  x y: {}\n", 5_000),
	} {
		start := time.Now()
		if _, err := design.Parse("x", []byte(text)); err == nil {
			t.Errorf("%s was taken", name)
		} else if faults := err.(design.Errors); len(faults) > 101 { //nolint:errorlint // Parse returns it unwrapped
			t.Errorf("%s: %d errors", name, len(faults))
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	deep := strings.Repeat("[", 100_000)
	if _, err := design.ParseJSON("x", []byte(deep)); err == nil || !strings.Contains(err.Error(), "nesting") {
		t.Errorf("deep JSON: %v", err)
	}
}

// TestPositions tests that every object has its position: the text there is its source.
func TestPositions(t *testing.T) {
	at := func(d *design.Design, p design.Pos, words ...string) {
		t.Helper()
		if p.Line < 1 || p.Line > len(d.Source.Lines) || p.Column < 1 || p.Column > len(d.Source.Lines[p.Line-1])+1 {
			t.Errorf("%s: %v is nowhere", d.Source.Name, p)
			return
		}
		text := strings.TrimPrefix(d.Source.Lines[p.Line-1][p.Column-1:], `"`)
		for _, w := range words {
			if strings.HasPrefix(text, w) {
				return
			}
		}
		t.Errorf("%s:%d:%d: %.40q is not one of %q", d.Source.Name, p.Line, p.Column, text, words)
	}
	key := func(d *design.Design, name string, k design.Key) {
		t.Helper()
		at(d, k.PK.Pos, k.PK.Text)
		if k.SK != nil {
			at(d, k.SK.Pos, k.SK.Text)
		}
		_ = name
	}
	for name, text := range drafts(t) {
		d, err := design.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range d.Tables {
			at(d, x.Pos, x.Name)
			for _, i := range x.Indexes {
				at(d, i.Pos, i.Name)
				at(d, i.Project.Pos, "[", "all", "keys")
			}
		}
		for _, x := range d.Enums {
			at(d, x.Pos, x.Name)
		}
		for _, e := range d.Entities {
			at(d, e.Pos, e.Name)
			key(d, e.Name, e.Key)
			for _, f := range e.Fields {
				at(d, f.Pos, f.Name)
			}
			for _, c := range e.Copies {
				at(d, c.Pos, c.Name)
				key(d, c.Name, c.Key)
			}
			for _, m := range e.Unique {
				at(d, m.Pos, m.Name)
				key(d, m.Name, m.Key)
			}
			for _, x := range e.Entries {
				at(d, x.Pos, x.Index)
				if x.Where != nil {
					at(d, x.Where.Pos, x.Where.Text)
				}
			}
			for _, a := range e.Accept {
				at(d, a.Pos, a.Rule)
			}
			for _, s := range e.Snapshots {
				at(d, s.Pos, s.Field)
			}
			if e.TTL != nil {
				at(d, e.TTL.Pos, "{")
			}
			if e.Volume != (design.Volume{}) {
				at(d, e.Volume.Pos, "{")
			}
		}
		for _, r := range d.Reads {
			at(d, r.Pos, r.Name)
			if r.Filter != nil {
				at(d, r.Filter.Pos, r.Filter.Text)
			}
		}
		for _, c := range d.Collections {
			at(d, c.Pos, c.Name)
		}
		for _, w := range d.Writes {
			at(d, w.Pos, w.Name)
			for _, s := range w.Steps {
				at(d, s.Pos, "{", "create", "put", "update", "upsert", "delete", "check", "each")
				for _, a := range s.Set {
					at(d, a.Pos, a.Field)
					at(d, a.Value.Pos, a.Value.Text)
				}
				for _, e := range s.Else {
					at(d, e.Pos, e.Error)
				}
			}
		}
		for _, s := range d.Samples {
			for field, v := range s.Values {
				at(d, v.Pos, field)
			}
		}
		for _, x := range d.Examples {
			at(d, x.Pos, "given", "{")
		}
	}
}

func TestExcerpt(t *testing.T) {
	s := &design.Source{Name: "x", Lines: []string{"ñ: b", "\tc: d"}}
	for _, c := range []struct {
		p    design.Pos
		want string
	}{
		{design.Pos{}, ""},
		{design.Pos{Line: 3, Column: 1}, ""},
		{design.Pos{Line: 1, Column: 5}, "   1 | ñ: b\n          ^"},
		{design.Pos{Line: 2, Column: 2}, "   2 | \tc: d\n       \t^"},
		{design.Pos{Line: 2, Column: 99}, "   2 | \tc: d\n       \t    ^"},
	} {
		if diff := cmp.Diff(c.want, s.Excerpt(c.p)); diff != "" {
			t.Errorf("%v:\n%s", c.p, diff)
		}
	}
	var none *design.Source
	if none.Excerpt(design.Pos{Line: 1, Column: 1}) != "" {
		t.Error("no source has an excerpt")
	}
}

// TestUnmarshal tests that encoding/json reads the interchange form, too, without ParseJSON's checks.
func TestUnmarshal(t *testing.T) {
	for name, text := range drafts(t) {
		want := form(t, name, text)
		var d design.Design
		if err := json.Unmarshal([]byte(want), &d); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestDateLayouts tests that every layout in templates has one in Go's notation.
func TestDateLayouts(t *testing.T) {
	at := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	for layout, want := range map[string]string{"yyyy": "2024", "yyyy-MM": "2024-01", "yyyy-MM-dd": "2024-01-15", "yyyy-MM-ddTHH": "2024-01-15T10"} {
		if _, err := design.ParseTemplate("{at|date(" + layout + ")}"); err != nil {
			t.Error(err)
		}
		if got := at.Format(design.DateLayouts()[layout]); got != want {
			t.Errorf("%s is %s, want %s", layout, got, want)
		}
	}
}
