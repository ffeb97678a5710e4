package races

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design/table"
)

// process is a call that runs at once with others. It is a function from the answers that it has had to its next request,
// or its end; what it does in between is not seen by others.
type process struct {
	*call
	number int
	roots  []*node // of its attempts
	ends   []string
}

// node is a process that has had certain answers.
type node struct {
	id      int
	process *process
	attempt int
	// parent and answer are the node before, and what led from there to this one; nil at the beginning of an attempt.
	parent   *node
	answer   *answer
	children map[string]*node
	// next is the request that it makes now; nil if it has ended.
	next *request
	// outcome is how it ended: "" where all is done, else the name of the error.
	outcome string
	// read says what a read has found by the answer; "" if no read is over.
	read string
	// again is the beginning of the next attempt, which it goes on with at once; nil if it does not.
	again *node
}

// begun reports whether the process has made a request.
func (n *node) begun() bool { return n.parent != nil || n.attempt > 0 }

// answers are those that led to the node, from the first.
func (n *node) answers() []*answer {
	var out []*answer
	for ; n.parent != nil; n = n.parent {
		out = append(out, n.answer)
	}
	slices.Reverse(out)
	return out
}

// scheduler makes the nodes of processes.
type scheduler struct {
	*caller
	database *database
	names    map[string]string   // of tables
	keys     map[string]keyNames // of tables
	now      time.Time
	nodes    []*node
}

func newScheduler(c *caller, db *database) *scheduler {
	s := &scheduler{caller: c, database: db, names: map[string]string{}, keys: map[string]keyNames{}, now: c.values.now}
	for _, t := range c.program.Tables {
		s.names[t.Name] = t.Name
		s.keys[t.Name] = keyNamesOf(t)
	}
	return s
}

// root is the node at which an attempt begins.
func (s *scheduler) root(ctx context.Context, p *process, attempt int) (*node, error) {
	if attempt < len(p.roots) {
		return p.roots[attempt], nil
	}
	n := &node{process: p, attempt: attempt}
	p.roots = append(p.roots, n)
	return n, s.advance(ctx, n)
}

// child is the node after an answer. After an attempt that is repeated it is the beginning of the next one.
func (s *scheduler) child(ctx context.Context, n *node, a *answer) (*node, error) {
	known := n.children[a.key]
	if known == nil {
		known = &node{process: n.process, attempt: n.attempt, parent: n, answer: a}
		if n.children == nil {
			n.children = map[string]*node{}
		}
		n.children[a.key] = known
		if err := s.advance(ctx, known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// advance runs a node's process up to its next request.
func (s *scheduler) advance(ctx context.Context, n *node) error {
	n.id = len(s.nodes)
	s.nodes = append(s.nodes, n)
	client := &replay{tables: s.keys, answers: n.answers()}
	ids := 0
	newID := func(k table.Kind) string {
		ids++
		return s.values.madeID(k, n.process.number, n.attempt, ids)
	}
	db, err := table.Open(client, table.Config{
		Tables: s.names, Clock: func() time.Time { return s.now }, NewID: newID, Sequential: true,
	}, s.program.Tables...)
	if err != nil {
		return err
	}
	r := &run{program: s.program, values: s.values, call: n.process.call, client: client, db: db, now: s.now, newID: newID}
	err = r.all(ctx)
	n.read = client.read
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case client.next != nil:
		n.next = client.next
		return nil
	case client.sent < len(client.answers):
		return fmt.Errorf("%s is not deterministic: it sent %d requests where it had sent %d before", n.process.name, client.sent, len(client.answers))
	case err == nil:
		n.process.end("done")
		return nil
	}
	return s.end(ctx, n, err)
}

// end notes a way in which the process ends.
func (p *process) end(how string) {
	if !slices.Contains(p.ends, how) {
		p.ends = append(p.ends, how)
	}
}

// end is the end of an attempt with an error.
func (s *scheduler) end(ctx context.Context, n *node, err error) error {
	names := s.errorNames(err)
	if len(names) == 0 {
		return s.at(n.process.pos, "%s cannot continue: %v", n.process.name, err)
	}
	n.outcome = names[0]
	repeated := slices.ContainsFunc(names, func(name string) bool { return slices.Contains(n.process.retry, name) })
	switch {
	case !repeated:
		n.process.end(n.outcome)
		return nil
	case n.attempt+1 == n.process.attempts:
		n.outcome = fmt.Sprintf("%s after %d attempts", names[0], n.process.attempts)
		n.process.end(n.outcome)
		return nil
	}
	if n.parent == nil && n.attempt > 0 {
		return s.at(n.process.pos, "%s retries after %s without having sent a request", n.process.name, names[0])
	}
	n.again, err = s.root(ctx, n.process, n.attempt+1)
	return err
}

// errorNames are the names that a flow knows an error by, the most telling first; none for an error that no application
// should meet.
func (s *scheduler) errorNames(err error) []string {
	var out []string
	for _, e := range s.program.Errors {
		if errors.Is(err, e.Err) {
			out = append(out, strings.TrimPrefix(e.Name, "Err"))
		}
	}
	for _, known := range []struct {
		name string
		is   error
	}{
		{"NotFound", table.ErrNotFound},
		{"Exists", table.ErrExists},
		{"Conflict", table.ErrConflict},
		{"Reused", table.ErrReused},
		{"Refused", table.ErrRefused},
		{"Lines", table.ErrLines},
	} {
		if errors.Is(err, known.is) {
			out = append(out, known.name)
		}
	}
	return out
}
