// Package registers is a workload with checkable histories: clients read and write pairs of registers, and porcupine
// decides whether the results are linearizable.
//
// A register is an item, and its value the attribute n. The two registers of a pair share a partition key; transactions
// write both, and queries of the table and of an index read both. Pairs are independent, so each has its own history.
//
// A request without a response (Response.Lost) was executed at some time after its call, or not at all. Model lets it
// execute at any time until its Return, which is the end of the history: executing there is the same as never, because
// no read observes it.
package registers

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Absent is the register of a missing item.
const Absent = -1

// Pair is the state of the model: the two registers of a pair.
type Pair [2]int

// Kind is the kind of a request.
type Kind int

// The kinds of requests.
const (
	Get        Kind = iota // GetItem, consistent
	Put                    // PutItem of value
	Swap                   // PutItem of value, if the register holds expect
	Add                    // UpdateItem ADD 1; the response has the sum
	Remove                 // DeleteItem; the response has the old value
	GetBoth                // TransactGetItems
	SwapBoth               // TransactWriteItems: put value, if the register holds expect; put value into the other
	Move                   // TransactWriteItems: check that the register holds expect; ADD 1 to the other
	Query                  // Query of the pair, consistent
	QueryIndex             // Query of the index
)

func (k Kind) String() string {
	return [...]string{"get", "put", "swap", "add", "remove", "getBoth", "swapBoth", "move", "query", "queryIndex"}[k]
}

// Writes reports whether requests of the kind may change something.
func (k Kind) Writes() bool {
	return !slices.Contains([]Kind{Get, GetBoth, Query, QueryIndex}, k)
}

// Request is one call of a client on one register of a pair.
type Request struct {
	Pair, Register int
	Kind           Kind
	Value, Expect  int
	Token          string // of SwapBoth and Move: a second request with it has no further effect; "" for none
}

// Response is the result of a call.
type Response struct {
	Value    Pair // for Get, Add and Remove only the first counts
	Refused  bool // the condition was false
	Conflict bool // with a running transaction: nothing was executed
	Lost     bool // there was no response
}

// step is the model: the response to a request in a state, and the new state.
func step(s Pair, r Request) (Response, Pair) {
	mine, other := &s[r.Register], &s[1-r.Register]
	old := *mine
	conditional := r.Kind == Swap || r.Kind == SwapBoth || r.Kind == Move
	if conditional && old != r.Expect {
		return Response{Refused: true}, s
	}
	switch r.Kind {
	case Get:
		return Response{Value: Pair{old}}, s
	case Put, Swap:
		*mine = r.Value
	case Add:
		*mine = max(old, 0) + 1
		return Response{Value: Pair{*mine}}, s
	case Remove:
		*mine = Absent
		return Response{Value: Pair{old}}, s
	case GetBoth, Query, QueryIndex:
		return Response{Value: s}, s
	case SwapBoth:
		*mine, *other = r.Value, r.Value
	case Move:
		*other = max(*other, 0) + 1
	}
	return Response{}, s
}

// Model is DynamoDB's guarantee: single-item operations and transactions are linearizable. That queries are, too, is
// monotable's.
var Model = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		for _, part := range ByPair(history) {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return Pair{Absent, Absent} },
	Step: func(state, input, output any) (bool, any) {
		got := output.(Response)
		if got.Conflict {
			return true, state
		}
		want, next := step(state.(Pair), input.(Request))
		return got == want || got.Lost, next
	},
	DescribeOperation: func(input, output any) string {
		r, a := input.(Request), output.(Response)
		return fmt.Sprintf("%v(register %d, value %d, expect %d) → %+v", r.Kind, r.Register, r.Value, r.Expect, a)
	},
}

// PowerCutModel is Model, except that a lost request is executed before its return or never.
var PowerCutModel = (&porcupine.NondeterministicModel{
	Partition: Model.Partition,
	Init:      func() []any { return []any{Pair{Absent, Absent}} },
	Step: func(state, input, output any) []any {
		possible, next := Model.Step(state, input, output)
		switch {
		case output.(Response).Lost:
			return []any{state, next}
		case possible:
			return []any{next}
		default:
			return nil
		}
	},
	DescribeOperation: Model.DescribeOperation,
}).ToModel()

// ByPair groups a history by pair.
func ByPair(history []porcupine.Operation) map[int][]porcupine.Operation {
	parts := map[int][]porcupine.Operation{}
	for _, o := range history {
		p := o.Input.(Request).Pair
		parts[p] = append(parts[p], o)
	}
	return parts
}
