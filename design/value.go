package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// ValueExpr is the value that a step assigns: a sum of terms, usually one.
type ValueExpr struct {
	Text  string
	Terms []Term
	Pos   Pos
}

// TermKind is the source of a term's value.
type TermKind uint8

// The kinds of terms.
const (
	ConstantTerm TermKind = iota + 1
	ParamTerm             // :outcome, :line.quantity
	FieldTerm             // a field of the existing item, possibly nested: address.city
	NowTerm               // now(): the time of the write
	NewIDTerm             // newID(): an ID of the field's type
	SumTerm               // sum(lines.subtotal)
	CountTerm             // count(lines)
)

// Term is one operand of a ValueExpr.
type Term struct {
	Kind     TermKind
	Negative bool
	Constant Constant // of a ConstantTerm
	Name     string   // of the parameter or field; of a sum, the line's field
	At       int      // byte of the value's text
}

// numeric reports whether the term can be a number, as a term of a sum must be.
func (t Term) numeric() bool {
	switch t.Kind {
	case ConstantTerm:
		return t.Constant.Kind == NumberConstant
	case NowTerm, NewIDTerm:
		return false
	default:
		return true
	}
}

// String returns the value as written in the design.
func (v *ValueExpr) String() string { return v.Text }

// MarshalJSON writes the text.
func (v *ValueExpr) MarshalJSON() ([]byte, error) { return syntax.MarshalText(v.Text) }

// UnmarshalJSON reads the text and parses it.
func (v *ValueExpr) UnmarshalJSON(data []byte) error {
	return syntax.UnmarshalText(data, ParseValue, v)
}

func (v *ValueExpr) fromNode(d *syntax.Decoder, n *syntax.Node) {
	syntax.DecodeText(d, n, ParseValue, v)
	v.Pos = n.Pos
}

// noNull is the advice for null.
const noNull = "an optional field without a value is absent: leave it out, or use remove: [field] in an update"

// values are the calls allowed in a value.
const values = "functions: now(), newID(), sum(lines.field) and count(lines)"

// ParseValue parses the value of an assignment. Errors are *SyntaxError.
func ParseValue(s string) (*ValueExpr, error) {
	words, err := syntax.ScanWords(s)
	if err != nil {
		return nil, err
	}
	v := &ValueExpr{Text: s}
	for i := 0; i < len(words); {
		signed, negative := words[i].Kind == syntax.SignWord && (words[i].Text == "-" || words[i].Text == "+"), words[i].Text == "-"
		switch {
		case signed:
			i++
		case len(v.Terms) > 0:
			return nil, &SyntaxError{Text: s, At: words[i].At, Message: fmt.Sprintf("expected + or - before %q", words[i].Text)}
		}
		if i == len(words) {
			return nil, &SyntaxError{Text: s, At: len(s), Message: "the value ends too early"}
		}
		term, n, fault := parseTerm(words[i:])
		if fault != nil {
			fault.Text = s
			return nil, fault
		}
		term.Negative = signed && negative
		v.Terms = append(v.Terms, term)
		i += n
	}
	if len(v.Terms) == 0 {
		return nil, &SyntaxError{Text: s, Message: "the value is empty", Hint: "write '' for an empty text; " + noNull}
	}
	for _, t := range v.Terms {
		if (len(v.Terms) > 1 || t.Negative) && !t.numeric() {
			return nil, &SyntaxError{Text: s, At: t.At, Message: "signs and sums are for numbers only"}
		}
	}
	return v, nil
}

// parseTerm parses a term, and returns the number of its words.
func parseTerm(words []syntax.Word) (Term, int, *SyntaxError) {
	w := words[0]
	t := Term{Kind: ConstantTerm, At: w.At}
	switch w.Kind {
	case syntax.StringWord:
		t.Constant = Constant{StringConstant, w.Text}
	case syntax.NumberWord:
		t.Constant = Constant{NumberConstant, w.Text}
	case syntax.ParamWord:
		t.Kind, t.Name = ParamTerm, w.Text
	case syntax.NameWord:
		return parseWord(t, words)
	default:
		return t, 0, &SyntaxError{At: w.At, Message: fmt.Sprintf("expected a value, found %q", w.Text)}
	}
	return t, 1, nil
}

// parseWord parses a term that starts with a name: a boolean, a field or a call.
func parseWord(t Term, words []syntax.Word) (Term, int, *SyntaxError) {
	name := words[0].Text
	switch {
	case name == "true" || name == "false":
		t.Constant = Constant{BoolConstant, name}
		return t, 1, nil
	case name == "null":
		return t, 0, &SyntaxError{At: t.At, Message: "a field cannot be set to null", Hint: noNull}
	case len(words) < 2 || words[1].Text != "(" || words[1].Kind != syntax.SignWord:
		t.Kind, t.Name = FieldTerm, name
		return t, 1, nil
	}
	if !slices.Contains([]string{"now", "newID", "sum", "count"}, name) {
		fault := &SyntaxError{At: t.At, Message: fmt.Sprintf("there is no function %s", name), Hint: "there are " + values}
		switch name {
		case "list_append":
			fault.Hint = "use append: { tags: \":tags\" } or prepend in the step"
		case "if_not_exists":
			fault.Hint = "use init: { field: … } in an upsert for values of absent fields"
		}
		return t, 0, fault
	}
	arg, n := "", 3
	if len(words) > 2 && words[2].Kind == syntax.NameWord {
		arg, n = words[2].Text, 4
	}
	if len(words) < n || words[n-1].Text != ")" || words[n-1].Kind != syntax.SignWord {
		return t, 0, &SyntaxError{At: words[1].At, Message: fmt.Sprintf("%s( has no closing )", name)}
	}
	field, ofLines := strings.CutPrefix(arg, "lines.")
	switch {
	case name == "now" && arg == "":
		t.Kind = NowTerm
	case name == "newID" && arg == "":
		t.Kind = NewIDTerm
	case name == "sum" && ofLines:
		t.Kind, t.Name = SumTerm, field
	case name == "count" && arg == "lines":
		t.Kind = CountTerm
	default:
		return t, 0, &SyntaxError{
			At: t.At, Message: fmt.Sprintf("there is no function %s(%s)", name, arg),
			Hint: "there are " + values,
		}
	}
	return t, n, nil
}
