package linearizability

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// absent is the register of an item that is not there.
const absent = -1

// pair is the state of the model: two registers, the attribute n of two items that transactions take together.
type pair [2]int

type kind int

const (
	get      kind = iota // GetItem, consistent
	put                  // PutItem of value
	swap                 // PutItem of value, if the register holds expect
	add                  // UpdateItem ADD 1; the answer has the sum
	remove               // DeleteItem; the answer has the old value
	getBoth              // TransactGetItems
	swapBoth             // TransactWriteItems: put value, if the register holds expect; put value into the other
	move                 // TransactWriteItems: check that the register holds expect; ADD 1 to the other
)

func (k kind) String() string {
	return [...]string{"get", "put", "swap", "add", "remove", "getBoth", "swapBoth", "move"}[k]
}

// request is one call of a client on one register of a pair.
type request struct {
	pair, register int
	kind           kind
	value, expect  int
}

// answer is what the call returned.
type answer struct {
	value    pair // of get, add and remove the first alone counts
	refused  bool // the condition was false
	conflict bool // with a transaction under way: nothing happened
	lost     bool // there was none: the request happened or not
}

// step is the model: what the request answers in a state, and what becomes of the state.
func step(s pair, r request) (answer, pair) {
	mine, other := &s[r.register], &s[1-r.register]
	old := *mine
	conditional := r.kind == swap || r.kind == swapBoth || r.kind == move
	if conditional && old != r.expect {
		return answer{refused: true}, s
	}
	switch r.kind {
	case get:
		return answer{value: pair{old}}, s
	case put, swap:
		*mine = r.value
	case add:
		*mine = max(old, 0) + 1
		return answer{value: pair{*mine}}, s
	case remove:
		*mine = absent
		return answer{value: pair{old}}, s
	case getBoth:
		return answer{value: s}, s
	case swapBoth:
		*mine, *other = r.value, r.value
	case move:
		*other = max(*other, 0) + 1
	}
	return answer{}, s
}

// model is DynamoDB's promise: single-item operations and transactions happen one after the other, each at one
// moment between its call and its return.
var model = porcupine.Model{
	Partition: byPair,
	Init:      func() any { return pair{absent, absent} },
	Step: func(state, input, output any) (bool, any) {
		got := output.(answer)
		if got.conflict {
			return true, state
		}
		want, next := step(state.(pair), input.(request))
		return got == want, next
	},
	DescribeOperation: describe,
}

// powerCutModel is model, but a request that was lost has happened or not.
var powerCutModel = (&porcupine.NondeterministicModel{
	Partition: byPair,
	Init:      func() []any { return []any{pair{absent, absent}} },
	Step: func(state, input, output any) []any {
		if output.(answer).lost {
			_, next := step(state.(pair), input.(request))
			return []any{state, next}
		}
		if possible, next := model.Step(state, input, output); possible {
			return []any{next}
		}
		return nil
	},
	DescribeOperation: describe,
}).ToModel()

func byPair(history []porcupine.Operation) [][]porcupine.Operation {
	parts := make([][]porcupine.Operation, pairs)
	for _, o := range history {
		p := o.Input.(request).pair
		parts[p] = append(parts[p], o)
	}
	return parts
}

func describe(input, output any) string {
	r, a := input.(request), output.(answer)
	return fmt.Sprintf("%v(register %d, value %d, expect %d) → %+v", r.kind, r.register, r.value, r.expect, a)
}
