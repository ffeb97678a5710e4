// Package races runs the requests of a design's writes and flows in every order, and finds an order after which an
// invariant does not hold.
//
// # Model
//
// A process is a flow, or a single write, that runs concurrently with others. Other processes only see its requests, which
// DynamoDB executes atomically, and it only sees others through the responses. So a process is a function from the
// responses so far to its next request, and the state of all processes consists of what is stored (content), and for each
// process its responses so far (node). All states are visited from the start, in order of the number of requests, so that
// a finding needs as few as possible:
//
//	state ──a process's next request──▶ executed on the content ──▶ content ─┐
//	  │                                          ╰── response ▶ node ────────┴──▶ state
//	  ├── the process stops here (crash), or its response is lost, and it retries its idempotent write
//	  ├── an eventually consistent read returns an earlier content (stale)
//	  ╰── DynamoDB removes an expired item (expire)
//
// Processes are run by package design/table, like generated code: to find a node's next request, its process is run from
// the beginning with the recorded responses, and stopped at the first request without one. Requests are executed by
// monotable itself, in memory, through the SDK's client. Before a request, the tables are changed to the content it
// applies to, by putting and deleting the items that differ; after it, the items that it names are read again, because a
// request changes no others. That is faithful because requests only depend on items. (A database also stores the tokens of
// transactions, and streams, but no request of a process uses them.) A request is executed only once on each content, and
// a process is run only once with the same responses. The clock and IDs are fixed, so that equal orders produce equal
// contents.
//
// # Invariants
//
//	I1  Unless a bound was reached, every order of the requests has been explored: states are merged only if
//	    everything that can follow is the same.
//	I2  A reported schedule leads to its finding, and no schedule of fewer actions does.
//	I3  The report is a pure function of the design and the options.
//
// # Limits
//
// A stale response shows a single moment: entries of an index do not lag individually. The partitions of a sharded key are
// queried one after another. What an application does after a process's last attempt is not explored.
//
// A call of Run uses one goroutine. Errors are design.Errors for defects of a race, or errors of the database.
package races

import (
	"context"
	"errors"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// The default bounds, if neither the race nor the options set one.
const (
	DefaultDepth  = 100
	DefaultStates = 500_000
)

// Options configure an exploration.
type Options struct {
	// Race names the races to run; empty means all.
	Races []string
	// Depth and States bound every race, overriding its own bounds; 0 leaves them to the race.
	Depth, States int
	// Progress is called with the number of visited states and the bound; nil for none.
	Progress func(race string, states, bound int)
}

// Report is the result of exploring a design.
type Report struct {
	Design string `json:"design"`
	File   string `json:"file,omitempty"`
	// Invariants is the number of invariants in the design.
	Invariants int         `json:"invariants"`
	Scenarios  []*Scenario `json:"races"`
	// Findings are about the whole design: acceptances that match nothing.
	Findings check.Findings `json:"findings"`
}

// Scenario is the result of exploring a race.
type Scenario struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Default means that the race is not in the design: it was derived from the design's writes.
	Default   bool      `json:"default,omitempty"`
	Processes []Process `json:"processes"`
	Crash     bool      `json:"crash,omitempty"`
	Stale     bool      `json:"stale,omitempty"`
	Expire    bool      `json:"expire,omitempty"`
	// States is the number of visited states, Orders the number of orders of requests, crashes and removals through them;
	// "" if not all were visited.
	States int    `json:"states"`
	Orders string `json:"orders,omitempty"`
	// Bound is the bound that was reached, "" if none was.
	Bound string `json:"bound,omitempty"`
	// Unheld are invariants that do not hold at a made-up start, so that the result says nothing about them.
	Unheld []string `json:"unheld,omitempty"`
	// Skipped says why the race could not be run; "" if it was.
	Skipped  string     `json:"skipped,omitempty"`
	Findings []*Finding `json:"findings"`
}

// Process is a flow or write that runs concurrently with others.
type Process struct {
	Name string `json:"name"` // A
	Call string `json:"call"`
	// Ends are the ways in which it ends: done, or the names of errors.
	Ends []string `json:"ends"`
}

// Finding is a violated invariant, with a shortest schedule that leads to it.
type Finding struct {
	check.Finding
	Invariant string   `json:"invariant"` // its name; "" for what the design itself promises
	Schedule  []string `json:"schedule"`
	Steps     []Step   `json:"steps"` // the schedule
	Items     []string `json:"items"` // the affected items at the end
}

// Step is an action of a schedule.
type Step struct {
	// Process is the acting process: A, B, …; "" for DynamoDB, which removes an expired item.
	Process string   `json:"process,omitempty"`
	Kind    StepKind `json:"kind"`
	// Operation, Pattern and Response describe a request, Item is the removed item.
	Operation string `json:"operation,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
	Response  string `json:"response,omitempty"`
	Item      string `json:"item,omitempty"`
	// Behind is the number of writes that the response to a read has missed.
	Behind int `json:"behind,omitempty"`
	// Ends is the outcome of the process if the step ends it or, with Again, starts it again.
	Ends  string `json:"ends,omitempty"`
	Again bool   `json:"again,omitempty"`
}

// StepKind is the kind of a step.
type StepKind string

// The kinds of steps.
const (
	StepRequest StepKind = "request"
	StepLost    StepKind = "lost" // a request whose response is lost
	StepCrash   StepKind = "crash"
	StepExpire  StepKind = "expire"
)

// Run explores the races of a design or, if it has none, the ways in which its writes can interfere.
func Run(ctx context.Context, d *design.Design, o Options) (report *Report, err error) {
	list, err := scenarios(d, o.Races)
	if err != nil {
		return nil, err
	}
	w, err := openWorld(ctx, d, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.database.close()) }()
	report = &Report{Design: d.Name, Invariants: len(d.Invariants), Scenarios: []*Scenario{}, Findings: check.Findings{}}
	if d.Source != nil {
		report.File = d.Source.Name
	}
	for _, s := range list {
		one, err := w.explore(ctx, s)
		if faults, is := errors.AsType[design.Errors](err); is && s.optional {
			one, err = skipped(s, faults), nil
		}
		if err != nil {
			return nil, err
		}
		report.Scenarios = append(report.Scenarios, one)
	}
	report.accept(d, len(o.Races) == 0)
	return report, nil
}

// Exercised reports whether a race ran. A report without one says nothing about the design.
func (r *Report) Exercised() bool {
	return slices.ContainsFunc(r.Scenarios, func(s *Scenario) bool { return s.Skipped == "" })
}

// Failed reports whether a violation is not accepted, or nothing ran.
func (r *Report) Failed() bool {
	if !r.Exercised() || r.Findings.Worst() == check.Error {
		return true
	}
	for _, s := range r.Scenarios {
		for _, f := range s.Findings {
			if f.Accepted == "" {
				return true
			}
		}
	}
	return false
}
