package design

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// comment is a line of a comment, "# text", and whether a blank line stands above it.
type comment struct {
	text  string
	blank bool
}

// remark is what stands around a part of a text.
type remark struct {
	head  []comment // above it
	trail string    // behind it, on its line
	foot  []comment // below the last member of a map or list, which it is
	blank bool      // a blank line stands above it, below its head
}

// remarks are those of the values of a tree. The remark of a key's value is about the entry.
type remarks map[*node]*remark

func (r remarks) of(n *node) *remark {
	if r[n] == nil {
		r[n] = new(remark)
	}
	return r[n]
}

// inside reports whether there are comments between the members of a map or list.
func (r remarks) inside(n *node) bool {
	if m := r[n]; m != nil && len(m.foot) > 0 {
		return true
	}
	inner := func(v *node) bool {
		m := r[v]
		return m != nil && (len(m.head) > 0 || m.trail != "") || r.inside(v)
	}
	return slices.ContainsFunc(n.items, inner) || slices.ContainsFunc(n.entries, func(e nodeEntry) bool { return inner(e.value) })
}

// unit is an entry or item: where it begins, and what it is in.
type unit struct {
	value  *node
	begin  Pos
	parent *unit
}

func (p Pos) before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column }

// units are all entries and items below a node, in the order of the text.
func units(n *node, in *unit, list []*unit) []*unit {
	for _, item := range n.items {
		u := &unit{item, item.pos, in}
		list = units(item, u, append(list, u))
	}
	for _, e := range n.entries {
		u := &unit{e.value, e.pos, in}
		list = units(e.value, u, append(list, u))
	}
	return list
}

// remarksOn finds what each comment is about: what stands on its line before it, and else what follows it, or what it is
// the end of, which its column tells.
func remarksOn(s *Source, root *node, comments []*token.Token) remarks {
	r := remarks{}
	top := &unit{value: root, begin: Pos{1, 1}}
	list := units(root, top, nil)
	b := treeBuilder{faults{source: s}}
	next := 0 // the first unit after the comment
	for _, t := range comments {
		p := b.pos(t)
		for next < len(list) && list[next].begin.before(p) {
			next++
		}
		last, following := top, (*unit)(nil)
		if next > 0 {
			last = list[next-1]
		}
		if next < len(list) {
			following = list[next]
		}
		c := comment{"#" + strings.TrimRight(t.Value, " \t"), blankAbove(s, p.Line)}
		before := strings.TrimSpace(s.line(p.Line)[:p.Column-1])
		if next > 0 && before != "" && !strings.ContainsAny(before[len(before)-1:], "-[{") {
			r.trailing(last, top, p, c)
			continue
		}
		switch in := enclosing(last, following, p); {
		case in == nil:
			r.above(following, c)
		case members(in.value) || in == top:
			notes := r.of(in.value)
			notes.foot = append(notes.foot, c)
		default:
			r.above(in, c)
		}
	}
	for _, u := range list {
		if strings.Trim(s.line(u.begin.Line)[:u.begin.Column-1], " -") == "" {
			r.of(u.value).blank = blankAbove(s, u.begin.Line)
		}
	}
	return r
}

func blankAbove(s *Source, line int) bool {
	return line > 1 && strings.TrimSpace(s.line(line-1)) == ""
}

// trailing gives a comment to what stands before it on its line: the innermost part that is not over yet, or is just
// over.
func (r remarks) trailing(u, top *unit, p Pos, c comment) {
	for u.parent != nil && u.parent != top && u.parent.value.end != (Pos{}) && u.parent.value.end.before(p) {
		u = u.parent
	}
	notes := r.of(u.value)
	if notes.trail != "" || blockable(u.value.text) {
		r.above(u, c)
		return
	}
	notes.trail = c.text
}

// above puts a comment over a unit.
func (r remarks) above(u *unit, c comment) {
	notes := r.of(u.value)
	notes.head = append(notes.head, c)
}

// enclosing returns the part that a comment on its own line ends, nil where it stands above the following unit. It does
// unless it is indented more than that, and as much as what was before.
func enclosing(last, following *unit, p Pos) *unit {
	if following != nil && p.Column <= following.begin.Column {
		return nil
	}
	u := last
	for ; u.parent != nil && (following == nil || u != following.parent); u = u.parent {
		open := u.value.end != Pos{}
		switch {
		case open && p.before(u.value.end):
			return u
		case !open && members(u.value) && p.Column >= firstColumn(u.value):
			return u
		}
	}
	if following != nil {
		return nil
	}
	return u
}

func members(n *node) bool { return len(n.items)+len(n.entries) > 0 }

// firstColumn is where the members of a map or list begin: their keys, or their dashes.
func firstColumn(n *node) int {
	if len(n.entries) > 0 {
		return n.entries[0].pos.Column
	}
	return n.pos.Column
}
