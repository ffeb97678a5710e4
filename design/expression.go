package design

import "github.com/monotable/monotable/design/internal/syntax"

// Expression is a statement about items, or a value made of them: what an invariant says, and what a flow's steps depend on
// and hand over.
type Expression struct {
	Text string
	Root Operand
	Pos  Pos
}

// Operand is a part of an Expression. It knows the byte of the text where it stands.
type Operand interface{ Start() int }

// Operation joins two operands.
type Operation struct {
	Operator    Operator
	Left, Right Operand
	At          int // of the operator
}

// Operator is what an Operation does.
type Operator string

// The operators, from those that bind least.
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

// Negation is the opposite of what its operand says.
type Negation struct {
	Operand Operand
	At      int
}

// ConstantOperand is a number, a text, true or false.
type ConstantOperand struct {
	Constant Constant
	At       int
}

// NameOperand is a field: of an entity's items, in an invariant (user.limit), or of what a flow has read (room.memberCount).
type NameOperand struct {
	Path string // with its steps
	At   int
}

// ParamOperand is what a flow is given (:userId), or a value of the item that a step is repeated for (:line.movieId).
type ParamOperand struct {
	Name string // without its colon
	At   int
}

// CallOperand is a function.
type CallOperand struct {
	Function Function
	// Of is what it is about: an entity (Order), or with a field of it (Order.total, user.email); in a flow, what a read
	// has found.
	Of string
	// Per is the entity whose items' own are meant; "" if that is not told.
	Per string
	// Where is the condition on those that count; nil for all.
	Where *Condition
	// The bytes where the function, and its parts, begin.
	At, OfAt, PerAt, WhereAt int
}

// Function is what a CallOperand calls.
type Function string

// The functions.
const (
	CountFunction     Function = "count"     // how many there are
	SumFunction       Function = "sum"       // of a field of theirs
	ExistsFunction    Function = "exists"    // whether there is one
	UnchangedFunction Function = "unchanged" // whether an item's field is what it was before the last request
	NowFunction       Function = "now"
	NewIDFunction     Function = "newID"
)

// Start is where the operation's left side begins.
func (o *Operation) Start() int { return o.Left.Start() }

// Start is where the operand begins.
func (o *Negation) Start() int { return o.At }

// Start is where the operand begins.
func (o *ConstantOperand) Start() int { return o.At }

// Start is where the operand begins.
func (o *NameOperand) Start() int { return o.At }

// Start is where the operand begins.
func (o *ParamOperand) Start() int { return o.At }

// Start is where the operand begins.
func (o *CallOperand) Start() int { return o.At }

// Operands are all parts of the expression, each before those that it is made of.
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

// String is the expression as the file has it.
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

// Selection is a list that a flow has, or those of its items for which a condition holds: "members where userId <> :userId".
type Selection struct {
	Text string
	// List names what a read has found, or, with Given, what the flow is given.
	List  string
	Given bool
	Where *Condition // nil is all
	Pos   Pos
}

// String is the selection as the file has it.
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
