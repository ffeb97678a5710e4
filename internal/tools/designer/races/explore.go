package races

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
)

// maxBehind is the maximum number of writes that a stale response can miss: the last one and the one before. More would
// multiply the states without showing new kinds of errors.
const maxBehind = 2

// progressEvery is the number of states between two calls of progress.
const progressEvery = 1000

// state is a moment of an exploration: the stored content, and the progress of each process.
type state struct {
	content *content
	// nodes are the processes, nil for those that have ended or crashed.
	nodes []*node
	// before are the contents before the last writes, the latest first, as far as stale responses can come from them.
	before []*content
	// from is the previous state, -1 at the start; by is the action that led here.
	from int
	by   action
	// next are the possible next states.
	next []int
}

// action leads from one state to the next.
type action struct {
	kind     actionKind
	process  int
	node     *node // the process's node afterwards
	request  *request
	response *response
	behind   int // writes that a read has missed
	removed  *stored
}

type actionKind uint8

const (
	executed actionKind = iota
	lost                // the request was executed, and its response was lost
	crashed
	expired
)

// exploration visits all reachable states of a scenario, in order of the number of actions.
type exploration struct {
	*scheduler
	race       *design.Race
	processes  []*process
	invariants []*expression.Invariant
	limits     limits
	progress   func(states int)
	keeper     *keeper

	states    []*state
	known     map[string]int
	start     *content
	depth     int
	bounded   string // the bound that was reached, "" for none
	stepped   map[[2]int]bool
	found     map[*expression.Invariant]*breach
	violation *breach
}

type limits struct{ depth, states int }

// breach is a violation of an invariant.
type breach struct {
	schedule []action
	content  *content
	before   *expression.State // for a statement about a step
	items    []*expression.Item
	words    string // for an implicit promise of the design
}

// run explores from a content.
func (x *exploration) run(ctx context.Context, start *content) error {
	x.known, x.start = map[string]int{}, start
	x.stepped, x.found = map[[2]int]bool{}, map[*expression.Invariant]*breach{}
	first := &state{content: start, from: -1, nodes: make([]*node, len(x.processes))}
	for i, p := range x.processes {
		n, err := x.root(ctx, p, 0)
		if err != nil {
			return err
		}
		first.nodes[i] = at(n)
	}
	x.add(first)
	if err := x.judge(first, nil); err != nil {
		return err
	}
	level := 1 // the first state that needs one more action
	for i := 0; i < len(x.states) && !x.done(); i++ {
		if i == level {
			x.depth++
			level = len(x.states)
		}
		if i%progressEvery == 0 {
			x.progress(i)
		}
		if x.depth == x.limits.depth && !x.states[i].over() {
			x.bounded = fmt.Sprintf("the limit of %d actions per schedule", x.limits.depth)
			continue
		}
		if err := x.expand(ctx, i); err != nil {
			return err
		}
		if len(x.states) > x.limits.states {
			x.bounded = fmt.Sprintf("the limit of %d states", x.limits.states)
			return nil
		}
	}
	return nil
}

// at is the current node of a process: the next attempt if it starts again, nil if it has ended.
func at(n *node) *node {
	for n != nil && n.next == nil {
		n = n.again
	}
	return n
}

// over reports whether all processes have ended.
func (s *state) over() bool {
	for _, n := range s.nodes {
		if n != nil {
			return false
		}
	}
	return true
}

// done reports whether there is nothing more to find.
func (x *exploration) done() bool { return x.violation != nil && len(x.found) == len(x.invariants) }

// add adds a state if it is new.
func (x *exploration) add(s *state) (number int, isNew bool) {
	key := make([]byte, 0, 8+4*len(s.nodes))
	key = binary.AppendUvarint(key, uint64(s.content.id)) //nolint:gosec // counts from 0
	for _, n := range s.nodes {
		id := 0
		if n != nil {
			id = n.id + 1
		}
		key = binary.AppendUvarint(key, uint64(id)) //nolint:gosec // counts from 0
	}
	for _, c := range s.before {
		key = binary.AppendUvarint(key, uint64(c.id)) //nolint:gosec // counts from 0
	}
	if number, known := x.known[string(key)]; known {
		return number, false
	}
	number = len(x.states)
	x.known[string(key)] = number
	x.states = append(x.states, s)
	return number, true
}

// expand finds the possible next states of a state.
func (x *exploration) expand(ctx context.Context, number int) error {
	s := x.states[number]
	for p, n := range s.nodes {
		if n == nil {
			continue
		}
		if err := x.respond(ctx, number, p); err != nil {
			return err
		}
		if x.race.Crash && n.begun() {
			if err := x.follow(number, s.content, p, nil, action{kind: crashed, process: p}); err != nil {
				return err
			}
		}
	}
	if !x.race.Expire || s.over() {
		return nil
	}
	for _, it := range s.content.items {
		if x.keeper.expired(it) {
			after := x.database.library.with(s.content, map[string]*stored{it.address: nil})
			if err := x.follow(number, after, -1, nil, action{kind: expired, process: -1, removed: it}); err != nil {
				return err
			}
		}
	}
	return nil
}

