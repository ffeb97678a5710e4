// Package trial tests a design: it runs every pattern on an in-memory database and compares the results with a naive
// evaluation of the design.
//
// # Model
//
//	samples ─────────────╮
//	types, templates ──generator──▶ records ──Load──▶ database ──table.DB──▶ results
//	                                   ╰──truth, written anew──▶ what they must be
//
// A record is an entity's item as plain values. The reference is deliberately naive: it examines every record, compares
// values and knows no keys, so that it does not share bugs with the planner and the templates. It only considers
// properties of a place that affect the meaning: which texts lower, fold, slug and date make equal, and which items a
// sparse index named by a read contains.
//
// Data and calls are designed to provoke errors: values that are prefixes of others, differ in case or accents, contain
// separators, or sort differently as text; equal times; absent fields; expired items that have not been removed; the same
// identifiers under several owners; a partition of more than a megabyte. Calls use existing values and their neighbours.
//
// # Invariants
//
//	I1  The same design, seed and number of items repeat the same trial, apart from identifiers that writes generate.
//	I2  A failure includes the items that show it, reduced to as few as possible within a limit.
//	I3  Reads and writes use separate databases.
//
// A Trial is not safe for concurrent use.
package trial

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// ItemsDefault is the default number of items per entity, approximately.
const ItemsDefault = 300

// Options configure a trial.
type Options struct {
	// Seed determines the data and the questions: the same seed repeats the trial.
	Seed uint64
	// Items is the approximate number of items per entity; 0 means ItemsDefault.
	Items int
	// Open creates the Runner of the patterns; nil runs them with package table.
	Open Opener
}

// Trial is a trial of a design.
type Trial struct {
	design    *design.Design
	program   *lower.Program
	options   Options
	now       time.Time
	samples   []*record
	generator *generator
	records   []*record // those that can all be stored
	none      []refused
	collided  []collision
	faults    map[string]*lower.FaultError // patterns that cannot be run
	reads     *world                       // nil until it is needed
	examples  *world
	written   map[string]*Result // nil until the writes have run
	meters    map[string]*meter
}

// New makes the data of a trial. Its error is design.Errors if samples have values of the wrong type.
func New(d *design.Design, o Options) (*Trial, error) {
	if o.Items <= 0 {
		o.Items = ItemsDefault
	}
	t := &Trial{
		design: d, options: o, faults: map[string]*lower.FaultError{}, meters: map[string]*meter{},
		now: time.Date(2025, 1, 15, 12, 0, 0, 0, time.UTC),
	}
	var err error
	t.program, err = lower.Lower(d)
	for _, fault := range faultsOf(err) {
		t.faults[fault.Pattern] = fault
	}
	if t.samples, err = samplesOf(t.program, t.now); err != nil {
		return nil, err
	}
	t.generator = newGenerator(t.program, o.Items, o.Seed, t.now)
	all, none := t.generator.populate(t.samples)
	t.none = none
	t.records, t.collided = t.storable(all)
	return t, nil
}

// faultsOf are the faults joined in an error of lowering.
func faultsOf(err error) []*lower.FaultError {
	var out []*lower.FaultError
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, one := range joined.Unwrap() {
			if fault, is := errors.AsType[*lower.FaultError](one); is {
				out = append(out, fault)
			}
		}
	}
	return out
}

// Close releases the trial's databases.
func (t *Trial) Close() error {
	var faults []error
	for _, w := range []*world{t.reads, t.examples} {
		if w != nil {
			faults = append(faults, w.close())
		}
	}
	return errors.Join(faults...)
}

// Subject is an object of the trial.
type Subject struct {
	Kind string `json:"kind"` // entity, read, collection, write, person
	Name string `json:"name"`
}

// The kinds of subjects.
const (
	EntitySubject     = "entity"
	ReadSubject       = "read"
	CollectionSubject = "collection"
	WriteSubject      = "write"
	PersonSubject     = "person"
)

