package partiql

import (
	"strconv"
	"strings"
)

// Print returns the statement's text in a canonical form: single spaces, keywords in upper case, every name in double
// quotation marks, and only necessary parentheses.
func Print(s *Statement) string {
	var pr printer
	switch {
	case s.Exists:
		pr.write("EXISTS(")
		pr.selection(s.Select)
		pr.write(")")
	case s.Select != nil:
		pr.selection(s.Select)
	case s.Insert != nil:
		pr.write("INSERT INTO ")
		pr.source(s.Insert.Into)
		pr.write(" VALUE ")
		pr.node(s.Insert.Item, levelOr)
	case s.Update != nil:
		pr.update(s.Update)
	default:
		pr.write("DELETE FROM ")
		pr.source(s.Delete.From)
		pr.where(s.Delete.Where)
		pr.returning(s.Delete.Returning)
	}
	return pr.String()
}

type printer struct{ strings.Builder }

// write appends to the text; a strings.Builder never fails.
func (pr *printer) write(texts ...string) {
	for _, t := range texts {
		pr.WriteString(t)
	}
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (pr *printer) source(s Source) {
	pr.write(quote(s.Table))
	if s.Index != "" {
		pr.write(".", quote(s.Index))
	}
}

func (pr *printer) selection(s *Select) {
	pr.write("SELECT ")
	if s.Paths == nil {
		pr.write("*")
	}
	for i, path := range s.Paths {
		pr.separate(i)
		pr.path(path)
	}
	pr.write(" FROM ")
	pr.source(s.From)
	pr.where(s.Where)
	for i, o := range s.Order {
		if i == 0 {
			pr.write(" ORDER BY ")
		}
		pr.separate(i)
		pr.write(quote(o.Name))
		if o.Descending {
			pr.write(" DESC")
		}
	}
}

func (pr *printer) update(u *Update) {
	pr.write("UPDATE ")
	pr.source(u.Table)
	for _, c := range u.Changes {
		if c.Value == nil {
			pr.write(" REMOVE ")
			pr.path(c.Target)
			continue
		}
		pr.write(" SET ")
		pr.path(c.Target)
		pr.write(" = ")
		pr.node(c.Value, levelOr)
	}
	pr.where(u.Where)
	pr.returning(u.Returning)
}

func (pr *printer) where(n Node) {
	if n != nil {
		pr.write(" WHERE ")
		pr.node(n, levelOr)
	}
}

func (pr *printer) returning(r Returning) {
	if r != ReturnNothing {
		pr.write(" RETURNING ", string(r), " *")
	}
}

func (pr *printer) separate(i int) {
	if i > 0 {
		pr.write(", ")
	}
}

// level is how tightly a construct binds; an expression in the place of a tighter one needs parentheses.
type level uint8

const (
	levelOr level = iota
	levelAnd
	levelNot
	levelEquality
	levelComparison
	levelSum
	levelTerm
)

func levelOf(n Node) level {
	switch n := n.(type) {
	case *Or:
		return levelOr
	case *And:
		return levelAnd
	case *Not:
		return levelNot
	case *In, *Is:
		return levelEquality
	case *Comparison:
		if n.Op == "=" || n.Op == "<>" {
			return levelEquality
		}
		return levelComparison
	case *Between:
		return levelComparison
	case *Arithmetic:
		return levelSum
	default:
		return levelTerm
	}
}

// node prints n in a place that takes what binds at least as tightly as least.
func (pr *printer) node(n Node, least level) {
	at := levelOf(n)
	if at < least {
		pr.write("(")
		pr.node(n, levelOr)
		pr.write(")")
		return
	}
	switch n := n.(type) {
	case *Or:
		pr.chain(n.Terms, " OR ", levelAnd)
	case *And:
		pr.chain(n.Terms, " AND ", levelNot)
	case *Not:
		pr.write("NOT ")
		pr.node(n.Term, levelNot)
	case *Comparison:
		pr.infix(n.Left, n.Op, n.Right, at)
	case *Arithmetic:
		pr.infix(n.Left, n.Op, n.Right, at)
	case *Between:
		pr.negatable(n.Operand, n.Negated, "BETWEEN ", at)
		pr.node(n.Low, levelSum)
		pr.write(" AND ")
		pr.node(n.High, levelSum)
	case *In:
		pr.negatable(n.Operand, n.Negated, "IN ", at)
		pr.node(n.List, levelComparison)
	case *Is:
		pr.node(n.Operand, at)
		pr.write(" IS ")
		if n.Negated {
			pr.write("NOT ")
		}
		pr.write(string(n.Type))
	default:
		pr.term(n)
	}
}

func (pr *printer) negatable(operand Node, negated bool, operator string, at level) {
	pr.node(operand, at)
	pr.write(" ")
	if negated {
		pr.write("NOT ")
	}
	pr.write(operator)
}

func (pr *printer) chain(terms []Node, operator string, least level) {
	for i, t := range terms {
		if i > 0 {
			pr.write(operator)
		}
		pr.node(t, least)
	}
}

func (pr *printer) infix(left Node, operator string, right Node, at level) {
	pr.node(left, at)
	pr.write(" ", operator, " ")
	pr.node(right, at+1)
}

func (pr *printer) term(n Node) {
	switch n := n.(type) {
	case *Path:
		pr.path(n)
	case *Call:
		if n.Function == "size" { // a keyword
			pr.write("size(")
		} else {
			pr.write(quote(n.Function), "(")
		}
		pr.elems(n.Args)
		pr.write(")")
	case *Parameter:
		pr.write("?")
	case *String:
		pr.write("'", strings.ReplaceAll(n.Text, "'", "''"), "'")
	case *Number:
		pr.write(n.Text)
	case *Bool:
		pr.write(strings.ToUpper(strconv.FormatBool(n.True)))
	case *Null:
		pr.write("NULL")
	case *List:
		pr.write("[")
		pr.elems(n.Elems)
		pr.write("]")
	case *Set:
		pr.write("<<")
		pr.elems(n.Elems)
		pr.write(">>")
	case *Map:
		pr.write("{")
		for i, f := range n.Fields {
			pr.separate(i)
			pr.write("'", strings.ReplaceAll(f.Name, "'", "''"), "': ")
			pr.node(f.Value, levelOr)
		}
		pr.write("}")
	default: // node prints these
	}
}

func (pr *printer) elems(nodes []Node) {
	for i, n := range nodes {
		pr.separate(i)
		pr.node(n, levelOr)
	}
}

func (pr *printer) path(path *Path) {
	for i, s := range path.Steps {
		switch {
		case !s.ByName:
			pr.write("[", strconv.Itoa(s.Index), "]")
		case i > 0:
			pr.write(".", quote(s.Name))
		default:
			pr.write(quote(s.Name))
		}
	}
}
