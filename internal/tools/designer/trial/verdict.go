package trial

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// verdict is the expected outcome of a write.
type verdict struct {
	// refusals are the errors with which it may fail, and invalid says why its input is invalid; both empty if it must
	// succeed.
	refusals []error
	invalid  string
	// replayed is set if it must do nothing because the request was executed before.
	replayed bool
	effects  []*effect
	// records are the records after it.
	records []*record
	// ghosts are the keys of items that may be left over: of expired items that were replaced and that DynamoDB has not
	// removed yet.
	ghosts map[string]bool
	// requestOf is the record of an idempotent write; only the write knows its fingerprint.
	requestOf *record
	// miscounts is set if it replaces an expired item that is counted: the counters still count it.
	miscounts bool
}

func (v *verdict) ok() bool { return len(v.refusals) == 0 && v.invalid == "" }

// judgeWrite computes the expected outcome of a write from the current records. created is what it has returned, nil
// before it ran.
func (w *world) judgeWrite(run *lower.Write, in table.Input, created *table.Outcome) (*verdict, error) {
	v := &verdict{ghosts: map[string]bool{}}
	if run.Run.Lines && len(in.Lines) == 0 {
		v.invalid = "there are no lines"
		return v, nil
	}
	effects, err := w.effects(run, in, created)
	if isInvalid(err) {
		v.invalid = err.Error()
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.effects = effects
	touched := map[uint64]bool{}
	for _, e := range v.effects {
		if touched[e.identity] {
			v.invalid = "two steps are on the same item"
			return v, nil
		}
		touched[e.identity] = true
	}
	if i := run.Design.Idempotent; i != nil {
		if w.record(run, in, v) {
			return v, nil
		}
	}
	for _, e := range v.effects {
		v.refusals = append(v.refusals, e.refusals...)
		if e.next != nil && e.next != e.old && len(e.refusals) == 0 {
			if _, err := e.next.items(); err != nil {
				v.invalid = err.Error() // it may be reported before or after a failed condition
			}
		}
		if len(e.refusals) > 0 {
			v.invalid = cmp.Or(v.invalid, e.unkeyable()) // keys are rendered before the failing request
		}
	}
	if v.invalid == "" {
		w.settle(v)
	}
	return v, nil
}

// effects are the effects of the steps; repeated steps have one per line.
func (w *world) effects(run *lower.Write, in table.Input, created *table.Outcome) ([]*effect, error) {
	var out []*effect
	for i, s := range run.Design.Steps {
		lines := []int{-1}
		if s.Each {
			lines = lines[:0]
			for n := range in.Lines {
				lines = append(lines, n)
			}
		}
		for _, line := range lines {
			c := change{program: w.program, in: in, now: w.now, created: created, step: s, run: &run.Run.Steps[i], at: i, line: line}
			e, err := c.effect(w.records)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// record adds the creation of an idempotent write's record, and reports whether the request was executed before.
func (w *world) record(run *lower.Write, in table.Input, v *verdict) (done bool) {
	i := run.Design.Idempotent
	e := w.program.Design.Entity(i.With)
	r := newRecord(w.program, e)
	for _, f := range e.Fields {
		value, err := w.recorded(f, e, in, v.effects)
		if err != nil {
			v.invalid = err.Error()
			return true
		}
		if value != nil {
			r.values[f.Name] = value
		}
	}
	own := &effect{change: change{program: w.program, in: in, now: w.now, line: -1, at: -1}, identity: r.identity(), next: r}
	for _, known := range w.records {
		if known.entity == e && known.identity() == own.identity {
			own.old = known
		}
	}
	if own.old != nil && !own.old.expired(w.now.Unix()) {
		if before, known := w.requests[own.identity]; len(i.Request) > 0 && (!known || before != w.fingerprint(run, in)) {
			v.refusals = []error{errorOr(run.Run.Idempotent.Reused, table.ErrReused)}
		} else {
			v.replayed, v.records = true, w.records
		}
		return true
	}
	v.requestOf = r
	v.effects = append([]*effect{own}, v.effects...)
	return false
}

// recorded is the value of a field in an idempotent write's record: the input of that name, otherwise a known field,
// otherwise the time.
func (w *world) recorded(f *design.Field, e *design.Entity, in table.Input, effects []*effect) (types.AttributeValue, error) {
	switch {
	case f.Name == "request":
		return textValue("?"), nil // computed by the write
	case in.Values[f.Name] != nil:
		return in.Values[f.Name], nil
	}
	if v := knownValue(f.Name, effects); v != nil {
		return v, nil
	}
	switch {
	case e.TTL != nil && e.TTL.Field == f.Name && e.TTL.After > 0:
		return timeAs(f.Type, w.now.Add(e.TTL.After)), nil
	case f.Type.Kind == design.KindTime || f.Type.Kind == design.KindDate:
		return timeAs(f.Type, w.now), nil
	case f.Optional || collects(f.Type):
		return nil, nil //nolint:nilnil // an optional field without a value is absent
	default:
		return nil, invalid("%s is missing", f.Name)
	}
}

// knownValue is the value of a field of an item that the write touches once: of a created item, or of the key of another.
func knownValue(field string, effects []*effect) types.AttributeValue {
	for _, created := range effects {
		creates := created.step.Action == design.Create || created.step.Action == design.Put
		if created.line < 0 && creates && created.next.values[field] != nil {
			return created.next.values[field]
		}
	}
	for _, other := range effects {
		if key, err := other.key(); other.line < 0 && err == nil && key[field] != nil {
			return key[field]
		}
	}
	return nil
}

// fingerprint distinguishes the requests of idempotent writes, including requests of different writes.
func (w *world) fingerprint(run *lower.Write, in table.Input) string {
	var out strings.Builder
	out.WriteString(run.Design.Name + ";")
	for _, name := range run.Design.Idempotent.Request {
		out.WriteString(name + "=")
		writeCanonical(&out, in.Values[name])
		if name == "lines" {
			for _, line := range in.Lines {
				writeCanonical(&out, &types.AttributeValueMemberM{Value: line})
			}
		}
	}
	return out.String()
}

// settle computes the records after the effects: unique values must be free, and counters follow the counted items.
func (w *world) settle(v *verdict) {
	gone := map[*record]bool{}
	for _, e := range v.effects {
		if e.old != nil && e.old != e.next {
			gone[e.old] = true
		}
		if e.next != nil && e.old.expired(w.now.Unix()) && (e.step == nil || e.step.Action == design.Create) {
			v.addGhost(e.old)
		}
	}
	after := slices.DeleteFunc(slices.Clone(w.records), func(r *record) bool { return gone[r] })
	made := map[*record]bool{}
	for _, e := range v.effects {
		if e.next == nil || e.next == e.old {
			continue
		}
		after = append(slices.DeleteFunc(after, func(r *record) bool {
			clash, fault := e.clashes(r)
			expired := r.expired(w.now.Unix()) && !made[r]
			switch {
			case clash && made[r]:
				v.invalid = "two items of the write have the same unique value" // rejected before the request
			case clash && expired:
				v.addGhost(r)
			case clash:
				v.refusals = append(v.refusals, fault)
			}
			return clash && expired
		}), e.next)
		made[e.next] = true
	}
	if !v.ok() {
		return
	}
	v.records = w.counters(v, after)
	for i, r := range v.records {
		if r == after[i] {
			continue
		}
		if _, err := r.items(); err != nil {
			v.invalid = err.Error() // a counter can become too large or too small for a key
		}
	}
	for _, e := range v.effects {
		if e.next == nil {
			continue
		}
		for i, r := range v.records {
			if r != e.next && r.entity == e.next.entity && r.identity() == e.identity {
				e.next = v.records[i] // with updated counters
			}
		}
		if _, err := e.next.items(); err != nil {
			v.invalid = err.Error()
		}
	}
}

// addGhost allows the items of a record to be left over.
func (v *verdict) addGhost(r *record) {
	items, err := r.items()
	if err != nil {
		return
	}
	v.miscounts = v.miscounts || len(r.run.Counts) > 0
	for _, it := range items {
		v.ghosts[keyOf(r.run.Table, it)] = true
	}
}

// clashes reports whether the item of an effect takes a unique value from another item, with the error for that.
func (e *effect) clashes(other *record) (bool, error) {
	if other.entity != e.next.entity {
		return false, nil
	}
	if other.identity() == e.next.identity() {
		return true, errorOr(e.next.run.Exists, table.ErrExists)
	}
	for i, m := range other.markers() {
		if m == e.next.markers()[i] {
			return true, errorOr(e.next.run.Markers[i].Taken, table.ErrExists)
		}
	}
	return false, nil
}

// counters are the records with the counters that the effects change; the counters' items must exist.
func (w *world) counters(v *verdict, after []*record) []*record {
	for _, e := range v.effects {
		v.refusals = append(v.refusals, w.uncounted(e.old, e.next, after)...)
	}
	out := recounted(w.program, after)
	for i, r := range out {
		if r != after[i] { // its counters may be summed into other counters
			v.refusals = append(v.refusals, w.uncounted(after[i], r, after)...)
		}
	}
	return out
}

// uncounted are the errors for counters that the change of a record changes if their items do not exist.
func (w *world) uncounted(old, next *record, after []*record) []error {
	var out []error
	for _, side := range []struct{ r, other *record }{{old, next}, {next, old}} {
		if side.r == nil || side.r == side.other {
			continue
		}
		for _, holder := range w.program.Design.Entities {
			for _, c := range holder.Counters {
				if c.Of != side.r.entity.Name {
					continue
				}
				n := tally(w.program.Design, holder, side.r, c)
				if n.IsZero() || side.other != nil && holderOf(holder, side.r, c) == holderOf(holder, side.other, c) && tally(w.program.Design, holder, side.other, c).Cmp(n) == 0 {
					continue
				}
				if !slices.ContainsFunc(after, func(h *record) bool { return h.entity == holder && countedBy(h, side.r, c) }) {
					out = append(out, errorOr(w.program.Entity(holder.Name).NotFound, table.ErrNotFound))
				}
			}
		}
	}
	return out
}

// misses compares the outcome of a write with the verdict; nil if they agree.
func (v *verdict) misses(out table.Outcome, err error) *mismatch {
	refusal, refused := errors.AsType[*table.Refusal](err)
	switch {
	case err == nil && v.replayed && !out.Replayed:
		return &mismatch{kind: WrongWrite, got: "it was executed again", want: "the first result, since the request is a retry"}
	case err == nil && !v.replayed && out.Replayed:
		return &mismatch{kind: WrongWrite, got: "it was treated as a retry", want: "it is not a retry"}
	case err == nil && v.ok():
		return nil
	case err == nil && v.invalid != "":
		return &mismatch{kind: Failed, got: "it succeeded", want: "an error: " + v.invalid}
	case err == nil:
		return &mismatch{kind: Failed, got: "it succeeded", want: fmt.Sprintf("rejected: %v", errors.Join(v.refusals...))}
	case v.ok():
		return &mismatch{kind: Failed, got: err.Error(), want: "done"}
	case refused && slices.ContainsFunc(v.refusals, func(want error) bool { return errors.Is(refusal.Err, want) }):
		return nil
	case !refused && v.invalid != "":
		return nil
	case refused && v.invalid != "" && len(v.refusals) == 0:
		return nil // it was rejected before its input was checked as a whole
	default:
		return &mismatch{kind: Failed, got: err.Error(), want: fmt.Sprintf("rejected: %v %s", errors.Join(v.refusals...), v.invalid)}
	}
}
