package syntax

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// TextError is an error in the text of a template, a condition or a value.
type TextError struct {
	Text string
	// At is the byte of Text with the error.
	At int
	// Message says what is wrong; Hint what to do, "" if that is obvious.
	Message, Hint string
}

// Error has the text, the position, the message and the hint.
func (e *TextError) Error() string {
	text := fmt.Sprintf("%q, byte %d: %s", e.Text, e.At+1, e.Message)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// WordKind is the kind of a word in a condition or value.
type WordKind uint8

// The sorts.
const (
	SignWord   WordKind = iota // operators, parentheses, commas
	NameWord                   // a field, keyword or function; possibly a path
	ParamWord                  // without its colon
	StringWord                 // without its quotes
	NumberWord
)

// Word is a word with its position.
type Word struct {
	Kind WordKind
	Text string
	At   int
}

// ScanWords splits a condition or value into words.
func ScanWords(s string) ([]Word, error) {
	if len(s) > expr.MaxTextBytes {
		return nil, &TextError{Text: s[:32] + "…", Message: fmt.Sprintf("the text is longer than %d bytes", expr.MaxTextBytes)}
	}
	var words []Word
	for i := 0; i < len(s); {
		w, n, err := scanWord(s, i)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			words = append(words, w)
			i += n
			continue
		}
		i++ // white space
	}
	return words, nil
}

// scanWord scans the word at byte i, and returns its length, which is 0 for white space.
func scanWord(s string, i int) (Word, int, error) {
	c := s[i]
	n := span(s[i:])
	text := s[i : i+n]
	fault := func(hint, format string, args ...any) (Word, int, error) {
		return Word{}, 0, &TextError{Text: s, At: i, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case c == ' ' || c == '\t' || c == '\n':
		return Word{}, 0, nil
	case c == '\'':
		inside, n, closed := scanString(s[i:])
		if !closed {
			return fault("write a quote in a text twice: 'it''s'", "the text that starts here has no closing '")
		}
		return Word{StringWord, inside, i}, n, nil
	case c == ':' || isNameStart(c):
		name, kind := text, NameWord
		if c == ':' {
			name, kind = text[1:], ParamWord
		}
		if !IsPath(name, kind == NameWord) {
			return fault("", "%q is not a name", text)
		}
		return Word{kind, name, i}, n, nil
	case c >= '0' && c <= '9' || c == '.':
		if _, err := decimal.Parse(text); err != nil {
			return fault("", "%q is not a number that DynamoDB can store", text)
		}
		return Word{NumberWord, text, i}, n, nil
	case strings.ContainsRune("=<>(),+-", rune(c)):
		return Word{SignWord, text, i}, n, nil
	default:
		r, _ := utf8.DecodeRuneInString(s[i:])
		hint := ""
		if c == '"' {
			hint = "write texts in single quotes"
		}
		return fault(hint, "unexpected %q", r)
	}
}

// scanString scans a quoted string; two quotes are an escaped one.
func scanString(s string) (text string, n int, closed bool) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			out.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			out.WriteByte('\'')
			i++
			continue
		}
		return out.String(), i + 1, true
	}
	return "", 0, false
}

// span is the length of the word at the start of s.
func span(s string) int {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	c, n := s[0], 1
	switch {
	case c == ':' || isNameStart(c):
		for n < len(s) && (isNameStart(s[n]) || digit(n) || strings.IndexByte(".[]", s[n]) >= 0) {
			n++
		}
	case digit(0) || c == '.':
		for digit(n) || n < len(s) && s[n] == '.' {
			n++
		}
		if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
			n++
			if n+1 < len(s) && (s[n] == '-' || s[n] == '+') && digit(n+1) {
				n++
			}
			for digit(n) {
				n++
			}
		}
	case strings.HasPrefix(s, "<>"), strings.HasPrefix(s, "<="), strings.HasPrefix(s, ">="):
		return 2
	}
	return n
}

func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// IsName reports whether a text is a valid name: a letter, then letters, digits and underscores.
func IsName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// IsPath reports whether a text is a path: a name, or address.city, and with lists tags[0].
func IsPath(s string, lists bool) bool {
	for step := range strings.SplitSeq(s, ".") {
		name, indexes, indexed := strings.Cut(step, "[")
		if !IsName(name) || indexed && !lists {
			return false
		}
		for indexed {
			var index, rest string
			index, rest, indexed = strings.Cut(indexes, "]")
			if !indexed || index == "" || len(index) > 9 || strings.Trim(index, "0123456789") != "" {
				return false
			}
			if rest == "" {
				break
			}
			if indexes, indexed = strings.CutPrefix(rest, "["); !indexed {
				return false
			}
		}
	}
	return true
}

// Steps splits a path into its names, without the indexes of lists.
func Steps(path string) []string {
	names := strings.Split(path, ".")
	for i := range names {
		names[i], _, _ = strings.Cut(names[i], "[")
	}
	return names
}

// Shared by templates, conditions and values, which are strings in the interchange form.

// MarshalText encodes a text as JSON without escaping < and >.
func MarshalText(s string) ([]byte, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return []byte(strings.TrimSuffix(out.String(), "\n")), err
}

// UnmarshalText decodes a JSON string and parses it.
func UnmarshalText[T any](data []byte, parse func(string) (*T, error), to *T) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	parsed, err := parse(s)
	if err == nil {
		*to = *parsed
	}
	return err
}

// DecodeText parses a text in a tree.
func DecodeText[T any](d *Decoder, n *Node, parse func(string) (*T, error), to *T) {
	var s string
	before := len(d.List)
	d.Scalar(n, reflect.ValueOf(&s).Elem())
	if len(d.List) > before {
		return
	}
	if parsed, err := parse(s); d.Parsed(n.Pos, err) {
		*to = *parsed
	}
}
