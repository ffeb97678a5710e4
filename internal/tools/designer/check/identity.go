package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// identifies checks ST101 and ST102 for a place in the table whose key has nothing, or only a part, of a field that tells two
// items apart: then both have one key, although its text can be read in only one way. An item is identified by the fields of
// its primary key or of a marker, a marker also by its own fields.
func (c *checker) identifies(k keyed) {
	e := k.Entity
	if k.Index != nil {
		return
	}
	parts := partsOf(e, slices.Concat(k.PK, k.SK)...)
	identities := [][]design.Part{partsOf(e, e.Key.PK, e.Key.SK)}
	for _, m := range e.Unique {
		marked := partsOf(e, m.Key.PK, m.Key.SK)
		if m == k.Marker {
			identities = slices.Insert(identities, 0, marked)
		} else {
			identities = append(identities, marked)
		}
	}
	var missing []design.Part
	for i, identity := range identities {
		lost := c.lost(e, identity, parts)
		if len(lost) == 0 {
			return
		}
		if i == 0 {
			missing = lost
		}
	}
	if slices.ContainsFunc(keyOf(e), func(name string) bool {
		f := e.Field(name)
		return f != nil && plan.Own(c.design, e, f) && len(c.lost(e, []design.Part{{Field: name}}, parts)) == 0
	}) {
		return // generated for each item, so whatever else the key lacks
	}
	c.sharedKey(k, parts, missing)
}

// partsOf are the parts of templates that contain a field of the entity; others are reported as ST103.
func partsOf(e *design.Entity, templates ...*design.Template) []design.Part {
	var out []design.Part
	for _, t := range templates {
		if t != nil {
			out = append(out, slices.DeleteFunc(slices.Clone(t.Parts), func(p design.Part) bool { return e.Field(p.Field) == nil })...)
		}
	}
	return out
}

func ofField(parts []design.Part, field string) []design.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p design.Part) bool { return p.Field != field })
}

// meant are the functions of a part that say which values count as equal.
func meant(p design.Part) []design.Func {
	n := slices.IndexFunc(p.Funcs, func(f design.Func) bool { return !keytext.Equates(f.Name) })
	if n < 0 {
		return p.Funcs
	}
	return p.Funcs[:n]
}

// lost returns the parts of an identity whose values the parts of a key do not determine.
func (c *checker) lost(e *design.Entity, identity, key []design.Part) []design.Part {
	return slices.DeleteFunc(slices.Clone(identity), func(p design.Part) bool {
		f := e.Field(p.Field)
		known := plan.Known(ofField(key, p.Field), func(before []design.Func, fn design.Func) bool { return c.injective(f, before, fn) })
		return slices.ContainsFunc(known, func(funcs []design.Func) bool {
			m := meant(p)
			return len(funcs) <= len(m) && slices.Equal(funcs, m[:len(funcs)])
		})
	})
}

const (
	// listed is the most values of a field that are tried one by one.
	listed = 4096
	// hashDigits is the number of hexadecimal digits from which a hash identifies a value: at 64 bits, two of a million values
	// have one hash with a probability of 1 in 37 million.
	hashDigits = 16
)

// injective reports whether a function maps the texts that the functions before it make of a field to different texts.
func (c *checker) injective(f *design.Field, before []design.Func, fn design.Func) bool {
	l, err := keylang.OfField(c.design, f, before...)
	if err != nil {
		return false
	}
	if texts, all := l.Values(listed); all {
		met := map[string]bool{}
		for _, t := range texts {
			to, err := keytext.Apply(fn.Name, fn.Arg, t)
			if err == nil && met[to] {
				return false
			}
			met[to] = err == nil
		}
		return true
	}
	switch fn.Name {
	case "pad", "desc":
		return true
	case "ts":
		return fn.Arg == "ms"
	case "date":
		return f.Type.Kind == design.KindDate && fn.Arg == "yyyy-MM-dd"
	case "first":
		most, bounded := l.MaxBytes()
		return bounded && most <= fn.Int()
	case "hash":
		return fn.Int() >= hashDigits
	case "lower", "fold": // of letters of one case
		if len(before) > 0 {
			return slices.Contains([]string{"pad", "desc", "ts", "hash"}, before[len(before)-1].Name)
		}
		return slices.Contains([]design.Kind{design.KindSlug, design.KindUUID, design.KindULID}, f.Type.Kind)
	default:
		return false
	}
}

// sharedKey reports a place whose key does not determine the missing parts of an identity.
func (c *checker) sharedKey(k keyed, key, missing []design.Part) {
	e := k.Entity
	var fields, absent []string
	witness, possible := "", false
	for _, p := range missing {
		if slices.Contains(fields, p.Field) {
			continue
		}
		have := ofField(key, p.Field)
		one, two, found, all := c.alike(e.Field(p.Field), p, have)
		if !found && all {
			continue // its few values differ in what the key has of them
		}
		if fields = append(fields, p.Field); len(have) == 0 {
			absent = append(absent, p.Field)
		}
		possible = possible || found
		if found && witness == "" && len(one) <= readable {
			witness = fmt.Sprintf("%s and %s both render %s", values([]keylang.Value{{Name: p.Field, Text: one}}), values([]keylang.Value{{Name: p.Field, Text: two}}),
				c.rendered(k, p.Field, one))
		}
	}
	if len(fields) == 0 {
		return
	}
	message, template := "two different items can have the same key: %s has only a part of %s, which tells them apart", strings.Join(texts(k.Place), " / ")
	f := c.find("ST102", k.String(), k.PK[0].Pos, message, template, strings.Join(fields, ", ")).
		fix("add the whole {%s} to the key, or an identifier of the item", strings.Join(fields, "}#{"))
	if len(absent) > 0 {
		message = "two items can have the same key: %s does not contain %s, which tells them apart"
		f = c.find("ST101", k.String(), k.PK[0].Pos, message, template, strings.Join(absent, ", ")).
			fix("end the key with #{%s}", strings.Join(absent, "}#{"))
	}
	f.Unidentified = true
	f.witness(witness).unless(possible).report()
}

