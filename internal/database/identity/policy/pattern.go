package policy

import (
	"strings"
	"unicode/utf8"
)

// pattern is a text with wildcards (* for any characters, ? for one) and variables (${key} for the value of a condition key).
type pattern []token

type token struct {
	kind     tokenKind
	text     string // literal; for a variable, its key in lower case
	fallback string // of a variable that may be missing
	optional bool   // a variable has a fallback
}

type tokenKind uint8

const (
	literalToken tokenKind = iota
	starToken
	oneToken
	variableToken
)

// syntax determines which special characters a text has.
type syntax uint8

const (
	wildcards syntax = 1 << iota
	variables
	ignoringCase // of ASCII letters, for the names of actions
)

// compilePattern compiles a pattern. If a variable is malformed, ok is false and bad is the variable.
func compilePattern(text string, s syntax) (p pattern, bad string, ok bool) {
	if s&ignoringCase != 0 {
		text = lower(text)
	}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			p = append(p, token{text: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case s&variables != 0 && strings.HasPrefix(text[i:], "${"):
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, text[i:], false
			}
			body := text[i+2 : i+end]
			i += end + 1
			if body == "*" || body == "?" || body == "$" {
				literal.WriteString(body)
				continue
			}
			v, isVariable := variableOf(body)
			if !isVariable {
				return nil, "${" + body + "}", false
			}
			flush()
			p = append(p, v)
			continue
		case s&wildcards != 0 && c == '*':
			flush()
			if len(p) == 0 || p[len(p)-1].kind != starToken {
				p = append(p, token{kind: starToken})
			}
		case s&wildcards != 0 && c == '?':
			flush()
			p = append(p, token{kind: oneToken})
		default:
			literal.WriteByte(c)
		}
		i++
	}
	flush()
	return p, "", true
}

// variableOf parses the text between the braces: a key, optionally with a fallback in quotes.
func variableOf(body string) (token, bool) {
	key, fallback, optional := strings.Cut(body, ",")
	key = strings.TrimSpace(key)
	v := token{kind: variableToken, text: lower(key), optional: optional}
	if optional {
		fallback = strings.TrimSpace(fallback)
		if len(fallback) < 2 || fallback[0] != '\'' || fallback[len(fallback)-1] != '\'' {
			return v, false
		}
		v.fallback = fallback[1 : len(fallback)-1]
	}
	return v, key != "" && !strings.ContainsAny(key, "${'\" ")
}

// match reports whether the pattern matches the whole text. A variable without a value matches nothing.
//
// It only backtracks to the last *, because a different match of the part before cannot help; so the time is at most the product
// of both lengths.
func (p pattern) match(text string, keys *lookup) bool {
	if len(p) == 1 && p[0].kind == literalToken {
		return p[0].text == text
	}
	at, from := 0, 0    // positions in the pattern and in the text
	star, mark := -1, 0 // the last *, and the end of the text it has matched
	for {
		switch {
		case at == len(p):
			if from == len(text) {
				return true
			}
		case p[at].kind == starToken:
			if at == len(p)-1 {
				return true
			}
			star, mark = at, from
			at++
			continue
		case p[at].kind == oneToken:
			if from < len(text) {
				_, size := utf8.DecodeRuneInString(text[from:])
				at, from = at+1, from+size
				continue
			}
		default:
			literal := p[at].text
			if p[at].kind == variableToken {
				value, ok := keys.variable(&p[at])
				if !ok {
					return false
				}
				literal = value
			}
			if strings.HasPrefix(text[from:], literal) {
				at, from = at+1, from+len(literal)
				continue
			}
		}
		if star < 0 || mark >= len(text) {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[mark:])
		mark += size
		at, from = star+1, mark
	}
}

// resource is a pattern of ARNs. The six parts of an ARN are compared separately, so that a * in one part matches nothing of the
// next. In a pattern with fewer parts the last one extends to the end.
type resource struct {
	all   bool // "*"
	parts []pattern
}

func compileResource(text string, s syntax) (r resource, bad string, ok bool) {
	if text == "*" {
		return resource{all: true}, "", true
	}
	for _, part := range splitARN(text, s) {
		p, bad, ok := compilePattern(part, s)
		if !ok {
			return r, bad, false
		}
		r.parts = append(r.parts, p)
	}
	return r, "", true
}

const arnParts = 6

// splitARN splits a pattern at its first five colons outside of variables.
func splitARN(text string, s syntax) []string {
	var parts []string
	begin := 0
	for i := 0; i < len(text) && len(parts) < arnParts-1; i++ {
		if s&variables != 0 && strings.HasPrefix(text[i:], "${") {
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				break
			}
			i += end
			continue
		}
		if text[i] == ':' {
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

func (r *resource) match(arn string, keys *lookup) bool {
	if r.all {
		return true
	}
	for i, p := range r.parts {
		part, rest := arn, ""
		if i < len(r.parts)-1 {
			var more bool
			if part, rest, more = strings.Cut(arn, ":"); !more {
				return false
			}
		}
		if !p.match(part, keys) {
			return false
		}
		arn = rest
	}
	return true
}

// lower converts ASCII letters to lower case.
func lower(text string) string {
	for i := range len(text) {
		if c := text[i]; c >= 'A' && c <= 'Z' {
			return strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					return r + ('a' - 'A')
				}
				return r
			}, text)
		}
	}
	return text
}

// expand returns the text of a pattern without wildcards.
func (p pattern) expand(keys *lookup) (text string, ok bool) {
	for i := range p {
		part := p[i].text
		if p[i].kind == variableToken {
			if part, ok = keys.variable(&p[i]); !ok {
				return "", false
			}
		}
		text += part
	}
	return text, true
}
