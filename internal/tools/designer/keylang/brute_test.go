package keylang_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
)

var seed = flag.Uint64("keylang.seed", 0, "seed of TestResultsAgreeWithEnumeration; 0 for another each time")

// members are predicates for the texts of kinds and functions, without automata.
func members() map[string]func(string) bool {
	pattern := func(s string) func(string) bool {
		return regexp.MustCompile(`^(?:` + s + `)\z`).MatchString
	}
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	dashes := regexp.MustCompile(`[^a-z0-9]+`)
	// The texts of an idempotent function are the texts that it leaves unchanged.
	fixed := func(f func(string) string) func(string) bool {
		return func(s string) bool { return utf8.ValidString(s) && f(s) == s }
	}
	return map[string]func(string) bool{
		"id":          pattern(`[A-Za-z0-9._:@-]+`),
		"id(2)":       pattern(`[A-Za-z0-9._:@-]{1,2}`),
		"id|lower":    pattern(`[a-z0-9._:@-]+`),
		"id|first(2)": pattern(`[A-Za-z0-9._:@-]{1,2}`),
		"slug":        pattern(`[a-z0-9-]+`),
		"slug|slug": func(s string) bool {
			return s != "" && dashes.ReplaceAllString(s, "-") == s
		},
		"text":    utf8.ValidString,
		"text(3)": func(s string) bool { return utf8.ValidString(s) && len(s) <= 3 },
		"text|first(1)": func(s string) bool {
			return utf8.ValidString(s) && utf8.RuneCountInString(s) <= 1
		},
		"text|lower":  fixed(strings.ToLower),
		"text|fold":   fixed(fold),
		"text|slug":   fixed(func(s string) string { return dashes.ReplaceAllString(fold(s), "-") }),
		"int":         pattern(`0|-?[1-9][0-9]{0,18}`),
		"int(2)":      pattern(`[0-9]|-[1-9]|[1-9][0-9]`),
		"int|pad(2)":  pattern(`[0-9]{2}`),
		"decimal":     pattern(`0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]`),
		"bool":        pattern(`true|false`),
		"Short":       pattern(`a|aa|a#`),
		"id|shard(1)": pattern(`0`),
		"id|shard(12)": func(s string) bool {
			n, err := strconv.Atoi(s)
			return err == nil && n >= 0 && n < 12 && strconv.Itoa(n) == s
		},
		"uuid|first(1)": pattern(`[0-9a-f]`),
		"id|hash(1)":    pattern(`[0-9a-f]`),
	}
}

// sketch is a random template: its text, the fields it needs, and the predicates of its parts.
type sketch struct {
	text, fields string
	tmpl         keylang.Template
	parts        []func(string) bool // including literals
	names        []string            // "" for a literal
}

// sketches makes templates that share fields: field k has the same kind in all of them.
type sketches struct {
	rnd   *rand.Rand
	of    map[string]func(string) bool
	kinds []string // by field
}

func newSketches(rnd *rand.Rand) *sketches {
	s := &sketches{rnd: rnd, of: members()}
	var all []string
	for k := range s.of {
		all = append(all, k)
	}
	slices.Sort(all)
	for range 5 {
		s.kinds = append(s.kinds, all[rnd.IntN(len(all))])
	}
	return s
}

func (s *sketches) next(t *testing.T) sketch {
	t.Helper()
	var out sketch
	for k, kind := range s.kinds {
		base, _, _ := strings.Cut(kind, "|")
		out.fields += fmt.Sprintf("f%d:%s ", k, base)
	}
	for range 1 + s.rnd.IntN(4) {
		if s.rnd.IntN(3) == 0 {
			lit := []string{"#", "a", "-", "0", "#a", "a#"}[s.rnd.IntN(6)]
			if n := len(out.names); n > 0 && out.names[n-1] == "" {
				continue // the parser would join two adjacent literals
			}
			out.text += lit
			out.parts = append(out.parts, func(text string) bool { return text == lit })
			out.names = append(out.names, "")
			continue
		}
		k := s.rnd.IntN(len(s.kinds))
		_, calls, piped := strings.Cut(s.kinds[k], "|")
		name := "f" + strconv.Itoa(k)
		if piped {
			name += "|" + calls
		}
		out.text += "{" + name + "}"
		out.parts = append(out.parts, s.of[s.kinds[k]])
		out.names = append(out.names, name)
	}
	out.tmpl = template(t, out.fields, out.text)
	return out
}

// repeats reports whether a field occurs twice.
func (s sketch) repeats() bool {
	for i, n := range s.names {
		if n != "" && slices.Contains(s.names[:i], n) {
			return true
		}
	}
	return false
}

