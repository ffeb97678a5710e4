package races

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// process is a call that runs concurrently with others. It is a function from the responses so far to its next request,
// or its end; the others see nothing in between.
type process struct {
	*call
	number int
	roots  []*node // of its attempts
	ends   []string
}

// node is a process after certain responses.
type node struct {
	id      int
	process *process
	attempt int
	// parent and response are the previous node, and the response that led from there to this one; nil at the start of an
	// attempt.
	parent   *node
	response *response
	children map[string]*node
	// next is the next request; nil if the process has ended.
	next *request
	// outcome says how it ended: "" for success, otherwise the name of the error.
	outcome string
	// read describes the result of the read that ended with this response; "" if none did.
	read string
	// again is the start of the next attempt, which follows at once; nil if there is none.
	again *node
}

// begun reports whether the process has made a request.
func (n *node) begun() bool { return n.parent != nil || n.attempt > 0 }

// responses are the responses that led to the node, from the first.
func (n *node) responses() []*response {
	var out []*response
	for ; n.parent != nil; n = n.parent {
		out = append(out, n.response)
	}
	slices.Reverse(out)
	return out
}

// scheduler creates the nodes of processes.
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

// root is the node at which an attempt starts.
func (s *scheduler) root(ctx context.Context, p *process, attempt int) (*node, error) {
	if attempt < len(p.roots) {
		return p.roots[attempt], nil
	}
	n := &node{process: p, attempt: attempt}
	p.roots = append(p.roots, n)
	return n, s.advance(ctx, n)
}

// child is the node after a response. If the attempt is repeated, it is the start of the next one.
func (s *scheduler) child(ctx context.Context, n *node, a *response) (*node, error) {
	known := n.children[a.key]
	if known == nil {
		known = &node{process: n.process, attempt: n.attempt, parent: n, response: a}
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
	client := &replay{tables: s.keys, responses: n.responses()}
	ids := 0
	newID := func(k table.Kind) string {
		ids++
		return s.values.inventedID(k, n.process.number, n.attempt, ids)
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
	case client.sent < len(client.responses):
		return fmt.Errorf("%s is not deterministic: it sent %d requests where it had sent %d before", n.process.name, client.sent, len(client.responses))
	case err == nil:
		n.process.end("done")
		return nil
	}
	return s.end(ctx, n, err)
}

// end records a way in which the process ends.
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

// errorNames are the names of an error in flows, the most specific first; none for an error that no application should
// see.
func (s *scheduler) errorNames(err error) []string {
	var out []string
	for _, e := range s.program.Errors {
		if errors.Is(err, e.Err) {
			out = append(out, strings.TrimPrefix(e.Name, "Err"))
		}
	}
	for _, known := range lower.Known {
		if errors.Is(err, known.Err) {
			out = append(out, known.Name)
		}
	}
	return out
}
