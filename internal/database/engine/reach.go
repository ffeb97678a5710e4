package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
)

// Reach is the set of items and attributes that a PartiQL statement can read, compare or change, for access control. It is
// determined like the execution, by lowering the statement.
type Reach struct {
	Verb         Verb
	Table, Index string // as in the statement; Index is "" for the table itself
	// Keys are the partition key values, or the values of the key's first attribute, of all items concerned. EveryKey means that
	// there may be others, because the statement is a scan or cannot be executed at all.
	Keys     []attr.Value
	EveryKey bool
	// Attributes are top-level names, unordered and possibly repeated. EveryAttribute means that there may be others.
	Attributes     []string
	EveryAttribute bool
	// Star means that a statement selects *.
	Star bool
}

// Verb is the kind of a statement.
type Verb uint8

// The verbs.
const (
	Selects Verb = iota
	Inserts
	Updates
	Deletes
)

// Reach returns the reach of a statement. The error is one with which the operation rejects the statement, whatever is stored.
func (e *Engine) Reach(operation string, text *string, parameters []attr.Value, showOld *string) (Reach, error) {
	s, err := bindStatement(operation, text, parameters, showOld)
	if err != nil {
		return Reach{}, err
	}
	r := Reach{Table: s.source.Table, Index: s.source.Index, EveryAttribute: s.showOld}
	switch {
	case s.Insert != nil:
		r.Verb = Inserts
	case s.Update != nil:
		r.Verb = Updates
	case s.Delete != nil:
		r.Verb = Deletes
	}
	// Without a Request in the context nothing is counted: nothing has been executed.
	ctx := context.Background()
	if s.Select != nil && !s.Exists {
		p, err := e.bindSelect(ctx, s, nil)
		if err != nil {
			return r.unknown(), nil //nolint:nilerr // the operation itself reports it
		}
		r.selects(p)
		return r, nil
	}
	w, err := e.prepareStatement(ctx, s)
	if err != nil {
		return r.unknown(), nil //nolint:nilerr // the operation itself reports it
	}
	t, err := e.catalog.Lookup(s.source.Table)
	if err != nil {
		return r.unknown(), nil //nolint:nilerr // the operation itself reports it
	}
	r.writes(s, w, t)
	return r, nil
}

// unknown returns the reach of a statement that does not fit its table.
func (r *Reach) unknown() Reach {
	r.EveryKey, r.EveryAttribute, r.Star = true, true, true
	return *r
}

func (r *Reach) selects(p *partitions) {
	r.EveryKey = p.clauses == nil
	leading := p.source.pk[0].Name
	for _, clauses := range p.clauses {
		for _, c := range clauses {
			r.Attributes = append(r.Attributes, c.Name)
			if c.Name == leading && c.Op == eval.Equal {
				r.Keys = append(r.Keys, c.Values[0])
			}
		}
	}
	r.Attributes = append(r.Attributes, p.source.positionNames()...) // of ORDER BY and NextToken
	if p.filter != nil {
		r.Attributes = append(r.Attributes, p.filter.Attributes()...)
	}
	r.Star = p.shape.projection == nil
	switch {
	case !r.Star:
		r.Attributes = append(r.Attributes, p.shape.reads...)
	case p.source.index != nil && !p.source.index.All:
		r.Attributes = append(r.Attributes, p.source.index.Projected...)
	default:
		r.EveryAttribute = true
	}
}

func (r *Reach) writes(s *statement, w *write, t *catalog.Table) {
	if key, ok := w.item.Get(t.PK.Name); ok {
		r.Keys = []attr.Value{key}
	} else {
		r.EveryKey = true
	}
	for _, f := range w.item {
		r.Attributes = append(r.Attributes, f.Name)
	}
	if w.condition != nil {
		r.Attributes = append(r.Attributes, w.condition.Attributes()...)
	}
	if w.update != nil {
		r.Attributes = append(r.Attributes, w.update.Attributes()...)
	}
	if returns := returnedBy[s.returning()]; returns == returnAllOld || returns == returnAllNew {
		r.EveryAttribute = true
	}
}

// StreamOf returns the ARN of the stream that a shard iterator reads, or "". The names in an iterator are not authenticated; its
// table number determines what is read.
func (e *Engine) StreamOf(ctx context.Context, iterator string) (string, error) {
	it, ok := stream.ParseIterator(iterator)
	if !ok {
		return "", nil
	}
	for _, t := range e.catalog.Tables() {
		if t.ID == it.Table {
			return e.catalog.StreamARN(t.Name, it.Label), nil
		}
	}
	streams, err := e.streams(ctx) // the table may have been deleted
	for _, s := range streams {
		if s.Table == it.Table && s.Label == it.Label {
			return e.catalog.StreamARN(s.TableName, s.Label), err
		}
	}
	return "", err
}
