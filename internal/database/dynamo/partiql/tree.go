package partiql

// Statement is one statement; exactly one of Select, Insert, Update and Delete is set.
type Statement struct {
	Select *Select
	Insert *Insert
	Update *Update
	Delete *Delete
	// Exists means that the Select is in EXISTS(…).
	Exists bool
	// Parameters is the number of parameters.
	Parameters int
}

// Source returns the table, and the index, that the statement is about.
func (s *Statement) Source() Source {
	switch {
	case s.Select != nil:
		return s.Select.From
	case s.Insert != nil:
		return s.Insert.Into
	case s.Update != nil:
		return s.Update.Table
	default:
		return s.Delete.From
	}
}

// Reads reports whether the statement only reads. EXISTS does not: it is a condition of a transaction that writes.
func (s *Statement) Reads() bool { return s.Select != nil && !s.Exists }

// Source is a table or one of its indexes.
type Source struct {
	Table string
	Index string // empty for the table itself
}

// Select reads items.
type Select struct {
	Paths []*Path // nil for *
	From  Source
	Where Node // nil for all items
	Order []Order
}

// Order is one element of ORDER BY.
type Order struct {
	Name       string
	Descending bool
}

// Insert adds an item.
type Insert struct {
	Into Source
	Item Node
}

// Update changes the attributes of an item.
type Update struct {
	Table     Source
	Changes   []Change
	Where     Node
	Returning Returning
}

// Change is one assignment of SET, or one REMOVE.
type Change struct {
	Target *Path
	Value  Node // nil for REMOVE
}

// Delete removes an item.
type Delete struct {
	From      Source
	Where     Node
	Returning Returning
}

// Returning is the RETURNING clause.
type Returning string

// The clauses; ReturnNothing means none.
const (
	ReturnNothing     Returning = ""
	ReturnAllOld      Returning = "ALL OLD"
	ReturnAllNew      Returning = "ALL NEW"
	ReturnModifiedOld Returning = "MODIFIED OLD"
	ReturnModifiedNew Returning = "MODIFIED NEW"
)

// Node is an expression: a condition, an operand or a value.
//
//sumtype:decl
type Node interface{ node() }

// And is true where all its terms are; it has two or more.
type And struct{ Terms []Node }

// Or is true if any of its terms is; it has two or more.
type Or struct{ Terms []Node }

// Not is true where its term is false.
type Not struct{ Term Node }

// Comparison compares two operands by =, <>, <, <=, > or >=.
type Comparison struct {
	Op          string
	Left, Right Node
}

// Between is Low <= Operand <= High, or its opposite.
type Between struct {
	Operand, Low, High Node
	Negated            bool
}

// In is true if Operand equals a member of List: a List, Set or Parameter, or otherwise an expression that is not a
// list.
type In struct {
	Operand, List Node
	Negated       bool
}

// Is tests for a type.
type Is struct {
	Operand Node
	Type    Type
	Negated bool
}

// Type is what IS tests for.
type Type string

// The types.
const (
	TypeMissing Type = "MISSING"
	TypeNull    Type = "NULL"
)

// Call is a function with its arguments; Function is in lower case.
type Call struct {
	Function string
	Args     []Node
}

// Arithmetic is the sum (+) or difference (-) of two operands.
type Arithmetic struct {
	Op          string
	Left, Right Node
}

// Path is an attribute, or a place within one.
type Path struct{ Steps []Step }

// Step is one step of a path. The first is a name.
type Step struct {
	Name   string
	Index  int
	ByName bool // by Name, otherwise by Index
}

// Parameter is a `?`; Number counts them from 0.
type Parameter struct{ Number int }

// String is a string.
type String struct{ Text string }

// Number is a number as written, including a minus sign.
type Number struct{ Text string }

// Bool is TRUE or FALSE.
type Bool struct{ True bool }

// Null is NULL.
type Null struct{}

// List is a list: [1, 2].
type List struct{ Elems []Node }

// Set is a set: <<1, 2>>.
type Set struct{ Elems []Node }

// Map is a map: {'a': 1}.
type Map struct{ Fields []Field }

// Field is one field of a map.
type Field struct {
	Name  string
	Value Node
}

func (*And) node()        {}
func (*Or) node()         {}
func (*Not) node()        {}
func (*Comparison) node() {}
func (*Between) node()    {}
func (*In) node()         {}
func (*Is) node()         {}
func (*Call) node()       {}
func (*Arithmetic) node() {}
func (*Path) node()       {}
func (*Parameter) node()  {}
func (*String) node()     {}
func (*Number) node()     {}
func (*Bool) node()       {}
func (*Null) node()       {}
func (*List) node()       {}
func (*Set) node()        {}
func (*Map) node()        {}
