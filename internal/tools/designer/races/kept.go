package races

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// keeper recognizes the items of a design, and knows its implicit promises: copies equal their item, index keys follow
// its fields, each unique value has a marker, counters are correct.
type keeper struct {
	program  *lower.Program
	values   *values
	byTable  map[*table.Table][]*table.Entity
	counters []counter
	now      int64 // seconds; earlier expiry times have passed
}

// counter is a counter of a design with its condition.
type counter struct {
	*design.Counter
	holder, of *design.Entity
	by         []design.Part     // of the holder's key
	own        map[string]string // the counted item's fields with the same values
	where      *expression.Condition
}

func newKeeper(p *lower.Program, v *values) (*keeper, error) {
	k := &keeper{program: p, values: v, byTable: map[*table.Table][]*table.Entity{}}
	for _, e := range p.Entities {
		k.byTable[e.Table] = append(k.byTable[e.Table], e)
	}
	for _, holder := range p.Design.Entities {
		for _, c := range holder.Counters {
			of := p.Design.Entity(c.Of)
			where, err := expression.Bind(p.Design, of, c.Where, nil)
			if err != nil {
				return nil, fmt.Errorf("counter %s of %s: %w", c.Field, holder.Name, err)
			}
			own := map[string]string{}
			for _, j := range design.Owner(of, holder, c.By) {
				own[j.B] = j.A
			}
			k.counters = append(k.counters, counter{c, holder, of, keyParts(holder), own, where})
		}
	}
	return k, nil
}

// keyParts are the parts of an entity's key that contain fields.
func keyParts(e *design.Entity) []design.Part {
	var out []design.Part
	for _, t := range []*design.Template{e.Key.PK, e.Key.SK} {
		if t != nil {
			out = append(out, slices.DeleteFunc(slices.Clone(t.Parts), func(p design.Part) bool { return p.Field == "" })...)
		}
	}
	return out
}

// sameIn reports whether two values make the same part of a key.
func sameIn(p design.Part, a, b types.AttributeValue) bool {
	if sameValue(a, b) {
		return true
	}
	x, okX := a.(*types.AttributeValueMemberS)
	y, okY := b.(*types.AttributeValueMemberS)
	if !okX || !okY || len(p.Funcs) == 0 {
		return false
	}
	pair := []string{x.Value, y.Value}
	for i := range pair {
		for _, f := range p.Funcs {
			var err error
			if pair[i], err = keytext.Apply(f.Name, f.Arg, pair[i]); err != nil {
				return false // it is stored nowhere
			}
		}
	}
	return pair[0] == pair[1]
}

// recognize recognizes an item.
func (k *keeper) recognize(s *stored) {
	s.entity, s.place, s.values = table.Recognize(k.byTable[s.table], s.item)
	if s.entity != nil && s.place.Kind == table.KeyPlace {
		s.decoded = &expression.Item{Entity: k.program.Design.Entity(s.entity.Name), Key: s.address, Values: s.values}
	}
}

// judge records the items of a content that violate the implicit promises.
func (k *keeper) judge(c *content) {
	expected := map[string]bool{}
	for _, s := range c.items {
		if s.decoded == nil {
			continue
		}
		items, err := table.Items(s.entity, s.values)
		if err != nil {
			c.violations = append(c.violations, fmt.Sprintf("%s does not match the design: %v", k.name(s), err))
			continue
		}
		for i, it := range items {
			want := address(s.table, keyOf(s.table, it))
			expected[want] = true
			there := c.get(want)
			switch {
			case there == nil && !k.expired(s):
				c.violations = append(c.violations, fmt.Sprintf("%s has no %s", k.name(s), partName(s.entity, i)))
			case there != nil && !sameItem(there.item, it) && i == 0:
				c.violations = append(c.violations, fmt.Sprintf("the index keys of %s do not match its fields", k.name(s)))
			case there != nil && !sameItem(there.item, it):
				c.violations = append(c.violations, fmt.Sprintf("%s differs from its %s", k.name(s), partName(s.entity, i)))
			}
		}
	}
	for _, s := range c.items {
		switch {
		case expected[s.address] || k.expired(s):
		case s.entity == nil:
			c.violations = append(c.violations, fmt.Sprintf("an item of table %s matches no entity: %s", s.table.Name, s.address))
		default:
			c.violations = append(c.violations, fmt.Sprintf("%s exists without its %s", k.placeName(s), s.entity.Name))
		}
	}
	k.count(c)
}

