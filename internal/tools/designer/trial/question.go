package trial

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// The maximum number of questions about a read. Bounds are placed around fewer values the more questions there are
// already.
const (
	maxGroups     = 6 // of items with different inputs
	maxPrefixes   = 8 // per value
	maxBounds     = 3 // values with bounds around them
	manyQuestions = 25
	maxPrefixed   = 2 // values of a group with questions about prefixes
	perOneFactor  = 7 // factor for reads of one item
)

// questionGenerator makes the questions for a read from the existing items.
type questionGenerator struct {
	truth

	generator *generator
	rng       *rand.Rand
	records   []*record // of the entity
	out       []table.Input
}

// questions are the inputs for a read: existing values, absent values, and neighbours of both.
func (t truth) questions(g *generator, records []*record, rng *rand.Rand) []table.Input {
	a := questionGenerator{truth: t, generator: g, rng: rng}
	for _, r := range records {
		if r.entity.Name == t.read.Design.Entity {
			a.records = append(a.records, r)
		}
	}
	for _, group := range a.groups() {
		a.group(group)
	}
	a.absent()
	return a.out
}

// groups are items that agree in the inputs of the read: the largest first, then some of the others.
func (a *questionGenerator) groups() [][]*record {
	order, groups := []string{}, map[string][]*record{}
	place := a.read.Plan.Place
next:
	for _, r := range a.records {
		var key strings.Builder
		for _, name := range a.read.Design.Given() {
			if r.values[name] == nil {
				continue next
			}
			for _, part := range occurrences(place, name) {
				if name == a.read.Design.Bucket {
					if funcs := bucketOf(part); funcs != nil { // any moment of the period or any number of the band is a valid input
						key.WriteString(strconv.Quote(through(funcs, scalarText(r.values[name]))))
					}
					continue
				}
				key.WriteString(strconv.Quote(meaningText(part, r.values[name])))
			}
		}
		if groups[key.String()] == nil {
			order = append(order, key.String())
		}
		groups[key.String()] = append(groups[key.String()], r)
	}
	slices.SortStableFunc(order, func(x, y string) int { return len(groups[y]) - len(groups[x]) })
	a.rng.Shuffle(max(len(order)-2, 0), func(i, j int) { // the two largest stay in front
		order[2+i], order[2+j] = order[2+j], order[2+i]
	})
	if len(order) > 2 {
		slices.SortStableFunc(order[2:], func(x, y string) int { return hasDecoy(groups[y]) - hasDecoy(groups[x]) })
	}
	limit := maxGroups
	if !a.read.Design.Many || a.read.Design.Count { // those are asked once
		limit *= perOneFactor
	}
	var out [][]*record
	for _, key := range order[:min(len(order), limit)] {
		out = append(out, groups[key])
	}
	return out
}

// hasDecoy is 1 for groups with an item that was made to be confused with another.
func hasDecoy(group []*record) int {
	if slices.ContainsFunc(group, func(r *record) bool { return r.decoy }) {
		return 1
	}
	return 0
}

// group asks for the items of a group.
func (a *questionGenerator) group(group []*record) {
	pick := func() *record { return group[a.rng.IntN(len(group))] }
	r := pick()
	a.add(a.base(r))
	if in, changed := a.otherCase(a.base(r)); changed {
		a.add(in)
	}
	if owner := a.read.Design.Owner; owner != "" && !slices.Contains(a.read.Design.By, owner) {
		in := a.base(r)
		in.Values[owner] = a.records[a.rng.IntN(len(a.records))].values[owner]
		if in.Values[owner] != nil {
			a.add(in)
		}
	}
	if a.read.Design.Prefix != "" {
		for range min(len(group), maxPrefixed) {
			a.prefixes(pick())
		}
	}
	if a.read.Range != nil {
		a.bounds(group, max(1, maxBounds-len(a.out)/manyQuestions))
	}
	for range min(2, len(a.parameters())) {
		a.add(a.base(pick()))
	}
}

func (a *questionGenerator) add(in table.Input) {
	if a.read.Run != nil && a.read.Run.Over != "" && !a.walkable(&in) {
		return
	}
	a.out = append(a.out, in)
}

