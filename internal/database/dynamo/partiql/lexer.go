package partiql

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// tokenKind is the class of a token.
type tokenKind uint8

const (
	tokenEOF        tokenKind = iota
	tokenIdentifier           // a name, unquoted or in double quotes
	tokenKeyword              // a reserved name, in lower case
	tokenString               // in single quotes
	tokenNumber
	tokenSymbol
	tokenUnknown // a character that starts no token, or a token without an end
)

// token is a piece of the text, [start,end).
type token struct {
	kind       tokenKind
	text       string // the name, the keyword in lower case, the string without quotes, else as written
	start, end int
}

// lexer splits a statement into tokens.
type lexer struct {
	text string
	pos  int
}

// tokens returns all tokens of text, the last one of kind tokenEOF.
func tokens(text string) []token {
	l := lexer{text: text}
	var out []token
	for {
		t := l.next()
		out = append(out, t)
		if t.kind == tokenEOF {
			return out
		}
	}
}

func (l *lexer) next() token {
	if !l.skipSpace() {
		return l.token(tokenUnknown, l.pos, len(l.text))
	}
	start := l.pos
	if start == len(l.text) {
		return token{kind: tokenEOF, start: start, end: start}
	}
	c := l.text[start]
	switch {
	case isLetter(c):
		return l.word(start)
	case isDigit(c), c == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.token(tokenNumber, start, numberEnd(l.text, start))
	case c == '\'' || c == '"':
		return l.quoted(start, c)
	}
	for _, symbol := range [...]string{"<<", ">>", "<=", ">=", "<>", "!=", "||"} {
		if strings.HasPrefix(l.text[start:], symbol) {
			t := l.token(tokenSymbol, start, start+2)
			if symbol == "!=" {
				t.text = "<>"
			}
			return t
		}
	}
	if strings.IndexByte("()[]{},.:?*+-/%=<>;@|", c) >= 0 {
		return l.token(tokenSymbol, start, start+1)
	}
	_, size := utf8.DecodeRuneInString(l.text[start:])
	return l.token(tokenUnknown, start, start+size)
}

func (l *lexer) token(kind tokenKind, start, end int) token {
	l.pos = end
	return token{kind: kind, text: l.text[start:end], start: start, end: end}
}

// skipSpace skips white space and comments; it returns false for an unterminated comment.
func (l *lexer) skipSpace() bool {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			l.pos += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return false
			}
			l.pos += end + len("/**/")
		default:
			return true
		}
	}
	return true
}

func (l *lexer) word(start int) token {
	end := start
	for end < len(l.text) && (isLetter(l.text[end]) || isDigit(l.text[end])) {
		end++
	}
	t := l.token(tokenIdentifier, start, end)
	if lower := strings.ToLower(t.text); isKeyword(lower) {
		t.kind, t.text = tokenKeyword, lower
	}
	return t
}

// quoted parses a string or identifier in quotes; a doubled quote stands for itself.
func (l *lexer) quoted(start int, mark byte) token {
	var text strings.Builder
	for i := start + 1; i < len(l.text); i++ {
		if l.text[i] == mark {
			if i+1 == len(l.text) || l.text[i+1] != mark {
				t := l.token(tokenString, start, i+1)
				t.text = text.String()
				if mark == '"' {
					t.kind = tokenIdentifier
				}
				return t
			}
			i++
		}
		text.WriteByte(l.text[i])
	}
	return l.token(tokenUnknown, start, len(l.text))
}

// numberEnd returns where the number at start ends: digits [. digits] [e [+|-] digits].
func numberEnd(text string, start int) int {
	i := digitsEnd(text, start)
	if i < len(text) && text[i] == '.' {
		i = digitsEnd(text, i+1)
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		exponent := i + 1
		if exponent < len(text) && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if end := digitsEnd(text, exponent); end > exponent {
			return end
		}
	}
	return i
}

func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' }

// keywordText has the words that cannot be names without quotation marks: those of SQL-92 and PartiQL's own.
//
//go:embed keywords.txt
var keywordText string

var keywords = sync.OnceValue(func() map[string]struct{} {
	words := strings.Fields(keywordText)
	set := make(map[string]struct{}, len(words))
	for _, w := range words {
		set[w] = struct{}{}
	}
	return set
})

// isFunction reports whether a keyword is a function of PartiQL; all but size are unknown to DynamoDB.
func isFunction(keyword string) bool {
	return slices.Contains([]string{
		"size", "lower", "upper", "trim", "substring", "char_length", "character_length", "octet_length", "bit_length",
		"coalesce", "nullif", "exists",
	}, keyword)
}

// isAggregate reports whether a keyword is an aggregate function, which DynamoDB does not have.
func isAggregate(keyword string) bool {
	return slices.Contains([]string{"count", "sum", "avg", "min", "max"}, keyword)
}

func isKeyword(lower string) bool {
	_, ok := keywords()[lower]
	return ok
}
