package infer

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/plural"
)

// reads are the reads that an entity's places can serve, as lines of the design.
func (t *tableDraft) reads(e *entity) []string {
	var out []string
	line := func(name, text string) {
		out = append(out, unique(&t.draft.patterns, name)+": { "+text+" }")
	}
	names := func(paths []string) []string {
		var list []string
		for _, p := range paths {
			list = append(list, t.fieldName(p))
		}
		return list
	}
	by := func(paths []string) string {
		if len(paths) == 0 {
			return ""
		}
		return ", by: [" + strings.Join(names(paths), ", ") + "]"
	}
	byName := func(paths []string) string {
		if len(paths) == 0 {
			return ""
		}
		var list []string
		for _, n := range names(paths) {
			list = append(list, pascal(n))
		}
		return "By" + strings.Join(list, "And")
	}
	line(e.name+byName(e.keyPaths()), "one: "+e.name+by(e.keyPaths()))
	many := func(via string, pk, sk []string) {
		if slices.ContainsFunc(sk, func(p string) bool { return !slices.Contains(pk, p) }) || via != "" {
			text := "many: " + e.name
			if via != "" {
				text += ", via: " + via
			}
			name := plural.Noun(e.name) + byName(pk)
			if len(pk) == 0 {
				name = "All" + plural.Noun(e.name)
			}
			line(name, text+by(pk)+", page: 50")
		}
	}
	many("", e.main.pk.fields(), e.main.sk.fields())
	for _, c := range e.copies {
		many(c.name, c.shape.pk.fields(), c.shape.sk.fields())
	}
	for _, x := range e.entries {
		if slices.ContainsFunc(x.pk, func(p *template) bool { return slices.ContainsFunc(p.parts, part.sharded) }) {
			continue // querying all shards is for the application to decide
		}
		many(x.index.Name, fieldsIn(x.pk), fieldsIn(x.sk))
	}
	for _, m := range e.markers {
		paths := slices.Concat(m.pk.fields(), m.sk.fields())
		line(e.name+byName(paths), "one: "+e.name+", via: "+m.name+by(paths))
	}
	return out
}

// sharded reports whether a part spreads its field over shards.
func (p part) sharded() bool { return strings.Contains(funcsText(p.funcs), "|shard") }

func fieldsIn(list []*template) []string {
	var out []string
	for _, t := range list {
		for _, p := range t.fields() {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}
