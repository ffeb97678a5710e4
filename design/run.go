package design

import (
	"encoding/json"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Workload is what holds for all patterns.
type Workload struct {
	// Region names the price list; "" is us-east-1.
	Region string `json:"region,omitempty"`
	// Budget is the most that a month may cost, in US dollars; 0 is none.
	Budget float64 `json:"budget,omitempty"`
	Pos    Pos     `json:"-"`
}

// Sample is an item for documents and tests.
type Sample struct {
	Entity string             `json:"entity"`
	Values map[string]Literal `json:"values"`
	Pos    Pos                `json:"-"`
}

// Example is a call of a read or collection with what it must answer from the samples.
type Example struct {
	Pattern string             `json:"pattern"`
	Given   map[string]Literal `json:"given"`
	// Expect are the ids of the items in order: the value of the entity's last key field, or a map of fields. None with
	// no Error expects an empty answer.
	Expect []Literal `json:"expect,omitempty"`
	// Error is the error that is expected instead: NotFound, or one that a write declares.
	Error string `json:"error,omitempty"`
	Pos   Pos    `json:"-"`
}

// Invariant is a statement that no order of the writes may break.
type Invariant struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// At is when it must hold: at any time where it is "", when nothing runs any more (AtEnd), or when an item of the
	// entity of this name is made.
	At string `json:"at,omitempty"`
	// Text is the statement, Statement what it says.
	Text      string      `json:"text"`
	Statement *Expression `json:"-"`
	Pos       Pos         `json:"-"`
}

// AtEnd is the At of invariants that hold when all that ran has ended or crashed.
const AtEnd = "end"

// Literal is a value as the text writes it, typed by the field that it is for: a scalar, a list or a map. In JSON it is
// a string, an array, an object or null.
type Literal struct { //nolint:recvcheck // written from maps, where values have no address, and read through pointers
	Text string
	List []Literal
	Map  map[string]Literal
	Null bool
	Pos  Pos
}

// MarshalJSON writes the value by itself.
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

// UnmarshalJSON reads any JSON; numbers and booleans are their texts.
func (l *Literal) UnmarshalJSON(data []byte) error {
	s, data := syntax.NewSource("", data)
	n, err := syntax.ParseJSON(s, data)
	if err == nil {
		*l = literalOf(n)
		l.forget()
	}
	return err
}

// forget takes the places away, which are those in a part of a text.
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
