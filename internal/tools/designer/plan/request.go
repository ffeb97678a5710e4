package plan

import (
	"fmt"
	"strings"

	"github.com/monotable/monotable/design"
)

// Request is a plan as a DynamoDB request. Values are shown as their templates, with fields in braces.
type Request struct {
	Operation Operation `json:"operation"`
	Table     string    `json:"table"`
	Index     string    `json:"index,omitempty"`
	// Key is the primary key of a GetItem: attribute and template.
	Key []KeyValue `json:"key,omitempty"`
	// KeyCondition is the KeyConditionExpression of a Query, with Values for its placeholders.
	KeyCondition string     `json:"keyCondition,omitempty"`
	Filter       string     `json:"filter,omitempty"`
	Values       []KeyValue `json:"values,omitempty"`
	Projection   []string   `json:"projection,omitempty"`
	// Forward is false for descending order.
	Forward    bool `json:"forward"`
	Limit      int  `json:"limit,omitempty"`
	Consistent bool `json:"consistent"`
	// Times is the number of times the request is made: once for each shard of a spread key.
	Times int `json:"times"`
	// Then is the request that follows for each item: from a marker to its item, or from an entry to what it lacks.
	Then *Request `json:"then,omitempty"`
	// Select is COUNT if DynamoDB returns a number instead of items.
	Select string `json:"select,omitempty"`
	// Segments is the number of segments of a Scan.
	Segments int `json:"segments,omitempty"`
	// Over is the period of the partitions that are walked, one after another.
	Over string `json:"over,omitempty"`
	// Since is where a walk without bounds ends, or begins if it is ascending: a time or a duration before now. MostPeriods is
	// the number of periods that a page then walks.
	Since       string `json:"since,omitempty"`
	MostPeriods int    `json:"mostPeriods,omitempty"`
	// First is the request for the root, made before the first page of a collection.
	First *Request `json:"first,omitempty"`
}

// Walk describes how a request walks over periods; "" if it does not.
func (r *Request) Walk() string {
	switch {
	case r.Over == "":
		return ""
	case r.Since == "":
		return "one " + r.Over + " after another, from bound to bound"
	}
	since := r.Since
	if since[0] == '-' {
		since = since[1:] + " ago"
	}
	bounds := "from " + since + " or a bound to now or a bound"
	if !r.Forward {
		bounds = "from now or a bound back to " + since + " or a bound"
	}
	return fmt.Sprintf("one %s after another, %s, %d a page at most", r.Over, bounds, r.MostPeriods)
}

// KeyValue is the name of an attribute or placeholder, with its value.
type KeyValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Request is the plan as a request.
func (p *Plan) Request() Request {
	out := Request{
		Operation: p.Operation, Table: p.Place.Table.Physical, Forward: !p.Reverse, Limit: p.Limit,
		Consistent: p.Consistent && !p.Place.Global(), Times: p.Fanout,
	}
	if p.Place.Index != nil {
		out.Index = p.Place.Index.Name
	}
	switch p.Operation {
	case GetItem, BatchGetItem:
		out.Key, out.Forward, out.Limit = p.Place.Key(), true, 0
	case Query:
		out.Over, out.Since, out.MostPeriods = design.OverOf(p.Over), p.Since, p.MostPeriods
		out.keyCondition(p)
	case Scan:
		out.Forward = true
		if p.Fanout > 1 {
			out.Segments, out.Times = p.Fanout, 1
		}
	}
	if p.Select {
		out.Select = "COUNT"
	}
	if p.Operation == Query || p.Operation == Scan {
		out.filter(p)
	}
	local := p.Place.Index != nil && p.Place.Index.Local // DynamoDB reads the table by itself
	if p.Place.Kind == MarkerPlace || len(p.Hydrate) > 0 && !local {
		home := Place{Entity: p.Place.Entity, Table: p.Place.Table, PK: templates(p.Place.Entity.Key.PK), SK: templates(p.Place.Entity.Key.SK)}
		out.Then = &Request{
			Operation: GetItem, Table: out.Table, Key: home.Key(), Forward: true, Consistent: p.Consistent, Times: 1,
		}
	}
	return out
}

// Attributes returns the key attributes of the place, partition key first.
func (p Place) Attributes() (pk, sk []design.KeyAttribute) {
	if p.Index != nil {
		return p.Index.PK, p.Index.SK
	}
	pk = []design.KeyAttribute{p.Table.PK}
	if p.Table.SK != nil {
		sk = []design.KeyAttribute{*p.Table.SK}
	}
	return pk, sk
}