// tuples are all lists of values that render as a text.
func (s sketch) tuples(text string) []map[string]string {
	var out []map[string]string
	values := map[string]string{}
	var walk func(part, at int)
	walk = func(part, at int) {
		if part == len(s.parts) {
			if at == len(text) {
				out = append(out, maps.Clone(values))
			}
			return
		}
		for end := at; end <= len(text); end++ {
			v, name := text[at:end], s.names[part]
			if !s.parts[part](v) {
				continue
			}
			if name == "" {
				walk(part+1, end)
				continue
			}
			old, given := values[name]
			if given && old != v {
				continue
			}
			values[name] = v
			walk(part+1, end)
			if !given {
				delete(values, name)
			}
		}
	}
	walk(0, 0)
	return out
}

// texts are all texts over a small alphabet up to a length.
func texts(longest int) []string {
	out := []string{""}
	for from := 0; longest > 0; longest-- {
		to := len(out)
		for _, s := range out[from:to] {
			for _, c := range "aA#01- " {
				out = append(out, s+string(c))
			}
		}
		from = to
	}
	return out
}

// TestResultsAgreeWithEnumeration compares every answer about random templates with an enumeration of all short texts, parsed by
// trying every split.
func TestResultsAgreeWithEnumeration(t *testing.T) {
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	t.Logf("-keylang.seed=%d", start)
	rnd := rand.New(rand.NewPCG(start, 1))
	short, pairs := texts(4), texts(3)
	for range 80 {
		all := newSketches(rnd)
		a, b := all.next(t), all.next(t)
		compareMembers(t, a, short)
		compareIntersections(t, a, b, short)
		compareAmbiguity(t, a, short)
		compareJointAmbiguity(t, a, b, pairs)
		if t.Failed() {
			t.Fatalf("templates %s and %s of %s", a.text, b.text, a.fields)
		}
	}
}

func compareMembers(t *testing.T, a sketch, short []string) {
	t.Helper()
	l := a.tmpl.Language()
	var in []string
	for _, s := range short {
		is := len(a.tuples(s)) > 0
		if is {
			in = append(in, s)
		}
		if is && !l.Contains(s) || !is && !a.repeats() && l.Contains(s) {
			t.Errorf("%s contains %q: %v", a.text, s, is)
		}
		if most, bounded := l.MaxBytes(); is && (len(s) < l.MinBytes() || bounded && len(s) > most) {
			t.Errorf("%s can be %q, which has not %d to %d bytes", a.text, s, l.MinBytes(), most)
		}
	}
	n, finite := l.Count()
	if values, ok := l.Values(3000); ok {
		if !finite || n > float64(len(values)) {
			t.Errorf("%s has %d texts, not %g", a.text, len(values), n)
		}
		for _, s := range in {
			if !slices.Contains(values, s) {
				t.Errorf("the texts of %s lack %q", a.text, s)
			}
		}
		for _, s := range values {
			if len(a.tuples(s)) == 0 && !a.repeats() {
				t.Errorf("%s cannot be %q", a.text, s)
			}
		}
	}
	if n < float64(len(in)) {
		t.Errorf("%s has at least %d texts, not %g", a.text, len(in), n)
	}
	comparePrefixFree(t, a, in)
}

func comparePrefixFree(t *testing.T, a sketch, in []string) {
	t.Helper()
	x, free := a.tmpl.Language().PrefixFree()
	for i, s := range in {
		for _, longer := range in[i+1:] {
			if free && strings.HasPrefix(longer, s) {
				t.Errorf("%s: %q begins with %q", a.text, longer, s)
			}
		}
	}
	if x.Certain && (len(a.tuples(x.Shorter)) == 0 || len(a.tuples(x.Longer)) == 0 ||
		!strings.HasPrefix(x.Longer, x.Shorter) || x.Longer == x.Shorter) {
		t.Errorf("%s: %+v proves nothing", a.text, x)
	}
}

func compareIntersections(t *testing.T, a, b sketch, short []string) {
	t.Helper()
	certain := !a.repeats() && !b.repeats()
	w, intersection := keylang.Intersect(a.tmpl.Language(), b.tmpl.Language())
	x, found := keylang.IntersectPrefix(a.tmpl.Language(), b.tmpl.Language())
	for _, s := range short {
		if len(b.tuples(s)) == 0 {
			continue
		}
		if !intersection && len(a.tuples(s)) > 0 {
			t.Errorf("both can be %q", s)
		}
		for n := range len(s) + 1 {
			if !found && len(a.tuples(s[:n])) > 0 {
				t.Errorf("begins_with %q of %s finds %q of %s", s[:n], a.text, s, b.text)
			}
		}
	}
	if intersection && w.Certain != certain || found && x.Certain != certain {
		t.Errorf("%+v, %+v: certain should be %v", w, x, certain)
	}
	if w.Certain && (len(a.tuples(w.Text)) == 0 || len(b.tuples(w.Text)) == 0) {
		t.Errorf("not both can be %q", w.Text)
	}
	if x.Certain && (len(a.tuples(x.Shorter)) == 0 || len(b.tuples(x.Longer)) == 0 || !strings.HasPrefix(x.Longer, x.Shorter)) {
		t.Errorf("%+v proves nothing", x)
	}
}

