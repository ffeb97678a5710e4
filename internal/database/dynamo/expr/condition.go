package expr

// term is what the grammar of conditions parses before it knows whether it is a condition or an operand: both may be in
// parentheses, and a call may be either.
type term struct {
	node    Node
	wrapped bool // in parentheses
}

// condition parses a whole condition:
//
//	condition   = conjunction { OR conjunction } .
//	conjunction = negation { AND negation } .
//	negation    = { NOT } test .
//	test        = "(" condition ")"
//	            | call
//	            | operand comparator operand
//	            | operand BETWEEN operand AND operand
//	            | operand IN "(" operand { "," operand } ")" .
func (p *parser) condition() (Node, error) {
	t, err := p.disjunction(false)
	return t.node, err
}

// disjunction parses a condition. Inside parentheses (bare) it may be just an operand, with which the caller continues.
func (p *parser) disjunction(bare bool) (term, error) {
	first, err := p.conjunction(bare)
	if err != nil || !p.isKeyword("OR") {
		return first, err
	}
	or := &Or{Terms: []Node{first.node}}
	for p.takeKeyword("OR") {
		p.operators++
		t, err := p.conjunction(false)
		if err != nil {
			return term{}, err
		}
		or.Terms = append(or.Terms, t.node)
	}
	return term{node: or}, nil
}

func (p *parser) conjunction(bare bool) (term, error) {
	first, err := p.negation(bare)
	if err != nil || !p.isKeyword("AND") {
		return first, err
	}
	and := &And{Terms: []Node{first.node}}
	for p.takeKeyword("AND") {
		p.operators++
		t, err := p.negation(false)
		if err != nil {
			return term{}, err
		}
		and.Terms = append(and.Terms, t.node)
	}
	return term{node: and}, nil
}

func (p *parser) negation(bare bool) (term, error) {
	nots := 0
	for p.takeKeyword("NOT") {
		nots++
	}
	if nots == 0 {
		return p.predicate(bare)
	}
	p.operators += nots
	t, err := p.predicate(false)
	if err != nil {
		return term{}, err
	}
	// A tree with more NOTs than allowed operators is rejected anyway; it is not built, so that nothing has to descend into it.
	for range min(nots, MaxOperators) {
		t = term{node: &Not{Term: t.node}}
	}
	return t, nil
}

func (p *parser) predicate(bare bool) (term, error) {
	var left term
	var err error
	if p.isSymbol("(") {
		left, err = p.group()
	} else {
		left.node, _, err = p.operand()
	}
	if err != nil {
		return term{}, err
	}
	if isCondition(left.node) {
		return left, nil
	}
	n, err := p.relation(left.node)
	if err != nil {
		return term{}, err
	}
	if n != nil {
		return term{node: n}, nil
	}
	if c, ok := left.node.(*Call); ok {
		if !bare || !p.isSymbol(")") {
			p.checkPredicate(c)
		}
		return left, nil
	}
	if bare && p.isSymbol(")") {
		return left, nil
	}
	return term{}, p.syntax()
}

// checkPredicate records a call used as a condition that is an operand.
func (p *parser) checkPredicate(c *Call) {
	if sig, known := c.Function.signature(); known && !sig.condition && !sig.update {
		p.fault(&Error{Kind: KindFunctionMisplaced, Pos: c.Pos, Subject: string(c.Function)})
	}
}

// group parses parentheses around a condition or an operand.
func (p *parser) group() (term, error) {
	open := p.next()
	if err := p.enter(KindRedundantParentheses); err != nil {
		return term{}, err
	}
	defer p.leave()
	t, err := p.disjunction(true)
	if err != nil {
		return term{}, err
	}
	if t.wrapped {
		p.fault(&Error{Kind: KindRedundantParentheses, Pos: open.start})
	}
	t.wrapped = true
	return t, p.expectSymbol(")")
}

// isCondition reports whether n can only be a condition; calls are undecided.
func isCondition(n Node) bool {
	switch n.(type) {
	case *Path, *Placeholder, *Call:
		return false
	default:
		return true
	}
}

// relation parses what may follow the first operand of a predicate, or returns nil.
func (p *parser) relation(left Node) (Node, error) {
	t := p.peek()
	switch {
	case p.isComparator():
		p.at++
		p.operators++
		p.checkOperand(left)
		right, err := p.checkedOperand()
		return &Comparison{Op: Comparator(p.word(t)), Left: left, Right: right, Pos: t.start}, err
	case p.takeKeyword("BETWEEN"):
		p.operators++
		p.checkOperand(left)
		return p.between(left, t.start)
	case p.takeKeyword("IN"):
		p.operators++
		p.checkOperand(left)
		return p.in(left, t.start)
	default:
		return nil, nil
	}
}

func (p *parser) isComparator() bool {
	t := p.peek()
	if t.kind != tokenSymbol {
		return false
	}
	switch Comparator(p.word(t)) {
	case Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual:
		return true
	default:
		return false
	}
}

func (p *parser) checkedOperand() (Node, error) {
	n, _, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.checkOperand(n)
	return n, nil
}

func (p *parser) between(operand Node, pos int) (Node, error) {
	low, err := p.checkedOperand()
	if err != nil {
		return nil, err
	}
	if !p.takeKeyword("AND") {
		return nil, p.syntax()
	}
	high, err := p.checkedOperand()
	if err != nil {
		return nil, err
	}
	return &Between{Operand: operand, Low: low, High: high, Pos: pos}, nil
}

func (p *parser) in(operand Node, pos int) (Node, error) {
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	in := &In{Operand: operand, Pos: pos}
	for {
		n, err := p.checkedOperand()
		if err != nil {
			return nil, err
		}
		in.List = append(in.List, n)
		if !p.takeSymbol(",") {
			break
		}
	}
	if len(in.List) > MaxInOperands {
		p.fault(&Error{Kind: KindInTooLong, Pos: pos, Count: len(in.List)})
	}
	return in, p.expectSymbol(")")
}
