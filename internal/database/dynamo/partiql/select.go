package partiql

import (
	"errors"
	"slices"
	"strings"
)

// selection reads what follows SELECT:
//
//	select = SELECT [ ALL ] ( "*" | path { "," path } ) FROM source [ WHERE condition ]
//	         [ ORDER BY name [ ASC | DESC ] { "," name [ ASC | DESC ] } ] .
func (p *parser) selection() (*Select, error) {
	s := new(Select)
	var err error
	switch {
	case p.isKeyword("distinct"):
		return nil, p.failAbout(UnsupportedToken, "DISTINCT")
	case p.isKeyword("value"):
		return nil, p.fail(ProjectionOfValue)
	default:
		p.takeKeyword("all")
	}
	if s.Paths, err = p.selectList(); err != nil {
		return nil, err
	}
	if !p.takeKeyword("from") {
		return nil, p.fail(ExpectedFrom)
	}
	switch t := p.peek(); {
	case t.kind == tokenString, t.kind == tokenNumber, p.isSymbol("("), p.isSymbol("["), p.isSymbol("?"):
		return nil, p.fail(UnexpectedSource)
	}
	if s.From, err = p.namedSource(); err != nil {
		return nil, err
	}
	if p.isSymbol(",") || p.isKeyword("join") || p.isKeyword("inner") || p.isKeyword("left") || p.isKeyword("cross") {
		return nil, p.fail(ManySources)
	}
	if s.Where, err = p.where(); err != nil {
		return nil, err
	}
	if p.takeKeyword("order") {
		if !p.takeKeyword("by") {
			return nil, p.failAbout(ExpectedToken, "BY")
		}
		if s.Order, err = p.orderList(); err != nil {
			return nil, err
		}
	}
	if p.isKeyword("group") {
		return nil, p.fail(UnsupportedGroupBy)
	}
	if t := p.second(); p.isKeyword("limit") && t.kind != tokenEOF { // AWS names the position of the number
		return nil, &Error{Detail: UnsupportedClause, Subject: "LIMIT", Pos: p.position(t)}
	}
	for _, clause := range [...]string{"limit", "offset", "having", "let"} {
		if p.isKeyword(clause) {
			return nil, p.failAbout(UnsupportedClause, strings.ToUpper(clause))
		}
	}
	return s, nil
}

func (p *parser) selectList() ([]*Path, error) {
	var paths []*Path
	for {
		if p.isSymbol("*") {
			if p.next(); len(paths) > 0 || p.isSymbol(",") {
				return nil, p.fail(StarNotAlone)
			}
			return nil, nil
		}
		path, err := p.column()
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
		if !p.takeSymbol(",") {
			return paths, nil
		}
	}
}

// column reads a path of the SELECT list. Whatever else PartiQL allows there is rejected at its operator or first token.
func (p *parser) column() (*Path, error) {
	start := p.peek()
	if p.isKeyword("missing") || p.isSymbol("[") || p.isSymbol("{") || p.isSymbol("<<") ||
		start.kind == tokenKeyword && (isFunction(start.text) || isAggregate(start.text)) && p.isCall() {
		return nil, p.fail(UnexpectedPathComponent)
	}
	n, err := p.term()
	switch e, ok := errors.AsType[*Error](err); {
	case ok && e.Detail == InvalidDot && p.isSymbol("*"):
		return nil, p.fail(HierarchyChanged)
	case err != nil:
		return nil, err
	}
	path, ok := n.(*Path)
	t := p.peek()
	switch {
	case !ok:
		return nil, &Error{Detail: UnexpectedPathComponent, Pos: p.position(start)}
	case p.isOperator():
		return nil, p.fail(UnexpectedPathComponent)
	case p.isKeyword("as") && p.second().kind == tokenIdentifier, t.kind == tokenIdentifier:
		return nil, p.fail(Aliasing)
	}
	return path, nil
}

// isOperator reports whether an infix operator comes next.
func (p *parser) isOperator() bool {
	t := p.peek()
	switch t.kind {
	case tokenSymbol:
		return slices.Contains([]string{"+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">="}, t.text)
	case tokenKeyword:
		return slices.Contains([]string{"and", "or", "is", "in", "between", "like"}, t.text)
	default:
		return false
	}
}

func (p *parser) orderList() ([]Order, error) {
	var list []Order
	for {
		t := p.peek()
		if t.kind != tokenIdentifier {
			return nil, p.fail(UnexpectedTerm)
		}
		p.next()
		o := Order{Name: t.text}
		if !p.takeKeyword("asc") {
			o.Descending = p.takeKeyword("desc")
		}
		list = append(list, o)
		if !p.takeSymbol(",") {
			return list, nil
		}
	}
}
