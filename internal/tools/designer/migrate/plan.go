package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/align"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Kind is the kind of a step.
type Kind string

// The kinds of steps.
const (
	Prepare  Kind = "prepare"  // tables, indexes and settings
	Deploy   Kind = "deploy"   // of the application, by its owner
	Backfill Kind = "backfill" // items get what the new design requires
	Verify   Kind = "verify"   // all items are compared with a design
	Finish   Kind = "finish"   // what only the old design has is removed
)

// Step is a step of a migration, with its cost on demand.
type Step struct {
	Kind       Kind      `json:"kind"`
	Title      string    `json:"title"`
	Details    []string  `json:"details,omitempty"`
	Milestone  Milestone `json:"milestone,omitempty"` // of a Deploy
	Items      float64   `json:"items,omitempty"`     // number of written items
	ReadUnits  float64   `json:"readUnits,omitempty"`
	WriteUnits float64   `json:"writeUnits,omitempty"`
	Cost       float64   `json:"cost,omitempty"` // in dollars; 0 if there is no price list
	Seconds    float64   `json:"seconds,omitempty"`
}

// Plan describes how to migrate from one design to another while programs of both are in use.
type Plan struct {
	Steps    []Step    `json:"steps"`
	Refusals []Refusal `json:"refusals,omitempty"`
	// DualWrites has the old design's patterns and NewReads the new one's, over items that serve both; nil if the step is
	// not needed.
	DualWrites *design.Design `json:"-"`
	NewReads   *design.Design `json:"-"`

	before, after *design.Design // before is the old design in the new one's names
	units         float64
	fills         map[string][]fill // by entity
	makes         map[string]string // from a new entity to the entity whose items each get one of it
	fillTexts     []string
	makeTexts     []string
	adding        *shape // what the transition has beyond the old design
	leaving       *shape // and beyond the new one
	prices        cost.Prices
}

// fill is a value for a field that items lack.
type fill struct {
	field  string
	value  types.AttributeValue // nil if it is taken from another field
	source []string             // that field, and the path inside its value
}

// of is the value, given the other values of an item; nil if there is none.
func (f fill) of(v table.Values) types.AttributeValue {
	if f.value != nil {
		return f.value
	}
	value := v[f.source[0]]
	for _, step := range f.source[1:] {
		m, is := value.(*types.AttributeValueMemberM)
		if !is {
			return nil
		}
		value = m.Value[step]
	}
	return value
}

// Options of a plan.
type Options struct {
	// Fills are values for required fields that items lack, as Order.gift=false, Order.remark=note or
	// Order.city=address.city.
	Fills []string
	// Makes are new entities, of which each item of another entity gets one, as Account=User. Fields of equal name and
	// type are taken over, and Fills set the others.
	Makes []string
	// Units is the maximum number of read and write units per second in total; 0 means no limit.
	Units float64
}

// New plans a migration. A plan with refusals cannot be run.
func New(before, after *design.Design, o Options) (*Plan, error) {
	aligned := align.To(before, after, suffixOld).Design
	p := &Plan{
		before: aligned, after: after, units: o.Units, fills: map[string][]fill{}, makes: map[string]string{},
		fillTexts: slices.Sorted(slices.Values(o.Fills)), makeTexts: slices.Sorted(slices.Values(o.Makes)),
	}
	p.prices, _ = cost.PricesOf(after.Workload.Region) // without prices, only the units are reported
	for _, s := range o.Makes {
		if err := p.make(s); err != nil {
			return nil, err
		}
	}
	for _, s := range o.Fills {
		if err := p.fill(s); err != nil {
			return nil, err
		}
	}
	p.Refusals = append(refusals(aligned, after), p.unfilled()...)
	if len(p.Refusals) > 0 {
		return p, nil
	}
	old, refused, err := transition(aligned, after, suffixNew)
	if err != nil {
		return nil, fmt.Errorf("the old design with the items of the new one: %w", err)
	}
	now, more, err := transition(after, aligned, suffixOld)
	if err != nil {
		return nil, fmt.Errorf("the new design with the items of the old one: %w", err)
	}
	if p.Refusals = distinct(append(refused, more...)); len(p.Refusals) > 0 {
		return p, nil
	}
	programs := old
	if aligned != before { // the old design's programs keep its names
		if programs, p.Refusals, err = transition(before, align.To(after, before, suffixNew).Design, suffixNew); err != nil {
			return nil, fmt.Errorf("the old design with the items of the new one: %w", err)
		}
		if len(p.Refusals) > 0 {
			return p, nil
		}
	}
	p.adding, p.leaving = shapeOf(old, aligned, p.depends()), shapeOf(now, after, nil)
	p.steps(old, now)
	if p.DualWrites != nil {
		p.DualWrites = programs
	}
	return p, nil
}

