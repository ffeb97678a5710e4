package design

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// patterns checks reads and collections.
func (c *checker) patterns() {
	names := set{}
	for _, r := range c.design.Reads {
		c.name(names, "a read", r.Name, r.Pos)
		c.accepted(r.Accept)
		c.read(r)
	}
	for _, x := range c.design.Collections {
		c.name(names, "a read or collection", x.Name, x.Pos)
		c.accepted(x.Accept)
		c.collection(x)
	}
	for _, w := range c.design.Writes {
		if names[w.Name] {
			c.Fault(w.Pos, "the name %q is already used by a read or collection", w.Name)
		}
	}
}

func (c *checker) read(r *Read) {
	e := c.entity(&r.Entity, r.Pos)
	c.fieldNames(e, r.By, r.Pos)
	c.fieldNames(e, r.Returns, r.Pos)
	for _, f := range []*string{&r.Prefix, &r.Range, &r.Bucket, &r.Owner} {
		if *f != "" {
			c.field(e, *f, c.At(f, r.Pos))
		}
	}
	if f := fieldOf(e, r.Bucket); f != nil && !slices.Contains([]Kind{KindTime, KindDate, KindInt, KindMoney, KindTTL}, f.Type.Kind) {
		c.Fault(c.At(&r.Bucket, r.Pos), "the bucket of read %s is %s of type %s: it must be a time or a whole number", r.Name, f.Name, f.Type)
	}
	if r.Bucket != "" && (r.Bucket == r.Range || r.Bucket == r.Prefix) {
		c.Fault(c.At(&r.Bucket, r.Pos), "read %s cannot use %s both as its bucket and in other places", r.Name, r.Bucket)
	}
	for _, f := range []*string{&r.Prefix, &r.Range, &r.Bucket} {
		if *f != "" && slices.Contains(r.By, *f) {
			c.Fault(c.At(f, r.Pos), "field %q is in by, so it has one value and cannot be used here", *f)
		}
	}
	for _, o := range r.Order {
		if !syntax.IsName(o.Field) {
			c.missing(r.Pos, "%q is not an order", o.Field)
		}
	}
	c.condition(e, r.Filter, paramsOnly)
	if !r.Many && (r.Page > 0 || r.Limit > 0) {
		c.Hint(r.Pos, "many: "+r.Entity, "read %s returns one item: it cannot have a page or limit", r.Name)
	}
	c.page(r.Pos, "read "+r.Name, r.Page)
	c.checkKeyword(r)
	c.over(e, r)
	if e != nil && r.Via != "" {
		c.via(&r.Via, r.Pos, e)
	}
}

// maxPage is table.MaxPage: generated code would silently cut a larger page, and cost count more than is read.
const maxPage = 1000

func (c *checker) page(at Pos, owner string, size int) {
	if size > maxPage {
		c.Hint(at, "page: 1000", "%s has a page of %d items: the maximum is %d", owner, size, maxPage)
	}
}

// over checks a walk over partitions by period.
func (c *checker) over(e *Entity, r *Read) {
	if r.Over != "" {
		c.word(&r.Over, r.Pos, "year", "month", "day", "hour")
	}
	f := fieldOf(e, r.Range)
	switch {
	case r.Buckets != nil && r.Over == "":
		c.Hint(r.Buckets.Pos, "over: day", "read %s needs over, the period of its partitions", r.Name)
	case r.Buckets != nil && r.Buckets.Max > MaxBuckets:
		c.Fault(r.Buckets.Pos, "read %s spans %d buckets: the maximum is %d", r.Name, r.Buckets.Max, MaxBuckets)
	case r.Since != "" && r.Over == "":
		c.Hint(c.At(&r.Since, r.Pos), "over: day", "read %s needs over, the period of its partitions", r.Name)
	case r.Over == "":
	case r.Range == "" || !r.Many:
		c.Hint(c.At(&r.Over, r.Pos), "use many: … and range: the time field", "read %s has over: it needs a range (over %ss)", r.Name, r.Over)
	case f != nil && f.Type.Kind != KindTime:
		c.Fault(c.At(&r.Over, r.Pos), "read %s spans %ss, but its range field %s has type %s", r.Name, r.Over, f.Name, f.Type)
	case r.Since != "" && (r.Count || r.Limit > 0):
		c.Hint(c.At(&r.Since, r.Pos), "use many: … and page: 20", "read %s has a fixed since, so it spans more and more partitions: it needs pages", r.Name)
	}
	if _, _, err := r.Floor(); err != nil {
		c.Hint(c.At(&r.Since, r.Pos), "write 2024-01-31 or 90d", "%s", err)
	}
}

