package partiql

import (
	"strconv"
	"strings"
)

// expression parses a condition, an operand or a value, which the grammar does not distinguish:
//
//	expression  = conjunction { OR conjunction } .
//	conjunction = negation { AND negation } .
//	negation    = NOT negation | equality .
//	equality    = comparison { ( "=" | "<>" | "!=" ) comparison
//	                         | IS [ NOT ] ( MISSING | NULL )
//	                         | [ NOT ] IN ( "(" expression { "," expression } ")" | comparison ) } .
//	comparison  = sum { ( "<" | "<=" | ">" | ">=" ) sum | [ NOT ] BETWEEN sum AND sum } .
//	sum         = term { ( "+" | "-" ) term } .
func (p *parser) expression() (Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	terms, err := p.terms("or", p.conjunction)
	if err != nil || len(terms) == 1 {
		return first(terms), err
	}
	return &Or{Terms: terms}, nil
}

func (p *parser) conjunction() (Node, error) {
	terms, err := p.terms("and", p.negation)
	if err != nil || len(terms) == 1 {
		return first(terms), err
	}
	return &And{Terms: terms}, nil
}

func first(nodes []Node) Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// terms parses the operands of a chain of AND or OR. A chain in parentheses within one of its own kind means the same without
// them.
func (p *parser) terms(keyword string, term func() (Node, error)) ([]Node, error) {
	var terms []Node
	for {
		n, err := term()
		if err != nil {
			return nil, err
		}
		terms = append(terms, termsOf(n, keyword)...)
		if !p.isKeyword(keyword) {
			return terms, nil
		}
		if err := p.infix(); err != nil {
			return nil, err
		}
	}
}

// termsOf returns the terms of a chain with the keyword, else n alone.
func termsOf(n Node, keyword string) []Node {
	switch chain := n.(type) {
	case *And:
		if keyword == "and" {
			return chain.Terms
		}
	case *Or:
		if keyword == "or" {
			return chain.Terms
		}
	default:
	}
	return []Node{n}
}

// infix consumes an operator that needs an operand on its right.
func (p *parser) infix() error {
	if err := p.operator(); err != nil {
		return err
	}
	if p.second().kind == tokenEOF {
		return p.fail(MissingRightSide)
	}
	p.next()
	return nil
}