func compareAmbiguity(t *testing.T, a sketch, short []string) {
	t.Helper()
	w, ok := keylang.Ambiguous(a.tmpl)
	for _, s := range short {
		if all := a.tuples(s); !ok && len(all) > 1 {
			t.Errorf("%s: %q is %v and %v", a.text, s, all[0], all[1])
		}
	}
	if ok && !w.Certain && !a.repeats() {
		t.Errorf("%s: %+v is not certain", a.text, w)
	}
	if w.Certain && (len(a.tuples(w.Key[0])) < 2 || !differ(w.First, w.Second)) {
		t.Errorf("%s: %+v proves nothing", a.text, w)
	}
	if w.Certain {
		valid(t, a.tmpl, w.First, w.Key[0])
		valid(t, a.tmpl, w.Second, w.Key[0])
	}
}

// joint are the lists of values that render as both texts.
func joint(a, b sketch, s, u string) []map[string]string {
	var out []map[string]string
	for _, x := range a.tuples(s) {
		for _, y := range b.tuples(u) {
			z := maps.Clone(x)
			agree := true
			for k, v := range y {
				if old, given := z[k]; given && old != v {
					agree = false
				}
				z[k] = v
			}
			if agree {
				out = append(out, z)
			}
		}
	}
	return out
}

func compareJointAmbiguity(t *testing.T, a, b sketch, short []string) {
	t.Helper()
	w, ok := keylang.Ambiguous(a.tmpl, b.tmpl)
	var as, bs []string
	for _, s := range short {
		if len(a.tuples(s)) > 0 {
			as = append(as, s)
		}
		if len(b.tuples(s)) > 0 {
			bs = append(bs, s)
		}
	}
	if !ok {
		for _, s := range as {
			for _, u := range bs {
				if all := joint(a, b, s, u); len(all) > 1 {
					t.Errorf("%q and %q are %v and %v", s, u, all[0], all[1])
					return
				}
			}
		}
	}
	if w.Certain && (len(joint(a, b, w.Key[0], w.Key[1])) < 2 || !differ(w.First, w.Second)) {
		t.Errorf("%+v proves nothing", w)
	}
	c, intersection := keylang.Collide([]keylang.Template{a.tmpl, b.tmpl}, []keylang.Template{b.tmpl, a.tmpl})
	if c.Certain && (len(joint(a, b, c.Key[0], c.Key[1])) == 0 || len(joint(b, a, c.Key[0], c.Key[1])) == 0) {
		t.Errorf("%+v proves nothing", c)
	}
	for _, s := range as {
		if !intersection && slices.Contains(bs, s) {
			t.Errorf("keys (%s, %s) and (%s, %s) can both be %q twice", a.text, b.text, b.text, a.text, s)
		}
	}
}

// FuzzTemplates tests that questions about any two templates are answered without panic and in bounded time, with witnesses
// in their languages.
func FuzzTemplates(f *testing.F) {
	f.Add("IDE#{a}#{b}", "IDE#{c}#{d|fold}")
	f.Add("{a|lower}{a}", "{g|pad(3)}{e|date(yyyy-MM)}{e}")
	f.Add("{h|first(9)}#{i}", "{f|shard(auto)}{j|hash(3)}{b|slug}")
	e := fields(f, "a:text b:text(5) c:uuid d:id e:time f:ulid g:int h:email i:Estado j:bytes k:decimal")
	f.Fuzz(func(t *testing.T, first, second string) {
		var list []keylang.Template
		for _, s := range []string{first, second} {
			p, err := design.ParseTemplate(s)
			if err != nil || len(p.Parts) > 12 || len(s) > 200 {
				return
			}
			tmpl, err := keylang.OfTemplate(shop(), e, p, design.KeyString)
			if err != nil {
				return
			}
			list = append(list, tmpl)
		}
		a, b := list[0].Language(), list[1].Language()
		if w, ok := keylang.Intersect(a, b); ok && w.Certain && (!a.Contains(w.Text) || !b.Contains(w.Text)) {
			t.Errorf("not both can be %q", w.Text)
		}
		if x, ok := keylang.IntersectPrefix(a, b); ok && x.Certain && (!a.Contains(x.Shorter) || !b.Contains(x.Longer)) {
			t.Errorf("%+v proves nothing", x)
		}
		if x, free := a.PrefixFree(); !free && x.Certain && (!a.Contains(x.Shorter) || !a.Contains(x.Longer)) {
			t.Errorf("%+v proves nothing", x)
		}
		if w, ok := keylang.Ambiguous(list...); ok && w.Certain {
			for i, tmpl := range list {
				valid(t, tmpl, w.First, w.Key[i])
				valid(t, tmpl, w.Second, w.Key[i])
			}
		}
		if c, ok := keylang.Collide(list, list); ok && c.Certain {
			for i, tmpl := range list {
				valid(t, tmpl, c.First, c.Key[i])
			}
		}
		list[0].OutOfOrder()
		if n, bounded := a.MaxBytes(); bounded && n < a.MinBytes() {
			t.Errorf("from %d to %d bytes", a.MinBytes(), n)
		}
		a.Count()
		a.Values(100)
	})
}
