package conform

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// checker is a running Check.
type checker struct {
	design    *design.Design
	options   Options
	places    int
	tables    []*tableState
	again     bool // after the first pass
	cut       bool // a table has more items than were read
	unsettled int  // what did not match in the last pass, and not in the same way in the one before
	ledger    *ledger
	counters  *counters
	findings  map[findingKey]*Finding
	persons   *persons
}

type findingKey struct {
	kind    Kind
	subject string
}

// tableState is a table being checked.
type tableState struct {
	design   *design.Table
	table    *table.Table
	items    Pass
	entities []*entityState
	// descriptors are the descriptors of the entities.
	descriptors []*table.Entity
	report      TableReport
	like        []candidate // candidates for items that match no entity
}

// entityState is an entity with counts of its items.
type entityState struct {
	design *design.Entity
	table  *table.Entity
	// whole is the descriptor with additional entries that show which counters count an item; see counters.
	whole  *table.Entity
	places []*placeState
	// known are the attributes that its own item has by the design, index the key attributes of indexes in
	// which it has no entry.
	known      map[string]bool
	undeclared map[string]int64
}

// placeState is a place of an entity's items: its key, its copies, its markers, in the order of table.Items.
type placeState struct {
	number int // its position in the ledger
	entity *entityState
	place  table.Place
	name   string
	count  int64
	// parts are the attributes and paths that an item there has by the design.
	parts [][]string
}

func newChecker(d *design.Design, items map[string]Pass, o Options) *checker {
	given := func(name string) bool { return items[name] != nil }
	c := &checker{
		design: d, options: o, persons: newPersons(d, o.Persons), findings: map[findingKey]*Finding{}, ledger: newLedger(o.Examples), counters: newCounters(d, given, o.Examples),
	}
	// The checker of designs reports patterns that cannot be run; they do not matter for items.
	program, _ := lower.Lower(d)
	for i, t := range d.Tables {
		pass := items[t.Name]
		if pass == nil {
			continue
		}
		state := &tableState{design: t, table: program.Tables[i], items: pass, report: TableReport{Table: t.Name}}
		for j, e := range d.Entities {
			if e.Table != t.Name {
				continue
			}
			s := c.entity(state, e, program.Entities[j])
			state.entities = append(state.entities, s)
			state.descriptors = append(state.descriptors, s.table)
		}
		state.like = candidates(d, state)
		c.tables = append(c.tables, state)
	}
	return c
}

// entity prepares an entity.
func (c *checker) entity(t *tableState, e *design.Entity, descriptor *table.Entity) *entityState {
	s := &entityState{design: e, table: descriptor, known: map[string]bool{}, undeclared: map[string]int64{}}
	add := func(p table.Place, name string) {
		c.places++
		s.places = append(s.places, &placeState{number: c.places, entity: s, place: p, name: name, parts: partsOf(s.table, p)})
	}
	add(table.Place{Kind: table.KeyPlace}, "key")
	for _, copied := range descriptor.Copies {
		add(table.Place{Kind: table.CopyPlace, Copy: copied.Name}, copied.Name)
	}
	for _, m := range descriptor.Markers {
		add(table.Place{Kind: table.MarkerPlace, Marker: m.Name}, m.Name)
	}
	for _, path := range s.places[0].parts {
		s.known[path[0]] = true
	}
	if t.table.TTLAttr != "" {
		s.known[t.table.TTLAttr] = true
	}
	s.whole = c.counters.observe(descriptor)
	return s
}

// placeOf is the state of the place that an item was recognized at.
func (t *tableState) placeOf(e *table.Entity, p table.Place) *placeState {
	i := slices.Index(t.descriptors, e)
	for _, s := range t.entities[i].places {
		if s.place == p {
			return s
		}
	}
	return t.entities[i].places[0]
}

// pass reads all tables.
func (c *checker) pass(number int) error {
	c.again = number > 1
	var n int64
	for _, t := range c.tables {
		read := int64(0)
		for item, err := range t.items() {
			if err != nil {
				return err
			}
			if read++; c.options.Limit > 0 && read > c.options.Limit {
				c.cut = c.cut || !c.again
				break
			}
			c.visit(t, item)
			if n++; c.options.Progress != nil && n%1000 == 0 {
				c.options.Progress(number, n)
			}
		}
	}
	return nil
}

// find counts an item under a finding, and keeps it as an example while there are few.
func (c *checker) find(k Kind, subject string, t *tableState, item table.Item, message string) {
	if !c.again { // findings of a single item were counted in the first pass
		c.add(k, subject, 1, &Example{Table: t.design.Name, Key: t.keyOf(item), Message: message, PrimaryKey: t.primaryKey(item)})
	}
}

// add counts items under a finding, with an example, which may be nil.
func (c *checker) add(k Kind, subject string, items int64, example *Example) {
	key := findingKey{k, subject}
	f := c.findings[key]
	if f == nil {
		f = &Finding{Kind: k, Subject: subject}
		c.findings[key] = f
	}
	f.Items += items
	if example != nil && len(f.Examples) < c.options.Examples {
		f.Examples = append(f.Examples, *example)
	}
}

// report sorts the findings.
func (c *checker) report() *Report {
	r := &Report{Design: c.design.Name, Cut: c.cut, Unsettled: c.unsettled, Kept: c.persons.counts(), Findings: slices.Collect(maps.Values(c.findings))}
	if r.Findings == nil {
		r.Findings = []*Finding{}
	}
	all := kinds()
	slices.SortFunc(r.Findings, func(a, b *Finding) int {
		return cmp.Or(slices.Index(all, a.Kind)-slices.Index(all, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	for _, t := range c.tables {
		for _, e := range t.entities {
			for _, p := range e.places {
				t.report.Places = append(t.report.Places, PlaceCount{e.design.Name, p.name, p.count})
			}
			for _, name := range slices.Sorted(maps.Keys(e.undeclared)) {
				t.report.Undeclared = append(t.report.Undeclared, AttributeCount{e.design.Name, name, e.undeclared[name]})
			}
		}
		r.Tables = append(r.Tables, t.report)
	}
	return r
}

// keyOf is an item's primary key as readable text.
func (t *tableState) keyOf(item table.Item) string {
	out := t.table.PK.Name + "=" + shown(item[t.table.PK.Name])
	if t.table.SK.Name != "" {
		out += " " + t.table.SK.Name + "=" + shown(item[t.table.SK.Name])
	}
	return out
}

// primaryKey is an item's primary key.
func (t *tableState) primaryKey(item table.Item) table.Item {
	key := table.Item{t.table.PK.Name: item[t.table.PK.Name]}
	if t.table.SK.Name != "" {
		key[t.table.SK.Name] = item[t.table.SK.Name]
	}
	return key
}

// expired reports whether an item's expiry time has passed.
func (t *tableState) expired(item table.Item, now int64) bool {
	n, ok := item[t.table.TTLAttr].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	at, err := strconv.ParseInt(n.Value, 10, 64)
	return err == nil && at < now
}
