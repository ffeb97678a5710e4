package design

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Condition is a condition on the fields of an item, in DynamoDB's own grammar with three simplifications: fields
// are written by name even if that is a reserved word, literals are written directly ('open', 12, -1, true, null),
// and a parameter may be a part of one (:line.quantity).
type Condition struct {
	Text string
	// Expression is the same condition in DynamoDB's grammar: every field, and every step of a path, is an alias
	// in Names, every literal and parameter a placeholder in Values.
	Expression string
	Names      []NameRef
	Values     []ValueRef
	Pos        Pos
}

// NameRef is an alias of a condition and its field.
type NameRef struct {
	Alias string // #status
	// Field is a field, such as status, or a path, which has dots: address.city is the city of a structure in the
	// field address. A path always comes with the field that contains it.
	Field string
	At    int // byte of the condition's text
}

// Step reports whether the alias is for a step of a path rather than for a field.
func (n NameRef) Step() bool { return strings.Contains(n.Field, ".") }

// ValueRef is a placeholder of a condition and its value: a literal or a parameter.
type ValueRef struct {
	Placeholder string // :p1
	Param       string // line.quantity; "" for a literal
	Literal     Constant
}

// Constant is a literal inside an expression.
type Constant struct {
	Kind ConstantKind
	Text string // of a string, without its quotes; of the others, as written
}

// ConstantKind is the type of a literal.
type ConstantKind uint8

// The kinds of literals.
const (
	StringConstant ConstantKind = iota + 1
	NumberConstant
	BoolConstant
	NullConstant
)

// Fields returns the names of the fields that the condition reads.
func (c *Condition) Fields() []string {
	if c == nil {
		return nil
	}
	names := make([]string, 0, len(c.Names))
	for _, n := range c.Names {
		if !n.Step() {
			names = append(names, n.Field)
		}
	}
	return names
}

// Params returns the parameters that the condition uses.
func (c *Condition) Params() []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, v := range c.Values {
		if v.Param != "" {
			names = append(names, v.Param)
		}
	}
	return names
}

// String returns the condition as written in the design.
func (c *Condition) String() string { return c.Text }

// MarshalJSON writes the text.
func (c *Condition) MarshalJSON() ([]byte, error) { return syntax.MarshalText(c.Text) }

// UnmarshalJSON reads the text and parses it.
func (c *Condition) UnmarshalJSON(data []byte) error {
	return syntax.UnmarshalText(data, ParseCondition, c)
}

func (c *Condition) fromNode(d *syntax.Decoder, n *syntax.Node) {
	syntax.DecodeText(d, n, ParseCondition, c)
	c.Pos = n.Pos
}

// ParseCondition reads a condition. The database's own parser decides whether it is valid. Errors are
// *SyntaxError.
func ParseCondition(s string) (*Condition, error) {
	words, err := syntax.ScanWords(s)
	if err != nil {
		return nil, err
	}
	c := &Condition{Text: s}
	var out strings.Builder
	starts := make([]int, len(words)) // of each word, in out
	for i := 0; i < len(words); i++ {
		w := words[i]
		if i > 0 {
			out.WriteByte(' ')
		}
		starts[i] = out.Len()
		switch {
		case w.Text == "-" && w.Kind == syntax.SignWord && i+1 < len(words) && words[i+1].Kind == syntax.NumberWord:
			i++
			starts[i] = starts[i-1]
			out.WriteString(c.literal(Constant{NumberConstant, "-" + words[i].Text}))
		case w.Kind == syntax.NameWord:
			called := i+1 < len(words) && words[i+1].Text == "(" && words[i+1].Kind == syntax.SignWord
			out.WriteString(c.word(w, called))
		case w.Kind == syntax.ParamWord:
			out.WriteString(c.value(ValueRef{Param: w.Text}))
		case w.Kind == syntax.StringWord:
			out.WriteString(c.literal(Constant{StringConstant, w.Text}))
		case w.Kind == syntax.NumberWord:
			out.WriteString(c.literal(Constant{NumberConstant, w.Text}))
		default:
			out.WriteString(w.Text)
		}
	}
	c.Expression = out.String()
	if _, err := expr.Parse(expr.Condition, c.Expression); err != nil {
		return nil, c.fault(err, words, starts)
	}
	return c, nil
}

