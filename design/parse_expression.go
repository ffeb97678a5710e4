package design

import (
	"fmt"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// maxNesting bounds nested parentheses and negations; no realistic statement comes near it.
const maxNesting = 32

// expressionParser parses the words of an expression from left to right, with a method for each precedence:
//
//	either  = both { OR both }
//	both    = not { AND not }
//	not     = compare | NOT not
//	compare = sum [ ( = | <> | < | <= | > | >= ) sum ]
//	sum     = term { ( + | - ) term }
//	term    = number | 'text' | true | false | name | :param | call | ( either )
//	call    = function ( [ name [ of name ] [ where condition ] ] )
type expressionParser struct {
	text  string
	words []syntax.Word
	next  int
	depth int
}

// ParseExpression reads an expression. Errors are *SyntaxError.
func ParseExpression(s string) (*Expression, error) {
	p, err := newExpressionParser(s)
	if err != nil {
		return nil, err
	}
	root, fault := p.either()
	if fault == nil && p.next < len(p.words) {
		fault = p.misplaced()
	}
	if fault != nil {
		fault.Text = s
		return nil, fault
	}
	return &Expression{Text: s, Root: root}, nil
}

// ParseSelection reads a selection. Errors are *SyntaxError.
func ParseSelection(s string) (*Selection, error) {
	p, err := newExpressionParser(s)
	if err != nil {
		return nil, err
	}
	out := &Selection{Text: s}
	fault := func() *SyntaxError {
		first := p.peek()
		if first.Kind != syntax.NameWord && first.Kind != syntax.ParamWord {
			return p.wrong("members, or members where userId <> :userId", "a list must be the name of a read's result")
		}
		p.next++
		out.List, out.Given = first.Text, first.Kind == syntax.ParamWord
		if p.next == len(p.words) {
			return nil
		}
		if !p.keyword("where") {
			return p.misplaced()
		}
		var fault *SyntaxError
		out.Where, _, fault = p.condition(len(s))
		p.next = len(p.words)
		return fault
	}()
	if fault != nil {
		fault.Text = s
		return nil, fault
	}
	return out, nil
}

func newExpressionParser(s string) (*expressionParser, error) {
	words, err := syntax.ScanWords(s)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, &SyntaxError{Text: s, Message: "the expression is empty"}
	}
	return &expressionParser{text: s, words: words}, nil
}

// peek is the next word; a zero word after the last.
func (p *expressionParser) peek() syntax.Word {
	if p.next == len(p.words) {
		return syntax.Word{At: len(p.text)}
	}
	return p.words[p.next]
}

func (p *expressionParser) sign(text string) bool {
	w := p.peek()
	if w.Kind != syntax.SignWord || w.Text != text {
		return false
	}
	p.next++
	return true
}

// keyword reads a keyword in any case.
func (p *expressionParser) keyword(text string) bool {
	w := p.peek()
	if w.Kind != syntax.NameWord || !strings.EqualFold(w.Text, text) {
		return false
	}
	p.next++
	return true
}

func (p *expressionParser) wrong(hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{At: p.peek().At, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// misplaced reports that the next word is not allowed here.
func (p *expressionParser) misplaced() *SyntaxError {
	w := p.peek()
	switch {
	case w.Text == "" && w.Kind == syntax.SignWord:
		return p.wrong("", "the expression ends too early")
	case w.Kind == syntax.SignWord && w.Text == "=" && p.next > 0 && p.words[p.next-1].Text == "=":
		return p.wrong("equality is a single =", "unexpected %q", w.Text)
	case operatorOf(w) != "":
		return p.wrong("put one of the comparisons in parentheses", "there are two comparisons without AND or OR between them")
	case strings.EqualFold(w.Text, "between"), strings.EqualFold(w.Text, "in"):
		return p.wrong("write a >= 1 AND a <= 2; a = 'x' OR a = 'y'", "%q can only be used in conditions on one item", w.Text)
	default:
		return p.wrong("", "unexpected %q", w.Text)
	}
}

func (p *expressionParser) either() (Operand, *SyntaxError) {
	return p.joined("or", Or, p.both)
}

func (p *expressionParser) both() (Operand, *SyntaxError) {
	return p.joined("and", And, p.not)
}

func (p *expressionParser) joined(keyword string, operator Operator, part func() (Operand, *SyntaxError)) (Operand, *SyntaxError) {
	left, fault := part()
	for fault == nil {
		at := p.peek().At
		if !p.keyword(keyword) {
			break
		}
		var right Operand
		right, fault = part()
		left = &Operation{operator, left, right, at}
	}
	return left, fault
}

func (p *expressionParser) not() (Operand, *SyntaxError) {
	at := p.peek().At
	if !p.keyword("not") {
		return p.compare()
	}
	if p.depth++; p.depth > maxNesting {
		return nil, p.wrong("", "the nesting is too deep")
	}
	of, fault := p.not()
	p.depth--
	return &Negation{of, at}, fault
}

func (p *expressionParser) compare() (Operand, *SyntaxError) {
	left, fault := p.sum()
	if fault != nil {
		return nil, fault
	}
	w := p.peek()
	operator := operatorOf(w)
	if operator == "" {
		return left, nil
	}
	p.next++
	right, fault := p.sum()
	return &Operation{operator, left, right, w.At}, fault
}

// operatorOf is the comparison operator of a word, "" if it is none.
func operatorOf(w syntax.Word) Operator {
	if w.Kind != syntax.SignWord {
		return ""
	}
	switch o := Operator(w.Text); o {
	case Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual:
		return o
	default:
		return ""
	}
}

func (p *expressionParser) sum() (Operand, *SyntaxError) {
	left, fault := p.term()
	for fault == nil {
		w := p.peek()
		operator := Plus
		if !p.sign("+") {
			if !p.sign("-") {
				break
			}
			operator = Minus
		}
		var right Operand
		right, fault = p.term()
		left = &Operation{operator, left, right, w.At}
	}
	return left, fault
}

func (p *expressionParser) term() (Operand, *SyntaxError) {
	w := p.peek()
	negative := p.sign("-")
	number := p.peek()
	switch {
	case number.Kind == syntax.NumberWord && negative:
		p.next++
		return &ConstantOperand{Constant{NumberConstant, "-" + number.Text}, w.At}, nil
	case negative:
		return nil, p.wrong("write 0 - n", "a sign can only precede a number")
	case p.sign("("):
		return p.inParentheses()
	case w.Kind == syntax.SignWord:
		return nil, p.misplaced()
	}
	p.next++
	switch {
	case w.Kind == syntax.NumberWord:
		return &ConstantOperand{Constant{NumberConstant, w.Text}, w.At}, nil
	case w.Kind == syntax.StringWord:
		return &ConstantOperand{Constant{StringConstant, w.Text}, w.At}, nil
	case w.Kind == syntax.ParamWord:
		return &ParamOperand{w.Text, w.At}, nil
	case w.Text == "true" || w.Text == "false":
		return &ConstantOperand{Constant{BoolConstant, w.Text}, w.At}, nil
	case p.sign("("):
		return p.call(w)
	case conditionKeyword(w.Text) || w.Text == "null":
		p.next--
		return nil, p.misplaced()
	default:
		return &NameOperand{w.Text, w.At}, nil
	}
}

func (p *expressionParser) inParentheses() (Operand, *SyntaxError) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.wrong("", "the nesting is too deep")
	}
	of, fault := p.either()
	p.depth--
	if fault == nil && !p.sign(")") {
		fault = p.misplaced()
	}
	return of, fault
}

