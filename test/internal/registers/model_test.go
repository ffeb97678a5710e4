package registers_test

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/monotable/monotable/test/internal/registers"
)

// TestModel tests which histories with requests without responses are accepted.
func TestModel(t *testing.T) {
	const absent, never = registers.Absent, 100
	put := registers.Request{Kind: registers.Put, Value: 7}
	both := registers.Request{Kind: registers.SwapBoth, Value: 7, Expect: absent}
	get, getBoth := registers.Request{Kind: registers.Get}, registers.Request{Kind: registers.GetBoth}
	query := registers.Request{Kind: registers.QueryIndex}
	done, lost := registers.Response{}, registers.Response{Lost: true}
	is := func(first, second int) registers.Response {
		return registers.Response{Value: registers.Pair{first, second}}
	}
	op := func(r registers.Request, call int64, a registers.Response, end int64) porcupine.Operation {
		return porcupine.Operation{Input: r, Call: call, Output: a, Return: end}
	}
	for name, c := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"an acknowledged write is read":       {[]porcupine.Operation{op(put, 1, done, 2), op(get, 3, is(7, 0), 4)}, true},
		"an acknowledged write is lost":       {[]porcupine.Operation{op(put, 1, done, 2), op(get, 3, is(absent, 0), 4)}, false},
		"a write without a response happened": {[]porcupine.Operation{op(put, 1, lost, never), op(get, 3, is(7, 0), 4)}, true},
		"it happened later": {
			[]porcupine.Operation{op(put, 1, lost, never), op(get, 3, is(absent, 0), 4), op(get, 5, is(7, 0), 6)}, true,
		},
		"it never happened": {[]porcupine.Operation{op(put, 1, lost, never), op(get, 3, is(absent, 0), 4)}, true},
		"it happened and is gone": {
			[]porcupine.Operation{op(put, 1, lost, never), op(get, 3, is(7, 0), 4), op(get, 5, is(absent, 0), 6)}, false,
		},
		"half a transaction":               {[]porcupine.Operation{op(both, 1, lost, never), op(getBoth, 3, is(7, absent), 4)}, false},
		"half a transaction in an index":   {[]porcupine.Operation{op(both, 1, lost, never), op(query, 3, is(absent, 7), 4)}, false},
		"a transaction without a response": {[]porcupine.Operation{op(both, 1, lost, never), op(query, 3, is(7, 7), 4)}, true},
		"a conflict changes nothing": {
			[]porcupine.Operation{op(both, 1, registers.Response{Conflict: true}, 2), op(getBoth, 3, is(7, 7), 4)}, false,
		},
	} {
		if got := porcupine.CheckOperations(registers.Model, c.history); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
