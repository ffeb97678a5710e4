package partiql

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxDepth limits the nesting of brackets, calls and NOTs.
	maxDepth = 100
	// maxOperators limits the number of operators and functions in a statement, like DynamoDB's limit for expressions.
	maxOperators = 300
)

// parser reads one statement by recursive descent with two tokens of look-ahead.
type parser struct {
	text   string
	tokens []token
	at     int // index of the next token

	depth, operators, parameters int
	assigns                      bool     // reading the value of an assignment
	inserts                      bool     // reading the item to insert
	choices                      bool     // about to read the list of an IN
	within                       []string // the names and indexes of the enclosing maps and lists
}

func (p *parser) peek() token { return p.tokens[p.at] }

// isCall reports whether a parenthesis follows the next token.
func (p *parser) isCall() bool {
	t := p.second()
	return t.kind == tokenSymbol && t.text == "("
}

// second returns the token after the next one.
func (p *parser) second() token { return p.tokens[min(p.at+1, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEOF {
		p.at++
	}
	return t
}

func (p *parser) isKeyword(word string) bool {
	t := p.peek()
	return t.kind == tokenKeyword && t.text == word
}

func (p *parser) takeKeyword(word string) bool {
	if !p.isKeyword(word) {
		return false
	}
	p.at++
	return true
}

func (p *parser) isSymbol(symbol string) bool {
	t := p.peek()
	return t.kind == tokenSymbol && t.text == symbol
}

func (p *parser) takeSymbol(symbol string) bool {
	if !p.isSymbol(symbol) {
		return false
	}
	p.at++
	return true
}

// expect consumes a symbol whose absence AWS reports by the name of its kind of token.
func (p *parser) expect(symbol, name string) error {
	if p.takeSymbol(symbol) {
		return nil
	}
	return p.failAbout(ExpectedToken, name)
}

// fail returns an error at the next token.
func (p *parser) fail(detail Detail) error { return p.failAbout(detail, "") }

func (p *parser) failAbout(detail Detail, subject string) error {
	return &Error{Detail: detail, Subject: subject, Pos: p.position(p.peek())}
}

func (p *parser) position(t token) Position {
	before := p.text[:t.start]
	line := strings.LastIndexByte(before, '\n') + 1
	return Position{
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(before[line:]) + 1,
		Length: utf8.RuneCountInString(p.text[t.start:t.end]),
	}
}

// enter enters a level of nesting; leave leaves it.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(TooDeep)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// operator counts an operator or function.
func (p *parser) operator() error {
	if p.operators++; p.operators > maxOperators {
		return p.fail(TooManyOperators)
	}
	return nil
}

// statement reads the whole text:
//
//	statement = ( select | insert | update | delete | EXISTS "(" select ")" ) [ ";" ] .
func (p *parser) statement() (*Statement, error) {
	s, err := p.anyStatement()
	if err != nil {
		return nil, err
	}
	semicolon := p.takeSymbol(";")
	switch {
	case p.peek().kind == tokenEOF:
		return s, nil
	case semicolon:
		return nil, p.fail(UnexpectedAfterSecond)
	default:
		return nil, p.fail(UnexpectedAfterEnd)
	}
}

func (p *parser) anyStatement() (*Statement, error) {
	var s Statement
	var err error
	switch {
	case p.takeKeyword("select"):
		s.Select, err = p.selection()
	case p.takeKeyword("insert"):
		s.Insert, err = p.insert()
	case p.takeKeyword("update"):
		s.Update, err = p.update()
	case p.takeKeyword("delete"):
		s.Delete, err = p.deletion()
	case p.takeKeyword("exists"):
		s.Exists = true
		s.Select, err = p.exists()
	default:
		err = p.fail(ExpectedManipulation)
	}
	return &s, err
}

func (p *parser) exists() (*Select, error) {
	if err := p.expect("(", "LEFT_PAREN"); err != nil {
		return nil, err
	}
	if !p.takeKeyword("select") {
		return nil, p.fail(UnexpectedTerm)
	}
	s, err := p.selection()
	if err != nil {
		return nil, err
	}
	return s, p.expect(")", "RIGHT_PAREN")
}

// namedSource reads a source, which has an alias in PartiQL, but not in DynamoDB.
func (p *parser) namedSource() (Source, error) {
	s, err := p.source()
	named := p.peek().kind == tokenIdentifier
	if p.isKeyword("as") || p.isKeyword("at") || p.isKeyword("by") {
		named = p.second().kind == tokenIdentifier
	}
	if err == nil && named {
		err = p.fail(Aliasing)
	}
	return s, err
}

// source reads a table, or "table"."index".
func (p *parser) source() (Source, error) {
	var s Source
	t := p.peek()
	if t.kind != tokenIdentifier {
		return s, p.fail(ExpectedSimplePath)
	}
	var err error
	if s.Table, err = p.name(); err != nil {
		return s, err
	}
	if p.takeSymbol(".") {
		if p.peek().kind != tokenIdentifier {
			return s, p.fail(InvalidDot)
		}
		if s.Index, err = p.name(); err != nil {
			return s, err
		}
	}
	if p.isSymbol(".") || p.isSymbol("[") {
		return s, p.fail(UnexpectedPathComponent)
	}
	return s, nil
}

// name reads an identifier, or a string that is a name; either could be empty.
func (p *parser) name() (string, error) {
	if p.peek().text == "" {
		return "", p.fail(EmptyName)
	}
	return p.next().text, nil
}

func (p *parser) where() (Node, error) {
	if !p.takeKeyword("where") {
		return nil, nil
	}
	return p.expression()
}

// insert reads what follows INSERT:
//
//	insert = INSERT INTO source VALUE value .
func (p *parser) insert() (*Insert, error) {
	if !p.takeKeyword("into") {
		return nil, p.fail(UnexpectedKeyword)
	}
	i := new(Insert)
	var err error
	if i.Into, err = p.source(); err != nil {
		return nil, err
	}
	if !p.takeKeyword("value") {
		// SQL's form with a list of columns has the errors of its first expression.
		if _, err := p.expression(); err != nil {
			return nil, err
		}
		return nil, p.fail(UnexpectedTerm)
	}
	p.inserts = true
	i.Item, err = p.expression()
	return i, err
}

// update reads what follows UPDATE:
//
//	update = UPDATE source change { change } [ WHERE condition ] [ returning ] .
//	change = SET path "=" operand { "," path "=" operand } | REMOVE path .
func (p *parser) update() (*Update, error) {
	u := new(Update)
	var err error
	if u.Table, err = p.namedSource(); err != nil {
		return nil, err
	}
	for err == nil {
		switch {
		case p.takeKeyword("set"):
			err = p.assignments(u)
		case p.takeKeyword("remove"):
			var target *Path
			target, err = p.simplePath()
			u.Changes = append(u.Changes, Change{Target: target})
		case len(u.Changes) == 0:
			return nil, p.fail(ExpectedManipulation)
		default:
			if u.Where, err = p.where(); err == nil {
				u.Returning, err = p.returning()
			}
			return u, err
		}
	}
	return nil, err
}

func (p *parser) assignments(u *Update) error {
	for {
		target, err := p.simplePath()
		if err != nil {
			return err
		}
		if !p.takeSymbol("=") {
			return p.fail(ExpectedAssignment)
		}
		p.assigns = true
		value, err := p.expression()
		p.assigns = false
		if err != nil {
			return err
		}
		u.Changes = append(u.Changes, Change{Target: target, Value: value})
		if !p.takeSymbol(",") {
			return nil
		}
	}
}

// deletion reads what follows DELETE:
//
//	delete = DELETE FROM source [ WHERE condition ] [ returning ] .
func (p *parser) deletion() (*Delete, error) {
	if !p.takeKeyword("from") {
		return nil, p.fail(ExpectedDeleteFrom)
	}
	d := new(Delete)
	var err error
	if d.From, err = p.namedSource(); err != nil {
		return nil, err
	}
	if d.Where, err = p.where(); err != nil {
		return nil, err
	}
	d.Returning, err = p.returning()
	return d, err
}

// returning reads RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) "*", if there is one.
func (p *parser) returning() (Returning, error) {
	if !p.takeKeyword("returning") {
		return ReturnNothing, nil
	}
	for _, r := range [...]Returning{ReturnAllOld, ReturnAllNew, ReturnModifiedOld, ReturnModifiedNew} {
		part, age, _ := strings.Cut(strings.ToLower(string(r)), " ")
		if p.isKeyword(part) && p.second().kind == tokenKeyword && p.second().text == age {
			p.at += 2
			return r, p.returned()
		}
	}
	return ReturnNothing, p.fail(ExpectedReturning)
}

// returned reads the "*" of RETURNING. PartiQL also allows attributes there, and several elements.
func (p *parser) returned() error {
	if t := p.peek(); t.kind == tokenIdentifier || t.kind == tokenNumber || t.kind == tokenString {
		return p.fail(ReturningPart)
	}
	if err := p.expect("*", "STAR"); err != nil {
		return err
	}
	if p.isSymbol(",") && p.second().kind == tokenKeyword {
		return p.fail(ReturningTwice)
	}
	return nil
}
