package infer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/monotable/monotable/internal/plural"
)

// words are the words of a name: ORDER_ITEM, orderItem and order-item have order and item.
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(name)
	upper := func(i int) bool { return i >= 0 && i < len(runes) && runes[i] >= 'A' && runes[i] <= 'Z' }
	for i, c := range runes {
		switch {
		case c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush()
			continue
		case upper(i) && (!upper(i-1) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		word = append(word, c)
	}
	flush()
	return out
}

// pascal is a name in the style of entities: OrderItem; "" if nothing is left of it.
func pascal(name string) string {
	var out strings.Builder
	for _, w := range words(name) {
		out.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return strings.TrimLeft(out.String(), "0123456789")
}

// camel is a name in the style of fields: createdAt.
func camel(name string) string {
	p := pascal(name)
	if p == "" {
		return ""
	}
	return strings.ToLower(p[:1]) + p[1:]
}

// snake is what the naming snake_case makes of a field's name.
func snake(name string) string { return strings.Join(words(name), "_") }

// letters are the letters of a name, in lower case.
func letters(name string) string { return strings.Join(words(name), "") }

// isName reports whether a text is a valid name in the design language.
func isName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && !slices.Contains([]string{"and", "or", "not", "between", "in", "true", "false", "null"}, strings.ToLower(s))
}

// snakeNamed reports whether a table's attributes are named in snake_case.
func snakeNamed(t *Table) bool {
	underscored, capital := 0, 0
	counts := map[string]bool{}
	for _, item := range t.Items {
		for name := range item {
			counts[name] = true
		}
	}
	for name := range counts {
		switch {
		case name != strings.ToLower(name):
			capital++
		case strings.Contains(strings.Trim(name, "_"), "_"):
			underscored++
		}
	}
	keys := 0
	for name := range counts {
		if usualIndexKey(name) || name == t.PK.Name || name == t.SK.Name {
			if name != strings.ToLower(name) {
				keys++
			}
		}
	}
	return underscored > 0 && capital-keys <= underscored/10
}

// fieldName is the name of the field at a path, the same for all entities of the table.
func (t *tableDraft) fieldName(path string) string {
	if name, known := t.names[path]; known {
		return name
	}
	steps := strings.Split(path, step)
	taken := func(name string) bool { // generated code needs names that differ in more than case
		for _, other := range t.names {
			if strings.EqualFold(letters(other), letters(name)) {
				return true
			}
		}
		return false
	}
	name := ""
	for n := 1; n <= len(steps) && (name == "" || taken(name)); n++ { // add steps until it is unique
		tail := steps[len(steps)-n:]
		name = strings.Join(tail, "_")
		if t.snake || n > 1 || !isName(name) {
			name = camel(name)
		}
		if !isName(name) {
			name = camel("field_" + name)
		}
	}
	for base, n := name, 2; taken(name); n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	t.names[path] = name
	return name
}

// share says how many of a number of items have something.
func (t *tableDraft) share(n, of int) string {
	return fmt.Sprintf("%d of %s", n, plural.Of(of, "item"))
}

// shownPath is a path in readable form.
func shownPath(path string) string { return strings.ReplaceAll(path, step, ".") }
