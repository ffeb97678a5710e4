package attach

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// TableOf returns the table of a design with a given real name, and the real names of all of the design's tables; nil if there
// is none. tables are the known real names by their names in the design; the other names come from the design, where a
// placeholder matches any text.
func TableOf(d *design.Design, tables map[string]string, name string) (of *design.Table, named map[string]string) {
	for _, t := range d.Tables {
		named := maps.Clone(tables)
		if own := named[t.Name]; own != "" {
			if own != name {
				continue
			}
			return t, named
		}
		stage, is := placeholders(t.Physical, name)
		if !is {
			continue
		}
		if named == nil {
			named = map[string]string{}
		}
		for _, other := range d.Tables {
			if named[other.Name] == "" {
				named[other.Name] = stage.Replace(other.Physical)
			}
		}
		named[t.Name] = name
		return t, named
	}
	return nil, nil
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// placeholders returns the values of the placeholders of a table's name in the design, such as shop-{stage}, if its real name
// matches.
func placeholders(physical, table string) (*strings.Replacer, bool) {
	var pattern strings.Builder
	var names []string
	at := 0
	for _, m := range placeholder.FindAllStringIndex(physical, -1) {
		pattern.WriteString(regexp.QuoteMeta(physical[at:m[0]]) + "(.+)")
		names = append(names, physical[m[0]:m[1]])
		at = m[1]
	}
	pattern.WriteString(regexp.QuoteMeta(physical[at:]))
	found := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(table)
	if found == nil {
		return nil, false
	}
	var pairs []string
	for i, name := range names {
		if !slices.Contains(pairs, name) {
			pairs = append(pairs, name, found[i+1])
		}
	}
	return strings.NewReplacer(pairs...), true
}