// partName is the name of an entity's i-th item; the first is its own.
func partName(e *table.Entity, i int) string {
	switch {
	case i == 0:
		return "item"
	case i <= len(e.Copies):
		return "copy " + e.Copies[i-1].Name
	default:
		return "marker " + e.Markers[i-1-len(e.Copies)].Name
	}
}

func (k *keeper) placeName(s *stored) string {
	what := "the copy " + s.place.Copy
	if s.place.Kind == table.MarkerPlace {
		what = "the marker " + s.place.Marker
	}
	return what + " " + k.keyWords(s.entity, s.values)
}

func (k *keeper) name(s *stored) string { return s.entity.Name + " " + k.keyWords(s.entity, s.values) }

// keyWords are the fields that identify an item of an entity.
func (k *keeper) keyWords(e *table.Entity, v table.Values) string {
	var out []string
	for _, name := range plan.KeyFields(k.program.Design.Entity(e.Name)) {
		if v[name] != nil {
			out = append(out, name+": "+k.values.show(v[name]))
		}
	}
	return "{ " + strings.Join(out, ", ") + " }"
}

// sameItem compares the attributes of items.
func sameItem(a, b table.Item) bool {
	var x, y strings.Builder
	encode(&x, reflect.ValueOf(a))
	encode(&y, reflect.ValueOf(b))
	return x.String() == y.String()
}

// expired reports whether DynamoDB may remove an item by now.
func (k *keeper) expired(s *stored) bool {
	at, goes := expiry(s)
	return k.now != 0 && goes && at <= k.now
}

// expiry is the second at which an item expires, if it does.
func expiry(s *stored) (seconds int64, goes bool) {
	n, is := s.item[s.table.TTLAttr].(*types.AttributeValueMemberN)
	if !is || s.table.TTLAttr == "" {
		return 0, false
	}
	at, err := decimal.Parse(n.Value)
	if err != nil {
		return 0, false
	}
	return at.Int64()
}

// count records wrong counters.
func (k *keeper) count(c *content) {
	k.miscounted(c, func(counter *counter, holder *expression.Item, want types.AttributeValue) bool {
		off := difference(holder.Values[counter.Field], want)
		c.violations = append(c.violations, fmt.Sprintf("the counter %s of %s %s is off by %s", counter.Field, counter.holder.Name,
			k.keyWords(k.program.Entity(counter.holder.Name), holder.Values), off))
		return true
	})
}

// miscounted calls do with each wrong counter and its correct value, until it returns false.
func (k *keeper) miscounted(c *content, do func(counter *counter, holder *expression.Item, want types.AttributeValue) bool) {
	for i := range k.counters {
		counter := &k.counters[i]
		for _, holder := range c.state.Of(counter.holder) {
			var counted []expression.Values
			for _, it := range c.state.Of(counter.of) {
				if !slices.ContainsFunc(counter.by, func(p design.Part) bool { return !sameIn(p, holder.Values[p.Field], it.Values[counter.own[p.Field]]) }) {
					counted = append(counted, it.Values)
				}
			}
			counted, err := counter.where.Those(counted)
			want := expression.Number(len(counted))
			if counter.Sum != "" && err == nil {
				want, err = expression.Total(counted, []string{counter.Sum})
			}
			if err == nil && difference(holder.Values[counter.Field], want) != "0" && !do(counter, holder, want) {
				return
			}
		}
	}
}

// difference is the difference of two numbers; an absent one is 0.
func difference(a, b types.AttributeValue) string {
	number := func(v types.AttributeValue) decimal.Decimal {
		n, is := v.(*types.AttributeValueMemberN)
		if !is {
			return decimal.FromInt(0)
		}
		d, err := decimal.Parse(n.Value)
		if err != nil {
			return decimal.FromInt(0)
		}
		return d
	}
	d, err := number(a).Sub(number(b))
	if err != nil {
		return err.Error()
	}
	return d.String()
}

func sameValue(a, b types.AttributeValue) bool {
	var x, y strings.Builder
	encode(&x, reflect.ValueOf(&a).Elem())
	encode(&y, reflect.ValueOf(&b).Elem())
	return a != nil && x.String() == y.String()
}
