package lsp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/creachadair/jrpc2"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// same reports whether two symbols are, or may be, the same object.
func same(a, b *symbol) bool {
	if a.kind != b.kind || a.name != b.name {
		return false
	}
	if len(a.within) == 0 || len(b.within) == 0 {
		return true
	}
	return slices.ContainsFunc(a.within, func(w string) bool { return slices.Contains(b.within, w) })
}

func (s *server) definition(p *place) ([]location, error) {
	return p.found(func(x *symbol) bool { return x.declares }), nil
}

func (s *server) references(p *place) ([]location, error) {
	return p.found(func(x *symbol) bool { return p.params.Context.IncludeDeclaration || !x.declares }), nil
}

// found are the positions of those symbols that are the same object as the one at the position.
func (p *place) found(wanted func(*symbol) bool) []location {
	out := []location{}
	symbols := p.scanned().symbols
	here := at(symbols, p.offset)
	if here == nil {
		return out
	}
	for i := range symbols {
		if x := &symbols[i]; same(here, x) && wanted(x) {
			out = append(out, location{p.uri, p.rangeOf(x.from, x.to)})
		}
	}
	return out
}

// renamed is the symbol at the position, if it can be renamed.
func (p *place) renamed() (*symbol, error) {
	here := at(p.scanned().symbols, p.offset)
	if here == nil || here.kind == ruleKind {
		return nil, jrpc2.Errorf(requestFailed, "there is no name here that the design declares")
	}
	if !slices.ContainsFunc(p.scanned().symbols, func(x symbol) bool { return x.declares && same(here, &x) }) {
		return nil, jrpc2.Errorf(requestFailed, "the design does not declare %s", here.name)
	}
	return here, nil
}

