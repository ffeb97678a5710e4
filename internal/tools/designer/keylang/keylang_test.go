package keylang_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
)

// shop is a design with the enumerations that the tests' fields use.
func shop() *design.Design {
	return &design.Design{Enums: []*design.Enum{
		{Name: "Status", Values: []string{"pending", "paid", "Shipped"}},
		{Name: "Level", Values: []string{"high", "low"}},
		{Name: "Estado", Values: []string{"borrador", "en revisión"}},
		{Name: "Acento", Values: []string{"revisión"}},
		{Name: "Short", Values: []string{"a", "a#", "aa"}},
	}}
}

// fields parses "userId:id code:text(6) status:Status" as the fields of an entity.
func fields(tb testing.TB, spec string) *design.Entity {
	tb.Helper()
	e := &design.Entity{Name: "Item", Table: "Shop"}
	for s := range strings.FieldsSeq(spec) {
		name, written, _ := strings.Cut(s, ":")
		kind, limit, limited := strings.Cut(written, "(")
		f := &design.Field{Name: name, Type: design.Type{Kind: design.Kind(kind)}, Path: []string{name}}
		if kind[0] >= 'A' && kind[0] <= 'Z' {
			f.Type = design.Type{Kind: design.KindEnum, Name: kind}
		}
		if limited {
			f.MaxBytes = design.Func{Arg: strings.TrimSuffix(limit, ")")}.Int()
		}
		e.Fields = append(e.Fields, f)
	}
	return e
}

func parse(tb testing.TB, s string) *design.Template {
	tb.Helper()
	p, err := design.ParseTemplate(s)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// template is a template of such fields in an attribute of type S.
func template(tb testing.TB, spec, s string) keylang.Template {
	tb.Helper()
	out, err := keylang.OfTemplate(shop(), fields(tb, spec), parse(tb, s), design.KeyString)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// key is a partition key and a sort key.
func key(tb testing.TB, spec, pk, sk string) []keylang.Template {
	tb.Helper()
	return []keylang.Template{template(tb, spec, pk), template(tb, spec, sk)}
}

// value is the language of "text|fold|first(3)".
func value(tb testing.TB, s string) keylang.Language {
	tb.Helper()
	kind, calls, _ := strings.Cut(s, "|")
	pipe := ""
	if calls != "" {
		pipe = "|" + calls
	}
	e := fields(tb, "x:"+kind)
	l, err := keylang.OfField(shop(), e.Fields[0], parse(tb, "{x"+pipe+"}").Parts[0].Funcs...)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// valid fails unless the values, put into the template, are in its languages and make the text.
func valid(tb testing.TB, tmpl keylang.Template, values []keylang.Value, want string) {
	tb.Helper()
	texts := map[string]string{}
	for _, v := range values {
		texts[v.Name] = v.Text
	}
	got := ""
	for _, p := range tmpl.Parts() {
		if p.Field == "" {
			got += p.Literal
			continue
		}
		text, ok := texts[p.Name]
		if !ok || !p.Language.Contains(text) {
			tb.Errorf("%q is no value of %s", text, p.Name)
		}
		got += text
	}
	if got != want {
		tb.Errorf("%v render as %q, not as %q", values, got, want)
	}
}

func differ(a, b []keylang.Value) bool {
	for i := range a {
		if a[i] != b[i] {
			return true
		}
	}
	return false
}
