package conform

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// PersonLeft is the kind of findings about people who have been erased. It is sorted after all others.
const PersonLeft Kind = "person"

// KeptCount is the number of items that contain an erased person's identifier and are kept by the design.
type KeptCount struct {
	Entity string `json:"entity"`
	// Reason is the design's reason; "" for items that expire.
	Reason string `json:"reason,omitempty"`
	Items  int64  `json:"items"`
}

// persons looks for people who have been erased.
type persons struct {
	ids   []string // in lower case
	fates map[string][]*plan.PersonPart
	kept  map[KeptCount]int64
}

func newPersons(d *design.Design, ids []string) *persons {
	p := &persons{fates: map[string][]*plan.PersonPart{}, kept: map[KeptCount]int64{}}
	for _, id := range ids {
		p.ids = append(p.ids, strings.ToLower(id))
	}
	plan.ForPerson(d).Each(func(part *plan.PersonPart) { p.fates[part.Entity.Name] = append(p.fates[part.Entity.Name], part) })
	return p
}

// personal looks for the people in everything an item contains: keys, index keys, fields and nested values.
func (c *checker) personal(t *tableState, e *table.Entity, place table.Place, values table.Values, item table.Item) {
	p := c.persons
	if len(p.ids) == 0 || c.again {
		return
	}
	attribute := ""
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if p.in(item[name]) {
			attribute = name
			break
		}
	}
	switch {
	case attribute == "":
	case e == nil:
		c.find(PersonLeft, t.design.Name, t, item, attribute+" identifies the person: "+shown(item[attribute]))
	default:
		if kept, reason := p.keeps(e, values); kept {
			p.kept[KeptCount{Entity: e.Name, Reason: reason}]++
			return
		}
		c.find(PersonLeft, e.Name+"."+cmp.Or(place.Copy, place.Marker, "key"), t, item, attribute+" identifies the person: "+shown(item[attribute]))
	}
}

// keeps reports whether the design allows an item to identify an erased person: by the fate of each field that does, or,
// if no field of the item does, by the fate of what it belongs to.
func (p *persons) keeps(e *table.Entity, values table.Values) (is bool, reason string) {
	stays := func(part *plan.PersonPart) bool {
		return part.Fate.Do == design.FateExpire || part.Fate.Do == design.FateKeep && !part.Fate.Releases()
	}
	named := false
	for _, part := range p.fates[e.Name] {
		if part.Field == "" || !p.in(values[part.Field]) {
			continue
		}
		if named = true; !stays(part) {
			return false, ""
		}
		is, reason = true, part.Fate.Reason
	}
	if named {
		return is, reason
	}
	for _, part := range p.fates[e.Name] {
		if stays(part) {
			return true, part.Fate.Reason
		}
	}
	return false, ""
}

// in reports whether a value contains the ID of one of the people.
func (p *persons) in(v types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return p.within(v.Value)
	case *types.AttributeValueMemberSS:
		return slices.ContainsFunc(v.Value, p.within)
	case *types.AttributeValueMemberN:
		return slices.Contains(p.ids, v.Value)
	case *types.AttributeValueMemberNS:
		return slices.ContainsFunc(v.Value, func(n string) bool { return slices.Contains(p.ids, n) })
	case *types.AttributeValueMemberB: // a key attribute of type B contains texts
		return p.within(string(v.Value))
	case *types.AttributeValueMemberBS:
		return slices.ContainsFunc(v.Value, func(b []byte) bool { return p.within(string(b)) })
	case *types.AttributeValueMemberL:
		return slices.ContainsFunc(v.Value, p.in)
	case *types.AttributeValueMemberM:
		for name, inner := range v.Value {
			if p.within(name) || p.in(inner) {
				return true
			}
		}
	}
	return false
}

// within reports whether a text contains an ID that is not part of a longer one.
func (p *persons) within(text string) bool {
	return slices.ContainsFunc(p.ids, func(id string) bool {
		lower := strings.ToLower(text)
		for at := 0; id != ""; {
			i := strings.Index(lower[at:], id)
			if i < 0 {
				return false
			}
			from, to := at+i, at+i+len(id)
			if (from == 0 || lower[from-1] != '.' && !ofID(lower[from-1])) && (to == len(lower) || !ofID(lower[to])) {
				return true
			}
			at = from + 1
		}
		return false
	})
}

// ofID reports whether IDs can contain a character. A period before an ID is part of it, one after it may end a sentence.
func ofID(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_@-", c) >= 0
}

// counts are the kept items, sorted.
func (p *persons) counts() []KeptCount {
	var out []KeptCount
	for k, n := range p.kept {
		k.Items = n
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b KeptCount) int {
		return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