// tries is the number of values among which two with one text are searched for: enough for a hash of eight digits.
const tries = 1 << 17

// readable is the maximum number of bytes of a value in a counterexample.
const readable = 200

// alike returns two values of a field that differ in what a part means and have the same texts in the parts of a key. If it finds
// none, all reports whether it has tried all values.
func (c *checker) alike(f *design.Field, p design.Part, key []design.Part) (one, two string, found, all bool) {
	l, err := keylang.OfField(c.design, f)
	if err != nil {
		return "", "", false, false
	}
	meaning := design.Part{Field: p.Field, Funcs: meant(p)}
	texts, all := l.Values(listed)
	next := sampler(f, key)
	met := map[string]string{}
	for i, foreign := 0, 0; i < tries && foreign < listed; i++ {
		var v string
		switch {
		case all && i == len(texts):
			return "", "", false, true
		case all:
			v = texts[i]
		default:
			v = next(i)
		}
		text, ok := textIn(key, v)
		if !ok {
			continue
		}
		before, known := met[text]
		if !known {
			met[text] = v
			continue
		}
		a, fine := textIn([]design.Part{meaning}, before)
		b, fineToo := textIn([]design.Part{meaning}, v)
		if !fine || !fineToo || a == b {
			continue
		}
		if holds(l, before) && holds(l, v) {
			return before, v, true, all
		}
		foreign++
	}
	return "", "", false, false
}

// holds reports whether a field can have a value, whose length its language may leave open.
func holds(l keylang.Language, v string) bool {
	most, bounded := l.MaxBytes()
	return l.Contains(v) && (!bounded || len(v) <= most)
}

// textIn is the text of a value in parts of its field; false if it cannot be in a key.
func textIn(parts []design.Part, v string) (string, bool) {
	var out strings.Builder
	for _, p := range parts {
		text := v
		for _, fn := range p.Funcs {
			to, err := keytext.Apply(fn.Name, fn.Arg, text)
			if err != nil {
				return "", false
			}
			text = to
		}
		out.WriteString(strconv.Itoa(len(text)) + ":" + text)
	}
	return out.String(), true
}

// sampler returns readable values of a field, of which many begin alike.
func sampler(f *design.Field, key []design.Part) func(i int) string {
	n := 0 // characters that a |first keeps
	for _, p := range key {
		for _, fn := range p.Funcs {
			if fn.Name == "first" {
				n = max(n, fn.Int())
			}
		}
	}
	head := strings.Repeat("a", max(n, f.MinBytes-1, 1))
	switch f.Type.Kind {
	case design.KindInt, design.KindMoney, design.KindTTL, design.KindDecimal:
		if n == 0 {
			return strconv.Itoa
		}
		return func(i int) string { return "1" + fmt.Sprintf("%0*d", n, i) }
	case design.KindTime:
		return func(i int) string {
			return time.Date(2024, 1, 1, 10, 30, 0, i%1000*int(time.Millisecond), time.UTC).AddDate(0, 0, i/1000).Format("2006-01-02T15:04:05.000Z")
		}
	case design.KindDate:
		return func(i int) string { return time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	case design.KindUUID:
		return func(i int) string { return fmt.Sprintf("3f2b8c1e-7a4d-4b6f-9c2a-%012d", i) }
	case design.KindULID:
		return func(i int) string { return fmt.Sprintf("01HQ3Z5K7N9PBRDTFVGX%06d", i) }
	case design.KindKSUID:
		return func(i int) string { return fmt.Sprintf("2aDzhYWvXk5T1mR8cQ3nL%06d", i) }
	case design.KindEmail:
		return func(i int) string { return head + strconv.Itoa(i) + "@example.com" }
	default:
		return func(i int) string { return head + strconv.Itoa(i) }
	}
}

// rendered is a key in which a field has the given value, and the others have values of their own.
func (c *checker) rendered(k keyed, field, value string) string {
	var out []string
	for _, t := range slices.Concat(k.PK, k.SK) {
		var text strings.Builder
		for _, p := range t.Parts {
			if p.Field == "" {
				text.WriteString(p.Literal)
				continue
			}
			v := value
			if p.Field != field {
				v = c.some(k.Entity.Field(p.Field))
			}
			for _, fn := range p.Funcs {
				to, err := keytext.Apply(fn.Name, fn.Arg, v)
				if err != nil {
					return strings.Join(texts(k.Place), " / ")
				}
				v = to
			}
			text.WriteString(v)
		}
		out = append(out, text.String())
	}
	return quoted(out)
}

// some is a value of a field.
func (c *checker) some(f *design.Field) string {
	l, err := keylang.OfField(c.design, f)
	if err != nil {
		return ""
	}
	w, _ := keylang.Intersect(l, l)
	return w.Text
}
