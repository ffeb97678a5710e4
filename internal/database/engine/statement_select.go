package engine

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

const (
	// maxPartitions is the maximum number of partition key values in a SELECT.
	maxPartitions = 50
	// manyPartitionsLimit is the maximum Limit of a SELECT of several partitions.
	manyPartitionsLimit = 10
)

// partitions is a SELECT bound to a table: it reads some partitions one after the other, or scans.
type partitions struct {
	source      readSource
	clauses     [][]eval.KeyPredicate // of each partition
	filter      *eval.Condition
	shape       shape
	reverse     bool
	consistency capacity.Consistency
	counts      *observe.Table
}

// bindSelect determines what a SELECT reads. A WHERE clause that determines the partition key, by equality, IN or OR, reads
// partitions; conditions on sort keys narrow them. All other conditions become a filter.
func (e *Engine) bindSelect(ctx context.Context, s *statement, consistentRead *bool) (*partitions, error) {
	t, counts, err := e.lookup(ctx, s.source.Table)
	if err != nil {
		return nil, err
	}
	var index *string
	if s.source.Index != "" {
		index = &s.source.Index
	}
	p := &partitions{counts: counts, shape: s.shape, consistency: capacity.ConsistencyOf(consistentRead)}
	if p.source, err = sourceOf(t, index, isTrue(consistentRead)); err != nil {
		return nil, err
	}
	p.source.statement = true
	rest, err := p.takeClauses(s, conjuncts(s.where()))
	if err != nil {
		return nil, err
	}
	if err := p.order(s.Select); err != nil {
		return nil, err
	}
	if p.filter, err = s.condition(expr.Filter, rest); err != nil {
		return nil, err
	}
	if err := nestedKeyFault(t, p.filter.NestedAttributes()); err != nil {
		return nil, err
	}
	return p, nestedKeyFault(t, p.shape.nested)
}

// takeClauses extracts the key conditions and returns the others: all of them, unless the partition is determined.
func (p *partitions) takeClauses(s *statement, conditions []partiql.Node) ([]partiql.Node, error) {
	rest := conditions
	var shared []eval.KeyPredicate
	for _, k := range p.source.pk {
		some, left, err := s.takePartition(k, rest)
		if err != nil || some == nil {
			return conditions, err
		}
		rest, shared = left, append(shared, eval.KeyPredicate{Name: k.Name, Op: eval.Equal, Values: some})
	}
	last := len(shared) - 1
	partition, shared := shared[last], shared[:last:last]
	if slices.ContainsFunc(shared, func(c eval.KeyPredicate) bool { return len(c.Values) > 1 }) {
		return nil, apierr.PartitionsOfLongKey.With(namesOf(p.source.pk))
	}
	for _, k := range p.source.sk {
		c, left, err := s.takeSortKey(k, rest)
		if err != nil {
			return nil, err
		}
		if c == nil {
			break
		}
		rest, shared = left, append(shared, *c)
		if c.Op != eval.Equal {
			break
		}
	}
	for _, v := range partition.Values {
		c := eval.KeyPredicate{Name: partition.Name, Op: eval.Equal, Values: []attr.Value{v}}
		p.clauses = append(p.clauses, append(slices.Clip(shared), c))
	}
	return rest, nil
}

func namesOf(ks []catalog.KeyAttribute) string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.Name
	}
	return strings.Join(names, ", ")
}

// takePartition extracts the first condition that determines the values of k, or returns nil.
func (s *statement) takePartition(k catalog.KeyAttribute, rest []partiql.Node) ([]attr.Value, []partiql.Node, error) {
	for i, n := range rest {
		values, whole, ok, err := s.partitionValues(n, k.Name)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		distinct := make([]attr.Value, 0, len(values))
		for _, v := range values {
			if slices.ContainsFunc(distinct, v.Equal) {
				continue
			}
			if len(distinct) == maxPartitions {
				e := &expr.Error{Surface: expr.Filter, Kind: expr.KindInTooLong, Count: len(values)}
				return nil, nil, statementExpressionError(e)
			}
			distinct = append(distinct, v)
		}
		if whole {
			rest = slices.Delete(slices.Clone(rest), i, i+1)
		}
		return distinct, rest, nil
	}
	return nil, rest, nil
}