func (s *server) prepareRename(p *place) (*prepared, error) {
	here, err := p.renamed()
	if err != nil {
		return nil, err
	}
	return &prepared{p.rangeOf(here.from, here.to), p.content[here.from:here.to]}, nil
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z]\w*$`)
	tableName = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
)

// rename renames the object at the position everywhere, without changing what is stored. A field is renamed in the
// entities that have it there; if the design then differs, because others share the field by name, it is renamed in all
// that have a field of that name.
func (s *server) rename(p *place) (*workspaceEdit, error) {
	here, err := p.renamed()
	if err != nil {
		return nil, err
	}
	name := p.params.NewName
	allowed := plainName
	if here.kind == tableKind || here.kind == indexKind {
		allowed = tableName
	}
	if !allowed.MatchString(name) {
		return nil, jrpc2.Errorf(requestFailed, "%q is not a valid name", name)
	}
	if here.small {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	if name == here.name {
		return &workspaceEdit{map[string][]textEdit{}}, nil
	}
	d, before, err := s.whole(p.name, p.content)
	if err != nil {
		return nil, jrpc2.Errorf(requestFailed, "the design has errors: %v", err)
	}
	ways := []func(*symbol) bool{func(x *symbol) bool { return same(here, x) }}
	if here.kind == fieldKind {
		ways = append(ways, func(x *symbol) bool { return x.kind == fieldKind && x.name == here.name })
	}
	for _, way := range ways {
		if slices.ContainsFunc(p.scanned().symbols, func(x symbol) bool {
			return x.declares && x.name == name && x.kind == here.kind && slices.ContainsFunc(p.scanned().symbols, func(y symbol) bool {
				return y.declares && way(&y) && slices.Equal(x.within, y.within)
			})
		}) {
			return nil, jrpc2.Errorf(requestFailed, "the design already has the %s %s", here.kind, name)
		}
		edits := p.edits(d, way, name)
		var after map[string]int
		result := p.applied(edits)
		if _, after, err = s.whole(p.name, result); err != nil {
			continue
		}
		if err = differs(before, after); clashes(result) > clashes(p.content) {
			err = errors.New("a write would have a param with the name of a field")
		}
		if err == nil {
			return &workspaceEdit{map[string][]textEdit{p.uri: edits}}, nil
		}
	}
	return nil, jrpc2.Errorf(requestFailed, "the rename would change the meaning of the design: %v", err)
}

func (p *place) edits(d *design.Design, way func(*symbol) bool, name string) []textEdit {
	var out []textEdit
	last := -1
	for i := range p.scanned().symbols {
		x := &p.scanned().symbols[i]
		if !way(x) || x.from == last {
			continue
		}
		last = x.from
		with := name
		if x.small {
			with = strings.ToLower(name[:1]) + name[1:]
		}
		out = append(out, textEdit{p.rangeOf(x.from, x.to), with})
		if x.declares {
			out = append(out, p.kept(d, x)...)
		}
	}
	return out
}

// kept are the edits that preserve what is stored if it follows from the name: the attribute of a field, the type of an
// entity, the real name of a table.
func (p *place) kept(d *design.Design, x *symbol) []textEdit {
	key, stored := "", ""
	switch {
	case x.kind == tableKind && d.Table(x.name) != nil && x.node.child("name") == nil:
		key, stored = "name", d.Table(x.name).Physical
	case x.kind == entityKind && d.Entity(x.name) != nil && x.node.child("type") == nil:
		key, stored = "type", d.Entity(x.name).TypeValue
	case x.kind == fieldKind && len(x.within) == 1 && x.node.child("attr") == nil && x.node.child("at") == nil:
		key = "attr"
		if e := d.Entity(x.within[0]); e != nil && e.Field(x.name) != nil {
			stored = strings.Join(e.Field(x.name).Path, ".")
		} else {
			stored = x.name // of a structure
		}
	}
	if stored == "" {
		return nil
	}
	insert := func(at int, text string) textEdit { return textEdit{p.rangeOf(at, at), text} }
	if v := x.node.value; v != nil { // only a type
		from, to := v.from, v.to
		switch {
		case v.quoted:
			return []textEdit{insert(from-1, "{ type: "), insert(to+1, ", attr: "+stored+" }")}
		case strings.Contains(v.text, "?"):
			return []textEdit{insert(from, "{ type: \""), insert(to, "\", attr: "+stored+" }")}
		default:
			return []textEdit{insert(from, "{ type: "), insert(to, ", attr: "+stored+" }")}
		}
	}
	if len(x.node.nodes) == 0 || x.node.nodes[0].key == nil {
		return nil
	}
	first := x.node.nodes[0].key.from
	if p.content[first-1] == '"' || p.content[first-1] == '\'' {
		first--
	}
	if strings.Contains(p.content[x.node.key.to:first], "{") {
		return []textEdit{insert(first, key+": "+stored+", ")}
	}
	return []textEdit{insert(first, key+": "+stored+"\n"+strings.Repeat(" ", first-p.lines[p.position(first).Line]))}
}

// applied is the text after edits, which are ordered.
func (t *text) applied(edits []textEdit) string {
	var out strings.Builder
	last := 0
	for _, e := range edits {
		out.WriteString(t.content[last:t.offset(e.Range.Start)] + e.NewText)
		last = t.offset(e.Range.End)
	}
	return out.String() + t.content[last:]
}

// whole counts the findings of each rule in a text, which must be a complete design.
func (s *server) whole(name, content string) (*design.Design, map[string]int, error) {
	d, err := design.Parse(name, []byte(content))
	if err != nil {
		return nil, nil, err
	}
	found := map[string]int{}
	for _, f := range check.Check(d) {
		found[f.Rule]++
	}
	return d, found, nil
}

// clashes counts the params of writes that have the name of a field that the write may take as an input: the two would be
// one input.
func clashes(content string) int {
	c := collector{root: scan(content)}
	writes := c.root.child("writes")
	if writes == nil {
		return 0
	}
	n := 0
	for _, write := range writes.nodes {
		params := write.child("params")
		if params == nil {
			continue
		}
		for _, entity := range c.entitiesOf(write) {
			fields := c.root.child("entities").child(entity).child("fields")
			for _, param := range params.nodes {
				if param.key != nil && fields.child(param.key.text) != nil {
					n++
				}
			}
		}
	}
	return n
}

func differs(before, after map[string]int) error {
	for _, r := range check.Rules() {
		if before[r.ID] != after[r.ID] {
			return fmt.Errorf("check found %s %d times before and %d times after", r.ID, before[r.ID], after[r.ID])
		}
	}
	return nil
}

func (s *server) format(p *place) ([]textEdit, error) {
	out, err := design.Format(p.name, []byte(p.content))
	if err != nil {
		return nil, jrpc2.Errorf(requestFailed, "%v", err)
	}
	if string(out) == p.content {
		return []textEdit{}, nil
	}
	return []textEdit{{p.rangeOf(0, len(p.content)), string(out)}}, nil
}