func (p *parser) negation() (Node, error) {
	if !p.isKeyword("not") {
		return p.equality()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.operator(); err != nil {
		return nil, err
	}
	p.next()
	n, err := p.negation()
	if err != nil {
		return nil, err
	}
	return &Not{Term: n}, nil
}

func (p *parser) equality() (Node, error) {
	left, err := p.comparison()
	for err == nil {
		t := p.peek()
		switch {
		case p.isSymbol("=") || p.isSymbol("<>"):
			c := &Comparison{Op: t.text, Left: left}
			if err = p.infix(); err == nil {
				c.Right, err = p.comparison()
			}
			left = c
		case p.isKeyword("is"):
			left, err = p.is(left)
		case p.isKeyword("in"), p.isNegated("in"):
			left, err = p.in(left)
		default:
			return left, nil
		}
	}
	return nil, err
}

// isNegated reports whether NOT and the word come next.
func (p *parser) isNegated(word string) bool {
	t := p.second()
	return p.isKeyword("not") && t.kind == tokenKeyword && t.text == word
}

func (p *parser) is(operand Node) (Node, error) {
	if err := p.operator(); err != nil {
		return nil, err
	}
	p.next()
	n := &Is{Operand: operand, Negated: p.takeKeyword("not")}
	switch {
	case p.takeKeyword("missing"):
		n.Type = TypeMissing
	case p.takeKeyword("null"):
		n.Type = TypeNull
	default:
		return nil, p.fail(ExpectedType)
	}
	return n, nil
}

func (p *parser) in(operand Node) (Node, error) {
	n := &In{Operand: operand, Negated: p.takeKeyword("not")}
	if err := p.infix(); err != nil {
		return nil, err
	}
	var err error
	if p.takeSymbol("(") {
		var elems []Node
		elems, err = p.list(")", "RIGHT_PAREN")
		n.List = &List{Elems: elems}
		return n, err
	}
	p.choices = p.isSymbol("[")
	n.List, err = p.comparison()
	return n, err
}

func (p *parser) comparison() (Node, error) {
	left, err := p.sum()
	for err == nil {
		t := p.peek()
		switch {
		case p.isKeyword("like"), p.isNegated("like"):
			return nil, p.unsupportedOperator("like")
		case p.isSymbol("<"), p.isSymbol("<="), p.isSymbol(">"), p.isSymbol(">="):
			c := &Comparison{Op: t.text, Left: left}
			if err = p.infix(); err == nil {
				c.Right, err = p.sum()
			}
			left = c
		case p.isKeyword("between"), p.isNegated("between"):
			left, err = p.between(left)
		default:
			return left, nil
		}
	}
	return nil, err
}

func (p *parser) between(operand Node) (Node, error) {
	n := &Between{Operand: operand, Negated: p.takeKeyword("not")}
	err := p.infix()
	if err != nil {
		return nil, err
	}
	if n.Low, err = p.sum(); err != nil {
		return nil, err
	}
	if !p.takeKeyword("and") {
		return nil, p.failAbout(ExpectedToken, "AND")
	}
	n.High, err = p.sum()
	return n, err
}

func (p *parser) sum() (Node, error) {
	left, err := p.term()
	for err == nil && (p.isSymbol("+") || p.isSymbol("-")) {
		a := &Arithmetic{Op: p.peek().text, Left: left}
		if err = p.infix(); err == nil {
			a.Right, err = p.term()
		}
		left = a
	}
	if err == nil && (p.isSymbol("*") || p.isSymbol("/") || p.isSymbol("%") || p.isSymbol("||")) {
		err = p.unsupportedOperator(p.peek().text)
	}
	return left, err
}

func (p *parser) unsupportedOperator(operator string) error {
	if p.assigns {
		return p.failAbout(UpdateOperator, operator)
	}
	return p.failAbout(ConditionOperator, operator)
}

// term reads a path, a call, a value, or an expression in parentheses.
func (p *parser) term() (Node, error) {
	t := p.peek()
	switch t.kind {
	case tokenIdentifier:
		if p.isCall() {
			return p.call()
		}
		return p.path()
	case tokenKeyword:
		return p.keywordTerm(t)
	case tokenString:
		p.next()
		return &String{Text: t.text}, nil
	case tokenNumber:
		p.next()
		return &Number{Text: t.text}, nil
	case tokenSymbol:
		return p.symbolTerm(t)
	default:
		return nil, p.fail(UnexpectedTerm)
	}
}

func (p *parser) keywordTerm(t token) (Node, error) {
	switch {
	case t.text == "null":
		p.next()
		return &Null{}, nil
	case t.text == "true" || t.text == "false":
		p.next()
		return &Bool{True: t.text == "true"}, nil
	case t.text == "missing" && len(p.within) > 0:
		return nil, p.noValue(t, "LiteralMissing", "MISSING")
	case t.text == "missing":
		return nil, p.fail(MissingAsValue)
	case t.text == "size" && p.isCall():
		return p.call()
	case isFunction(t.text) && p.isCall():
		return nil, p.failAbout(UnrecognizedFunction, t.text)
	case isAggregate(t.text) && p.isCall():
		return nil, p.failAbout(UnsupportedAggregate, t.text)
	default:
		return nil, p.fail(UnexpectedKeyword)
	}
}

func (p *parser) symbolTerm(t token) (Node, error) {
	switch t.text {
	case "?":
		p.next()
		p.parameters++
		return &Parameter{Number: p.parameters - 1}, nil
	case "(":
		p.next()
		if p.isSymbol(")") {
			return nil, p.fail(EmptyGroup)
		}
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")", "RIGHT_PAREN")
	case "[":
		p.next()
		elems, err := p.list("]", "RIGHT_BRACKET")
		return &List{Elems: elems}, err
	case "<<":
		p.next()
		elems, err := p.list(">>", "RIGHT_DOUBLE_ANGLE_BRACKET")
		return &Set{Elems: elems}, err
	case "{":
		p.next()
		return p.tuple()
	case "+", "-":
		return p.signed(t)
	case "=", "<", ">", "<=", ">=", "<>", "/", "%", "|", "@":
		return nil, p.fail(UnexpectedOperator)
	default:
		return nil, p.fail(UnexpectedTerm)
	}
}

// signed parses a number with a sign; nothing else may have one.
func (p *parser) signed(sign token) (Node, error) {
	if p.second().kind != tokenNumber {
		return nil, p.fail(UnexpectedOperator)
	}
	p.next()
	text := p.next().text
	if sign.text == "-" {
		text = "-" + text
	}
	return &Number{Text: text}, nil
}

// list parses the elements up to the closing bracket, which AWS's message names.
func (p *parser) list(closing, name string) ([]Node, error) {
	var elems []Node
	values := closing == "]" && !p.choices
	p.choices = false
	if p.takeSymbol(closing) {
		return elems, nil
	}
	for {
		var n Node
		var err error
		if values {
			n, err = p.member(strconv.Itoa(len(elems)))
		} else {
			n, err = p.expression()
		}
		if err != nil {
			return nil, err
		}
		elems = append(elems, n)
		if !p.takeSymbol(",") {
			return elems, p.expect(closing, name)
		}
	}
}

