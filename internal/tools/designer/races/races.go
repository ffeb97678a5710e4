// Package races runs the requests of a design's writes and flows in every order, and finds an order after which an
// invariant does not hold.
//
// # Model
//
// A process is a flow, or a single write, that runs at once with others. Nothing that it does is seen by others but its
// requests, each of which DynamoDB executes as one whole, and nothing that others do is seen by it but the answers. So a
// process is a function from the answers that it has had to its next request, and a moment of all processes (state) is:
// what is stored (content), and for each process the answers that it has had (node). All states are visited from the
// start on, those that need the fewest requests first, so that what is found needs as few as possible:
//
//	state ──a process's next request──▶ executed on the content ──▶ content ─┐
//	  │                                          ╰── answer ──▶ node ────────┴──▶ state
//	  ├── the process stops here (crash), or its answer gets lost, and it sends its idempotent write again
//	  ├── a read that is not strongly consistent is answered by a content that was there before (stale)
//	  ╰── DynamoDB removes an item whose time is over (expire)
//
// Processes are run by package design/table, as generated code is: to know a node's request, its process is run from
// the beginning with the answers that it has had, and stopped where there is no further one. Requests are executed by
// monotable itself, in memory, through the SDK's client. Before a request the tables are made to hold the content that
// it is to meet, by putting and deleting what differs; after it, the items that it names are read again, since a request
// changes no others. That is faithful: requests see nothing but items. (What a database remembers beside them, such as the
// tokens of transactions and streams, no request of a process asks for.) A request that was executed on a content is not
// executed there again, nor is a process run twice with the same answers. Clock and ids are fixed, so that equal orders
// make equal contents.
//
// # Invariants
//
//	I1  Without a bound that was reached, every order of the requests has been looked at: two states are one only if
//	    all that can follow is the same.
//	I2  A schedule that is reported leads to what is reported with it, and no schedule of fewer actions does.
//	I3  The report is a pure function of the design and the options.
//
// # What it does not see
//
// A stale answer is of one moment: the entries of an index are not behind one by one. The partitions of a key that is
// sharded are asked one after another. What a process does after its attempts are over is its application's.
//
// A call of Run uses one goroutine. Errors are design.Errors for what is wrong with a race, and those of the database.
package races

import (
	"context"
	"errors"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// The bounds where neither the race nor the options say one.
const (
	DefaultDepth  = 100
	DefaultStates = 500_000
)

// Options are how a design is explored.
type Options struct {
	// Race names the races that are run; empty is all.
	Races []string
	// Depth and States bound every race, whatever it says itself; 0 leaves it to the race.
	Depth, States int
	// Progress hears of the states that were looked at, and of their bound; nil for no one.
	Progress func(race string, states, bound int)
}

// Report is what was found in a design.
type Report struct {
	Design string `json:"design"`
	File   string `json:"file,omitempty"`
	// Invariants is how many the design has.
	Invariants int         `json:"invariants"`
	Scenarios  []*Scenario `json:"races"`
	// Findings are about the whole: acceptances that accept nothing.
	Findings check.Findings `json:"findings"`
}

// Scenario is what was found in a race.
type Scenario struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Default tells that the design does not have the race: it was made of the design's writes.
	Default   bool      `json:"default,omitempty"`
	Processes []Process `json:"processes"`
	Crash     bool      `json:"crash,omitempty"`
	Stale     bool      `json:"stale,omitempty"`
	Expire    bool      `json:"expire,omitempty"`
	// States is how many were visited, Orders how many orders of requests, crashes and removals lead through them; "" where
	// not all were visited.
	States int    `json:"states"`
	Orders string `json:"orders,omitempty"`
	// Bound is the bound that was reached, "" for none.
	Bound string `json:"bound,omitempty"`
	// Unheld are invariants that do not hold at a start which was made up, and so say nothing.
	Unheld []string `json:"unheld,omitempty"`
	// Skipped says why it could not be run; "" if it was.
	Skipped  string     `json:"skipped,omitempty"`
	Findings []*Finding `json:"findings"`
}

// Process is a flow or write that runs at once with others.
type Process struct {
	Name string `json:"name"` // A
	Call string `json:"call"`
	// Ends are the ways in which it ends: done, or the names of errors.
	Ends []string `json:"ends"`
}

// Finding is an invariant that does not hold, with a shortest order that leads there.
type Finding struct {
	check.Finding
	Invariant string   `json:"invariant"` // its name; "" for what the design itself promises
	Schedule  []string `json:"schedule"`
	Steps     []Step   `json:"steps"` // of the schedule
	Items     []string `json:"items"` // those that are concerned, as they are then
}

// Step is an action of a schedule.
type Step struct {
	// Process is who acts: A, B, …; "" for DynamoDB, which removes an expired item.
	Process string   `json:"process,omitempty"`
	Kind    StepKind `json:"kind"`
	// Operation, Pattern and Answer are those of a request, Item is what is removed.
	Operation string `json:"operation,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
	Answer    string `json:"answer,omitempty"`
	Item      string `json:"item,omitempty"`
	// Behind is how many writes the answer to a read has missed.
	Behind int `json:"behind,omitempty"`
	// Ends is the outcome of the process where the step ends it, or, with Again, begins it anew.
	Ends  string `json:"ends,omitempty"`
	Again bool   `json:"again,omitempty"`
}

// StepKind is what a step does.
type StepKind string

// The kinds of steps.
const (
	StepRequest StepKind = "request"
	StepLost    StepKind = "lost" // a request whose answer gets lost
	StepCrash   StepKind = "crash"
	StepExpire  StepKind = "expire"
)

// Run explores the races of a design, or, where it has none, what its writes can do to each other.
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

// Exercised reports whether a race ran. A report of none says nothing about the design.
func (r *Report) Exercised() bool {
	return slices.ContainsFunc(r.Scenarios, func(s *Scenario) bool { return s.Skipped == "" })
}

// Failed reports whether an invariant does not hold that is not accepted, or nothing ran.
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
