package migrate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/align"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/internal/tools/pacing"
)

// DefaultStateTable is the table that records migrations.
const DefaultStateTable = "monotable-migrations"

// Target describes where a migration runs.
type Target struct {
	Client *dynamodb.Client
	// Tables are the real names of tables by the names in the design; the default is the design's physical name.
	Tables     map[string]string
	StateTable string // "" is DefaultStateTable
	Segments   int    // of a Scan
	Units      float64
	Lease      time.Duration // how long a silent run keeps the record; 0 means 20 seconds
	TakeOver   bool          // do not wait for another run's lease
	// Logf is called for each step that was done, Progress with the progress of a pass; nil for none.
	Logf     func(format string, args ...any)
	Progress func(Pass)
}

// Migration is a plan for a target.
type Migration struct {
	plan   *Plan
	o      Target
	record *record
	meter  *pacing.Meter
}

// Errors that explain why a migration does not continue.
var (
	// ErrFindings means that items do not match the design.
	ErrFindings = errors.New("items do not match the design")
	// ErrNotBegun means that nothing is recorded for the migration.
	ErrNotBegun = errors.New("the migration has not started")
)

// Open prepares a migration. Nothing is written yet.
func Open(p *Plan, o Target) (*Migration, error) {
	if len(p.Refusals) > 0 {
		return nil, fmt.Errorf("the plan has %s that cannot be carried out: migrate plan shows what to do instead", plural.Of(len(p.Refusals), "change"))
	}
	names := map[string]string{}
	for _, t := range slices.Concat(p.before.Tables, p.after.Tables) {
		if p.after.Table(t.Name) == nil {
			continue
		}
		physical := o.Tables[t.Name]
		if physical == "" {
			physical = t.Physical
		}
		if strings.Contains(physical, "{") {
			return nil, fmt.Errorf("the table name %q has placeholders: use --table %s=PHYSICAL", physical, t.Name)
		}
		names[t.Name] = physical
	}
	o.Tables = names
	if o.StateTable == "" {
		o.StateTable = DefaultStateTable
	}
	if o.Lease == 0 {
		o.Lease = leaseTime
	}
	if o.Segments < 1 {
		o.Segments = 1
	}
	logf, mu := o.Logf, &sync.Mutex{}
	o.Logf = func(format string, args ...any) { // segments call it concurrently
		mu.Lock()
		defer mu.Unlock()
		if logf != nil {
			logf(format, args...)
		}
	}
	if o.Progress == nil {
		o.Progress = func(Pass) {}
	}
	id, err := identityOf(p, names)
	if err != nil {
		return nil, err
	}
	return &Migration{plan: p, o: o, record: &record{client: o.Client, table: o.StateTable, id: id, lease: o.Lease}, meter: pacing.NewMeter(o.Units)}, nil
}

// identityOf identifies a migration: equal designs and tables mean the same one.
func identityOf(p *Plan, names map[string]string) (string, error) {
	h := sha256.New()
	for _, d := range []*design.Design{p.before, p.after} {
		data, err := d.JSON()
		if err != nil {
			return "", err
		}
		h.Write(data)
	}
	if err := json.NewEncoder(h).Encode(names); err != nil {
		return "", err
	}
	return p.after.Name + "/" + hex.EncodeToString(h.Sum(nil))[:16], nil
}

func tableNames(tables map[string]string) []string { return slices.Sorted(maps.Keys(tables)) }

// run is a migration that holds the lease.
type run struct {
	*Migration

	mu          sync.Mutex
	recorded    [2]float64 // units of the meter that the record includes
	progressing sync.Mutex // held while Progress is called
}

func (m *Migration) table(t *table.Table) *string { return aws.String(m.o.Tables[t.Name]) }

// hold runs a function with the lease, which it renews until the function returns.
func (m *Migration) hold(ctx context.Context, do func(context.Context, *run) error) (err error) {
	r := &run{Migration: m}
	r.recorded[0], r.recorded[1] = m.meter.Spent()
	if err := m.record.ensureTable(ctx); err != nil {
		return fmt.Errorf("the state table %s: %w", m.o.StateTable, err)
	}
	begin := State{Design: m.plan.after.Name, Tables: m.o.Tables, Fills: m.plan.fillTexts, Makes: m.plan.makeTexts}
	if err := m.record.acquire(ctx, begin, m.o.TakeOver); err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		ticker := time.NewTicker(m.o.Lease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := m.record.save(ctx, r.account); errors.Is(err, ErrLost) {
					lost(err)
					return
				}
			}
		}
	}()
	defer func() {
		cause := context.Cause(ctx)
		lost(nil)
		<-beats
		switch {
		case errors.Is(cause, ErrLost), errors.Is(err, ErrLost):
			err = ErrLost
		default:
			// Even if the caller's context is done, so that the next run need not wait. After the lease it would not wait anyway.
			patience := m.o.Lease
			if cause != nil {
				patience = time.Second
			}
			again, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			_ = m.record.save(again, r.account)
			if ended := m.record.end(again); err == nil {
				err = ended
			}
		}
	}()
	if begun := m.record.state; !slices.Equal(m.plan.fillTexts, begun.Fills) || !slices.Equal(m.plan.makeTexts, begun.Makes) {
		return fmt.Errorf("the migration was started with %s: continue with the same flags", flagTexts(begun.Fills, begun.Makes))
	}
	return do(ctx, r)
}

