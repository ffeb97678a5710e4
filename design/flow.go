package design

// Flow is a sequence of requests of an application: reads, then writes that depend on their results. It is not atomic, so
// concurrent requests in between matter.
type Flow struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Given are the inputs.
	Given []*Field    `json:"given,omitempty"`
	Steps []*FlowStep `json:"steps"`
	// Retry are the errors after which the flow restarts from its first step, up to Attempts times in total.
	Retry    []string `json:"retry,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
	Pos      Pos      `json:"-"`
}

// DefaultAttempts is the number of attempts of a flow with Retry that does not declare it.
const DefaultAttempts = 5

// FlowStep is a read or a write of a flow, or names values.
type FlowStep struct {
	// Read or Write names the pattern; the other is "". Both are "" if the step only has Let.
	Read  string `json:"read,omitempty"`
	Write string `json:"write,omitempty"`
	// Let names values for the following steps, in addition to the inputs of the flow.
	Let []*Argument `json:"let,omitempty"`
	// As names the result of a read for the following steps; "" for none.
	As string `json:"as,omitempty"`
	// If is the condition under which the step runs; nil means always.
	If *Expression `json:"if,omitempty"`
	// Each repeats the step for the items of a list; nil does not.
	Each *Selection `json:"each,omitempty"`
	// With passes values to the pattern, in addition to values of the flow with the names of its inputs.
	With []*Argument `json:"with,omitempty"`
	// Lines are the lines of a write that takes a list; nil for none.
	Lines *Selection `json:"lines,omitempty"`
	Pos   Pos        `json:"-"`
}

// Argument is a named value that a step passes to its pattern or to the following steps.
type Argument struct {
	Name  string      `json:"name"`
	Value *Expression `json:"value"`
	Pos   Pos         `json:"-"`
}

// Race is a scenario: an initial state, and calls that run concurrently.
type Race struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Start are calls that run first, one after another.
	Start []*RaceCall `json:"start,omitempty"`
	// Run are calls that run concurrently, in every order of their requests.
	Run []*RaceCall `json:"run"`
	// Crash lets each of them stop between two requests. Stale lets reads that are not strongly consistent miss the last
	// writes. Expire lets every expiring item from Start expire, and be removed at any moment.
	Crash  bool `json:"crash,omitempty"`
	Stale  bool `json:"stale,omitempty"`
	Expire bool `json:"expire,omitempty"`
	// Depth limits the requests of a schedule, States the number of states explored; 0 leaves it to the command.
	Depth  int `json:"depth,omitempty"`
	States int `json:"states,omitempty"`
	Pos    Pos `json:"-"`
}

// RaceCall is a call of a flow or write, or an existing item, with values.
type RaceCall struct {
	// One of these is not "": a flow, a write, or the entity of an item that is put as it is.
	Flow  string `json:"flow,omitempty"`
	Write string `json:"write,omitempty"`
	Put   string `json:"put,omitempty"`
	// Given are the values by name. Missing values are generated from their name and type.
	Given map[string]Literal `json:"given,omitempty"`
	// Times is the number of concurrent calls; at least 1.
	Times int `json:"times"`
	Pos   Pos `json:"-"`
}

// Flow returns the flow of that name, or nil if there is none.
func (d *Design) Flow(name string) *Flow {
	return find(d.Flows, func(f *Flow) bool { return f.Name == name })
}

// Race returns the race of that name, or nil if there is none.
func (d *Design) Race(name string) *Race {
	return find(d.Races, func(r *Race) bool { return r.Name == name })
}