// walkable reports whether a walk accepts the bounds: both given, and not too far apart. It adds bounds to inputs
// without them.
func (a *questionGenerator) walkable(in *table.Input) bool {
	if a.read.Run.Open() {
		return true
	}
	if in.From == nil && in.To == nil && len(a.records) > 0 {
		if at, err := keytext.ParseTime(scalarText(a.records[a.rng.IntN(len(a.records))].values[a.read.Range.Name])); err == nil {
			in.From, in.To = textValue(timeText(at.Add(-50*time.Hour))), textValue(timeText(at.Add(50*time.Hour)))
		}
	}
	if in.From == nil || in.To == nil {
		return false
	}
	from, err := keytext.ParseTime(scalarText(in.From))
	to, err2 := keytext.ParseTime(scalarText(in.To))
	longest := map[string]time.Duration{"yyyy": 365 * 24 * time.Hour, "yyyy-MM": 28 * 24 * time.Hour, "yyyy-MM-dd": 24 * time.Hour, "yyyy-MM-ddTHH": time.Hour}[a.read.Run.Over]
	return err == nil && err2 == nil && to.Sub(from) < longest*time.Duration(a.read.Run.MaxBuckets-2)
}

// base is the input that asks for an item, without prefix and bounds.
func (a *questionGenerator) base(r *record) table.Input {
	in := table.Input{Values: table.Values{}}
	for _, name := range append(slices.Clone(a.read.Design.Given()), a.read.Design.Owner) {
		if v := r.values[name]; name != "" && v != nil {
			in.Values[name] = v
		}
	}
	for _, p := range a.parameters() {
		in.Values[p] = a.parameter(p)
	}
	return in
}

// parameters are the inputs that only the filter uses.
func (a *questionGenerator) parameters() []string {
	var out []string
	read := a.read.Design
	for _, in := range a.read.Inputs {
		if !slices.Contains(read.Given(), in.Name) && in.Name != read.Owner && in.Name != read.Prefix {
			out = append(out, in.Name)
		}
	}
	return out
}

// parameter is a value for a parameter of the filter: that of some field of its type, or any value.
func (a *questionGenerator) parameter(name string) types.AttributeValue {
	i := slices.IndexFunc(a.read.Inputs, func(in lower.Input) bool { return in.Name == name })
	t := a.read.Inputs[i].Type
	e := a.read.Plan.Place.Entity
	var of []*design.Field
	for _, f := range e.Fields {
		if f.Type.String() == t.String() {
			of = append(of, f)
		}
	}
	if len(of) > 0 && a.rng.IntN(4) > 0 {
		if v := a.records[a.rng.IntN(len(a.records))].values[of[a.rng.IntN(len(of))].Name]; v != nil {
			return v
		}
	}
	if v := a.generator.value(name, t, 0); v != nil {
		return v
	}
	return a.generator.pool(name, design.Type{Kind: design.KindText}).at(0)
}

// otherCase swaps the case of the input's texts if the place ignores case.
func (a *questionGenerator) otherCase(in table.Input) (table.Input, bool) {
	changed := false
	values := maps.Clone(in.Values)
	for _, name := range a.read.Design.By {
		f := a.read.Plan.Place.Entity.Field(name)
		s, is := values[name].(*types.AttributeValueMemberS)
		if !is || f == nil || f.Type.Kind != design.KindEmail && f.Type.Kind != design.KindText && f.Type.Kind != design.KindID {
			continue
		}
		other := textValue(swapCase(s.Value))
		if !equal(other, s) && same(a.read.Plan.Place, name, other, s) {
			values[name], changed = other, true
		}
	}
	in.Values = values
	return in, changed
}

// swapCase swaps lower and upper case of ASCII letters.
func swapCase(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		default:
			return c
		}
	}, s)
}

// prefixes asks with prefixes of a value, of every length, and with extensions of it.
func (a *questionGenerator) prefixes(r *record) {
	name := a.read.Design.Prefix
	if r.values[name] == nil {
		return
	}
	text := []rune(scalarText(r.values[name]))
	lengths := []int{}
	for n := range len(text) + 1 {
		lengths = append(lengths, n)
	}
	for len(lengths) > maxPrefixes {
		lengths = slices.Delete(lengths, len(lengths)/2, len(lengths)/2+1)
	}
	ask := func(prefix string) {
		in := a.base(r)
		in.Values[name] = textValue(prefix)
		a.add(in)
	}
	for _, n := range lengths {
		ask(string(text[:n]))
	}
	for _, more := range []string{"a", a.behind(name)} {
		if f := a.read.Plan.Place.Entity.Field(name); f.MaxBytes == 0 || len(string(text)+more) <= f.MaxBytes {
			ask(string(text) + more)
		}
	}
	ask(swapCase(string(text)))
}

// behind is the literal after a field in the key: a value that contains it continues like another item's key.
func (a *questionGenerator) behind(field string) string {
	for _, t := range a.read.Plan.Place.SK {
		for i, p := range t.Parts {
			if p.Field == field {
				literal, _ := following(t.Parts[i+1:])
				return literal
			}
		}
	}
	return ""
}

