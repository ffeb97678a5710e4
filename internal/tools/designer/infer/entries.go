package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/plural"
)

// entry is the entry of an entity or copy in an index.
type entry struct {
	index  Index
	pk, sk []*template
	rows   []*row // those that have it
	of     []*row // those that could have it
	where  string
	note   string
}

// entriesOf finds the entries of a shape's items.
func (t *tableDraft) entriesOf(s *shape) []*entry {
	var out []*entry
	for _, x := range t.Indexes {
		e := &entry{index: x, of: s.rows}
		for _, r := range s.rows {
			if !slices.ContainsFunc(slices.Concat(x.PK, x.SK), func(k Key) bool { return r.item[k.Name] == nil || isNull(r.item[k.Name]) }) {
				e.rows = append(e.rows, r)
			}
		}
		if len(e.rows) == 0 {
			continue
		}
		for _, k := range x.PK {
			e.pk = append(e.pk, t.keyTemplate(k, s, e.rows))
		}
		for _, k := range x.SK {
			e.sk = append(e.sk, t.keyTemplate(k, s, e.rows))
		}
		e.note = t.share(len(e.rows), len(s.rows))
		out = append(out, e)
	}
	return out
}

// keyTemplate finds the template of a key attribute that some items of a shape have.
func (t *tableDraft) keyTemplate(k Key, s *shape, rows []*row) *template {
	switch {
	case k.Name == t.PK.Name:
		return t.sameAs(s.pk)
	case t.SK.Name != "" && k.Name == t.SK.Name:
		return t.sameAs(s.sk)
	case slices.Contains(slices.Concat(s.pk.fields(), s.sk.fields()), k.Name): // a field, whatever other field equals it
		return &template{attribute: k.Name, parts: []part{{path: k.Name}}, asIs: true}
	}
	marks, pieces, some := t.commonMarks(k, rows)
	out := t.templateOf(k, some, marks, func(r *row) []piece { return pieces[r] }, s.pk)
	if others := len(rows) - len(some); others > 0 {
		out.notes = append(out.notes, fmt.Sprintf("guess: the %s of %s have another form", k.Name, plural.Of(others, "other item")))
	}
	for i := range out.parts { // one text per row that has the entry
		if p := &out.parts[i]; !p.isLiteral() && len(p.texts) == len(some) && len(some) < len(rows) {
			texts := make([]string, len(rows))
			for j, r := range rows {
				if at := slices.Index(some, r); at >= 0 {
					texts[j] = p.texts[at]
				}
			}
			p.texts = texts
		}
	}
	return out
}

// sameAs reuses an equal template of another place.
func (t *tableDraft) sameAs(p *template) *template {
	same := *p
	same.notes = nil
	return &same
}

// commonMarks parses a key attribute of rows: the marks that most of them share, and the rows that do.
func (t *tableDraft) commonMarks(k Key, rows []*row) (marks []mark, pieces map[*row][]piece, some []*row) {
	pieces = map[*row][]piece{}
	all := map[*row][]mark{}
	groups := map[string][]*row{}
	for _, r := range rows {
		m, p := t.marksOf(k, r)
		pieces[r], all[r] = p, m
		var form strings.Builder
		for _, one := range m {
			form.WriteString(one.separator + "\x00")
		}
		groups[form.String()] = append(groups[form.String()], r)
	}
	for _, form := range sorted(groups) {
		if len(groups[form]) > len(some) {
			some = groups[form]
		}
	}
	marks = slices.Clone(all[some[0]])
	for i := range marks {
		values, same := 0, true
		for _, r := range some {
			if all[r][i].value {
				values++
			}
			same = same && pieces[r][i].text == pieces[some[0]][i].text
		}
		marks[i].value = !same || 2*values >= len(some)
		marks[i].literal = ""
		if !marks[i].value {
			marks[i].literal = pieces[some[0]][i].text
		}
	}
	return marks, pieces, some
}

// conditionOf looks for a condition that decides which items have an entry, if not all do.
func (t *tableDraft) conditionOf(e *entity, x *entry) {
	if len(x.rows) == len(x.of) {
		return
	}
	has := map[*row]bool{}
	for _, r := range x.rows {
		has[r] = true
	}
	var paths []string
	for _, one := range slices.Concat(x.pk, x.sk) {
		paths = append(paths, one.fields()...)
	}
	explained := true // by a missing field of the key
	for _, r := range x.of {
		complete := !slices.ContainsFunc(paths, func(p string) bool { return at(r.item, p) == nil })
		explained = explained && complete == has[r]
	}
	if explained {
		x.note += "; the others lack a field of it"
		return
	}
	fields := slices.Clone(e.fields)
	slices.SortStableFunc(fields, func(a, b *field) int { return rank(a) - rank(b) })
	for _, f := range fields {
		if where := t.decides(f, x, has); where != "" {
			x.where = where
			x.note += "; guess: the condition selects exactly these"
			return
		}
	}
	x.note += "; the data does not show which: add a where"
}

// rank orders fields by how likely they are to decide.
func rank(f *field) int {
	switch {
	case f.typ == "bool":
		return 0
	case strings.Contains(letters(f.name), "stat"), strings.Contains(letters(f.name), "estado"):
		return 1
	default:
		return 2
	}
}

// decides returns a condition on a field that holds for exactly the rows that have an entry; "" if there is none.
func (t *tableDraft) decides(f *field, x *entry, has map[*row]bool) string {
	in, out := map[string]bool{}, map[string]bool{}
	exists := true // the field exists exactly where the entry does
	for _, r := range x.of {
		v := at(r.item, f.path)
		exists = exists && (v != nil) == has[r]
		text := "\x00" // for absent values
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			text = "'" + strings.ReplaceAll(v.Value, "'", "''") + "'"
		case *types.AttributeValueMemberBOOL:
			text = fmt.Sprint(v.Value)
		case nil:
		default:
			text = "\x01" // a value that no constant is compared with
		}
		if has[r] {
			in[text] = true
		} else {
			out[text] = true
		}
	}
	if exists {
		return "attribute_exists(" + f.name + ")"
	}
	const most = 5
	values := sorted(in)
	if len(values) > most || in["\x00"] || in["\x01"] || slices.ContainsFunc(values, func(v string) bool { return out[v] }) {
		return ""
	}
	if len(values) == 1 {
		return f.name + " = " + values[0]
	}
	return f.name + " IN (" + strings.Join(values, ", ") + ")"
}

// usualIndexKey reports whether an attribute has a name that is common for index keys: GSI1PK, lsi2sk, gsi1_pk.
func usualIndexKey(name string) bool {
	n := letters(name)
	return (strings.HasPrefix(n, "gsi") || strings.HasPrefix(n, "lsi")) && strings.ContainsAny(n, "0123456789ps") && len(n) <= len("gsi10sortkey")
}
