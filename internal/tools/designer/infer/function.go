package infer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// apply applies functions to a text.
func apply(funcs []design.Func, text string) (string, error) {
	var err error
	for _, f := range funcs {
		if text, err = keytext.Apply(f.Name, f.Arg, text); err != nil {
			return "", err
		}
	}
	return text, nil
}

// fewest is the number of rows that a function must explain if many values satisfy it by chance.
const fewest = 8

// functions are the chains of functions that could produce a column from a field, shorter chains first.
func (c column) functions(path string) [][]design.Func {
	one := func(name, arg string) []design.Func { return []design.Func{{Name: name, Arg: arg}} }
	texts := [][]design.Func{nil, one("lower", ""), one("fold", ""), one("slug", "")}
	width, longest := len(c.texts[0]), 0
	digits, hex := true, true
	for _, text := range c.texts {
		if len(text) != width {
			width = -1
		}
		longest = max(longest, utf8.RuneCountInString(text))
		digits = digits && strings.Trim(text, "0123456789") == "" && text != ""
		hex = hex && strings.Trim(text, "0123456789abcdef") == ""
	}
	switch c.kindOf(path) {
	case "BOOL":
		return [][]design.Func{nil}
	case "N":
		out := [][]design.Func{nil}
		if digits && width > 0 {
			out = append(out, one("pad", strconv.Itoa(width)))
			if width <= 18 {
				out = append(out, one("desc", strconv.Itoa(width)))
			}
		}
		return append(out, c.shards(digits)...)
	}
	out := slices.Clone(texts)
	switch {
	case digits && width == 13:
		out = append(out, one("ts", "ms"), append(one("ts", "ms"), one("desc", "13")...))
	case digits && width == 10:
		out = append(out, one("ts", "s"), append(one("ts", "s"), one("desc", "10")...))
	}
	for layout := range design.DateLayouts() {
		if len(layout) == width {
			out = append(out, one("date", layout))
		}
	}
	if hex && width > 3 && width <= 64 && len(c.rows) >= 3 {
		out = append(out, one("hash", strconv.Itoa(width)), append(one("lower", ""), one("hash", strconv.Itoa(width))...))
	}
	if longest <= 40 && longest > 0 && len(c.rows) >= fewest {
		first := one("first", strconv.Itoa(longest))
		for _, base := range texts {
			out = append(out, slices.Concat(base, first))
		}
	}
	return append(out, c.shards(digits)...)
}

// shards are the plausible numbers of shards, if the column has several small numbers.
func (c column) shards(digits bool) [][]design.Func {
	const most = 1000
	if !digits || len(c.rows) < fewest || c.constant() {
		return nil
	}
	greatest := 0
	for _, text := range c.texts {
		n, err := strconv.Atoi(text)
		if err != nil || n >= most || text != strconv.Itoa(n) {
			return nil
		}
		greatest = max(greatest, n)
	}
	var out [][]design.Func
	for n := greatest + 1; n <= max(2*greatest+16, 64); n++ {
		out = append(out, []design.Func{{Name: "shard", Arg: strconv.Itoa(n)}})
	}
	return out
}

// kindOf is the stored type of a field.
func (c column) kindOf(path string) string {
	for _, r := range c.rows {
		if l, ok := r.leaves[path]; ok {
			return l.kind
		}
	}
	return ""
}

// takes reports whether functions accept a type.
func takes(funcs []design.Func, typ string) bool {
	if len(funcs) == 0 {
		return true
	}
	switch funcs[0].Name {
	case "pad", "desc":
		return typ == "int" || typ == "ttl"
	case "ts":
		return typ == "time"
	case "date":
		return typ == "time" || typ == "date"
	case "lower", "fold", "slug":
		return !slices.Contains([]string{"int", "decimal", "ttl", "bool", "bytes", "time", "date"}, typ) && !strings.Contains(typ, "<")
	default:
		return !strings.Contains(typ, "<")
	}
}

// funcsText is a chain of functions in template notation.
func funcsText(funcs []design.Func) string {
	var out strings.Builder
	for _, f := range funcs {
		out.WriteString("|" + f.String())
	}
	return out.String()
}