// takeSortKey extracts the condition on a sort key, preferably an equality, or returns nil.
func (s *statement) takeSortKey(k catalog.KeyAttribute, rest []partiql.Node) (*eval.KeyPredicate, []partiql.Node, error) {
	at := -1
	var found eval.KeyPredicate
	for i, n := range rest {
		name, op, operands, ok := keyComparison(n)
		if !ok || name != k.Name || at >= 0 && op != eval.Equal {
			continue
		}
		values := make([]attr.Value, len(operands))
		for j, o := range operands {
			var err error
			if values[j], err = s.value(o); err != nil {
				return nil, nil, err
			}
		}
		at, found = i, eval.KeyPredicate{Name: name, Op: op, Values: values}
		if op == eval.Equal {
			break
		}
	}
	if at < 0 {
		return nil, rest, nil
	}
	return &found, slices.Delete(slices.Clone(rest), at, at+1), nil
}

// order applies ORDER BY. Items come in the order of all sort attributes, forwards or backwards, so the clause has to name those
// without an equality from the first one on, in one direction.
func (p *partitions) order(s *partiql.Select) error {
	if len(s.Order) == 0 {
		return nil
	}
	switch {
	case s.Where == nil:
		return apierr.OrderWithoutWhere.With()
	case p.clauses == nil:
		return apierr.OrderWithoutPartition.With()
	}
	last := p.source.pk[len(p.source.pk)-1].Name
	open, sorted := p.openSortKeys(), 0
	for i, o := range s.Order {
		if !p.source.isKey(o.Name) {
			return apierr.OrderOnOther.With(o.Name)
		}
		if i == 0 && len(p.clauses) > 1 && o.Name != last {
			return apierr.OrderBeginsElsewhere.With(last)
		}
		if o.Name == last {
			p.sort(o.Descending)
		}
		if at := slices.Index(open, o.Name); at >= 0 {
			if at > sorted || sorted > 0 && at == sorted && o.Descending != p.reverse {
				return apierr.OrderOfKey.With(strings.Join(open, ", "))
			}
			if at == sorted {
				p.reverse, sorted = o.Descending, sorted+1
			}
		}
	}
	return nil
}

// openSortKeys returns the names of the sort key attributes that the WHERE clause does not set to one value.
func (p *partitions) openSortKeys() []string {
	var open []string
	for _, k := range p.source.sk {
		if c := clauseOn(p.clauses[0], k.Name); c == nil || c.Op != eval.Equal {
			open = append(open, k.Name)
		}
	}
	return open
}

// sort orders the partitions by the last attribute of their keys, which is the last clause of each.
func (p *partitions) sort(descending bool) {
	slices.SortStableFunc(p.clauses, func(a, b []eval.KeyPredicate) int {
		x, y := a[len(a)-1].Values[0], b[len(b)-1].Values[0]
		order, same := x.Compare(y)
		if !same { // different types: one of them is rejected when its partition is read
			order = cmp.Compare(x.Kind(), y.Kind())
		}
		if descending {
			return -order
		}
		return order
	})
}

// columns returns the columns of the SELECT list. A path's column is named after its last name, followed by the indexes.
func (s *statement) columns() (shape, error) {
	if s.Select.Paths == nil {
		return shape{}, nil
	}
	l := lowering{statement: s, surface: expr.Projection}
	paths := make([]*expr.Path, len(s.Select.Paths))
	columns := make([]string, len(paths))
	for i, p := range s.Select.Paths {
		var err error
		if paths[i], err = l.path(p); err != nil {
			return shape{}, err
		}
		columns[i] = columnOf(p)
	}
	for i, c := range columns {
		if slices.Contains(columns[:i], c) {
			return shape{}, apierr.ColumnTwice.With(c)
		}
	}
	projection, err := eval.NewColumns(paths, columns)
	if err != nil {
		return shape{}, statementExpressionError(err)
	}
	return shapeOf(projection), nil
}

