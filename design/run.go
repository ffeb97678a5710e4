package design

import (
	"encoding/json"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Workload has the settings for all patterns.
type Workload struct {
	// Region names the price list; "" is us-east-1.
	Region string `json:"region,omitempty"`
	// Budget is the maximum monthly cost, in US dollars; 0 means no budget.
	Budget float64 `json:"budget,omitempty"`
	Pos    Pos     `json:"-"`
}

// Sample is an item for documents and tests.
type Sample struct {
	Entity string             `json:"entity"`
	Values map[string]Literal `json:"values"`
	Pos    Pos                `json:"-"`
}

// Example is a call of a read or collection with its expected result for the samples.
type Example struct {
	Pattern string             `json:"pattern"`
	Given   map[string]Literal `json:"given"`
	// Expect are the IDs of the expected items in order: the value of the entity's last key field, or a map of fields.
	// If there are none and no Error, the result must be empty.
	Expect []Literal `json:"expect,omitempty"`
	// Error is the expected error instead: NotFound, or one that a write declares.
	Error string `json:"error,omitempty"`
	Pos   Pos    `json:"-"`
}

// Invariant is a statement that must hold after every order of the writes.
type Invariant struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// At says when it must hold: "" means always, AtEnd once nothing runs any more, and the name of an entity when one
	// of its items is created.
	At string `json:"at,omitempty"`
	// Text is the statement, Statement its parsed form.
	Text      string      `json:"text"`
	Statement *Expression `json:"-"`
	Pos       Pos         `json:"-"`
}

// AtEnd is the At of invariants that must hold once everything has ended or crashed.
const AtEnd = "end"

// Literal is a value as written in the text, typed by its field: a scalar, a list or a map. In JSON it is a string, an
// array, an object or null.
type Literal struct { //nolint:recvcheck // written from maps, where values have no address, and read through pointers
	Text string
	List []Literal
	Map  map[string]Literal
	Null bool
	Pos  Pos
}

// MarshalJSON writes the value itself.
func (l Literal) MarshalJSON() ([]byte, error) {
	switch {
	case l.Null:
		return []byte("null"), nil
	case l.Map != nil:
		return json.Marshal(l.Map)
	case l.List != nil:
		return json.Marshal(l.List)
	default:
		return syntax.MarshalText(l.Text)
	}
}

// UnmarshalJSON reads any JSON; numbers and booleans become their texts.
func (l *Literal) UnmarshalJSON(data []byte) error {
	s, data := syntax.NewSource("", data)
	n, err := syntax.ParseJSON(s, data)
	if err == nil {
		*l = literalOf(n)
		l.forget()
	}
	return err
}

// forget removes the positions, which are relative to a part of a text.
func (l *Literal) forget() {
	l.Pos = Pos{}
	for i := range l.List {
		l.List[i].forget()
	}
	for name, v := range l.Map {
		v.forget()
		l.Map[name] = v
	}
}

func (l *Literal) fromNode(_ *syntax.Decoder, n *syntax.Node) { *l = literalOf(n) }

func literalOf(n *syntax.Node) Literal {
	l := Literal{Pos: n.Pos}
	switch n.Kind {
	case syntax.NullNode:
		l.Null = true
	case syntax.ScalarNode:
		l.Text = n.Text
	case syntax.ListNode:
		l.List = make([]Literal, len(n.Items))
		for i, item := range n.Items {
			l.List[i] = literalOf(item)
		}
	case syntax.MapNode:
		l.Map = make(map[string]Literal, len(n.Entries))
		for _, e := range n.Entries {
			l.Map[e.Key] = literalOf(e.Value)
		}
	}
	return l
}
