package expr

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is the class of a token.
type tokenKind uint8

const (
	tokenEOF         tokenKind = iota
	tokenName                  // an attribute name or the name of a function
	tokenKeyword               // AND, SET …: never a name, on any surface
	tokenAlias                 // #a
	tokenPlaceholder           // :v
	tokenInteger               // digits without a leading zero, inside brackets
	tokenSymbol                // operators and punctuation
	tokenUnknown               // a character that starts no token
)

// token is a part of the text, [start,end).
type token struct {
	kind       tokenKind
	start, end int
}

// lexer splits a text into tokens. A name starts with a letter: one with a leading underscore or digit needs an alias.
type lexer struct {
	text string
	pos  int
}

// tokens returns all tokens of text, the last one of kind tokenEOF.
func tokens(text string) []token {
	l := lexer{text: text}
	out := make([]token, 0, len(text)/3+2)
	for {
		t := l.next()
		out = append(out, t)
		if t.kind == tokenEOF {
			return out
		}
	}
}

func (l *lexer) next() token {
	l.skip(isSpace)
	start := l.pos
	if start == len(l.text) {
		return token{kind: tokenEOF, start: start, end: start}
	}
	kind := l.scan(l.text[start])
	return token{kind: kind, start: start, end: l.pos}
}

// scan consumes the token that starts with c at l.pos.
func (l *lexer) scan(c byte) tokenKind {
	start := l.pos
	l.pos++
	switch {
	case isLetter(c):
		l.skip(isWordByte)
		if isKeyword(l.text[start:l.pos]) {
			return tokenKeyword
		}
		return tokenName
	case isDigit(c):
		if c != '0' { // 01 is two tokens, which no grammar has side by side
			l.skip(isDigit)
		}
		return tokenInteger
	case c == '#' || c == ':':
		l.skip(isWordByte)
		if l.pos == start+1 {
			return tokenUnknown
		}
		if c == '#' {
			return tokenAlias
		}
		return tokenPlaceholder
	case c == '<' || c == '>':
		if l.pos < len(l.text) && (l.text[l.pos] == '=' || c == '<' && l.text[l.pos] == '>') {
			l.pos++
		}
		return tokenSymbol
	case strings.IndexByte("=()[],.+-", c) >= 0:
		return tokenSymbol
	default:
		_, size := utf8.DecodeRuneInString(l.text[start:])
		l.pos = start + size
		return tokenUnknown
	}
}

func (l *lexer) skip(class func(byte) bool) {
	for l.pos < len(l.text) && class(l.text[l.pos]) {
		l.pos++
	}
}

func isSpace(c byte) bool    { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isLetter(c byte) bool   { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// keywords are the words of the grammars themselves.
var keywords = [...]string{"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"}

func isKeyword(word string) bool {
	for _, k := range keywords {
		if strings.EqualFold(word, k) {
			return true
		}
	}
	return false
}

// ValidReference reports whether key is a valid alias (sigil '#') or placeholder (sigil ':').
func ValidReference(key string, sigil byte) bool {
	if len(key) < 2 || key[0] != sigil {
		return false
	}
	for i := 1; i < len(key); i++ {
		if !isWordByte(key[i]) {
			return false
		}
	}
	return true
}
