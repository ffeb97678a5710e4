package write

import (
	"errors"
	"slices"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// maxActions is the maximum number of items in a transaction.
const maxActions = 100

// Attempt is one attempt of a transaction.
type Attempt struct {
	*Transaction
	effects []*effect
	// replayed are the idempotency records of a repetition, by call.
	replayed map[*Call]schema.Values
	// counted and counts are calls of which one must precede the other: see merge.
	counted, counts map[*Call]bool
	read            reader
}

// reader reads items of a table by primary key, with strong consistency: in the order of the keys, nil or empty for missing
// ones.
type reader func(t *schema.Table, keys []schema.Item) ([]schema.Item, error)

// NewAttempt starts an attempt.
func (t *Transaction) NewAttempt() *Attempt {
	a := &Attempt{Transaction: t, replayed: map[*Call]schema.Values{}, counted: map[*Call]bool{}, counts: map[*Call]bool{}}
	for _, r := range t.calls {
		for _, c := range r.changes {
			a.effects = append(a.effects, newEffect(c, t.learned))
		}
	}
	return a
}

// Plan returns the operations of the attempt, after reading the items that they depend on. If there are no operations, the
// outcomes are known already: the call is a repetition, or the item to be deleted does not exist.
func (a *Attempt) Plan(read reader) ([]*Operation, []schema.Outcome, error) {
	a.read = read
	if err := a.prepare(); err != nil {
		return nil, nil, err
	}
	if a.isRepetition() {
		return nil, a.repetition(), nil
	}
	ops, err := a.operations()
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(ops, func(o *Operation) bool { return o.role != missingItem }) {
		return nil, a.Outcomes(nil), nil
	}
	return ops, nil, nil
}

// prepare makes the operations of all effects, and reads the items that they depend on.
func (a *Attempt) prepare() error {
	var unread []*effect
	for _, e := range a.effects {
		_, err := e.movements()
		if err == nil {
			err = e.derive()
		}
		if errors.Is(err, errUnread) {
			unread = append(unread, e)
		} else if err != nil {
			return e.fault(err)
		}
	}
	unread = append(unread, a.unreturned()...)
	if len(unread) > 0 {
		if err := a.look(unread); err != nil || a.isRepetition() {
			return err
		}
		if first := a.effects[0]; first.rejected {
			return a.ownRefusal(first, first.old) // missingItem can fail before it
		}
	}
	if err := a.count(); err != nil || a.isRepetition() {
		return err
	}
	for {
		unread = unread[:0]
		for _, e := range a.effects {
			if e.planned {
				continue
			}
			err := e.derive()
			switch {
			case errors.Is(err, errUnread) && !e.read:
				unread = append(unread, e)
			case err != nil:
				return a.fault(e, err)
			}
		}
		if len(unread) == 0 {
			return nil
		}
		if err := a.look(unread); err != nil || a.isRepetition() {
			return err
		}
	}
}

// fault is the error of an effect that cannot be written. If that is because of a counter, the cause may be a change that will be
// rejected and so must not be counted: items that were not read yet are read to find out.
func (a *Attempt) fault(of *effect, err error) error {
	if !of.moved {
		return of.fault(err)
	}
	unread := slices.DeleteFunc(slices.Clone(a.effects), func(e *effect) bool { return e.read || e.isRecord() })
	if lookErr := a.look(unread); lookErr != nil || a.isRepetition() {
		return lookErr
	}
	for _, e := range a.effects {
		if e.isRecord() {
			continue
		}
		if refusal := a.ownRefusal(e, e.old); !errors.Is(refusal, ErrAgain) {
			return refusal
		}
	}
	return of.fault(err)
}

// unreturned is the effect of an accompanied write that alone would be one UpdateItem: a transaction does not return the item, so
// it must be read unless the input has all of its fields.
func (a *Attempt) unreturned() []*effect {
	if !a.accompanied || a.effects[0].call != a.calls[0] || len(a.effects) > 1 && a.effects[1].call == a.calls[0] {
		return nil
	}
	e := a.effects[0]
	if !e.planned || len(e.ops) != 1 || e.ops[0].Kind != updating || e.known() != nil {
		return nil
	}
	return []*effect{e}
}

// known are the fields of an item after its change, if the input has all of them; otherwise nil.
func (e *effect) known() schema.Values {
	out := schema.Values{}
	for i := range e.entity.Fields {
		name := e.entity.Fields[i].Name
		v, known := e.after(name)
		if !known {
			return nil
		}
		if v != nil {
			out[name] = v
		}
	}
	return out
}

// look reads the current items of effects. It also reads idempotency records: a concurrent request with the same key may be
// the reason why an item is gone.
func (a *Attempt) look(effects []*effect) error {
	var records []*effect
	for _, e := range a.effects {
		if e.isRecord() && !slices.Contains(effects, e) {
			records = append(records, e)
		}
	}
	effects = append(records, effects...)
	found := map[*effect]schema.Item{}
	for _, group := range byTable(effects) {
		items, err := a.read(group[0].entity.Table, schema.Each(group, func(e *effect) schema.Item { return e.primary }))
		if err != nil {
			return err
		}
		for i, e := range group {
			if len(items[i]) > 0 {
				found[e] = items[i]
			}
		}
	}
	for _, e := range effects {
		if old := found[e]; e.isRecord() && old != nil && !e.entity.Expired(old, a.now.Unix()) {
			if err := a.replay(e, old); err != nil {
				return err
			}
		}
	}
	if a.isRepetition() {
		return nil
	}
	for _, e := range effects {
		if !e.isRecord() {
			if err := e.see(found[e]); err != nil {
				return e.fault(err)
			}
		}
	}
	return nil
}

// byTable groups effects by the tables of their items.
func byTable(effects []*effect) [][]*effect {
	var out [][]*effect
	for _, e := range effects {
		i := slices.IndexFunc(out, func(group []*effect) bool { return group[0].entity.Table.Name == e.entity.Table.Name })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], e)
	}
	return out
}

// operations are all operations in the order of their effects. It rejects two on one item, and more than a transaction allows.
func (a *Attempt) operations() ([]*Operation, error) {
	var ops []*Operation
	met := map[string]*Operation{}
	for _, e := range a.effects {
		for _, o := range e.ops {
			id := o.identity()
			if before := met[id]; before != nil {
				return nil, twoChanges(before.of.change, e.change, before.noun, o.noun, e.entity.Table.KeyIn(o.Item))
			}
			met[id] = o
			ops = append(ops, o)
		}
	}
	if len(ops) > maxActions && !a.Batch() {
		return nil, a.tooMany(ops)
	}
	return ops, nil
}

// Outcomes are the outcomes of the calls, in the order in which they were given. updated are the attributes of the item of a
// single update.
func (a *Attempt) Outcomes(updated schema.Item) []schema.Outcome {
	out := make([]schema.Outcome, len(a.calls))
	for i := range out {
		out[i].Items = make([][]schema.Values, len(a.given[i].Write.Steps))
	}
	for _, e := range a.effects {
		if e.number < 0 || e.counters {
			continue
		}
		var v schema.Values
		switch {
		case e.creates():
			v = e.entity.ValuesOf(e.ops[0].Item)
		case e.action != schema.Update && e.action != schema.Upsert || e.refusedAs == schema.Check:
		case updated != nil:
			v = e.entity.ValuesOf(updated)
		case e.read:
			v = e.will
		case a.accompanied:
			v = e.known()
		}
		items := out[slices.Index(a.given, e.call)].Items
		items[e.number] = append(items[e.number], v)
	}
	return out
}
