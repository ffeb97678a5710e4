package trial

import (
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// decoys are pairs of items with the same key text if a template is ambiguous: for two fields with a literal between them, "1"
// and "2|3" make the same text as "1|2" and "3", if the fields' types allow the literal.
func (g *generator) decoys(e *design.Entity, known *identities) []*record {
	var out []*record
	for _, place := range plan.Places(g.program.Design, e) {
		for _, t := range slices.Concat(place.PK, place.SK) {
			for i, part := range t.Parts {
				literal, next := following(t.Parts[i+1:])
				if part.Field == "" || next.Field == "" || part.Field == next.Field || !g.holds(e, part, literal) || !g.holds(e, next, literal) {
					continue
				}
				out = append(out, g.pair(e, part.Field, next.Field, literal, false, known)...)
				out = append(out, g.pair(e, part.Field, next.Field, literal, true, known)...)
			}
		}
	}
	return out
}

// following is the literal with which parts start, "" if there is none, and the field after it.
func following(parts []design.Part) (literal string, next design.Part) {
	for _, p := range parts {
		if p.Field != "" {
			return literal, p
		}
		literal += p.Literal
	}
	return literal, design.Part{}
}

// holds reports whether values of a part can be chosen freely, as texts that contain the literal.
func (g *generator) holds(e *design.Entity, p design.Part, literal string) bool {
	f := e.Field(p.Field)
	if f == nil || len(p.Funcs) > 0 && (p.Funcs[0].Name != "lower" || len(p.Funcs) > 1) {
		return false
	}
	allowed := ""
	switch f.Type.Kind {
	case design.KindText:
		return f.MinBytes <= 1 && (f.MaxBytes == 0 || f.MaxBytes > len(literal)+1)
	case design.KindID:
		allowed = ".:-_@"
	case design.KindSlug:
		allowed = "-"
	case design.KindInt:
		if g.limits[g.poolName(f.Name, f.Type)].digits > 0 {
			return false
		}
	default:
		return false
	}
	return strings.Trim(literal, allowed) == "" && (f.MaxBytes == 0 || f.MaxBytes > len(literal)+1)
}

// pair makes two items whose two fields make the same text, and whose other fields are equal or different.
func (g *generator) pair(e *design.Entity, first, second, literal string, others bool, known *identities) []*record {
	base := g.record(e, g.rng.IntN(max(g.items, 1)))
	var out []*record
	for i, texts := range [][2]string{{"1", "2" + literal + "3"}, {"1" + literal + "2", "3"}} {
		if i > 0 && others {
			base = g.record(e, g.rng.IntN(max(g.items, 1)))
		}
		r := newRecord(g.program, e)
		maps.Copy(r.values, base.values)
		if key := plan.KeyFields(e); len(key) == 1 && key[0] != first && key[0] != second {
			f := e.Field(key[0])
			r.values[key[0]] = g.pool(f.Name, f.Type).at(g.items + i + g.rng.IntN(max(g.items, 1)))
		}
		r.values[first] = ofText(e.Field(first).Type, texts[0])
		r.values[second] = ofText(e.Field(second).Type, texts[1])
		r.decoy = true
		if _, err := table.Items(r.run, r.values); err == nil && known.add(r) {
			out = append(out, r)
		}
	}
	return out
}