// bounds asks with bounds at, just below and just above existing values, on one side and on both.
func (a *questionGenerator) bounds(group []*record, around int) {
	f := a.read.Range
	var values []types.AttributeValue
	known := map[string]bool{}
	for _, r := range group {
		if v := r.values[f.Name]; v != nil && !known[canonical(v)] {
			known[canonical(v)], values = true, append(values, v)
		}
	}
	slices.SortStableFunc(values, func(x, y types.AttributeValue) int { order, _ := compare(x, y); return order })
	if len(values) == 0 {
		return
	}
	first, last := values[0], values[len(values)-1]
	ask := func(from, to types.AttributeValue) {
		in := a.base(group[a.rng.IntN(len(group))])
		in.From, in.To = from, to
		a.add(in)
	}
	ask(first, last)
	if len(values) > 1 {
		ask(last, first)
	}
	for range min(around, len(values)) {
		at := a.rng.IntN(len(values))
		v, other := values[at], values[at+a.rng.IntN(len(values)-at)]
		below, above := neighbours(f, v)
		ask(v, v)
		ask(v, nil)
		ask(nil, v)
		ask(v, other)
		if below != nil {
			ask(below, v)
			ask(nil, below)
		}
		if above != nil {
			ask(above, nil)
			ask(v, above)
		}
	}
}

// neighbours are the values of a field just below and above one, nil if unknown.
func neighbours(f *design.Field, v types.AttributeValue) (below, above types.AttributeValue) {
	s := scalarText(v)
	switch f.Type.Kind {
	case design.KindTime:
		at, err := keytext.ParseTime(s)
		if err != nil {
			return nil, nil
		}
		return textValue(timeText(at.Add(-time.Millisecond))), textValue(timeText(at.Add(time.Millisecond)))
	case design.KindDate:
		at, err := time.Parse(keytext.DateLayout, s)
		if err != nil {
			return nil, nil
		}
		return textValue(at.AddDate(0, 0, -1).Format(keytext.DateLayout)), textValue(at.AddDate(0, 0, 1).Format(keytext.DateLayout))
	case design.KindInt, design.KindMoney, design.KindTTL, design.KindDecimal:
		n, err := decimal.Parse(s)
		if err != nil {
			return nil, nil
		}
		if less, err := n.Sub(decimal.FromInt(1)); err == nil && (!strings.HasPrefix(less.String(), "-") || strings.HasPrefix(s, "-")) {
			below = numberValue(less.String())
		}
		if more, err := n.Add(decimal.FromInt(1)); err == nil && len(more.String()) == len(s) { // the same number of digits, for |pad
			above = numberValue(more.String())
		}
		return below, above
	case design.KindID, design.KindText, design.KindSlug:
		if runes := []rune(s); len(runes) > 1 && len(string(runes[:len(runes)-1])) >= f.MinBytes {
			below = textValue(string(runes[:len(runes)-1]))
		}
		if f.MaxBytes == 0 || len(s) < f.MaxBytes {
			above = textValue(s + "0")
		}
		return below, above
	default:
		return nil, nil
	}
}

// absent asks for what does not exist: values of no item, and neighbours of existing values.
func (a *questionGenerator) absent() {
	if len(a.records) == 0 {
		return
	}
	for _, name := range append(slices.Clone(a.read.Design.Given()), a.read.Design.Owner) {
		f := a.read.Plan.Place.Entity.Field(name)
		if f == nil {
			continue
		}
		r := a.records[a.rng.IntN(len(a.records))]
		list := []types.AttributeValue{a.generator.pool(f.Name, f.Type).at(4*a.generator.items + a.rng.IntN(100) + 1)}
		if below, above := neighbours(f, r.values[name]); r.values[name] != nil && !f.Type.Numeric() {
			list = append(list, below, above)
		}
		for _, v := range list {
			in := a.base(r)
			if v == nil || len(in.Values) < len(a.read.Design.Given()) {
				continue
			}
			in.Values[name] = v
			a.add(in)
		}
	}
}

// complete reports whether an input has all required values of the read.
func (t truth) complete(in table.Input) bool {
	for _, name := range append(slices.Clone(t.read.Design.Given()), t.read.Design.Owner) {
		if name != "" && in.Values[name] == nil {
			return false
		}
	}
	return true
}

// storable reports whether the input can form a key at a place: the rendered text must not be empty.
func storable(p plan.Place, in table.Input) bool {
	for _, t := range slices.Concat(p.PK, p.SK) {
		if len(t.Parts) == 1 && t.Parts[0].Field != "" {
			if v := in.Values[t.Parts[0].Field]; v != nil && through(t.Parts[0].Funcs, scalarText(v)) == "" {
				return false
			}
		}
	}
	return true
}
