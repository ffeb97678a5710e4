package expr

// Node is a part of an expression's tree: a condition or an operand.
//
//sumtype:decl
type Node interface{ node() }

// And is true if all its terms are; it has at least two.
type And struct{ Terms []Node }

// Or is true if any of its terms is; it has at least two.
type Or struct{ Terms []Node }

// Not is true if its term is false.
type Not struct{ Term Node }

// Comparison compares two operands.
type Comparison struct {
	Op          Comparator
	Left, Right Node
	Pos         int
}

// Between is Low <= Operand <= High.
type Between struct {
	Operand, Low, High Node
	Pos                int
}

// In is true if Operand equals a member of List, which has 1 to MaxInOperands.
type In struct {
	Operand Node
	List    []Node
	Pos     int
}

// Call is a function with its operands.
type Call struct {
	Function Function
	Args     []Node
	Pos      int
}

// Arithmetic is the sum or difference of two operands, in an update.
type Arithmetic struct {
	Op          ArithmeticOp
	Left, Right Node
	Pos         int
}

// Placeholder is a value given with the expression.
type Placeholder struct {
	Slot int    // index in Expression.Placeholders
	Name string // with its colon
}

func (*And) node()         {}
func (*Or) node()          {}
func (*Not) node()         {}
func (*Comparison) node()  {}
func (*Between) node()     {}
func (*In) node()          {}
func (*Call) node()        {}
func (*Arithmetic) node()  {}
func (*Placeholder) node() {}
func (*Path) node()        {}

// Comparator is the operator of a comparison.
type Comparator string

// The comparators.
const (
	Equal          Comparator = "="
	NotEqual       Comparator = "<>"
	Less           Comparator = "<"
	LessOrEqual    Comparator = "<="
	Greater        Comparator = ">"
	GreaterOrEqual Comparator = ">="
)

// Mirrored returns the equivalent comparator for swapped operands.
func (c Comparator) Mirrored() Comparator {
	switch c {
	case Less:
		return Greater
	case LessOrEqual:
		return GreaterOrEqual
	case Greater:
		return Less
	case GreaterOrEqual:
		return LessOrEqual
	default:
		return c
	}
}

// ArithmeticOp is an operator of an update's values.
type ArithmeticOp string

// The arithmetic operators.
const (
	Plus  ArithmeticOp = "+"
	Minus ArithmeticOp = "-"
)

// Function is the name of a function, in lower case.
type Function string

// The functions. The first five are conditions, Size is an operand of a condition, and the last two are operands of an update.
const (
	AttributeExists    Function = "attribute_exists"
	AttributeNotExists Function = "attribute_not_exists"
	AttributeType      Function = "attribute_type"
	BeginsWith         Function = "begins_with"
	Contains           Function = "contains"
	Size               Function = "size"
	IfNotExists        Function = "if_not_exists"
	ListAppend         Function = "list_append"
)

// signature is a function's signature.
type signature struct {
	operands  int
	update    bool // for updates; else for conditions
	condition bool // a condition; else an operand
	path      bool // the first operand must be a document path
}

func (f Function) signature() (signature, bool) {
	switch f {
	case AttributeExists, AttributeNotExists:
		return signature{operands: 1, condition: true, path: true}, true
	case AttributeType, BeginsWith, Contains:
		return signature{operands: 2, condition: true}, true
	case Size:
		return signature{operands: 1}, true
	case IfNotExists:
		return signature{operands: 2, update: true, path: true}, true
	case ListAppend:
		return signature{operands: 2, update: true}, true
	default:
		return signature{}, false
	}
}

// Verb is the section of an update that contains an action.
type Verb uint8

// The four verbs.
const (
	Set Verb = iota
	Remove
	Add
	Delete
)

// String returns the keyword of the section.
func (v Verb) String() string {
	switch v {
	case Set:
		return "SET"
	case Remove:
		return "REMOVE"
	case Add:
		return "ADD"
	default:
		return "DELETE"
	}
}

// Action is one change of an update: SET Target = Value, REMOVE Target, ADD Target Value, DELETE Target Value.
type Action struct {
	Verb   Verb
	Target *Path
	Value  Node // nil for REMOVE; a Placeholder for ADD and DELETE
}

// Walk calls visit for n and everything in it, parents first.
func Walk(n Node, visit func(Node)) {
	visit(n)
	switch n := n.(type) {
	case *And:
		walkAll(n.Terms, visit)
	case *Or:
		walkAll(n.Terms, visit)
	case *Not:
		Walk(n.Term, visit)
	case *Comparison:
		Walk(n.Left, visit)
		Walk(n.Right, visit)
	case *Arithmetic:
		Walk(n.Left, visit)
		Walk(n.Right, visit)
	case *Between:
		Walk(n.Operand, visit)
		Walk(n.Low, visit)
		Walk(n.High, visit)
	case *In:
		Walk(n.Operand, visit)
		walkAll(n.List, visit)
	case *Call:
		walkAll(n.Args, visit)
	case *Placeholder, *Path:
	}
}

func walkAll(nodes []Node, visit func(Node)) {
	for _, n := range nodes {
		Walk(n, visit)
	}
}
