package write

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// maxActions is how many items a transaction touches at most.
const maxActions = 100

// Attempt is one attempt of a write.
type Attempt struct {
	*Call
	effects []*effect
	// replayed is what the idempotency record says of a repetition.
	replayed *schema.Outcome
	read     reader
}

// reader reads items of a table by their primary keys, consistently: in their order, nil or empty for one that is not there.
type reader func(t *schema.Table, keys []schema.Item) ([]schema.Item, error)

// NewAttempt makes an attempt.
func (r *Call) NewAttempt() *Attempt {
	a := &Attempt{Call: r}
	for _, c := range r.changes {
		a.effects = append(a.effects, newEffect(c, r.learned))
	}
	return a
}

// Plan is the operations of the attempt, which reads the items that they depend on. Without an operation the outcome is known
// already: a repetition, or what was to be deleted is not there.
func (a *Attempt) Plan(read reader) ([]*Operation, schema.Outcome, error) {
	a.read = read
	if err := a.prepare(); err != nil {
		return nil, schema.Outcome{}, err
	}
	if a.replayed != nil {
		return nil, *a.replayed, nil
	}
	ops, err := a.operations()
	if err != nil {
		return nil, schema.Outcome{}, err
	}
	if !slices.ContainsFunc(ops, func(o *Operation) bool { return o.role != nothing }) {
		return nil, a.Outcome(nil), nil
	}
	return ops, schema.Outcome{}, nil
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
			return err
		}
	}
	if len(unread) > 0 {
		if err := a.look(unread); err != nil || a.replayed != nil {
			return err
		}
		if first := a.effects[0]; first.doomed {
			return a.refusedItself(first, first.old) // nothing is refused before it
		}
	}
	if err := a.count(); err != nil || a.replayed != nil {
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
				return e.fault(err)
			}
		}
		if len(unread) == 0 {
			return nil
		}
		if err := a.look(unread); err != nil || a.replayed != nil {
			return err
		}
	}
}

// look reads the items of effects as they are now. The idempotency record is read along: what another request with its key
// has done since may be why an item is gone.
func (a *Attempt) look(effects []*effect) error {
	if record := a.effects[0]; record.number < 0 && !slices.Contains(effects, record) {
		effects = append([]*effect{record}, effects...)
	}
	for _, group := range byTable(effects) {
		found, err := a.read(group[0].entity.Table, schema.Each(group, func(e *effect) schema.Item { return e.primary }))
		if err != nil {
			return err
		}
		for i, e := range group {
			if len(found[i]) == 0 {
				found[i] = nil
			}
			if e.number < 0 && e.action == schema.Create {
				if found[i] == nil || e.entity.Expired(found[i], a.now.Unix()) {
					continue
				}
				out, err := a.replay(e, found[i])
				a.replayed = &out
				return err
			}
			if err := e.see(found[i]); err != nil {
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

// operations are all operations in the order of their effects. Two on one item, and more than a transaction holds, are
// refused.
func (a *Attempt) operations() ([]*Operation, error) {
	var ops []*Operation
	met := map[string]*Operation{}
	for _, e := range a.effects {
		for _, o := range e.ops {
			id := o.identity()
			if before := met[id]; before != nil {
				return nil, a.twice(before.of.change, e.change, before.noun, o.noun)
			}
			met[id] = o
			ops = append(ops, o)
		}
	}
	if len(ops) > maxActions && !a.Write.Batch {
		return nil, a.tooMany(ops)
	}
	return ops, nil
}

// distinct refuses steps and lines that are about one item.
func (r *Call) distinct() error {
	met := map[string]*change{}
	for _, c := range r.changes {
		id := c.entity.Table.IdentityOf(c.primary)
		if before := met[id]; before != nil {
			return r.twice(before, c, before.entity.Name, c.entity.Name)
		}
		met[id] = c
	}
	return nil
}

// twice is the error of two changes that touch one item, which no transaction may.
func (r *Call) twice(a, b *change, first, second string) error {
	what := first
	if second != first {
		what += ", " + second
	}
	switch {
	case a.line >= 0 && b.line >= 0 && a.line != b.line:
		return fmt.Errorf("%w: lines %d and %d are about one item (%s)", schema.ErrLines, a.line+1, b.line+1, what)
	case a.line >= 0 || b.line >= 0:
		return fmt.Errorf("%w: line %d is about an item of another step (%s)", schema.ErrLines, max(a.line, b.line)+1, what)
	}
	fields := schema.FieldsOf(b.entity.Key)
	name := strings.Join(fields, ", ")
	if name == "" {
		name = b.entity.Name
	}
	return &schema.ValueError{Field: name, Reason: fmt.Sprintf("makes steps %s and %s touch one item (%s), which a write does once", r.step(a), r.step(b), what)}
}

// step is a change's step for people: its name, or else its number.
func (r *Call) step(c *change) string {
	if c.number < 0 {
		return "0, the idempotency record," // it precedes those of the design
	}
	if name := r.Write.Steps[c.number].Name; name != "" {
		return name
	}
	return strconv.Itoa(c.number + 1)
}

// tooMany is the error of a transaction with too many operations: it says how many of what there are.
func (a *Attempt) tooMany(ops []*Operation) error {
	var nouns []string
	counts := map[string]int{}
	for _, o := range ops {
		if counts[o.noun] == 0 {
			nouns = append(nouns, o.noun)
		}
		counts[o.noun]++
	}
	for i, noun := range nouns {
		nouns[i] = strconv.Itoa(counts[noun]) + " × " + noun
	}
	err := fmt.Errorf("the write has %d actions, and a transaction holds %d: %s", len(ops), maxActions, strings.Join(nouns, ", "))
	if a.Write.Lines {
		return fmt.Errorf("%w: %w", schema.ErrLines, err)
	}
	return err
}

// Outcome is what the attempt did. updated are the attributes of the item of a single update.
func (a *Attempt) Outcome(updated schema.Item) schema.Outcome {
	out := schema.Outcome{Items: make([][]schema.Values, len(a.Write.Steps))}
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
		}
		out.Items[e.number] = append(out.Items[e.number], v)
	}
	return out
}