// flagTexts are the flags with values, as they are typed.
func flagTexts(fills, makes []string) string {
	var out []string
	for _, s := range makes {
		out = append(out, "--make "+s)
	}
	for _, s := range fills {
		out = append(out, "--fill "+s)
	}
	return cmp.Or(strings.Join(out, " "), "no --make and no --fill")
}

// account adds what was consumed since the last call to the record.
func (r *run) account(s *State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	read, write := r.meter.Spent()
	s.ReadUnits, s.WriteUnits = s.ReadUnits+read-r.recorded[0], s.WriteUnits+write-r.recorded[1]
	r.recorded = [2]float64{read, write}
}

func (r *record) segments() int { return r.snapshot().Pass.Segments }

// snapshot is a copy of the state.
func (r *record) snapshot() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	if s.Pass != nil {
		p := *s.Pass
		p.Tables = map[string][]cursor{}
		for name, list := range s.Pass.Tables {
			p.Tables[name] = slices.Clone(list)
		}
		s.Pass = &p
	}
	return s
}

func (r *run) progress() {
	r.progressing.Lock()
	defer r.progressing.Unlock()
	if p := r.record.snapshot().Pass; p != nil {
		r.o.Progress(*p)
	}
}

// Status returns the recorded state, and who is running the migration now: "" if no one is. The error is ErrNotBegun if
// there is no record.
func (m *Migration) Status(ctx context.Context) (State, string, error) {
	holder, there, err := m.record.load(ctx)
	if err == nil && !there {
		err = ErrNotBegun
	}
	return m.record.snapshot(), holder, err
}

// Run does everything possible before the next deployment. deployed is the milestone that the application's owner has
// deployed; "" means the recorded one. If the verification finds something, Run returns its report, with ErrFindings.
func (m *Migration) Run(ctx context.Context, deployed Milestone) (report *conform.Report, err error) {
	err = m.hold(ctx, func(ctx context.Context, r *run) error {
		s := m.record.snapshot()
		if s.Finished {
			return nil
		}
		if err := m.advance(ctx, s.Deployed, deployed); err != nil {
			return err
		}
		if !s.Prepared {
			if err := r.prepare(ctx); err != nil {
				return err
			}
			if err := m.record.save(ctx, func(s *State) { s.Prepared = true }); err != nil {
				return err
			}
		}
		at := m.record.snapshot()
		if at.Deployed != DualWrites {
			return nil
		}
		// It is repeated even if it was done before: programs may have omitted a value since.
		if err := m.record.save(ctx, func(s *State) { s.Filled = false }); err != nil {
			return err
		}
		report, err = r.backfill(ctx)
		return err
	})
	return report, err
}

// advance records a milestone. None can be skipped: programs of one step are only safe next to those of the next.
func (m *Migration) advance(ctx context.Context, from, to Milestone) error {
	switch {
	case to == NothingDeployed || to == from:
		return nil
	case to.order() < 0 || to == NewOnly:
		return fmt.Errorf("--deployed %s: want dual-writes or new-reads", to)
	case to != m.plan.following(from):
		return fmt.Errorf("--deployed %s: the next step is %s", to, m.plan.following(from))
	case to == DualWrites && !m.record.snapshot().Prepared:
		return errors.New("run without --deployed first, to create tables and indexes")
	case to == NewReads && m.plan.DualWrites != nil && !m.record.snapshot().Filled:
		return errors.New("--deployed new-reads: not all items are updated yet, so these programs would read incomplete data")
	}
	return m.record.save(ctx, func(s *State) { s.Deployed = to })
}