func distinct(list []Refusal) []Refusal {
	var out []Refusal
	for _, r := range list {
		if !slices.ContainsFunc(out, func(x Refusal) bool { return x.Subject == r.Subject && x.Problem == r.Problem }) {
			out = append(out, r)
		}
	}
	return out
}

// fill parses ENTITY.FIELD=VALUE.
func (p *Plan) fill(s string) error {
	target, value, ok := strings.Cut(s, "=")
	entity, field, dotted := strings.Cut(target, ".")
	e := p.after.Entity(entity)
	if !ok || !dotted || e == nil || e.Field(field) == nil {
		return fmt.Errorf("--fill %q: want ENTITY.FIELD=VALUE with a field of the new design, such as Order.gift=false", s)
	}
	x, err := design.ParseValue(value)
	if err != nil || len(x.Terms) != 1 || x.Terms[0].Negative && x.Terms[0].Kind != design.ConstantTerm {
		return fmt.Errorf("--fill %q: want a constant ('open', 12, true) or a field of %s", s, entity)
	}
	out := fill{field: field}
	switch t := x.Terms[0]; t.Kind {
	case design.ConstantTerm:
		if out.value = p.constant(t, e.Field(field).Type); out.value == nil {
			return fmt.Errorf("--fill %q: %s is of type %s, which does not match %s", s, target, e.Field(field).Type, value)
		}
	case design.FieldTerm:
		from := cmp.Or(p.makes[entity], entity)
		steps, of := sourceOf(p.after, from, value)
		if steps == nil {
			steps, of = sourceOf(p.before, from, value)
		}
		if steps == nil || of.String() != e.Field(field).Type.String() {
			return fmt.Errorf("--fill %q: %s has no field %s of type %s; for a text, use single quotes: %s='%s'",
				s, from, value, e.Field(field).Type, target, value)
		}
		out.source = steps
	default:
		return fmt.Errorf("--fill %q: want a constant ('open', 12, true) or a field of %s", s, entity)
	}
	p.fills[entity] = append(p.fills[entity], out)
	return nil
}

// constant is a constant as a field stores it; nil if it does not have the field's type.
func (p *Plan) constant(t design.Term, of design.Type) types.AttributeValue {
	value := t.Constant.Text
	if t.Negative {
		value = "-" + value
	}
	switch {
	case of.Numeric() && t.Constant.Kind == design.NumberConstant:
		return &types.AttributeValueMemberN{Value: value}
	case of.Kind == design.KindBool && t.Constant.Kind == design.BoolConstant:
		return &types.AttributeValueMemberBOOL{Value: value == "true"}
	case of.Kind == design.KindEnum && !slices.Contains(p.after.Enum(of.Name).Values, value):
		return nil
	case of.Scalar() && !of.Numeric() && of.Kind != design.KindBool && of.Kind != design.KindBytes && t.Constant.Kind == design.StringConstant:
		return &types.AttributeValueMemberS{Value: value}
	default:
		return nil
	}
}