// MaxBuckets is the maximum number of periods in a call.
const MaxBuckets = 1000

// MostBuckets is the maximum number of periods in a call of the read.
func (r *Read) MostBuckets() int {
	if r.Buckets != nil && r.Buckets.Max > 0 {
		return r.Buckets.Max
	}
	return MaxBuckets
}

// periods are the possible values of over, each with the argument of |date for it.
func periods() map[string]string {
	return map[string]string{"year": "yyyy", "month": "yyyy-MM", "day": "yyyy-MM-dd", "hour": "yyyy-MM-ddTHH"}
}

// OverLayout is the argument of |date for a period; "" for others.
func OverLayout(over string) string { return periods()[over] }

// OverOf is the inverse of OverLayout.
func OverOf(layout string) string {
	for word, is := range periods() {
		if is == layout {
			return word
		}
	}
	return ""
}

// fieldOf is a field of an entity; nil if either does not exist.
func fieldOf(e *Entity, name string) *Field {
	if e == nil {
		return nil
	}
	return e.Field(name)
}

// checkKeyword checks what a read that counts, takes many keys or scans must not declare.
func (c *checker) checkKeyword(r *Read) {
	listed := len(r.Order) > 0 || r.Page > 0 || r.Limit > 0
	asked := len(r.By) > 0 || r.Bucket != "" || r.Prefix != "" || r.Range != ""
	switch {
	case r.Count && (listed || len(r.Returns) > 0):
		c.Hint(r.Pos, "many: "+r.Entity, "read %s counts: it cannot have order, page, limit or fields", r.Name)
	case r.Scan && asked:
		c.Hint(r.Pos, "many: "+r.Entity+", or add a filter", "read %s scans: it takes no keys (by, prefix, range)", r.Name)
	case r.Scan && len(r.Order) > 0:
		c.Hint(r.Pos, "remove order", "read %s scans: its items come in no order", r.Name)
	case r.Each && (r.Prefix != "" || r.Range != "" || len(r.Order) > 0 || r.Filter != nil):
		c.Hint(r.Pos, "use by, with the fields of its key", "read %s takes a list of keys: it cannot have prefix, range, order or filter", r.Name)
	case r.Keys != nil && !r.Each:
		c.Hint(r.Keys.Pos, "each: "+r.Entity, "read %s does not take a list of keys", r.Name)
	case r.Keys != nil && r.Keys.Max > 0 && float64(r.Keys.Max) < r.Keys.Typical:
		c.Fault(r.Keys.Pos, "read %s has fewer keys in max than in typical", r.Name)
	case r.Segments > 0 && !r.Scan:
		c.Hint(r.Pos, "scan: "+r.Entity, "read %s does not scan: it cannot have segments", r.Name)
	case r.Segments > maxSegments:
		c.Fault(r.Pos, "read %s has %d segments: the maximum is %d", r.Name, r.Segments, maxSegments)
	}
}

// maxSegments is the maximum number of parallel segments of a Scan. DynamoDB accepts a million; a cursor contains the position
// in each.
const maxSegments = 100

// Keyword is the keyword of a read: one, many, count, each or scan.
func (r *Read) Keyword() string {
	switch {
	case r.Count:
		return "count"
	case r.Scan:
		return "scan"
	case r.Each:
		return "each"
	case r.Many:
		return "many"
	default:
		return "one"
	}
}