// prepare creates tables and indexes, and enables the new design's settings.
func (r *run) prepare(ctx context.Context) error {
	d := r.plan.adding.design
	specs := provision.Specs(d, nil)
	kept := specs[:0]
	for i, t := range d.Tables {
		name, ok := r.o.Tables[t.Name]
		if !ok {
			continue // only in the old design
		}
		specs[i].Name, specs[i].Placeholders = name, nil
		if r.plan.before.Table(t.Name) != nil {
			err := active(ctx, r.o.Client, name)
			if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
				return fmt.Errorf("table %s does not exist at this endpoint", name)
			}
			if err != nil {
				return fmt.Errorf("table %s: %w", name, err)
			}
		}
		kept = append(kept, specs[i])
	}
	if err := provision.Apply(ctx, r.o.Client, kept, r.o.Logf); err != nil {
		return err
	}
	for i := range kept {
		if err := active(ctx, r.o.Client, kept[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// passes is the maximum number of walks over items that are not yet complete.
const passes = 3

// backfill brings all items to the new design, and compares them with the transition. The comparison finds what programs
// from before the milestone have left, and another pass fixes it.
func (r *run) backfill(ctx context.Context) (*conform.Report, error) {
	w := &backfill{run: r, shape: r.plan.adding}
	for {
		if err := r.walk(ctx, "backfill", w.tables(), w); err != nil {
			return nil, err
		}
		p := r.record.snapshot().Pass
		r.o.Logf("pass %d over the items: %d seen, %d written, %d left", p.Number, p.Seen, p.Written, p.Skipped)
		report, err := r.check(ctx, r.plan.adding.design, nil)
		if err != nil {
			return nil, err
		}
		if len(report.Findings) == 0 {
			r.o.Logf("all items are ready for the transition")
			return nil, r.record.save(ctx, func(s *State) { s.Filled, s.Pass = true, nil })
		}
		if p.Written == 0 || p.Number >= passes {
			return report, errors.Join(ErrFindings, r.record.save(ctx, func(s *State) { s.Pass = nil })) // the next run starts from the beginning
		}
	}
}

// tables are the tables that have entities to write.
func (b *backfill) tables() []*table.Table {
	return b.shape.tables(func(e *table.Entity) bool { return !b.shape.surplus[e].whole && b.changes(e) })
}

// changes reports whether items of an entity change.
func (b *backfill) changes(e *table.Entity) bool {
	return b.shape.surplus[e].any() || len(b.plan.fills[e.Name])+len(b.plan.createdFrom(e.Name)) > 0
}

func (s *shape) tables(wanted func(*table.Entity) bool) []*table.Table {
	var out []*table.Table
	for _, name := range slices.Sorted(maps.Keys(s.entities)) {
		if slices.ContainsFunc(s.entities[name], wanted) {
			out = append(out, s.entities[name][0].Table)
		}
	}
	return out
}

// Verify compares all items with the current design: the transition once items are written, before that the old design,
// and with final the new one, apart from what the clean-up removes.
func (m *Migration) Verify(ctx context.Context, final bool) (*conform.Report, error) {
	s, _, err := m.Status(ctx)
	if err != nil && !errors.Is(err, ErrNotBegun) {
		return nil, err
	}
	switch {
	case s.Finished:
		return m.check(ctx, m.plan.after, nil)
	case final || s.Deployed == NewOnly:
		return m.check(ctx, m.plan.after, m.plan.leaving)
	case s.Deployed == NewReads:
		return m.check(ctx, m.plan.leaving.design, nil)
	case s.Filled || s.Deployed == DualWrites:
		return m.check(ctx, m.plan.adding.design, nil)
	default:
		return m.check(ctx, m.plan.before, nil)
	}
}

// check compares items with a design, in the form they will have after the clean-up of leaving, if that is not nil.
func (m *Migration) check(ctx context.Context, d *design.Design, leaving *shape) (*conform.Report, error) {
	items := map[string]conform.Pass{}
	for _, t := range d.Tables {
		name, ok := m.o.Tables[t.Name]
		if !ok {
			continue
		}
		s, err := source.OpenTable(ctx, m.o.Client, name, m.o.Segments)
		if err != nil {
			return nil, err
		}
		s.Consumed = func(ctx context.Context, c types.ConsumedCapacity) error { return m.meter.Spend(ctx, true, c) }
		items[t.Name] = func() iter.Seq2[table.Item, error] {
			return func(yield func(table.Item, error) bool) {
				for item, err := range s.Items(ctx) {
					if err == nil && leaving != nil {
						if item = leaving.left(t.Name, item).without(item); item == nil {
							continue
						}
					}
					if !yield(item, err) {
						return
					}
				}
			}
		}
	}
	report, err := conform.Check(d, items, conform.Options{Examples: 5, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	if d == m.plan.adding.design {
		m.findUndeclared(report)
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f *conform.Finding) bool {
		of := expiring(d, f)
		if of != "" {
			m.o.Logf("%s of %s differs from the number or sum of the %s items, which expire: the migration leaves it as it is", f.Subject, plural.Of(int(f.Items), "item"), of)
		}
		return of != ""
	})
	return report, nil
}

// expiring is the entity whose items a wrong counter counts, if they expire: DynamoDB removes them without changing the counter, so it
// may well be wrong, and a migration does not change it either.
func expiring(d *design.Design, f *conform.Finding) string {
	owner, field, _ := strings.Cut(f.Subject, ".")
	e := d.Entity(owner)
	if f.Kind != conform.WrongCount || e == nil {
		return ""
	}
	for _, c := range e.Counters {
		if c.Field == field && d.Entity(c.Of).TTL != nil {
			return c.Of
		}
	}
	return ""
}

// findUndeclared finds attributes that would be lost: attributes without a field, in items that move to another key.
func (m *Migration) findUndeclared(report *conform.Report) {
	for _, t := range report.Tables {
		for _, a := range t.Undeclared {
			o, n := m.plan.before.Entity(a.Entity), m.plan.after.Entity(a.Entity)
			if o == nil || n == nil || align.SameKey(o.Key, n.Key) {
				continue
			}
			report.Findings = append(report.Findings, &conform.Finding{
				Kind: conform.Unknown, Subject: a.Entity + "." + a.Attribute, Items: a.Items,
				Examples: []conform.Example{{Table: t.Table, Message: "no field declares this attribute, so it does not move to the new key: declare it as a field, or remove it"}},
			})
		}
	}
}

// Finish removes what only the old design has, once everything else matches the new design. Calling it states that only
// programs of the new design are in use.
func (m *Migration) Finish(ctx context.Context) (report *conform.Report, err error) {
	err = m.hold(ctx, func(ctx context.Context, r *run) error {
		s := m.record.snapshot()
		if s.Finished {
			return nil
		}
		switch next := m.plan.following(s.Deployed); {
		case !s.Prepared:
			return errors.New("use run first: tables and indexes do not exist yet")
		case m.plan.DualWrites != nil && !s.Filled:
			return errors.New("use run first: not all items are updated yet")
		case s.Deployed != NewOnly && next != NewOnly:
			return fmt.Errorf("use run --deployed %s first", next)
		}
		if s.Deployed != NewOnly {
			if report, err = r.clean(ctx, r.plan.leaving); err != nil {
				return err
			}
			if err := m.record.save(ctx, func(s *State) { s.Deployed = NewOnly }); err != nil {
				return err
			}
		}
		if err := r.drop(ctx); err != nil {
			return err
		}
		w := &finish{run: r, shape: m.plan.leaving}
		if tables := w.tables(); len(tables) > 0 {
			if err := r.walk(ctx, "finish", tables, w); err != nil {
				return err
			}
			p := m.record.snapshot().Pass
			r.o.Logf("%d items seen, %d of them cleaned up or deleted", p.Seen, p.Written)
		}
		if report, err = r.clean(ctx, nil); err != nil {
			return err
		}
		if err := m.record.release(ctx); err != nil {
			return err
		}
		return m.record.save(ctx, func(s *State) { s.Finished, s.Pass = true, nil })
	})
	return report, err
}

// clean requires all items to match the new design, except for what the clean-up of leaving removes.
func (r *run) clean(ctx context.Context, leaving *shape) (*conform.Report, error) {
	report, err := r.check(ctx, r.plan.after, leaving)
	if err == nil && len(report.Findings) > 0 {
		err = ErrFindings
	}
	return report, err
}

func (f *finish) tables() []*table.Table {
	return f.shape.tables(func(e *table.Entity) bool {
		more := f.shape.surplus[e]
		unmatched := 0
		for _, list := range more.unmatched {
			unmatched += len(list)
		}
		return more.whole || len(more.copies)+len(more.markers)+len(more.entered)+unmatched > 0
	})
}

// drop deletes the indexes that only the old design has, one at a time, before the items change, because writing to
// indexes costs.
func (r *run) drop(ctx context.Context) error {
	for _, t := range r.plan.before.Tables {
		name, ok := r.o.Tables[t.Name]
		if !ok {
			continue
		}
		for _, index := range r.plan.goneIndexes(t.Name) {
			if err := active(ctx, r.o.Client, name); err != nil {
				return err
			}
			out, err := r.o.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(out.Table.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool { return *x.IndexName == index }) {
				continue
			}
			r.o.Logf("%s: deleting the index %s", name, index)
			if _, err := r.o.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
				TableName:                   &name,
				GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &index}}},
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
