package expr

// update reads the sections of an update:
//
//	update  = section { section }
//	section = SET    path "=" value   { "," path "=" value }
//	        | REMOVE path             { "," path }
//	        | ADD    path placeholder { "," path placeholder }
//	        | DELETE path placeholder { "," path placeholder }
//	value   = operand [ ( "+" | "-" ) operand ] | "(" value ")"
func (p *parser) update() error {
	var used [Delete + 1]bool
	for {
		t := p.peek()
		verb, ok := p.takeVerb()
		if !ok {
			return p.syntax()
		}
		if used[verb] {
			p.fault(&Error{Kind: KindSectionTwice, Pos: t.start, Subject: verb.String()})
		}
		used[verb] = true
		if err := p.section(verb); err != nil {
			return err
		}
		if p.peek().kind == tokenEOF {
			return nil
		}
	}
}

func (p *parser) takeVerb() (Verb, bool) {
	for v := Set; v <= Delete; v++ {
		if p.takeKeyword(v.String()) {
			return v, true
		}
	}
	return 0, false
}

func (p *parser) section(verb Verb) error {
	for {
		a, err := p.action(verb)
		if err != nil {
			return err
		}
		p.out.Actions = append(p.out.Actions, a)
		if !p.takeSymbol(",") {
			return nil
		}
	}
}

func (p *parser) action(verb Verb) (Action, error) {
	target, err := p.path()
	if err != nil {
		return Action{}, err
	}
	a := Action{Verb: verb, Target: target}
	switch verb {
	case Set:
		if err = p.expectSymbol("="); err == nil {
			a.Value, _, err = p.value()
		}
	case Add, Delete:
		if p.peek().kind != tokenPlaceholder {
			return Action{}, p.syntax()
		}
		a.Value, _, err = p.operand()
	case Remove:
	}
	return a, err
}

// value reads the right-hand side of SET. wrapped tells that it stands in parentheses.
func (p *parser) value() (n Node, wrapped bool, err error) {
	var left Node
	if p.isSymbol("(") {
		left, err = p.wrappedValue()
		wrapped = true
	} else {
		left, _, err = p.operand()
	}
	if err != nil {
		return nil, false, err
	}
	if _, sum := left.(*Arithmetic); sum {
		return left, wrapped, nil
	}
	t := p.peek()
	if !p.takeSymbol("+") && !p.takeSymbol("-") {
		return left, wrapped, nil
	}
	p.operators++
	right, _, err := p.operand()
	if err != nil {
		return nil, false, err
	}
	p.checkAddend(left)
	p.checkAddend(right)
	return &Arithmetic{Op: ArithmeticOp(p.word(t)), Left: left, Right: right, Pos: t.start}, false, nil
}

// checkAddend records a list_append, whose result is never a number.
func (p *parser) checkAddend(n Node) {
	if c, ok := n.(*Call); ok && c.Function == ListAppend {
		p.fault(&Error{Kind: KindFunctionMisplaced, Pos: c.Pos, Subject: string(c.Function)})
	}
}

func (p *parser) wrappedValue() (Node, error) {
	open := p.next()
	if err := p.enter(KindRedundantParentheses); err != nil {
		return nil, err
	}
	defer p.leave()
	n, wrapped, err := p.value()
	if err != nil {
		return nil, err
	}
	if wrapped {
		p.fault(&Error{Kind: KindRedundantParentheses, Pos: open.start})
	}
	return n, p.expectSymbol(")")
}
