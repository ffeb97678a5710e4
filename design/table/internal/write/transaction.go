package write

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Transaction is a set of calls that are executed atomically: one, or several composed by the caller. Several act like one
// write with the steps of all: each condition applies to the state before.
type Transaction struct {
	given []*Call
	// calls are in an order that does not depend on the one in which they were given, so that the outcome does not either.
	calls   []*Call
	now     time.Time
	learned *learned
	// accompanied is set if the last call is a companion of the others.
	accompanied bool
}

// learned is what attempts have found out about items that cannot be known before, by identity.
type learned struct {
	foreign map[string]bool // markers that belong to other items by now: they are not deleted
	lost    map[string]bool // missing copies: they are put
}

// Alone is a transaction with one call.
func Alone(r *Call) *Transaction {
	calls := []*Call{r}
	return &Transaction{given: calls, calls: calls, now: r.now, learned: &learned{map[string]bool{}, map[string]bool{}}}
}

// Batch reports whether items are written individually, without a transaction.
func (t *Transaction) Batch() bool { return t.calls[0].Write.Batch }

// Compose makes one transaction of several calls. It rejects calls with steps on the same item.
func Compose(calls []*Call) (*Transaction, error) {
	t := Alone(calls[0])
	t.given = calls
	t.calls = slices.SortedStableFunc(slices.Values(calls), func(a, b *Call) int {
		return cmp.Or(strings.Compare(a.Write.Pattern, b.Write.Pattern), bytes.Compare(a.canonical(), b.canonical()))
	})
	var all []*change
	for _, r := range t.calls {
		if r.Write.Batch {
			return nil, r.fault(fmt.Errorf("a batch is not a transaction and cannot be part of one"))
		}
		all = append(all, r.changes...)
	}
	if len(calls) > 1 {
		if err := t.fingerprint(); err != nil {
			return nil, err
		}
	}
	return t, distinct(all)
}

// Accompany adds a call that is executed with the others if they are executed. Idempotency records do not cover it: a
// repetition may have a different companion, and does not execute it.
func (t *Transaction) Accompany(also *Call) error {
	if t.Batch() || also.Write.Batch || also.Write.Idempotent != nil {
		return errors.New("a batch takes no companion along, and neither a batch nor an idempotent write is one")
	}
	t.calls, t.given = append(slices.Clone(t.calls), also), append(slices.Clone(t.given), also)
	t.accompanied = true
	var all []*change
	for _, r := range t.calls {
		all = append(all, r.changes...)
	}
	return distinct(all)
}

// canonical is the same for calls of one write with the same input.
func (r *Call) canonical() []byte {
	lines := schema.Each(r.Input.Lines, given)
	return schema.AppendValue(schema.AppendValue(nil, given(r.Input.Values)), &types.AttributeValueMemberL{Value: lines})
}

// given are the inputs that are set, as a map.
func given(v schema.Values) types.AttributeValue {
	out := maps.Clone(v)
	maps.DeleteFunc(out, func(_ string, v types.AttributeValue) bool { return v == nil })
	return &types.AttributeValueMemberM{Value: out}
}

// fingerprint makes idempotency records identify the whole transaction, as opposed to other transactions and to its individual
// calls: a repetition must repeat all. For a call that keeps no record, all inputs are compared.
func (t *Transaction) fingerprint() error {
	var all []byte
	for _, r := range t.calls {
		if i := r.Write.Idempotent; i == nil {
			all = append(schema.AppendText(all, schema.TagText, r.Write.Pattern), r.canonical()...)
		} else if len(i.Request) == 0 {
			return r.fault(fmt.Errorf("its record does not contain the request, so a transaction cannot recognise a retry: add request to idempotent"))
		} else {
			all = schema.AppendText(all, schema.TagText, r.fingerprint())
		}
	}
	sum := sha256.Sum256(all)
	for _, r := range t.calls {
		if r.Write.Idempotent != nil {
			record := r.changes[0]
			record.values[requestField] = &types.AttributeValueMemberS{Value: hex.EncodeToString(sum[:])}
		}
	}
	return nil
}

