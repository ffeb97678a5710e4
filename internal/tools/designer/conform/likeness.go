package conform

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// candidate is a place that an item may be intended for, with the patterns of its keys.
type candidate struct {
	place  *placeState
	keys   []pattern
	marker bool
}

// pattern is a template to be parsed in reverse.
type pattern struct {
	attribute string
	kind      design.KeyType
	template  *design.Template
	parts     []keylang.Part
}

// candidates are those of a table's places.
func candidates(d *design.Design, t *tableState) []candidate {
	var out []candidate
	for _, e := range t.entities {
		n := 0
		for _, p := range plan.Places(d, e.design) {
			if p.Kind == plan.EntryPlace {
				continue
			}
			l := candidate{place: e.places[n], marker: p.Kind == plan.MarkerPlace}
			n++
			pk, sk := p.Attributes()
			attributes := slices.Concat(pk, sk)
			for i, template := range slices.Concat(p.PK, p.SK) {
				one := pattern{attribute: attributes[i].Name, kind: attributes[i].Type, template: template}
				// The checker of designs reports a template that can produce nothing; no item resembles it.
				if languages, err := keylang.OfTemplate(d, e.design, template, one.kind); err == nil {
					one.parts = languages.Parts()
				}
				l.keys = append(l.keys, one)
			}
			out = append(out, l)
		}
	}
	return out
}

// degree is how much an item resembles a place; 0 is not at all.
type degree int

// The degrees; each byte of a literal adds one.
const (
	begins   degree = 10_000    // the keys start with the literals, which several entities may share
	ofType   degree = 1_000_000 // the type attribute matches
	parsable degree = 100_000_000
)

// mostSimilar is the place that an item resembles most; nil if there is none.
func (t *tableState) mostSimilar(item table.Item) *candidate {
	var best *candidate
	most := degree(0)
	for i := range t.like {
		if d := t.like[i].degree(t, item); d > most {
			best, most = &t.like[i], d
		}
	}
	return best
}

func (l *candidate) degree(t *tableState, item table.Item) degree {
	parses, starts, literals := true, true, 0
	for _, k := range l.keys {
		text, ok := keyText(item[k.attribute], k.kind)
		_, parsed := k.parse(text)
		parses = parses && ok && parsed
		starts = starts && ok && strings.HasPrefix(text, k.template.Prefix())
		for _, p := range k.parts {
			literals += len(p.Literal)
		}
	}
	var d degree
	if s, ok := item[t.table.TypeAttr].(*types.AttributeValueMemberS); ok && !l.marker && s.Value == l.place.entity.table.TypeValue {
		d = ofType
	}
	prefixes := 0
	for _, k := range l.keys {
		prefixes += len(k.template.Prefix())
	}
	switch {
	case literals == 0 && d == 0: // anything resembles a key without literals
		return 0
	case parses:
		d += parsable
	case starts && prefixes > 0:
		d += begins
	case d == 0:
		return 0
	}
	return d + degree(literals)
}

// keyText is the text of a key attribute's value, if it has the key's type.
func keyText(v types.AttributeValue, kind design.KeyType) (string, bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, kind == design.KeyString
	case *types.AttributeValueMemberN:
		return canonical(v.Value), kind == design.KeyNumber
	case *types.AttributeValueMemberB:
		return string(v.Value), kind == design.KeyBinary
	default:
		return "", false
	}
}

// parse returns the texts of a template's parts in a key.
func (p pattern) parse(text string) ([]string, bool) {
	if len(p.parts) == 0 {
		return nil, false
	}
	r := reader{parts: p.parts, left: maxSteps}
	return r.read(0, text)
}

// maxSteps bounds the search for the ways to parse a key; a template of fields without literals has many.
const maxSteps = 10_000

type reader struct {
	parts []keylang.Part
	left  int
}

// read parses the parts from the nth on.
func (r *reader) read(n int, text string) ([]string, bool) {
	if n == len(r.parts) {
		return make([]string, n), text == ""
	}
	p := r.parts[n]
	if p.Field == "" {
		rest, ok := strings.CutPrefix(text, p.Literal)
		if !ok {
			return nil, false
		}
		return r.read(n+1, rest)
	}
	for end := len(text); end > 0; end-- { // the longest first: a value may contain the separator that follows it
		if n == len(r.parts)-1 && end < len(text) {
			return nil, false
		}
		if n+1 < len(r.parts) && !strings.HasPrefix(text[end:], r.parts[n+1].Literal) {
			continue
		}
		if r.left--; r.left < 0 {
			return nil, false
		}
		if !p.Language.Contains(text[:end]) {
			continue
		}
		if out, ok := r.read(n+1, text[end:]); ok {
			out[n] = text[:end]
			return out, true
		}
	}
	return nil, false
}