// Subjects are the subjects in the design's order: entities, then patterns.
func (t *Trial) Subjects() []Subject {
	var out []Subject
	for _, e := range t.design.Entities {
		out = append(out, Subject{EntitySubject, e.Name})
	}
	for _, r := range t.design.Reads {
		out = append(out, Subject{ReadSubject, r.Name})
	}
	for _, c := range t.design.Collections {
		out = append(out, Subject{CollectionSubject, c.Name})
	}
	for _, w := range t.design.Writes {
		out = append(out, Subject{WriteSubject, w.Name})
	}
	if t.program.Person != nil {
		out = append(out, Subject{PersonSubject, personName})
	}
	return out
}

// Try tries one subject. The error is an error of the trial itself; defects of the subject are in the result.
func (t *Trial) Try(ctx context.Context, s Subject) (*Result, error) {
	out := &Result{Subject: s}
	if fault := t.faults[s.Name]; fault != nil && s.Kind != EntitySubject {
		out.fail(Failure{Pattern: s.Name, Kind: Refused, Got: fault.Error(), Want: "a request that can serve it"})
		t.accept(out)
		return out, nil
	}
	var err error
	switch s.Kind {
	case EntitySubject:
		t.entity(s.Name, out)
		t.accept(out)
	case ReadSubject:
		if err = t.read(ctx, t.program.Read(s.Name), out); err == nil {
			t.accept(out) // examples cannot be accepted: they state the intention
			err = t.example(ctx, out)
		}
	case CollectionSubject:
		if err = t.collection(ctx, t.program.Collection(s.Name), out); err == nil {
			t.accept(out) // examples cannot be accepted: they state the intention
			err = t.example(ctx, out)
		}
	case WriteSubject:
		if err = t.writes(ctx); err == nil {
			out = t.written[s.Name]
			t.accept(out)
		}
	case PersonSubject:
		err = t.person(ctx, out)
	}
	switch {
	case err != nil:
	case out.Cases == 0:
		out.fail(Failure{Pattern: s.Name, Kind: Unexercised, Got: "no call was made", Want: "at least one call"})
	case out.Requests == 0 && out.OK() && s.Kind != EntitySubject:
		out.fail(Failure{Pattern: s.Name, Kind: Unexercised, Got: "every call was rejected before its first request", Want: "at least one request"})
	}
	if out.Failures == nil {
		out.Failures = []Failure{} // [] in JSON, not null
	}
	if m := t.meters[s.Name]; m != nil && m.calls > 0 && s.Kind != EntitySubject {
		out.Measured, out.Formula = m.measured/float64(m.calls), m.formula/float64(m.calls)
	}
	return out, err
}

// make runs a probe and counts it. A second failure of the same kind is only counted.
func (t *Trial) make(ctx context.Context, w *world, out *Result, p *probe) {
	w.client.takeCount()
	m := p.try(ctx, w)
	out.Cases++
	out.Requests += w.client.takeCount()
	if m == nil || ctx.Err() != nil {
		return
	}
	out.Failed++
	for ; m != nil; m = m.also {
		known := slices.ContainsFunc(out.Failures, func(f Failure) bool { return f.Kind == m.kind })
		if consequence := m.kind == WrongPage && len(out.Failures) > 0; !known && !consequence {
			out.Failures = append(out.Failures, t.failure(ctx, w, out.Name, p, m))
		}
	}
}

// readWorld is the database that reads are tried in.
func (t *Trial) readWorld(ctx context.Context) (*world, error) {
	if t.reads == nil {
		w, err := newWorld(ctx, t.program, t.now, t.records, t.options.Open)
		if err != nil {
			return nil, err
		}
		t.reads = w
	}
	return t.reads, nil
}

func (t *Trial) meter(pattern string) *meter {
	m := t.meters[pattern]
	if m == nil {
		m = &meter{}
		t.meters[pattern] = m
	}
	return m
}

// declare adds the cost model's price with the declared volumes to a read's result.
func (t *Trial) declare(r *lower.Read, out *Result) {
	out.Declared = cost.OfRead(t.design, plan.ForRead(t.design, r.Design)).Units
}

// seedOf gives each pattern its own random numbers.
func seedOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// Error says that nothing of an entity can be read.
func (r *refused) Error() string {
	return fmt.Sprintf("no item of %s can be stored: %v", r.entity.Name, r.err)
}
