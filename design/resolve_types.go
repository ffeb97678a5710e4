package design

import (
	"cmp"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// types parses enumerations and structures: their names first, because structures may contain later ones.
func (r *resolver) types(list named[typeShape]) {
	d := r.design
	for _, in := range list {
		s := in.value
		switch {
		case s.Enum != nil && s.Fields == nil:
			d.Enums = append(d.Enums, &Enum{Name: in.name, Doc: s.Doc, Values: r.texts(s.Enum), Pos: in.pos})
		case s.Fields != nil && s.Enum == nil:
			d.Structs = append(d.Structs, &Struct{Name: in.name, Doc: s.Doc, Pos: in.pos})
		default:
			r.Hint(in.pos, "{ enum: [a, b] } or { fields: { … } }", "type %s needs either values or fields", in.name)
		}
	}
	for _, in := range list {
		if t := d.Struct(in.name); t != nil && t.Fields == nil {
			t.Fields = r.fields(in.value.Fields, NamingAsIs)
		}
	}
}

// fields parses the fields of an entity or a structure.
func (r *resolver) fields(list named[fieldShape], naming Naming) []*Field {
	out := make([]*Field, 0, len(list))
	for _, in := range list {
		s := in.value
		f := &Field{Name: in.name, Doc: s.Doc, MinBytes: s.Min, MaxBytes: s.Max, Pos: in.pos}
		out = append(out, f)
		if !s.Type.given() {
			r.Hint(in.pos, in.name+": text", "field %s has no type", in.name)
			f.Type.Kind = KindText
		} else {
			written, optional := strings.CutSuffix(s.Type.value, "?")
			f.Optional = optional
			f.Type = r.typeOf(strings.TrimSpace(written), s.Type.pos, 0)
		}
		switch {
		case s.At.given() && s.Attr.given():
			r.Fault(in.pos, "field %s has both attr and at: use one of them", in.name)
		case s.At.given():
			for step := range strings.SplitSeq(s.At.value, ".") {
				f.Path = append(f.Path, step)
			}
			r.Places[&f.Path[0]] = s.At.pos
		case s.Attr.given():
			f.Path = r.texts([]text{s.Attr})
		case naming == NamingSnake:
			f.Path = []string{snake(in.name)}
		default:
			f.Path = []string{in.name}
		}
	}
	return out
}

// params parses the parameters of a write besides the fields of its items: fields that are not stored.
func (r *resolver) params(list named[fieldShape]) []*Field {
	for _, in := range list {
		if in.value.At.given() || in.value.Attr.given() {
			r.Fault(in.pos, "a param is not stored: remove attr or at")
		}
	}
	if len(list) == 0 {
		return nil
	}
	return r.fields(list, NamingAsIs)
}

// snake turns createdAt into created_at, and userID into user_id.
func snake(name string) string {
	upper := func(i int) bool { return i >= 0 && i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	var out strings.Builder
	for i := range len(name) {
		c := name[i]
		if upper(i) {
			// A word starts after a lower-case letter, and at the last capital of a run that continues in lower
			// case.
			if i > 0 && name[i-1] != '_' && (!upper(i-1) || i+1 < len(name) && !upper(i+1) && name[i+1] != '_') {
				out.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		out.WriteByte(c)
	}
	return out.String()
}

// simpleKinds are the kinds that are written by name.
func simpleKinds() []Kind {
	return []Kind{
		KindID, KindUUID, KindULID, KindKSUID, KindSlug, KindEmail, KindText, KindSecret, KindInt, KindDecimal,
		KindMoney, KindBool, KindTime, KindDate, KindTTL, KindBytes,
	}
}

// typeOf parses a type: text, OrderStatus, list<text>.
func (r *resolver) typeOf(s string, p Pos, depth int) Type {
	if outer, inner, generic := strings.Cut(s, "<"); generic {
		inner, closed := strings.CutSuffix(inner, ">")
		kind := Kind(strings.TrimSpace(outer))
		if !closed || kind != KindList && kind != KindSet && kind != KindMap || depth >= maxTypeDepth {
			r.Hint(p, "list<text>, set<text> or map<text>", "%q is not a type", s)
			return Type{Kind: KindText}
		}
		elem := r.typeOf(strings.TrimSpace(inner), p, depth+1)
		return Type{Kind: kind, Elem: &elem}
	}
	known := make([]string, 0, len(simpleKinds()))
	for _, k := range simpleKinds() {
		if s == string(k) {
			return Type{Kind: k}
		}
		known = append(known, string(k))
	}
	switch {
	case r.design.Enum(s) != nil:
		return Type{Kind: KindEnum, Name: s}
	case r.design.Struct(s) != nil:
		return Type{Kind: KindStruct, Name: s}
	}
	for _, e := range r.design.Enums {
		known = append(known, e.Name)
	}
	for _, t := range r.design.Structs {
		known = append(known, t.Name)
	}
	r.Hint(p, cmp.Or(syntax.Suggestion(s, known), "types: "+strings.Join(known, ", ")+", and list<…>, set<…>, map<…>"), "there is no type %q", s)
	return Type{Kind: KindText}
}