// respond executes a process's next request, with every possible response.
func (x *exploration) respond(ctx context.Context, number, p int) error {
	s := x.states[number]
	n := s.nodes[p]
	now, err := x.database.execute(ctx, s.content, n.next)
	if err != nil {
		return err
	}
	if err := x.hand(ctx, number, p, now, action{response: now.response}); err != nil {
		return err
	}
	if x.race.Crash && n.next.repeatable && now.response.err == nil {
		nothing := &response{err: errLost, key: "lost", words: "done, but the response is lost"}
		if err := x.hand(ctx, number, p, effect{nothing, now.after}, action{kind: lost, response: nothing}); err != nil {
			return err
		}
	}
	if !x.race.Stale || !n.next.eventual {
		return nil
	}
	met := map[string]bool{now.response.key: true}
	for i, c := range s.before {
		then, err := x.database.execute(ctx, c, n.next)
		if err != nil {
			return err
		}
		if met[then.response.key] {
			continue
		}
		met[then.response.key] = true
		if err := x.hand(ctx, number, p, effect{then.response, s.content}, action{response: then.response, behind: i + 1}); err != nil {
			return err
		}
	}
	return nil
}

// hand gives a process a response.
func (x *exploration) hand(ctx context.Context, number, p int, e effect, a action) error {
	n := x.states[number].nodes[p]
	child, err := x.child(ctx, n, e.response)
	if err != nil {
		return err
	}
	a.process, a.node, a.request = p, child, n.next
	return x.follow(number, e.after, p, at(child), a)
}

// follow adds the state after an action, in which process p is at a node, and checks what is new.
func (x *exploration) follow(number int, c *content, p int, n *node, a action) error {
	s := x.states[number]
	next := &state{content: c, from: number, by: a, before: s.before, nodes: s.nodes}
	if p >= 0 {
		next.nodes = append([]*node(nil), s.nodes...)
		next.nodes[p] = n
	}
	if c != s.content && x.race.Stale {
		next.before = append([]*content{s.content}, s.before...)
		next.before = next.before[:min(len(next.before), maxBehind)]
	}
	at, isNew := x.add(next)
	s.next = append(s.next, at)
	if !isNew && (c == s.content || x.stepped[[2]int{s.content.id, c.id}]) {
		return nil
	}
	x.stepped[[2]int{s.content.id, c.id}] = true
	if !isNew { // the step is new although the state is not
		return x.judgeStep(next, s.content)
	}
	return x.judge(next, s.content)
}

// judge checks the invariants on a new state, and on the step that led to it.
func (x *exploration) judge(s *state, before *content) error {
	for _, i := range x.invariants {
		if x.found[i] != nil || i.Transient || i.At == design.AtEnd && !s.over() {
			continue
		}
		b, looked := s.content.broken[i]
		if !looked {
			items, ok, err := i.Broken(nil, s.content.state)
			if err != nil {
				return fmt.Errorf("invariant %s: %w", i.Name, err)
			}
			if !ok {
				b = &breach{items: items}
			}
			s.content.broken[i] = b
		}
		if b != nil {
			x.found[i] = &breach{schedule: x.schedule(s), content: s.content, items: b.items}
		}
	}
	if x.violation == nil {
		for _, words := range s.content.violations {
			if !slices.Contains(x.start.violations, words) {
				x.violation = &breach{schedule: x.schedule(s), content: s.content, words: words}
				break
			}
		}
	}
	if before == nil || before == s.content {
		return nil
	}
	return x.judgeStep(s, before)
}

// judgeStep checks the invariants about steps on one step.
func (x *exploration) judgeStep(s *state, before *content) error {
	for _, i := range x.invariants {
		if x.found[i] != nil || !i.Transient || i.At == design.AtEnd && !s.over() {
			continue
		}
		items, ok, err := i.Broken(before.state, s.content.state)
		if err != nil {
			return fmt.Errorf("invariant %s: %w", i.Name, err)
		}
		if !ok {
			x.found[i] = &breach{schedule: x.schedule(s), content: s.content, before: before.state, items: items}
		}
	}
	return nil
}

// schedule is the list of actions that lead to a state, from the start.
func (x *exploration) schedule(s *state) []action {
	var out []action
	for ; s.from >= 0; s = x.states[s.from] {
		out = append(out, s.by)
	}
	slices.Reverse(out)
	return out
}

// orders counts the paths from the start to states in which all processes have ended. There are no cycles, because each
// action advances a process or removes an item.
func (x *exploration) orders() *big.Int {
	paths := make([]*big.Int, len(x.states))
	type visit struct{ state, next int }
	stack := []visit{{0, 0}}
	paths[0] = new(big.Int)
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		s := x.states[v.state]
		if v.next == len(s.next) {
			if s.over() {
				paths[v.state].SetInt64(1)
			}
			for _, n := range s.next {
				paths[v.state].Add(paths[v.state], paths[n])
			}
			stack = stack[:len(stack)-1]
			continue
		}
		n := s.next[v.next]
		v.next++
		if paths[n] == nil {
			paths[n] = new(big.Int)
			stack = append(stack, visit{n, 0})
		}
	}
	return paths[0]
}
