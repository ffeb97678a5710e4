package design

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Load reads a design from a file: YAML, the interchange form if the name ends in .json, or the fences marked
// "yaml design" in a document whose name ends in .md.
func Load(name string) (*Design, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the user names the file to read
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %s", name)
		}
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return ParseJSON(name, data)
	case ".md", ".markdown":
		return ParseMarkdown(name, data)
	default:
		return Parse(name, data)
	}
}

// Parse reads a design from YAML. name is used in errors, which are Errors: all of them, not just the first.
func Parse(name string, data []byte) (*Design, error) {
	source, data := syntax.NewSource(name, data)
	return parse(source, data)
}

// parse parses YAML that is the source, or has its line numbers.
func parse(source *Source, data []byte) (*Design, error) {
	root, _, err := syntax.ParseYAML(source, data)
	if err != nil {
		return nil, err
	}
	f := &syntax.Faults{Source: source, Places: map[*string]Pos{}}
	if root.Kind == syntax.NullNode {
		f.Hint(Pos{Line: 1, Column: 1}, "start the design with the line \"design: 1\"", "the text is empty")
		return nil, f.Err()
	}
	var file fileShape
	decoder(f, "yaml").Value(root, reflect.ValueOf(&file).Elem())
	if err := f.Err(); err != nil {
		return nil, err // further errors would only be consequences
	}
	r := &resolver{Faults: f, design: &Design{Version: Version, Tables: []*Table{}, Entities: []*Entity{}, Source: source}}
	r.file(&file)
	return checked(f, r.design)
}

// ParseMarkdown reads a design in a document, in one or several fences:
//
//	```yaml design
//	design: 1
//	```
//
// The fences form one text; errors refer to the document's lines.
func ParseMarkdown(name string, data []byte) (*Design, error) {
	source, data := syntax.NewSource(name, data)
	lines := bytes.Split(data, []byte("\n"))
	found, err := syntax.Fences(source)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, f := range found {
		for ; at < f.From; at++ {
			lines[at] = nil
		}
		at = f.To
	}
	for ; at < len(lines); at++ {
		lines[at] = nil
	}
	return parse(source, bytes.Join(lines, []byte("\n")))
}

// ParseJSON reads the interchange form, as written by Design.JSON, and applies the same rules as Parse.
func ParseJSON(name string, data []byte) (*Design, error) {
	source, data := syntax.NewSource(name, data)
	root, err := syntax.ParseJSON(source, data)
	if err != nil {
		return nil, err
	}
	f := &syntax.Faults{Source: source, Places: map[*string]Pos{}}
	d := &Design{Source: source}
	decoder(f, "json").Value(root, reflect.ValueOf(d).Elem())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if d.Version != Version {
		f.Fault(root.Pos, "the design has version %d, but this program supports version %d", d.Version, Version)
		return nil, f.Err()
	}
	return checked(f, d)
}

// checked returns the design if it has no errors.
func checked(f *syntax.Faults, d *Design) (*Design, error) {
	c := checker{Faults: f, design: d}
	c.check()
	if err := f.Err(); err != nil {
		return nil, err
	}
	return d, nil
}