// word rewrites a field, keyword, function or literal.
func (c *Condition) word(w syntax.Word, called bool) string {
	switch {
	case conditionKeyword(w.Text), called:
		return w.Text
	case w.Text == "true" || w.Text == "false":
		return c.literal(Constant{BoolConstant, w.Text})
	case w.Text == "null":
		return c.literal(Constant{NullConstant, w.Text})
	default:
		return c.name(w)
	}
}

// conditionKeyword reports whether a word is a keyword of the grammar, in any case.
func conditionKeyword(word string) bool {
	return slices.Contains([]string{"AND", "OR", "NOT", "BETWEEN", "IN"}, strings.ToUpper(word))
}

// conditionFunctions are the functions that a condition may call.
func conditionFunctions() []string {
	return []string{
		string(expr.AttributeExists), string(expr.AttributeNotExists), string(expr.AttributeType),
		string(expr.BeginsWith), string(expr.Contains), string(expr.Size),
	}
}

// fault translates an error of the database's parser in the rewritten text to the design's terms.
func (c *Condition) fault(err error, words []syntax.Word, starts []int) error {
	out := &SyntaxError{Text: c.Text, Message: err.Error()}
	var known *expr.Error
	if !errors.As(err, &known) {
		return out
	}
	i := max(sort.SearchInts(starts, known.Pos+1)-1, 0)
	if len(words) > 0 {
		out.At = words[i].At
	}
	_, out.Message, _ = strings.Cut(known.Error(), ": ")
	switch known.Kind {
	case expr.KindEmpty:
		out.Message = "the condition is empty"
	case expr.KindSyntax:
		if known.Pos >= len(c.Expression) {
			out.At, out.Message = len(c.Text), "the condition ends too early"
			break
		}
		out.Message = fmt.Sprintf("unexpected %q", words[i].Text)
		switch {
		case words[i].Text == "+" || words[i].Text == "-":
			out.Hint = "a condition cannot compute values, only compare them"
		case words[i].Text == "=" && i > 0 && words[i-1].Text == "=":
			out.Hint = "equality is a single ="
		}
	case expr.KindUnknownFunction:
		out.Message = fmt.Sprintf("there is no function %q", known.Subject)
		out.Hint = cmp.Or(syntax.Suggestion(known.Subject, conditionFunctions()), "functions: "+strings.Join(conditionFunctions(), ", "))
	case expr.KindOperandCount:
		out.Message = fmt.Sprintf("%s does not take %d operands", known.Subject, known.Count)
	case expr.KindOperandNoPath:
		out.Message = fmt.Sprintf("%s needs a field", known.Subject)
	case expr.KindFunctionMisplaced:
		out.Message = fmt.Sprintf("unexpected %s", known.Subject)
	case expr.KindRedundantParentheses:
		out.Message = "redundant parentheses"
	default:
	}
	return out
}

// name returns the alias of a field or path: address.city, tags[0].
func (c *Condition) name(w syntax.Word) string {
	written := strings.Split(w.Text, ".")
	names := syntax.Steps(w.Text)
	for i, step := range written {
		_, index, indexed := strings.Cut(step, "[")
		written[i] = c.alias(strings.Join(names[:i+1], "."), w.At)
		if indexed {
			written[i] += "[" + index
		}
	}
	return strings.Join(written, ".")
}

// alias finds or creates the alias of a path: #address, #address_city.
func (c *Condition) alias(path string, at int) string {
	alias := "#" + strings.ReplaceAll(path, ".", "_")
	for {
		i := slices.IndexFunc(c.Names, func(n NameRef) bool { return n.Alias == alias || n.Field == path })
		if i < 0 {
			c.Names = append(c.Names, NameRef{alias, path, at})
			return alias
		}
		if c.Names[i].Field == path {
			return c.Names[i].Alias
		}
		alias += "_" // the alias is in use for another path
	}
}

func (c *Condition) literal(k Constant) string { return c.value(ValueRef{Literal: k}) }

func (c *Condition) value(v ValueRef) string {
	for _, known := range c.Values {
		if known.Param == v.Param && known.Literal == v.Literal {
			return known.Placeholder
		}
	}
	v.Placeholder = fmt.Sprintf(":p%d", len(c.Values))
	c.Values = append(c.Values, v)
	return v.Placeholder
}