// unfilled are required fields without a value.
func (p *Plan) unfilled() []Refusal {
	var out []Refusal
	for _, n := range p.after.Entities {
		o := p.before.Entity(n.Name)
		if from := p.makes[n.Name]; from != "" {
			o = p.after.Entity(from)
		}
		if o == nil {
			continue
		}
		for _, f := range n.Fields {
			was := o.Field(f.Name)
			counted := slices.ContainsFunc(n.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
			empty := f.Type.Kind == design.KindList || f.Type.Kind == design.KindSet || f.Type.Kind == design.KindMap
			given := slices.ContainsFunc(p.fills[n.Name], func(x fill) bool { return x.field == f.Name })
			if f.Optional || was != nil && !was.Optional && (o.Name == n.Name || takenOver(f, was)) || counted || empty || given {
				continue
			}
			subject := n.Name + "." + f.Name
			out = append(out, Refusal{
				subject, "the field is required in the new design, and existing items need a value",
				fmt.Sprintf("use --fill %s=VALUE with a constant or another field; or make the field optional", subject), f.Pos,
			})
		}
	}
	return out
}

// steps builds the list of steps.
func (p *Plan) steps(old, now *design.Design) {
	if s := p.prepare(); len(s.Details) > 0 {
		p.add(s)
	}
	backfill, adds := p.backfillStep(old)
	finish, leaves := p.finishStep(now)
	if adds {
		p.DualWrites = old
		p.add(Step{Kind: Deploy, Milestone: DualWrites, Title: "deploy programs that read the old shape and write both shapes", Details: []string{
			"monotable migrate plan OLD NEW -o DIR writes their design, DIR/dual-writes.design.json, for generate, test and conform",
			"have these programs write new required fields, which are optional in that design",
			"when no program with the old design is left: monotable migrate run --deployed dual-writes",
		}})
		p.add(backfill)
		p.add(Step{Kind: Verify, Title: "compare every item with that design", ReadUnits: scanUnits(old, 0.5)})
	}
	if leaves {
		p.NewReads = now
		p.add(Step{Kind: Deploy, Milestone: NewReads, Title: "deploy programs with the new design that still write both shapes", Details: []string{
			"their design is DIR/new-reads.design.json",
			"when no earlier program is left: monotable migrate run --deployed new-reads",
		}})
	}
	p.add(Step{Kind: Deploy, Milestone: NewOnly, Title: "deploy programs with the new design", Details: []string{"when no other program is left: monotable migrate finish --yes"}})
	if leaves {
		p.add(finish)
	}
	p.add(Step{Kind: Verify, Title: "compare every item with the new design", ReadUnits: scanUnits(p.after, 0.5)})
}

func (p *Plan) add(s Step) {
	s.Cost = (s.ReadUnits*p.prices.OnDemandRead + s.WriteUnits*p.prices.OnDemandWrite) / 1e6
	if p.units > 0 {
		s.Seconds = (s.ReadUnits + s.WriteUnits) / p.units
	}
	if s.Kind == Prepare {
		s.Seconds = 0 // DynamoDB's own pace
	}
	p.Steps = append(p.Steps, s)
}

// Tables are the names of the new design's tables.
func (p *Plan) Tables() []string {
	out := make([]string, len(p.after.Tables))
	for i, t := range p.after.Tables {
		out[i] = t.Name
	}
	return out
}

// Items is the approximate number of items before the migration, by the old design's volumes.
func (p *Plan) Items() int64 {
	n := 0.0
	for _, e := range p.before.Entities {
		n += cost.Items(p.before, e) * float64(1+len(e.Copies)+len(e.Unique))
	}
	return int64(n)
}

// prepare is the step before anything is written: tables, indexes, settings.
func (p *Plan) prepare() Step {
	s := Step{Kind: Prepare, Title: "create tables and indexes; DynamoDB builds indexes while serving requests"}
	detail := func(format string, args ...any) { s.Details = append(s.Details, fmt.Sprintf(format, args...)) }
	for _, n := range p.after.Tables {
		o := p.before.Table(n.Name)
		if o == nil {
			detail("the table %s", n.Name)
			continue
		}
		for _, x := range n.Indexes {
			if o.Index(x.Name) != nil {
				continue
			}
			detail("the index %s.%s", n.Name, x.Name)
			for _, e := range p.before.Entities { // existing items that have the attributes
				for _, place := range plan.Places(p.before, e) {
					if place.Index == nil && hasAttributes(place, x) {
						place.Index = x
						s.Items += cost.Items(p.before, e)
						s.WriteUnits += cost.Items(p.before, e) * cost.WriteUnits([]plan.Place{place})
					}
				}
			}
		}
		if o.TTLAttr == "" && n.TTLAttr != "" {
			detail("items of %s expire by %s", n.Name, n.TTLAttr)
		}
		if o.Stream == "" && n.Stream != "" {
			detail("the stream of %s", n.Name)
		}
	}
	return s
}

// hasAttributes reports whether items at a place have all attributes of an index's key already.
func hasAttributes(p plan.Place, x *design.Index) bool {
	return !slices.ContainsFunc(slices.Concat(x.PK, x.SK), func(k design.KeyAttribute) bool {
		if k.Name == p.Table.PK.Name || p.Table.SK != nil && k.Name == p.Table.SK.Name {
			return false
		}
		return !slices.ContainsFunc(p.Entity.Fields, func(f *design.Field) bool { return !f.Nested() && f.Attribute() == k.Name && p.Has(f.Name) })
	})
}

// The units of requests in addition to those of package cost.
const (
	transaction = 2    // factor for items, not for their index entries
	readBytes   = 4096 // of a strongly consistent read unit
	metAgain    = 0.5  // share of the items that a backfill adds: those ahead of its Scan, for which it looks up the item they belong to
)

// scanUnits is the cost of scanning all of a design's items.
func scanUnits(d *design.Design, each float64) float64 {
	bytes := 0.0
	for _, e := range d.Entities {
		for _, p := range plan.Places(d, e) {
			if p.Index == nil {
				bytes += cost.Items(d, e) * float64(cost.SizeAt(p))
			}
		}
	}
	return each * bytes / readBytes
}

// backfillStep prices the backfill; false if there is nothing to do.
func (p *Plan) backfillStep(old *design.Design) (Step, bool) {
	s := Step{Kind: Backfill, Title: "rewrite every item, in a transaction with its copies and markers, if it has not changed since it was read", ReadUnits: scanUnits(p.before, 1)}
	adds := false
	for _, t := range old.Tables {
		for _, e := range p.adding.entities[t.Name] {
			more := p.adding.surplus[e]
			fills, created := p.fills[e.Name], p.createdFrom(e.Name)
			if more.whole || !more.any() && len(fills)+len(created) == 0 {
				continue
			}
			adds = true
			d := old.Entity(e.Name)
			places := plan.Places(old, d)
			own := places[0]
			var entered, entries, others []plan.Place
			for _, place := range places[1:] {
				switch {
				case place.Copy != nil && (more.copies[place.Copy.Name] || more.changed[place.Copy.Name]), place.Marker != nil && more.markers[place.Marker.Name]:
					if place.Index == nil {
						others = append(others, place)
					} else {
						entries = append(entries, place)
					}
				case place.Index == nil || place.Copy != nil || place.Marker != nil:
				case slices.ContainsFunc(e.Entries, func(x table.Entry) bool {
					return x.Index == place.Index.Name && x.Name == place.Entry && more.enters(&x)
				}):
					entered = append(entered, place)
				case len(more.entered)+len(fills) > 0 && place.Index.Project.All:
					entries = append(entries, place)
				}
			}
			for _, name := range created {
				for _, place := range plan.Places(old, old.Entity(name)) {
					if place.Index == nil {
						others = append(others, place)
					} else {
						entries = append(entries, place)
					}
				}
				s.Details = append(s.Details, fmt.Sprintf("%s, one per %s, unless it exists", name, e.Name))
			}
			part := 1.0 // share of the items: those that get nothing but an entry that not all have
			if len(others)+len(fills) == 0 {
				part = 0
				byTurns := map[*design.Index]float64{}
				for _, place := range entered {
					byTurns[place.Index] += place.Part()
					part = max(part, min(1, byTurns[place.Index]))
				}
			}
			entries = slices.DeleteFunc(entries, func(x plan.Place) bool { // no item has two entries in an index
				return slices.ContainsFunc(entered, func(place plan.Place) bool { return place.Index == x.Index && place.Copy == nil && x.Copy == nil })
			})
			n := cost.Items(old, d)
			s.Items += n * (part + float64(len(others)))
			s.ReadUnits += n * (float64(len(others)) + metAgain*float64(len(more.copies)+len(more.markers)))
			units := cost.WriteUnits([]plan.Place{own}) + cost.WriteUnits(others)
			if len(others) > 0 {
				units *= transaction
			}
			s.WriteUnits += n * (part*(units+cost.WriteUnits(entries)) + cost.WriteUnits(entered))
			s.Details = append(s.Details, more.described(fills)...)
		}
	}
	return s, adds
}

// enters reports whether items gain an entry.
func (s *surplus) enters(x *table.Entry) bool {
	return !s.known(x.Index, x.Name) && slices.ContainsFunc(slices.Concat(x.PK, x.SK), func(a table.KeyAttribute) bool { return slices.Contains(s.entered, a.Name) })
}

func (s *surplus) described(fills []fill) []string {
	var out []string
	e := s.entity
	for _, f := range fills {
		out = append(out, fmt.Sprintf("%s.%s if it is absent", e.Name, f.field))
	}
	if len(s.entered) > 0 {
		out = append(out, fmt.Sprintf("%s: the index key attributes %s", e.Name, strings.Join(s.entered, ", ")))
	}
	for i := range e.Copies {
		if c := e.Copies[i].Name; s.copies[c] || s.changed[c] {
			out = append(out, fmt.Sprintf("%s.%s, a copy of every item", e.Name, c))
		}
	}
	for i := range e.Markers {
		if u := e.Markers[i].Name; s.markers[u] {
			out = append(out, fmt.Sprintf("%s.%s, a marker for every item; duplicates are reported and must be resolved", e.Name, u))
		}
	}
	return out
}

// finishStep prices the clean-up; false if the old design has nothing that the new one lacks.
func (p *Plan) finishStep(now *design.Design) (Step, bool) {
	s := Step{Kind: Finish, Title: "remove leftovers of the old design, if all items match the new one", ReadUnits: scanUnits(now, 0.5) + scanUnits(now, 1)}
	leaves := false
	for _, t := range now.Tables {
		for _, name := range p.goneIndexes(t.Name) {
			s.Details, leaves = append(s.Details, fmt.Sprintf("the index %s.%s is deleted", t.Name, name)), true
		}
		for _, e := range p.leaving.entities[t.Name] {
			more := p.leaving.surplus[e]
			d := now.Entity(e.Name)
			n := cost.Items(now, d)
			for _, place := range plan.Places(now, d) {
				if place.Index != nil {
					continue
				}
				at := table.Place{}
				if place.Copy != nil {
					at.Copy = place.Copy.Name
				}
				if place.Marker != nil {
					at.Marker = place.Marker.Name
				}
				stays := !more.has(at)
				if stays && (place.Marker != nil || len(more.unmatched[at.Copy]) == 0) {
					if place.Copy == nil && place.Marker == nil {
						leaves = s.remove(plan.Places(now, d), n, more) || leaves
					}
					continue
				}
				leaves = true
				written := []plan.Place{place}
				for _, x := range plan.Places(now, d) {
					if x.Index != nil && x.SameItem(place) && (!stays || x.Index.Project.All) && !slices.Contains(p.goneIndexes(t.Name), x.Index.Name) {
						written = append(written, x)
					}
				}
				s.Items += n
				s.WriteUnits += n * cost.WriteUnits(written)
				if stays {
					s.Details = append(s.Details, fmt.Sprintf("%s: %s is removed from items", place, paths(more.unmatched[at.Copy])))
				} else {
					s.Details = append(s.Details, fmt.Sprintf("%s: %s items are deleted", place, strconv.FormatFloat(n, 'f', 0, 64)))
				}
			}
		}
	}
	for _, t := range p.before.Tables {
		if p.after.Table(t.Name) == nil {
			s.Details = append(s.Details, fmt.Sprintf("the table %s stays: delete it yourself if nothing else needs it", t.Name))
		}
	}
	return s, leaves
}

// remove prices the removal of index keys from the items with removed entries, while others in the index stay.
func (s *Step) remove(places []plan.Place, items float64, more *surplus) bool {
	gone := more.gone(places)
	for _, entry := range gone {
		n := items * entry.Part()
		entry.Share = 1 // of the items that have it
		written := []plan.Place{places[0], entry}
		for _, x := range places {
			if x.Index != nil && x.Index != entry.Index && x.SameItem(entry) && x.Index.Project.All {
				written = append(written, x)
			}
		}
		s.Items += n
		s.WriteUnits += n * cost.WriteUnits(written)
		s.Details = append(s.Details, fmt.Sprintf("%s: the entry %s is removed from %s items", places[0], entry.Name, strconv.FormatFloat(n, 'f', 0, 64)))
	}
	return len(gone) > 0
}

func paths(list [][]string) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = strings.Join(p, ".")
	}
	return strings.Join(out, ", ")
}

// goneIndexes are the indexes of a table that the new design does not have.
func (p *Plan) goneIndexes(name string) []string {
	o, n := p.before.Table(name), p.after.Table(name)
	if o == nil || n == nil {
		return nil
	}
	var out []string
	for _, x := range o.Indexes {
		if n.Index(x.Name) == nil {
			out = append(out, x.Name)
		}
	}
	return out
}

// following is the next milestone; NewOnly is the last.
func (p *Plan) following(m Milestone) Milestone {
	for _, s := range p.Steps {
		if s.Kind == Deploy && s.Milestone.order() > m.order() {
			return s.Milestone
		}
	}
	return NewOnly
}
