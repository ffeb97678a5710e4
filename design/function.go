package design

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// function is a function of templates.
type function struct {
	name string
	// takes are the kinds of values it accepts; nil means all that keys can contain.
	takes []Kind
	// Its argument: one of words, a number from low to high, or none.
	words     []string
	low, high int
}

// functions are all functions, in the order of the language's page.
func functions() []function {
	texts := []Kind{KindID, KindUUID, KindULID, KindKSUID, KindSlug, KindEmail, KindText, KindSecret, KindEnum}
	whole := []Kind{KindInt, KindMoney, KindTTL}
	return []function{
		{name: "lower", takes: texts},
		{name: "fold", takes: texts},
		{name: "slug", takes: texts},
		{name: "pad", takes: whole, low: 1, high: 38},
		{name: "desc", takes: whole, low: 1, high: 18},
		{name: "ts", takes: []Kind{KindTime}, words: []string{"ms", "s"}},
		{name: "date", takes: []Kind{KindTime, KindDate}, words: []string{"yyyy", "yyyy-MM", "yyyy-MM-dd", "yyyy-MM-ddTHH"}},
		{name: "band", takes: whole, low: 2, high: 1_000_000_000},
		{name: "mod", takes: whole, low: 2, high: 10000},
		{name: "shard", words: []string{"auto"}, low: 1, high: 10000},
		{name: "first", low: 1, high: 1024},
		{name: "hash", low: 1, high: 64},
	}
}

// DateLayouts are the possible arguments of date, with the layout in Go's notation.
func DateLayouts() map[string]string {
	return map[string]string{"yyyy": "2006", "yyyy-MM": "2006-01", "yyyy-MM-dd": "2006-01-02", "yyyy-MM-ddTHH": "2006-01-02T15"}
}

func functionNamed(name string) (function, bool) {
	all := functions()
	i := slices.IndexFunc(all, func(f function) bool { return f.name == name })
	if i < 0 {
		return function{}, false
	}
	return all[i], true
}

// usage is the notation of the function.
func (f function) usage() string {
	switch {
	case len(f.words) > 0 && f.high > 0:
		return f.name + "(10) or " + f.name + "(" + strings.Join(f.words, ") or "+f.name+"(") + ")"
	case len(f.words) > 0:
		return f.name + "(" + strings.Join(f.words, ") or "+f.name+"(") + ")"
	case f.high > 0:
		return f.name + "(8)"
	default:
		return f.name
	}
}

func parseFunc(s string) (Func, *SyntaxError) {
	name, arg, called := strings.Cut(s, "(")
	f, known := functionNamed(name)
	if !known {
		var names []string
		for _, f := range functions() {
			names = append(names, f.name)
		}
		return Func{}, &SyntaxError{
			Message: fmt.Sprintf("there is no function %q", name),
			Hint:    cmp.Or(syntax.Suggestion(name, names), "functions: "+strings.Join(names, ", ")),
		}
	}
	arg, closed := strings.CutSuffix(arg, ")")
	n, err := strconv.Atoi(arg)
	number := err == nil && strconv.Itoa(n) == arg && n >= f.low && n <= f.high
	switch {
	case called && !closed:
		return Func{}, &SyntaxError{Message: fmt.Sprintf("|%s has no closing )", s)}
	case f.high == 0 && f.words == nil:
		if called {
			return Func{}, &SyntaxError{Message: fmt.Sprintf("|%s takes no argument", name), Hint: "write |" + name}
		}
	case !number && !slices.Contains(f.words, arg):
		limits := ""
		if f.high > 0 {
			limits = fmt.Sprintf(", with a number from %d to %d", f.low, f.high)
		}
		return Func{}, &SyntaxError{Message: fmt.Sprintf("%q is not a valid argument of |%s", arg, name), Hint: "write |" + f.usage() + limits}
	}
	return Func{Name: name, Arg: arg}, nil
}

// misuse reports a function of a part that does not accept its input, the part's field being of type t; "" if
// there is none. The result of a function is a text, except that ts, band, mod and shard return a whole
// number.
func misuse(p Part, t Type) string {
	kind := t.Kind
	if !t.Scalar() {
		return "" // the checker reports that such a field cannot be in a key
	}
	for i, call := range p.Funcs {
		f, _ := functionNamed(call.Name)
		if f.takes != nil && !slices.Contains(f.takes, kind) {
			of := "a field of type " + t.String()
			if i > 0 {
				of = "the result of |" + p.Funcs[i-1].String()
			}
			what := fmt.Sprintf("|%s cannot be used for %s", call, of)
			if call.Name == "mod" {
				what += ": |shard(" + call.Arg + ") takes the hash of a field of any type"
			}
			return what
		}
		kind = KindText
		if slices.Contains([]string{"ts", "shard", "band", "mod"}, call.Name) {
			kind = KindInt
		}
	}
	return ""
}
