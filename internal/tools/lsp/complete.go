package lsp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/tools/designer/check"
)

// mark is inserted in place of the word being typed, so that its symbol is found like any other.
const mark = "zqMARKqz"

// complete offers completions for the position: missing keys of the language, and names of the expected kind.
func (s *server) complete(p *place) (*completionList, error) {
	from, to := p.offset, p.offset
	for from > 0 && isNameByte(p.content[from-1]) {
		from--
	}
	for to < len(p.content) && isNameByte(p.content[to]) {
		to++
	}
	content := p.content[:from] + mark + p.content[to:]
	c := completer{content: content, rangeOf: p.rangeOf(from, to), seen: map[string]bool{}, root: scan(content)}
	c.symbols = symbolsOf(c.root)
	if i := slices.IndexFunc(c.symbols, func(s symbol) bool { return strings.Contains(s.name, mark) && !strings.Contains(s.name, "\n") }); i >= 0 {
		s := c.symbols[i] // names of tables and indexes can also contain dots and dashes
		c.rangeOf = p.rangeOf(s.from, s.to-len(mark)+to-from)
	}
	var here *node
	asKey := false
	c.root.walk(func(n *node) {
		switch {
		case n.key != nil && strings.Contains(n.key.text, mark):
			here, asKey = n, true
		case n.value != nil && strings.Contains(n.value.text, mark):
			here, asKey = n, false
		}
	})
	if here != nil {
		c.at(here, asKey)
	}
	return &completionList{Items: append([]completionItem{}, c.items...)}, nil
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

type completer struct {
	content string
	root    *node
	symbols []symbol
	rangeOf textRange
	seen    map[string]bool
	items   []completionItem
}

func (c *completer) offer(label string, kind int, detail, words string) {
	if label == "" || c.seen[label] || strings.Contains(label, mark) {
		return
	}
	c.seen[label] = true
	c.items = append(c.items, completionItem{Label: label, Kind: kind, Detail: detail, Documentation: words, TextEdit: textEdit{c.rangeOf, label}})
}

func (c *completer) at(n *node, asKey bool) {
	w := n.value
	if asKey {
		w = n.key
	}
	s := n.slot
	if asKey {
		s = n.parent.slot
	}
	// A value on its own line, or an item of a list, may be the first key of a map.
	first := asKey || n.key == nil || strings.Contains(c.content[n.key.to:n.value.from], "\n")
	if first && !w.quoted {
		for _, t := range s.takes {
			for _, key := range slices.Sorted(maps.Keys(t.Properties)) {
				if container(n, asKey).child(key) == nil {
					c.offer(key, itemProperty, "", t.Properties[key].Description)
				}
			}
		}
	}
	if !asKey {
		for _, t := range s.takes {
			for _, v := range t.Enum {
				c.offer(fmt.Sprint(v), itemValue, "", "")
			}
		}
		c.types(n)
	}
	c.names(w)
}

// container is the node whose keys are siblings of the key being typed.
func container(n *node, asKey bool) *node {
	if asKey {
		return n.parent
	}
	return n
}

// types are the types of fields, including enumerations and structures.
func (c *completer) types(n *node) {
	switch n.slot.name {
	case "field.type", "entity.fields/", "type.fields/", "write.params/", "flow.given/":
		for _, s := range c.symbols {
			if s.declares && s.kind == typeKind {
				c.offer(s.name, itemClass, "type", "")
			}
		}
		for _, of := range []string{"list", "set", "map"} {
			c.offer(of, itemClass, of+"<T>", "")
		}
	case "read.via", "collection.via":
		c.offer("key", itemValue, "the table's primary key", "")
	}
}

// names are the names of the mark's kind.
func (c *completer) names(w *word) {
	i := slices.IndexFunc(c.symbols, func(s symbol) bool {
		return strings.Contains(s.name, mark) && w.from <= s.from && s.to <= w.to
	})
	if i < 0 || c.symbols[i].declares {
		return
	}
	here := c.symbols[i]
	if here.kind == ruleKind {
		for _, r := range check.Rules() {
			c.offer(r.ID, itemEvent, string(r.Severity), r.Title)
		}
		return
	}
	kinds := map[kind]int{fieldKind: itemField, entityKind: itemClass, typeKind: itemClass}
	for _, s := range c.symbols {
		here.name = s.name // with any name
		if !s.declares || !same(&s, &here) {
			continue
		}
		item := kinds[s.kind]
		if item == 0 {
			item = itemValue
		}
		c.offer(s.name, item, strings.Join(append([]string{string(s.kind)}, s.within...), " of "), "")
	}
}
