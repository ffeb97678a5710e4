package syntax

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Comment is a comment line, "# text", and whether a blank line precedes it.
type Comment struct {
	Text  string
	Blank bool
}

// Remark has the comments around a part of a text.
type Remark struct {
	Head  []Comment // above it
	Trail string    // after it, on its line
	Foot  []Comment // below the last member, if it is a map or list
	Blank bool      // a blank line precedes it, below its head
}

// Remarks are the remarks on the values of a tree. The remark of a key's value is about the entry.
type Remarks map[*Node]*Remark

// Of is the remark on a node.
func (r Remarks) Of(n *Node) *Remark {
	if r[n] == nil {
		r[n] = new(Remark)
	}
	return r[n]
}

// Inside reports whether there are comments between the members of a map or list.
func (r Remarks) Inside(n *Node) bool {
	if m := r[n]; m != nil && len(m.Foot) > 0 {
		return true
	}
	inner := func(v *Node) bool {
		m := r[v]
		return m != nil && (len(m.Head) > 0 || m.Trail != "") || r.Inside(v)
	}
	return slices.ContainsFunc(n.Items, inner) || slices.ContainsFunc(n.Entries, func(e Entry) bool { return inner(e.Value) })
}

// unit is an entry or item: its start, and its container.
type unit struct {
	value  *Node
	begin  Pos
	parent *unit
}

func (p Pos) before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column }

// units are all entries and items below a node, in the order of the text.
func units(n *Node, in *unit, list []*unit) []*unit {
	for _, item := range n.Items {
		u := &unit{item, item.Pos, in}
		list = units(item, u, append(list, u))
	}
	for _, e := range n.Entries {
		u := &unit{e.Value, e.Pos, in}
		list = units(e.Value, u, append(list, u))
	}
	return list
}

// RemarksOn assigns each comment to a part: the one before it on its line, or otherwise the one that follows, or the one
// it ends, depending on its column.
func RemarksOn(s *Source, root *Node, comments []*token.Token) Remarks {
	r := Remarks{}
	top := &unit{value: root, begin: Pos{1, 1}}
	list := units(root, top, nil)
	b := treeBuilder{Faults{Source: s}}
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
		c := Comment{"#" + strings.TrimRight(t.Value, " \t"), blankAbove(s, p.Line)}
		before := strings.TrimSpace(s.line(p.Line)[:p.Column-1])
		if next > 0 && before != "" && !strings.ContainsAny(before[len(before)-1:], "-[{") {
			r.trailing(last, top, p, c)
			continue
		}
		switch in := enclosing(last, following, p); {
		case in == nil:
			r.above(following, c)
		case Members(in.value) || in == top:
			notes := r.Of(in.value)
			notes.Foot = append(notes.Foot, c)
		default:
			r.above(in, c)
		}
	}
	for _, u := range list {
		if strings.Trim(s.line(u.begin.Line)[:u.begin.Column-1], " -") == "" {
			r.Of(u.value).Blank = blankAbove(s, u.begin.Line)
		}
	}
	return r
}

func blankAbove(s *Source, line int) bool {
	return line > 1 && strings.TrimSpace(s.line(line-1)) == ""
}

// trailing assigns a comment to the part before it on its line: the innermost one that has not ended, or has just ended.
func (r Remarks) trailing(u, top *unit, p Pos, c Comment) {
	for u.parent != nil && u.parent != top && u.parent.value.end != (Pos{}) && u.parent.value.end.before(p) {
		u = u.parent
	}
	notes := r.Of(u.value)
	if notes.Trail != "" || Blockable(u.value.Text) {
		r.above(u, c)
		return
	}
	notes.Trail = c.Text
}

// above adds a comment above a unit.
func (r Remarks) above(u *unit, c Comment) {
	notes := r.Of(u.value)
	notes.Head = append(notes.Head, c)
}

// enclosing returns the part that a comment on its own line ends, nil if it is above the following unit. It is above
// that unit unless it is indented more, and as much as the previous one.
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
		case !open && Members(u.value) && p.Column >= firstColumn(u.value):
			return u
		}
	}
	if following != nil {
		return nil
	}
	return u
}

// Members reports whether a map or list has any.
func Members(n *Node) bool { return len(n.Items)+len(n.Entries) > 0 }

// firstColumn is the column of the members of a map or list: of their keys, or their dashes.
func firstColumn(n *Node) int {
	if len(n.Entries) > 0 {
		return n.Entries[0].Pos.Column
	}
	return n.Pos.Column
}