// CallError is the error of one call in a transaction.
type CallError struct {
	Call *Call
	Err  error
}

func (e *CallError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *CallError) Unwrap() error { return e.Err }

func (r *Call) fault(err error) error {
	if _, wrapped := err.(*CallError); wrapped { //nolint:errorlint // it is only wrapped here
		return err
	}
	return &CallError{r, err}
}

// merge decides whether a counter that one call changes may be changed in the step of another, which then acts as if it came
// first: its condition and values refer to the old counter. If there is no order of the calls in which that holds for all,
// they are rejected.
func (a *Attempt) merge(by, e *effect) error {
	if e.counters || e.rejected || by.call == e.call {
		return nil
	}
	if a.counted[by.call] || a.counts[e.call] || e.action == schema.Delete {
		return twoChanges(by.change, e.change, "count of "+e.entity.Name, e.entity.Name, e.entity.Table.KeyIn(e.primary))
	}
	a.counts[by.call], a.counted[e.call] = true, true
	return nil
}

// distinct rejects steps and lines on the same item.
func distinct(changes []*change) error {
	met := map[string]*change{}
	for _, c := range changes {
		id := c.entity.Table.IdentityOf(c.primary)
		if before := met[id]; before != nil {
			return twoChanges(before, c, before.entity.Name, c.entity.Name, c.entity.Table.KeyIn(c.primary))
		}
		met[id] = c
	}
	return nil
}

// twoChanges is the error for two changes of one item, which a transaction does not allow.
func twoChanges(a, b *change, first, second, item string) error {
	if a.call != b.call {
		return fmt.Errorf("%w: %s (%s) and %s (%s) touch item %s", schema.ErrOverlap, a.call.Write.Pattern, first, b.call.Write.Pattern, second, item)
	}
	what := first
	if second != first {
		what += ", " + second
	}
	switch {
	case a.line >= 0 && b.line >= 0 && a.line != b.line:
		return fmt.Errorf("%w: lines %d and %d touch one item (%s)", schema.ErrLines, a.line+1, b.line+1, what)
	case a.line >= 0 || b.line >= 0:
		return fmt.Errorf("%w: line %d touches the item of another step (%s)", schema.ErrLines, max(a.line, b.line)+1, what)
	}
	fields := schema.FieldsOf(b.entity.Key)
	name := strings.Join(fields, ", ")
	if name == "" {
		name = b.entity.Name
	}
	return &schema.ValueError{Field: name, Reason: fmt.Sprintf("makes steps %s and %s touch one item (%s): a write can touch an item only once", a.step(), b.step(), what)}
}

// step is the change's step in messages: its name, or otherwise its number.
func (c *change) step() string {
	if c.number < 0 {
		return "0, the idempotency record," // it precedes those of the design
	}
	if name := c.call.Write.Steps[c.number].Name; name != "" {
		return name
	}
	return strconv.Itoa(c.number + 1)
}

// tooMany is the error for a transaction with too many operations: it lists how many there are of each kind.
func (t *Transaction) tooMany(ops []*Operation) error {
	var nouns []string
	counts := map[string]int{}
	for _, o := range ops {
		noun := o.noun
		if len(t.calls) > 1 {
			noun = o.of.call.Write.Pattern + "'s " + noun
		}
		if counts[noun] == 0 {
			nouns = append(nouns, noun)
		}
		counts[noun]++
	}
	for i, noun := range nouns {
		nouns[i] = strconv.Itoa(counts[noun]) + " × " + noun
	}
	what := "the write has"
	if len(t.calls) > 1 {
		what = "the writes have"
	}
	err := fmt.Errorf("%s %d actions, but a transaction has at most %d: %s", what, len(ops), maxActions, strings.Join(nouns, ", "))
	if slices.ContainsFunc(t.calls, func(r *Call) bool { return r.Write.Lines }) {
		return fmt.Errorf("%w: %w", schema.ErrLines, err)
	}
	return err
}
