package design

import (
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Template defines a key attribute as a sequence of literals and fields. "TX#{createdAt}#{txId}" inserts the fields'
// texts between the literals; functions, as in "{email|lower}", are applied from left to right. "{{" and "}}" are literal
// braces.
type Template struct {
	Text  string
	Parts []Part
	Pos   Pos
}

// Part is a literal, or a field with its functions.
type Part struct {
	Literal string // where Field is ""
	Field   string
	Funcs   []Func
	At      int // byte of the template's text
}

// Func is a function of a template with its argument, "" for none. The functions:
//
//	lower     A-Z, and letters beyond ASCII, to lower case
//	fold      for search: no accents (é is e), lower case, single spaces, trimmed
//	slug      fold, and a "-" for each run of other characters than a-z 0-9
//	pad(n)    an int of at least 0 with n digits
//	desc(n)   an int of at least 0 as 10^n - 1 - value with n digits: sorts descending
//	ts(ms)    a time as milliseconds since the epoch with 13 digits; ts(s) as seconds with 10
//	date(L)   a time or date cut to a layout: yyyy, yyyy-MM, yyyy-MM-dd, yyyy-MM-ddTHH
//	band(n)   an int as floor(value / n): numbers from 200 to 299 are band 2 of 100
//	mod(n)    an int modulo n, from 0 to n - 1
//	shard(n)  a number below n from a hash of the value, which spreads a key over n partitions
//	first(n)  the first n characters
//	hash(n)   n hexadecimal digits of the value's SHA-256
type Func struct {
	Name string `json:"name"`
	Arg  string `json:"arg,omitempty"`
}

// String returns the function as written in a template: pad(8).
func (f Func) String() string {
	if f.Arg == "" {
		return f.Name
	}
	return f.Name + "(" + f.Arg + ")"
}

// Int is the argument as a number; 0 if it is not one.
func (f Func) Int() int {
	n, _ := strconv.Atoi(f.Arg)
	return n
}

// String returns the template as written in the design.
func (t *Template) String() string { return t.Text }

// Fields are the names of the fields in the template, in order, each once.
func (t *Template) Fields() []string {
	var names []string
	for _, p := range t.Parts {
		if p.Field != "" && !slices.Contains(names, p.Field) {
			names = append(names, p.Field)
		}
	}
	return names
}

// Prefix returns the literal at the start of the template, "" if it starts with a field.
func (t *Template) Prefix() string {
	if len(t.Parts) == 0 || t.Parts[0].Field != "" {
		return ""
	}
	return t.Parts[0].Literal
}

// field is the field if the template is a plain field; "" otherwise.
func (t *Template) field() string {
	if t == nil || len(t.Parts) != 1 || len(t.Parts[0].Funcs) > 0 {
		return ""
	}
	return t.Parts[0].Field
}

// MarshalJSON writes the text.
func (t *Template) MarshalJSON() ([]byte, error) { return syntax.MarshalText(t.Text) }

// UnmarshalJSON reads the text and parses it.
func (t *Template) UnmarshalJSON(data []byte) error {
	return syntax.UnmarshalText(data, ParseTemplate, t)
}

func (t *Template) fromNode(d *syntax.Decoder, n *syntax.Node) {
	syntax.DecodeText(d, n, ParseTemplate, t)
	t.Pos = n.Pos
}

// maxTemplateBytes is the maximum size of a key in DynamoDB; a longer template cannot be useful.
const maxTemplateBytes = 2048

// ParseTemplate parses a template. Errors are *SyntaxError.
func ParseTemplate(s string) (*Template, error) {
	switch {
	case s == "":
		return nil, &SyntaxError{Message: "the template is empty", Hint: "a key attribute cannot be empty: use a constant, such as METADATA"}
	case len(s) > maxTemplateBytes:
		return nil, &SyntaxError{Text: s[:32] + "…", Message: "the template is longer than the maximum length of a key"}
	}
	t := &Template{Text: s}
	var literal strings.Builder
	at := 0 // of the literal
	flush := func() {
		if literal.Len() > 0 {
			t.Parts = append(t.Parts, Part{Literal: literal.String(), At: at})
			literal.Reset()
		}
	}
	for i := 0; i < len(s); {
		if literal.Len() == 0 {
			at = i
		}
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			literal.WriteByte(s[i])
			i += 2
		case s[i] == '}':
			return nil, &SyntaxError{Text: s, At: i, Message: "unmatched }", Hint: "write }} for a brace"}
		case s[i] == '{':
			flush()
			part, n, err := parsePart(s, i)
			if err != nil {
				return nil, err
			}
			t.Parts = append(t.Parts, part)
			i += n
		default:
			literal.WriteByte(s[i])
			i++
		}
	}
	flush()
	return t, nil
}

// parsePart parses the part in braces at byte i, and returns its length.
func parsePart(s string, i int) (Part, int, error) {
	n := strings.IndexByte(s[i:], '}') + 1
	if n == 0 {
		return Part{}, 0, &SyntaxError{Text: s, At: i, Message: "{ has no closing }", Hint: "write {{ for a brace"}
	}
	field, calls, piped := strings.Cut(s[i+1:i+n-1], "|")
	if !syntax.IsName(field) {
		return Part{}, 0, &SyntaxError{Text: s, At: i + 1, Message: "{ must be followed by the name of a field: " + strconv.Quote(field) + " is not one"}
	}
	p := Part{Field: field, At: i}
	at := i + 1 + len(field) + 1
	for piped {
		var call string
		call, calls, piped = strings.Cut(calls, "|")
		f, err := parseFunc(call)
		if err != nil {
			err.Text, err.At = s, at
			return Part{}, 0, err
		}
		p.Funcs = append(p.Funcs, f)
		at += len(call) + 1
	}
	return p, n, nil
}
