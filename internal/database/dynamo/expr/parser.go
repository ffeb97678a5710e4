package expr

import (
	"strconv"
	"strings"
)

// maxDepth limits the nesting of parentheses and calls. Valid expressions stay below it: between two parentheses that are not
// redundant there is an operator, and a call counts as one.
const maxDepth = MaxOperators + 50

// parser reads one text by recursive descent with one token of look-ahead.
type parser struct {
	surface Surface
	text    string
	tokens  []token
	at      int // index of the next token
	depth   int

	operators int
	slots     map[string]int // of aliases and placeholders, which their sigils distinguish
	out       *Expression
	// faults has the first fault of each kind that does not stop the parser.
	faults map[Kind]*Error
}

func newParser(s Surface, text string) *parser {
	return &parser{
		surface: s,
		text:    text,
		tokens:  tokens(text),
		slots:   map[string]int{},
		out:     &Expression{Surface: s},
	}
}

// parse parses the whole text. A syntax error takes precedence over all faults; among faults the smallest kind does.
func (p *parser) parse() error {
	var err error
	switch p.surface {
	case Projection:
		err = p.projection()
	case Update:
		err = p.update()
	default:
		p.out.Root, err = p.condition()
	}
	if err == nil && p.peek().kind != tokenEOF {
		err = p.syntax()
	}
	if err != nil {
		return err
	}
	if p.operators > MaxOperators {
		p.fault(&Error{Kind: KindTooManyOperators, Count: MaxOperators + 1}) // AWS stops counting there
	}
	var first *Error
	for kind, fault := range p.faults {
		if first == nil || kind < first.Kind {
			first = fault
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// fault records e, unless there already is one of its kind.
func (p *parser) fault(e *Error) {
	if p.faults == nil {
		p.faults = map[Kind]*Error{}
	}
	if _, found := p.faults[e.Kind]; !found {
		e.Surface = p.surface
		p.faults[e.Kind] = e
	}
}

// syntax returns the error for an unexpected next token. It quotes the tokens around it, and at an end of the text the spaces
// there, as DynamoDB Local does.
func (p *parser) syntax() error {
	t := p.tokens[p.at]
	start, end, subject := 0, t.end, "<EOF>"
	if p.at > 0 {
		start = p.tokens[p.at-1].start
	}
	if t.kind != tokenEOF {
		subject, end = p.word(t), p.tokens[p.at+1].end
	}
	return &Error{
		Surface: p.surface, Kind: KindSyntax, Pos: t.start,
		Subject: subject, Near: p.text[start:end],
	}
}

// enter enters a level of nesting; leave leaves it.
func (p *parser) enter(kind Kind) error {
	p.depth++
	if p.depth > maxDepth {
		return &Error{Surface: p.surface, Kind: kind, Pos: p.peek().start, Count: p.operators}
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEOF {
		p.at++
	}
	return t
}

func (p *parser) word(t token) string { return p.text[t.start:t.end] }

// isSymbol reports whether the next token is the symbol s.
func (p *parser) isSymbol(s string) bool {
	t := p.peek()
	return t.kind == tokenSymbol && p.word(t) == s
}

// isKeyword reports whether the next token is the keyword k, ignoring case.
func (p *parser) isKeyword(k string) bool {
	t := p.peek()
	return t.kind == tokenKeyword && strings.EqualFold(p.word(t), k)
}

func (p *parser) takeSymbol(s string) bool {
	if !p.isSymbol(s) {
		return false
	}
	p.at++
	return true
}

func (p *parser) takeKeyword(k string) bool {
	if !p.isKeyword(k) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expectSymbol(s string) error {
	if !p.takeSymbol(s) {
		return p.syntax()
	}
	return nil
}

// slot returns the number of an alias or placeholder; new ones are appended to refs.
func (p *parser) slot(refs *[]Reference, t token) int {
	name := p.word(t)
	if n, ok := p.slots[name]; ok {
		return n
	}
	n := len(*refs)
	p.slots[name] = n
	*refs = append(*refs, Reference{Name: name, Pos: t.start})
	return n
}

// operand parses a path, a placeholder, a call, or one of these in parentheses, which wrapped reports.
func (p *parser) operand() (n Node, wrapped bool, err error) {
	switch t := p.peek(); {
	case t.kind == tokenPlaceholder:
		p.at++
		return &Placeholder{Slot: p.slot(&p.out.Placeholders, t), Name: p.word(t)}, false, nil
	case t.kind == tokenName && p.tokenIs(p.at+1, "("):
		n, err = p.call()
		return n, false, err
	case t.kind == tokenName || t.kind == tokenAlias:
		n, err = p.path()
		return n, false, err
	case p.isSymbol("("):
		n, err = p.wrappedOperand()
		return n, true, err
	default:
		return nil, false, p.syntax()
	}
}

func (p *parser) wrappedOperand() (Node, error) {
	open := p.next()
	if err := p.enter(KindRedundantParentheses); err != nil {
		return nil, err
	}
	defer p.leave()
	n, wrapped, err := p.operand()
	if err != nil {
		return nil, err
	}
	if wrapped {
		p.fault(&Error{Kind: KindRedundantParentheses, Pos: open.start})
	}
	return n, p.expectSymbol(")")
}

// tokenIs reports whether token i is the symbol s.
func (p *parser) tokenIs(i int, s string) bool {
	return i < len(p.tokens) && p.tokens[i].kind == tokenSymbol && p.word(p.tokens[i]) == s
}

// call parses a function with its operands; the next tokens are its name and "(".
func (p *parser) call() (Node, error) {
	name := p.next()
	p.at++
	p.operators++
	if err := p.enter(KindTooManyOperators); err != nil {
		return nil, err
	}
	defer p.leave()
	c := &Call{Function: Function(p.word(name)), Pos: name.start}
	for {
		arg, _, err := p.operand()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, arg)
		if !p.takeSymbol(",") {
			break
		}
	}
	if err := p.expectSymbol(")"); err != nil {
		return nil, err
	}
	p.checkCall(c)
	return c, nil
}

// checkCall records what is wrong with a call in any context.
func (p *parser) checkCall(c *Call) {
	sig, known := c.Function.signature()
	e := &Error{Pos: c.Pos, Subject: string(c.Function)}
	switch {
	case !known:
		e.Kind = KindUnknownFunction
	case p.surface == Update && !sig.update:
		e.Kind = KindFunctionNotInUpdate
	case p.surface != Update && sig.update:
		e.Kind = KindFunctionNotInCondition
	case len(c.Args) != sig.operands:
		e.Kind, e.Count = KindOperandCount, len(c.Args)
	case sig.path && !isPath(c.Args[0]):
		e.Kind = KindOperandNoPath
	default:
		for _, arg := range c.Args {
			p.checkOperand(arg)
			if inner, ok := arg.(*Call); ok && inner.Function == ListAppend {
				p.fault(&Error{Kind: KindFunctionMisplaced, Pos: inner.Pos, Subject: string(inner.Function)})
			}
		}
		return
	}
	p.fault(e)
}

// checkOperand records a call used as an operand that is a condition.
func (p *parser) checkOperand(n Node) {
	c, ok := n.(*Call)
	if !ok {
		return
	}
	if sig, known := c.Function.signature(); known && sig.condition {
		p.fault(&Error{Kind: KindFunctionMisplaced, Pos: c.Pos, Subject: string(c.Function)})
	}
}

func isPath(n Node) bool {
	_, ok := n.(*Path)
	return ok
}

// path reads a document path.
func (p *parser) path() (*Path, error) {
	out := &Path{Pos: p.peek().start}
	if err := p.nameStep(out); err != nil {
		return nil, err
	}
	for {
		var err error
		switch {
		case p.takeSymbol("."):
			err = p.nameStep(out)
		case p.takeSymbol("["):
			err = p.indexStep(out)
		default:
			if len(out.Steps) > MaxPathSteps {
				p.fault(&Error{Kind: KindPathTooDeep, Pos: out.Pos, Count: len(out.Steps)})
			}
			if len(out.Steps) > 1 {
				p.out.Nested = append(p.out.Nested, out)
			}
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) nameStep(out *Path) error {
	t := p.peek()
	step := Step{Name: p.word(t)}
	switch t.kind {
	case tokenName:
		step.Kind = StepName
		if Reserved(step.Name) {
			p.fault(&Error{Kind: KindReserved, Pos: t.start, Subject: step.Name})
		}
	case tokenAlias:
		step.Kind = StepAlias
		step.Number = p.slot(&p.out.Aliases, t)
	default:
		return p.syntax()
	}
	p.at++
	out.Steps = append(out.Steps, step)
	return nil
}

func (p *parser) indexStep(out *Path) error {
	t := p.peek()
	if t.kind != tokenInteger {
		return p.syntax()
	}
	p.at++
	n, err := strconv.ParseInt(p.word(t), 10, 32)
	if err != nil {
		p.fault(&Error{Kind: KindIndexRange, Pos: t.start, Subject: p.word(t)})
	}
	out.Steps = append(out.Steps, Step{Kind: StepIndex, Number: int(n)})
	return p.expectSymbol("]")
}

// projection reads a list of paths.
func (p *parser) projection() error {
	for {
		path, err := p.path()
		if err != nil {
			return err
		}
		p.out.Paths = append(p.out.Paths, path)
		if !p.takeSymbol(",") {
			return nil
		}
	}
}
