package syntax

import (
	"fmt"
	"strings"
	"unicode"
)

// Place is the context of a scalar, which determines when it must be quoted.
type Place uint8

// The places.
const (
	OnLine  Place = iota // after a key or dash, at the end of the line
	InBrace              // after a key in braces
	InList               // in brackets, or a key
)

// Quoted formats a scalar, quoted if necessary for this package and other YAML readers to read it back unchanged.
func Quoted(s string, in Place) string {
	switch {
	case plain(s, in):
		return s
	case strings.ContainsAny(s, "\"\\") && !strings.Contains(s, "'") && printable(s):
		return "'" + s + "'"
	}
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteRune(c)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case unicode.IsPrint(c):
			out.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&out, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			fmt.Fprintf(&out, `\U%08x`, c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) })
}

// plain reports whether a scalar needs no quotes.
func plain(s string, in Place) bool {
	if s == "" || !printable(s) || s != strings.TrimSpace(s) || nullWord(s) {
		return false
	}
	first := rune(s[0])
	letter := first == '_' || first == '/' || first == '+' || first == '(' || first == '.' || first == '$' ||
		first >= '0' && first <= '9' || first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z' || first >= 0x80
	switch {
	case !letter, strings.HasPrefix(s, "..."):
		return false
	case strings.Contains(s, ": "), strings.HasSuffix(s, ":"), strings.Contains(s, " #"):
		return false
	case strings.ContainsAny(s, "{}[]\"\\`#"):
		return false // legal in places, and hard to read there
	}
	switch in {
	case InBrace:
		return !strings.ContainsAny(s, ",?") && timely(s)
	case InList:
		return !strings.ContainsAny(s, ",?:")
	default:
		return true
	}
}

// timely reports whether a text has no colons, or those of a time as 2024-01-15T10:00:00.000Z, which every reader takes as
// it is.
func timely(s string) bool {
	if !strings.Contains(s, ":") {
		return true
	}
	day, clock, ok := strings.Cut(strings.TrimSuffix(s, "Z"), "T")
	return ok && len(day) == len("2006-01-02") && len(clock) >= len("15:04") && strings.Trim(day, "0123456789-") == "" &&
		strings.Trim(clock, "0123456789.:") == "" && !strings.HasSuffix(clock, ":")
}

// nullWord reports whether YAML takes a word for null.
func nullWord(s string) bool {
	return s == "~" || strings.EqualFold(s, "null")
}

// Blockable reports whether a text is written as a block, over several lines.
func Blockable(s string) bool {
	lines := strings.Split(s, "\n")
	if len(lines) < 2 || strings.TrimSpace(lines[0]) == "" || strings.HasPrefix(lines[0], " ") || strings.TrimSpace(lines[len(lines)-1]) == "" {
		return false
	}
	for _, line := range lines {
		if !printable(line) || strings.TrimRight(line, " ") != line {
			return false
		}
	}
	return true
}