// via checks that a place is the key, an index, a copy or a marker; for several entities, an index of all of them.
func (c *checker) via(name *string, otherwise Pos, of ...*Entity) {
	var known []string
	for i, e := range of {
		t := c.design.TableOf(e)
		if t == nil {
			return // it is reported, and its places are unknown
		}
		places := []string{"key"}
		for _, x := range t.Indexes {
			if len(of) == 1 {
				places = append(places, e.entriesIn(x.Name)...)
			} else {
				places = append(places, x.Name)
			}
		}
		if len(of) == 1 {
			places = append(places, namesIn(e.Copies, func(x *Copy) string { return x.Name })...)
			places = append(places, namesIn(e.Unique, func(m *Marker) string { return m.Name })...)
		}
		if i == 0 {
			known = places
		}
		known = slices.DeleteFunc(known, func(k string) bool { return !slices.Contains(places, k) })
	}
	if !slices.Contains(known, *name) {
		what := "there is no index %q"
		if len(of) == 1 {
			what = of[0].Name + " has no index, copy or marker %q"
			if named := of[0].entriesIn(*name); named[0] != *name {
				c.Hint(c.At(name, otherwise), "via: "+strings.Join(named, ", or via: "), "%s has several entries in %s: name one of them", of[0].Name, *name)
				return
			}
		}
		c.Hint(c.At(name, otherwise), cmp.Or(syntax.Suggestion(*name, known), "one of "+strings.Join(known, ", ")), what, *name)
	}
}

// entriesIn are the names of the entity's entries in an index for reads; the index itself, if there is only one.
func (e *Entity) entriesIn(index string) []string {
	var out []string
	for _, x := range e.Entries {
		if x.Index == index && !slices.Contains(out, x.Place()) {
			out = append(out, x.Place())
		}
	}
	if out == nil {
		return []string{index}
	}
	return out
}

func (c *checker) collection(x *Collection) {
	c.page(x.Pos, "collection "+x.Name, x.Page)
	if len(x.Of) < 2 {
		c.Hint(x.Pos, "of: [Order, OrderItem]", "a collection needs at least two entities")
	}
	var of []*Entity
	for i := range x.Of {
		p := c.At(&x.Of[i], x.Pos)
		e := c.entity(&x.Of[i], x.Pos)
		c.fieldNames(e, x.By, x.Pos)
		switch {
		case e == nil:
			continue
		case slices.Contains(of, e):
			c.Fault(p, "%s is listed twice in the collection", e.Name)
		case len(of) > 0 && e.Table != of[0].Table:
			c.Hint(p, "a collection is one Query, which reads one table", "%s and %s are in different tables", of[0].Name, e.Name)
		}
		of = append(of, e)
	}
	owners := of
	if x.Root != "" {
		root := c.entity(&x.Root, x.Pos)
		if root != nil && !slices.Contains(x.Of, x.Root) {
			c.Fault(c.At(&x.Root, x.Pos), "the root %s is not one of the collection's entities", x.Root)
		}
		owners = []*Entity{root}
	}
	for _, e := range owners {
		if x.Owner != "" && e != nil {
			c.field(e, x.Owner, c.At(&x.Owner, x.Pos))
		}
	}
	if x.Via != "" && len(of) > 0 {
		c.via(&x.Via, x.Pos, of...)
	}
	if x.Order != "" && x.Order != "asc" && x.Order != "desc" {
		c.Hint(c.At(&x.Order, x.Pos), "use asc or desc", "%q is not an order of a collection", x.Order)
	}
	if len(of) > 0 {
		c.collectionBound(x, of[0], x.From)
		c.collectionBound(x, of[0], x.To)
	}
}

// collectionBound checks a bound of the sort keys: it must only use inputs.
func (c *checker) collectionBound(x *Collection, e *Entity, t *Template) {
	if t == nil {
		return
	}
	for _, p := range t.Parts {
		f := e.Field(p.Field)
		switch {
		case p.Field == "":
		case !slices.Contains(x.By, p.Field):
			c.Hint(t.Pos, "by: [… "+p.Field+"]", "the bound %q uses %s, which is not in by", t.Text, p.Field)
		case f != nil:
			if what := misuse(p, f.Type); what != "" {
				c.Fault(c.Source.Within(t.Pos, t.Text, p.At), "%s", what)
			}
		}
	}
}
