package expr

import (
	"strconv"
	"strings"
)

// Print returns the canonical text of the expression: single spaces, keywords in upper case, only necessary parentheses.
func Print(e *Expression) string {
	pr := printer{}
	switch e.Surface {
	case Projection:
		for i, path := range e.Paths {
			pr.separate(i, ", ")
			pr.path(path)
		}
	case Update:
		pr.actions(e.Actions)
	default:
		pr.node(e.Root)
	}
	return pr.b.String()
}

type printer struct{ b strings.Builder }

func (pr *printer) separate(i int, s string) {
	if i > 0 {
		pr.b.WriteString(s)
	}
}

func (pr *printer) node(n Node) {
	switch n := n.(type) {
	case *Or:
		pr.terms(n.Terms, " OR ")
	case *And:
		pr.terms(n.Terms, " AND ")
	case *Not:
		pr.b.WriteString("NOT ")
		pr.term(n.Term)
	case *Comparison:
		pr.infix(n.Left, string(n.Op), n.Right)
	case *Arithmetic:
		pr.infix(n.Left, string(n.Op), n.Right)
	case *Between:
		pr.infix(n.Operand, "BETWEEN", n.Low)
		pr.b.WriteString(" AND ")
		pr.node(n.High)
	case *In:
		pr.node(n.Operand)
		pr.b.WriteString(" IN (")
		pr.list(n.List)
	case *Call:
		pr.b.WriteString(string(n.Function) + "(")
		pr.list(n.Args)
	case *Placeholder:
		pr.b.WriteString(n.Name)
	case *Path:
		pr.path(n)
	}
}

func (pr *printer) terms(terms []Node, operator string) {
	for i, t := range terms {
		pr.separate(i, operator)
		pr.term(t)
	}
}

// term prints a term of AND, OR or NOT, with the parentheses that preserve the tree's shape: an AND inside an OR has them, too,
// because otherwise "(a AND b) OR c" and "a AND b OR c" would be printed alike.
func (pr *printer) term(n Node) {
	switch n.(type) {
	case *And, *Or:
		pr.b.WriteByte('(')
		pr.node(n)
		pr.b.WriteByte(')')
	default:
		pr.node(n)
	}
}

func (pr *printer) infix(left Node, operator string, right Node) {
	pr.node(left)
	pr.b.WriteString(" " + operator + " ")
	pr.node(right)
}

func (pr *printer) list(nodes []Node) {
	for i, n := range nodes {
		pr.separate(i, ", ")
		pr.node(n)
	}
	pr.b.WriteByte(')')
}

func (pr *printer) path(p *Path) {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Kind == StepIndex {
			pr.b.WriteString("[" + strconv.Itoa(s.Number) + "]")
			continue
		}
		pr.separate(i, ".")
		pr.b.WriteString(s.Name)
	}
}

func (pr *printer) actions(actions []Action) {
	for i, a := range actions {
		switch {
		case i > 0 && actions[i-1].Verb == a.Verb:
			pr.b.WriteString(", ")
		default:
			pr.separate(i, " ")
			pr.b.WriteString(a.Verb.String() + " ")
		}
		pr.path(a.Target)
		if a.Value == nil {
			continue
		}
		if a.Verb == Set {
			pr.b.WriteString(" =")
		}
		pr.b.WriteByte(' ')
		pr.node(a.Value)
	}
}
