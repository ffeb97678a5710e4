package api

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// constraint is one condition on a member.
type constraint struct {
	kind  constraintKind
	bound int64    // of the length and value kinds
	texts []string // the enumeration, or the pattern alone
}

type constraintKind uint8

const (
	inEnum constraintKind = iota
	matchesPattern
	lengthMax
	lengthMin
	valueMax
	valueMin
)

// namePattern is the pattern of the names of tables and indexes.
const namePattern = "[a-zA-Z0-9_.-]+"

// patterns are the patterns that inputs have, as AWS prints them. The whole text must match; namePattern has a
// separate function, which is called for every item.
var patterns = compilePatterns(
	namePattern,
	`^[^\$]+$`,                            // client tokens
	`^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$`, // buckets
	`[0-9]{12}`,                           // accounts
	`[,;:|\t ]`,                           // delimiters of CSV
	`([0-9a-f]{16})+`,                     // tokens of pages
)

func compilePatterns(texts ...string) map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp, len(texts))
	for _, text := range texts {
		all[text] = regexp.MustCompile(`\A(?:` + text + `)\z`)
	}
	return all
}

// The bounds of a table's name; an index's name has the same, from its tags.
const (
	tableNameMin = 3
	tableNameMax = 255
)

// tableName are the constraints on a table's name, in AWS's order.
var tableName = []constraint{
	{kind: matchesPattern, texts: []string{namePattern}},
	{kind: lengthMax, bound: tableNameMax},
	{kind: lengthMin, bound: tableNameMin},
}

// isARN reports whether a TableName looks like an ARN; the engine checks its parts.
func isARN(name string) bool { return strings.HasPrefix(name, "arn:") }

// sentence is the end of AWS's sentence for a member that fails the constraint.
func (c constraint) sentence() string {
	switch c.kind {
	case inEnum:
		return "Member must satisfy enum value set: [" + strings.Join(c.texts, ", ") + "]"
	case matchesPattern:
		return "Member must satisfy regular expression pattern: " + c.texts[0]
	case lengthMax:
		return "Member must have length less than or equal to " + strconv.FormatInt(c.bound, 10)
	case lengthMin:
		return "Member must have length greater than or equal to " + strconv.FormatInt(c.bound, 10)
	case valueMax:
		return "Member must have value less than or equal to " + strconv.FormatInt(c.bound, 10)
	default:
		return "Member must have value greater than or equal to " + strconv.FormatInt(c.bound, 10)
	}
}

// bracketed is AWS's list of all the constraints on the parts of a list or map: the pattern comes last.
func bracketed(cs []constraint) string {
	var parts []string
	for _, pattern := range []bool{false, true} {
		for _, c := range cs {
			if (c.kind == matchesPattern) == pattern {
				parts = append(parts, c.sentence())
			}
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (c constraint) acceptsText(s string) bool {
	switch c.kind {
	case inEnum:
		return slices.Contains(c.texts, s)
	case matchesPattern:
		if c.texts[0] == namePattern {
			return isName(s)
		}
		return patterns[c.texts[0]].MatchString(s)
	default:
		return c.acceptsLength(textLength(s))
	}
}

func (c constraint) acceptsLength(n int) bool {
	if c.kind == lengthMax {
		return int64(n) <= c.bound
	}
	return int64(n) >= c.bound
}

func (c constraint) acceptsNumber(n int64) bool {
	if c.kind == valueMax {
		return n <= c.bound
	}
	return n >= c.bound
}

// textLength counts as the model does, in characters; most texts need no counting.
func textLength(s string) int {
	if len(s) == 0 {
		return 0
	}
	return utf8.RuneCountInString(s)
}

// isName reports whether s matches namePattern.
func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

// parseConstraints reads the tags with a prefix: "", "each_", "key_" or "value_". numeric says whether min
// and max bound a value rather than a length.
func parseConstraints(tag reflect.StructTag, prefix string, numeric bool) []constraint {
	atMost, atLeast := lengthMax, lengthMin
	if numeric {
		atMost, atLeast = valueMax, valueMin
	}
	var cs []constraint
	if text, ok := tag.Lookup(prefix + "enum"); ok {
		cs = append(cs, constraint{kind: inEnum, texts: strings.Split(text, "|")})
	}
	if text, ok := tag.Lookup(prefix + "pattern"); ok {
		if patterns[text] == nil {
			panic("api: unknown pattern " + text)
		}
		cs = append(cs, constraint{kind: matchesPattern, texts: []string{text}})
	}
	if text, ok := tag.Lookup(prefix + "max"); ok {
		cs = append(cs, constraint{kind: atMost, bound: parseBound(text)})
	}
	if text, ok := tag.Lookup(prefix + "min"); ok {
		cs = append(cs, constraint{kind: atLeast, bound: parseBound(text)})
	}
	return cs
}

func parseBound(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("api: bound is no number: " + text)
	}
	return n
}
