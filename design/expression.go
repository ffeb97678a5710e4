package design

import "github.com/monotable/monotable/design/internal/syntax"

// Expression is a statement about items, or a value computed from them: in invariants, and in the conditions and arguments
// of a flow's steps.
type Expression struct {
	Text string
	Root Operand
	Pos  Pos
}

// Operand is a part of an Expression. It knows its byte offset in the text.
type Operand interface{ Start() int }

// Operation joins two operands.
type Operation struct {
	Operator    Operator
	Left, Right Operand
	At          int // of the operator
}

// Operator is the operator of an Operation.
type Operator string

// The operators, from the lowest precedence.
const (
	Or             Operator = "OR"
	And            Operator = "AND"
	Equal          Operator = "="
	NotEqual       Operator = "<>"
	Less           Operator = "<"
	LessOrEqual    Operator = "<="
	Greater        Operator = ">"
	GreaterOrEqual Operator = ">="
	Plus           Operator = "+"
	Minus          Operator = "-"
)

// Negation negates its operand.
type Negation struct {
	Operand Operand
	At      int
}

// ConstantOperand is a number, a string, true or false.
type ConstantOperand struct {
	Constant Constant
	At       int
}

// NameOperand is a field: of an entity's items, in an invariant (user.limit), or of a flow's result (room.memberCount).
type NameOperand struct {
	Path string // may be nested
	At   int
}

// ParamOperand is an input of a flow (:userId), or a value of the item for which a step is repeated (:line.movieId).
type ParamOperand struct {
	Name string // without the colon
	At   int
}

// CallOperand is a function.
type CallOperand struct {
	Function Function
	// Of is the subject: an entity (Order), or a field of it (Order.total, user.email); in a flow, the result of a read.
	Of string
	// Per is the entity to whose items the counted ones belong; "" if it is not named.
	Per string
	// Where is the condition on the items that count; nil for all.
	Where *Condition
	// The byte offsets of the function, and its parts.
	At, OfAt, PerAt, WhereAt int
}

// Function is the function of a CallOperand.
type Function string

// The functions.
const (
	CountFunction     Function = "count"     // their number
	SumFunction       Function = "sum"       // of a field of theirs
	ExistsFunction    Function = "exists"    // whether there is one
	UnchangedFunction Function = "unchanged" // whether an item's field has the same value as before the last request
	NowFunction       Function = "now"
	NewIDFunction     Function = "newID"
)

// Start is the start of the operation's left side.
func (o *Operation) Start() int { return o.Left.Start() }

// Start is the start of the operand.
func (o *Negation) Start() int { return o.At }

// Start is the start of the operand.
func (o *ConstantOperand) Start() int { return o.At }

// Start is the start of the operand.
func (o *NameOperand) Start() int { return o.At }

// Start is the start of the operand.
func (o *ParamOperand) Start() int { return o.At }

// Start is the start of the operand.
func (o *CallOperand) Start() int { return o.At }

// Operands are all parts of the expression, each before its own operands.
func (e *Expression) Operands() []Operand {
	var out []Operand
	var walk func(Operand)
	walk = func(o Operand) {
		out = append(out, o)
		switch o := o.(type) {
		case *Operation:
			walk(o.Left)
			walk(o.Right)
		case *Negation:
			walk(o.Operand)
		}
	}
	if e != nil && e.Root != nil {
		walk(e.Root)
	}
	return out
}

// String is the expression as written in the file.
func (e *Expression) String() string { return e.Text }

// MarshalJSON writes the text.
func (e *Expression) MarshalJSON() ([]byte, error) { return syntax.MarshalText(e.Text) }

// UnmarshalJSON reads the text and parses it.
func (e *Expression) UnmarshalJSON(data []byte) error {
	return syntax.UnmarshalText(data, ParseExpression, e)
}

func (e *Expression) fromNode(d *syntax.Decoder, n *syntax.Node) {
	syntax.DecodeText(d, n, ParseExpression, e)
	e.Pos = n.Pos
}

// Selection is a list in a flow, or those of its items that satisfy a condition: "members where userId <> :userId".
type Selection struct {
	Text string
	// List names the result of a read or, with Given, an input of the flow.
	List  string
	Given bool
	Where *Condition // nil means all
	Pos   Pos
}

// String is the selection as written in the file.
func (s *Selection) String() string { return s.Text }

// MarshalJSON writes the text.
func (s *Selection) MarshalJSON() ([]byte, error) { return syntax.MarshalText(s.Text) }

// UnmarshalJSON reads the text and parses it.
func (s *Selection) UnmarshalJSON(data []byte) error {
	return syntax.UnmarshalText(data, ParseSelection, s)
}

func (s *Selection) fromNode(d *syntax.Decoder, n *syntax.Node) {
	syntax.DecodeText(d, n, ParseSelection, s)
	s.Pos = n.Pos
}
