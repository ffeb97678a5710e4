// Package call runs the patterns of a design with JSON values, for callers without generated code, such as language models
// (package mcp) and web pages (package console).
//
// # Model
//
//	arguments, JSON ──types of the design──▶ table.Input ──table.DB──▶ result ──▶ JSON
//
// Each pattern has a JSON Schema of its arguments: its inputs by name, "limit" and "after" for lists, "from" and "to" for
// ranges, and "lines" for writes of several lines. If an input already has such a name, the argument is called "_limit" and
// so on.
//
// # Invariants
//
//	C1  A call does the same as generated code: it only reads and writes what the design declares.
//	C2  Secrets are accepted but never returned.
//	C3  Unknown arguments and ill-typed values are errors.
//
// Patterns are safe for concurrent use.
package call

import (
	"context"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/explain"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// Patterns are the patterns of a design that can be run.
type Patterns struct {
	Design  *design.Design
	Program *lower.Program
	all     []*Pattern
}

// Pattern is a read, collection or write.
type Pattern struct {
	// Explained describes the pattern and what it does.
	Explained explain.Pattern
	// Writes means that the pattern is a write; Idempotent, that repeating it has no effect.
	Writes, Idempotent bool

	of     *Patterns
	inputs []lower.Input
	lines  []lower.Input
	ranged *design.Field
	paged  bool
	// The names of arguments that are not inputs; "" if there are none.
	from, to, limit, after string
	run                    func(context.Context, *table.DB, table.Input, table.PageOptions) (any, error)
}

// New returns the patterns of a design. If some patterns cannot be run, it returns the others, and an error that joins a
// *lower.FaultError for each missing one.
func New(d *design.Design) (*Patterns, error) {
	program, err := lower.Lower(d)
	if program == nil {
		return nil, err
	}
	p := &Patterns{Design: d, Program: program}
	for _, r := range program.Reads {
		p.add(explain.Read(d, r.Design), p.read(r))
	}
	for _, c := range program.Collections {
		p.add(explain.Collection(d, c.Design), p.collection(c))
	}
	for _, w := range program.Writes {
		p.add(explain.Write(d, w.Design), p.write(w))
	}
	return p, err
}

// Open returns a table.DB that runs the patterns with a client and configuration.
func (p *Patterns) Open(client table.Client, config table.Config) (*table.DB, error) {
	return table.Open(client, config, p.Program.Tables...)
}

// All returns the patterns: reads, collections, writes.
func (p *Patterns) All() []*Pattern { return p.all }

// Named returns the pattern with a name, or nil if there is none that can be run.
func (p *Patterns) Named(name string) *Pattern {
	i := slices.IndexFunc(p.all, func(q *Pattern) bool { return q.Explained.Name == name })
	if i < 0 {
		return nil
	}
	return p.all[i]
}

func (p *Patterns) add(explained explain.Pattern, q *Pattern) {
	q.of, q.Explained = p, explained
	if q.ranged != nil {
		q.from, q.to = q.free("from"), q.free("to")
	}
	if q.paged {
		q.limit, q.after = q.free("limit"), q.free("after")
	}
	p.all = append(p.all, q)
}

func (p *Patterns) read(r *lower.Read) *Pattern {
	fields := FieldTypes(r.Fields)
	return &Pattern{
		inputs: r.Inputs, ranged: r.Range, paged: r.Design.Many,
		run: func(ctx context.Context, db *table.DB, in table.Input, o table.PageOptions) (any, error) {
			if !r.Design.Many {
				v, err := db.Get(ctx, r.Run, in)
				return map[string]any{"item": p.Shown(fields, v)}, err
			}
			page, err := db.Page(ctx, r.Run, in, o)
			items := []any{}
			for _, v := range page.Items {
				items = append(items, p.Shown(fields, v))
			}
			return map[string]any{"items": items, "next": page.Next}, err
		},
	}
}

func (p *Patterns) collection(c *lower.Collection) *Pattern {
	return &Pattern{
		inputs: c.Inputs, paged: true,
		run: func(ctx context.Context, db *table.DB, in table.Input, o table.PageOptions) (any, error) {
			page, err := db.Collect(ctx, c.Run, in, o)
			items := []any{}
			for _, found := range page.Items {
				m := c.Members[found.Member]
				items = append(items, map[string]any{"entity": m.Entity.Name, "item": p.Shown(FieldTypes(m.Fields), found.Values)})
			}
			return map[string]any{"items": items, "next": page.Next}, err
		},
	}
}

func (p *Patterns) write(w *lower.Write) *Pattern {
	return &Pattern{
		Writes: true, Idempotent: w.Design.Idempotent != nil, inputs: w.Inputs, lines: w.Lines,
		run: func(ctx context.Context, db *table.DB, in table.Input, _ table.PageOptions) (any, error) {
			outcome, err := db.Write(ctx, w.Run, in)
			steps := []any{}
			for i, items := range outcome.Items {
				e := p.Design.Entity(w.Design.Steps[i].Entity)
				left := []any{}
				for _, v := range items {
					left = append(left, p.Shown(FieldTypes(e.Fields), v))
				}
				steps = append(steps, map[string]any{"action": w.Design.Steps[i].Action, "entity": e.Name, "items": left})
			}
			return map[string]any{"done": err == nil, "replayed": outcome.Replayed, "steps": steps}, err
		},
	}
}