func columnOf(p *partiql.Path) string {
	name := ""
	for _, step := range p.Steps {
		if step.ByName {
			name = step.Name
		} else {
			name += "[" + strconv.Itoa(step.Index) + "]"
		}
	}
	return name
}

// isOneItem reports whether the SELECT reads one item of a table by its key.
func (p *partitions) isOneItem() (bool, error) {
	if len(p.clauses) != 1 || p.source.index != nil {
		return false, nil
	}
	r, err := queryRangeOf(&p.source, p.clauses[0])
	return r.single, err
}

// plan returns the plan of the page of one partition, or of the scan, after an item.
func (p *partitions) plan(partition int, start attr.Item, limit int) (pagePlan, error) {
	plan := pagePlan{
		source: p.source, reverse: p.reverse, limit: limit, filter: p.filter, shape: p.shape, consistency: p.consistency,
	}
	if err := plan.checkNested(); err != nil {
		return plan, err
	}
	if err := plan.shapeFrom(""); err != nil {
		return plan, err
	}
	if p.clauses == nil {
		plan.lo, plan.hi = keyenc.IndexBounds(p.source.table.ID, p.source.id())
		if start == nil {
			return plan, nil
		}
		position, ok := p.source.position(start)
		if !ok || !between(plan.lo, position, plan.hi) {
			return plan, apierr.StatementToken.With()
		}
		plan.lo, plan.hi = after(plan.lo, plan.hi, position, false)
		return plan, nil
	}
	r, err := queryRangeOf(&p.source, p.clauses[partition])
	if err != nil {
		return plan, err
	}
	plan.lo, plan.hi, plan.single = r.lo, r.hi, r.single
	if start == nil {
		return plan, nil
	}
	position, err := queryPosition(&p.source, &r, start)
	if err != nil {
		return plan, apierr.StatementToken.With()
	}
	plan.lo, plan.hi = after(plan.lo, plan.hi, position, plan.reverse)
	return plan, nil
}

// partitionPages are the pages that one request has read from partitions.
type partitionPages struct {
	pages []*page
	next  *place // where the next request resumes; nil at the end
}

// place is where a SELECT resumes: in a partition, after an item if there is one.
type place struct {
	partition int
	last      attr.Item
}

// readPartitions reads from a place on.
func (e *Engine) readPartitions(ctx context.Context, p *partitions, from place, limit int) (*partitionPages, error) {
	many := len(p.clauses) > 1
	if many {
		limit = min(cmp.Or(limit, manyPartitionsLimit), manyPartitionsLimit)
	}
	out := new(partitionPages)
	room, bytes := limit, 0
	for i := from.partition; i < max(1, len(p.clauses)); i++ {
		plan, err := p.plan(i, from.last, room)
		if err != nil {
			return nil, err
		}
		plan.counts = p.counts
		if p.clauses != nil {
			plan.clauses = p.clauses[i]
		}
		pg, err := e.readPage(ctx, plan)
		if isThrottled(err) && len(out.pages) > 0 {
			out.next = &place{partition: i}
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		pg.count(observe.From(ctx), p.counts)
		out.pages = append(out.pages, pg)
		from.last = nil
		room -= int(pg.scanned)
		bytes += pg.evaluatedBytes + pg.fetchedBytes
		switch {
		case pg.last != nil:
			out.next = &place{partition: i, last: pg.last}
			return out, nil
		case many && (room <= 0 || bytes >= maxPageBytes) && i+1 < len(p.clauses):
			out.next = &place{partition: i + 1}
			return out, nil
		}
	}
	return out, nil
}

// items returns the items of all pages.
func (o *partitionPages) items() []itemenc.Item {
	if len(o.pages) == 1 {
		return o.pages[0].items()
	}
	items := []itemenc.Item{}
	for _, p := range o.pages {
		items = append(items, p.items()...)
	}
	return items
}

func (o *partitionPages) charge(m *capacity.Meter) {
	if m == nil {
		return
	}
	for _, p := range o.pages {
		p.charge(m)
	}
}

// Release returns the memory of the items to the pool.
func (o *partitionPages) Release() {
	for _, p := range o.pages {
		p.arena.Release()
	}
}