// call reads a function after its opening parenthesis.
func (p *expressionParser) call(name syntax.Word) (Operand, *SyntaxError) {
	c := &CallOperand{Function: Function(name.Text), At: name.At}
	switch c.Function {
	case NowFunction, NewIDFunction:
		if !p.sign(")") {
			return nil, p.wrong(name.Text+"()", "%s takes no arguments", name.Text)
		}
		return c, nil
	case CountFunction, SumFunction, ExistsFunction, UnchangedFunction:
	default:
		p.next -= 2
		return nil, p.wrong("functions: count, sum, exists, unchanged, now and newID", "there is no function %q", name.Text)
	}
	of := p.peek()
	if of.Kind != syntax.NameWord {
		return nil, p.wrong("count(Order of user), sum(Order.total of user)", "%s needs the name of an entity or list", name.Text)
	}
	p.next++
	c.Of, c.OfAt = of.Text, of.At
	_, field, hasField := strings.Cut(c.Of, ".")
	if needs := c.Function == SumFunction || c.Function == UnchangedFunction; needs && field == "" {
		return nil, &SyntaxError{At: of.At, Message: name.Text + " needs a field", Hint: fmt.Sprintf("%s(%s.field)", name.Text, of.Text)}
	} else if !needs && hasField {
		return nil, &SyntaxError{At: of.At, Message: fmt.Sprintf("%s takes items, not one of their fields", name.Text)}
	}
	if p.keyword("of") {
		per := p.peek()
		if per.Kind != syntax.NameWord || !syntax.IsName(per.Text) {
			return nil, p.wrong("count(Order of user)", "of needs an entity name")
		}
		p.next++
		c.Per, c.PerAt = per.Text, per.At
	}
	if p.keyword("where") {
		end, fault := p.closing(name)
		if fault != nil {
			return nil, fault
		}
		if c.Where, c.WhereAt, fault = p.condition(p.words[end].At); fault != nil {
			return nil, fault
		}
		p.next = end
	}
	if !p.sign(")") {
		return nil, p.misplaced()
	}
	return c, nil
}

// closing is the word that closes a function's parenthesis.
func (p *expressionParser) closing(name syntax.Word) (int, *SyntaxError) {
	depth := 0
	for i := p.next; i < len(p.words); i++ {
		w := p.words[i]
		switch {
		case w.Kind != syntax.SignWord:
		case w.Text == "(":
			depth++
		case w.Text == ")" && depth == 0:
			return i, nil
		case w.Text == ")":
			depth--
		}
	}
	return 0, &SyntaxError{At: name.At, Message: fmt.Sprintf("%s( has no closing )", name.Text)}
}

// condition parses the text between the next word and the byte end as a condition; it returns the byte at which it starts.
func (p *expressionParser) condition(end int) (*Condition, int, *SyntaxError) {
	at := p.peek().At
	if at >= end {
		return nil, 0, p.wrong("where status = 'open'", "the condition is empty")
	}
	c, err := ParseCondition(strings.TrimRight(p.text[at:end], " \t\n"))
	if syntax, is := err.(*SyntaxError); is { //nolint:errorlint // as ParseCondition promises
		syntax.At += at
		return nil, 0, syntax
	}
	return c, at, nil
}