func (p *parser) tuple() (Node, error) {
	m := new(Map)
	if p.takeSymbol("}") {
		return m, nil
	}
	for {
		if p.peek().kind != tokenString {
			return nil, p.badName()
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if err := p.expect(":", "COLON"); err != nil {
			return nil, err
		}
		v, err := p.member(name)
		if err != nil {
			return nil, err
		}
		m.Fields = append(m.Fields, Field{Name: name, Value: v})
		if !p.takeSymbol(",") {
			return m, p.expect("}", "RIGHT_CURLY")
		}
	}
}

// member reads the value at a name or index of a map or list.
func (p *parser) member(at string) (Node, error) {
	p.within = append(p.within, at)
	start := p.peek()
	n, err := p.expression()
	if path, ok := n.(*Path); ok && err == nil && len(path.Steps) == 1 {
		err = p.noValue(start, "VariableReference", path.Steps[0].Name)
	}
	p.within = p.within[:len(p.within)-1]
	return n, err
}

// noValue returns the error of a member that is not a value. AWS names the attributes of an item to insert by their text.
func (p *parser) noValue(t token, kind, text string) error {
	if p.inserts && len(p.within) == 1 {
		kind = text
	}
	return &Error{Detail: UnsupportedData, Subject: kind + " under key " + p.place(), Pos: p.position(t)}
}

// place returns AWS's name of the map or list that is being read, in which each attribute of an item to insert is a root.
func (p *parser) place() string {
	within := p.within
	if p.inserts && len(within) > 0 {
		within = within[1:]
	}
	return strings.Join(append([]string{"root"}, within...), ".")
}

// badName returns the error of a field without a string as its name. PartiQL allows any expression.
func (p *parser) badName() error {
	kind := "VariableReference"
	switch {
	case p.isSymbol("?"):
		kind = "Parameter"
	case p.peek().kind != tokenIdentifier:
		return p.fail(UnexpectedTerm)
	}
	return p.failAbout(TupleKey, kind+" under "+p.place())
}

// call reads a function and its arguments.
func (p *parser) call() (Node, error) {
	if err := p.operator(); err != nil {
		return nil, err
	}
	name := p.next().text
	p.next() // the parenthesis
	args, err := p.list(")", "RIGHT_PAREN")
	return &Call{Function: strings.ToLower(name), Args: args}, err
}

// simplePath parses the path of a change.
func (p *parser) simplePath() (*Path, error) {
	if p.peek().kind != tokenIdentifier {
		return nil, p.fail(ExpectedSimplePath)
	}
	return p.path()
}

// path parses a path, of which the first name comes next:
//
//	path = name { "." name | "[" ( digits | string ) "]" } .
func (p *parser) path() (*Path, error) {
	root, err := p.name()
	if err != nil {
		return nil, err
	}
	path := &Path{Steps: []Step{{Name: root, ByName: true}}}
	for {
		switch {
		case p.takeSymbol("."):
			if p.peek().kind != tokenIdentifier {
				return nil, p.fail(InvalidDot)
			}
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			path.Steps = append(path.Steps, Step{Name: name, ByName: true})
		case p.takeSymbol("["):
			step, err := p.element()
			if err != nil {
				return nil, err
			}
			path.Steps = append(path.Steps, step)
		default:
			return path, nil
		}
	}
}

// element reads a step in brackets, after the opening one: m['k'] is m."k".
func (p *parser) element() (Step, error) {
	t := p.peek()
	var step Step
	if t.kind == tokenString {
		name, err := p.name()
		if err != nil {
			return Step{}, err
		}
		step = Step{Name: name, ByName: true}
	} else {
		index, err := strconv.ParseUint(t.text, 10, 31)
		if t.kind != tokenNumber || err != nil {
			return Step{}, p.badIndex()
		}
		p.next()
		step = Step{Index: int(index)}
	}
	return step, p.expect("]", "RIGHT_BRACKET")
}

// badIndex returns the error of an index that is not a natural number of 31 bits.
func (p *parser) badIndex() error {
	sign := ""
	if p.isSymbol("-") && p.second().kind == tokenNumber {
		sign = p.next().text
	}
	switch t := p.peek(); {
	case t.kind != tokenNumber:
		return p.fail(InvalidIndex)
	case strings.Trim(t.text, "0123456789") != "":
		return p.fail(UnexpectedPathComponent)
	default:
		return p.failAbout(IndexOutOfRange, sign+t.text)
	}
}