// Key returns the primary or index key at the place: each attribute with its template.
func (p Place) Key() []KeyValue {
	var out []KeyValue
	pk, sk := p.Attributes()
	for i, t := range p.PK {
		out = append(out, KeyValue{pk[i].Name, t.Text})
	}
	for i, t := range p.SK {
		out = append(out, KeyValue{sk[i].Name, t.Text})
	}
	return out
}

func (r *Request) keyCondition(p *Plan) {
	pk, sk := p.Place.Attributes()
	var terms []string
	for i, t := range p.Place.PK {
		terms = append(terms, pk[i].Name+" = "+r.value("pk", i, len(p.Place.PK), t.Text))
	}
	for i, c := range p.SK {
		name, known := sk[i].Name, partsText(c.Template.Parts[:c.Parts])
		switch c.Comparison {
		case SortEqual:
			terms = append(terms, name+" = "+r.value("sk", i, len(p.SK), known))
		case SortBeginsWith:
			if c.Prefix != "" {
				known += givenText(c, c.Prefix+"…")
			}
			terms = append(terms, "begins_with("+name+", "+r.value("sk", i, len(p.SK), known)+")")
		case SortBetween:
			terms = append(terms, name+" BETWEEN "+r.value("from", i, len(p.SK), known+givenText(c, "from"))+" AND "+r.value("to", i, len(p.SK), known+givenText(c, "to")))
		}
	}
	r.KeyCondition = strings.Join(terms, " AND ")
}

func (r *Request) filter(p *Plan) {
	var terms []string
	attribute := func(field string) string { return p.Place.Entity.Field(field).Attribute() }
	for _, f := range p.FilterBy {
		terms = append(terms, attribute(f)+" = "+r.value(f, 0, 1, "{"+f+"}"))
	}
	if f := p.FilterRange; f != "" {
		terms = append(terms, attribute(f)+" BETWEEN "+r.value("from", 0, 1, "{from}")+" AND "+r.value("to", 0, 1, "{to}"))
	}
	if f := p.FilterPrefix; f != "" {
		terms = append(terms, "begins_with("+attribute(f)+", "+r.value(f, 0, 1, "{"+f+"…}")+")")
	}
	if p.Filter != nil {
		terms = append(terms, p.Filter.Text)
	}
	r.Filter = strings.Join(terms, " AND ")
}

// value adds a value and returns its placeholder.
func (r *Request) value(name string, i, n int, text string) string {
	placeholder := ":" + name
	if n > 1 {
		placeholder = fmt.Sprintf(":%s%d", name, i+1)
	}
	r.Values = append(r.Values, KeyValue{placeholder, text})
	return placeholder
}

// givenText is the placeholder for the part that the caller gives after the known ones, with that part's functions.
func givenText(c SortCondition, name string) string {
	return partsText([]design.Part{{Field: name, Funcs: c.Template.Parts[c.Parts].Funcs}})
}

// partsText is the text of some parts of a template.
func partsText(parts []design.Part) string {
	var out strings.Builder
	for _, p := range parts {
		if p.Field == "" {
			out.WriteString(p.Literal)
			continue
		}
		out.WriteString("{" + p.Field)
		for _, f := range p.Funcs {
			out.WriteString("|" + f.Name)
			if f.Arg != "" {
				out.WriteString("(" + f.Arg + ")")
			}
		}
		out.WriteString("}")
	}
	return out.String()
}

// Request is the plan of a collection as a request; the plan must have members.
func (p CollectionPlan) Request() Request {
	c := p.Collection
	plan := &Plan{Operation: Query, Place: p.Members[0], Fanout: p.Fanout, Reverse: p.Reverse, Consistent: p.Consistent, Limit: c.Page}
	out := plan.Request()
	if p.RootApart {
		root := (&Plan{Operation: Query, Place: p.Members[p.root()], Fanout: p.Fanout, Consistent: p.Consistent, SK: p.RootSK()}).Request()
		out.First = &root
	}
	if p.SK == nil {
		return out
	}
	_, sk := plan.Place.Attributes()
	name, from, to := sk[0].Name, partsText(p.SK.From), partsText(p.SK.To)
	upper := func() string {
		if p.SK.Open {
			to += "…"
		}
		return out.value("to", 0, 1, to)
	}
	switch {
	case p.SK.Prefix():
		out.KeyCondition += " AND begins_with(" + name + ", " + out.value("sk", 0, 1, from) + ")"
	case to == "":
		out.KeyCondition += " AND " + name + " >= " + out.value("from", 0, 1, from)
	case from == "":
		out.KeyCondition += " AND " + name + " <= " + upper()
	default:
		out.KeyCondition += " AND " + name + " BETWEEN " + out.value("from", 0, 1, from) + " AND " + upper()
	}
	return out
}
