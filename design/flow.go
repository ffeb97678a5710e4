package design

// Flow is what an application does with several requests: reads, then writes that depend on what was read. Nothing makes
// it one whole, so what other requests do in between matters.
type Flow struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Given are what the caller gives.
	Given []*Field    `json:"given,omitempty"`
	Steps []*FlowStep `json:"steps"`
	// Retry are the errors after which the flow starts again from its first step, up to Attempts times in all.
	Retry    []string `json:"retry,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
	Pos      Pos      `json:"-"`
}

// DefaultAttempts are the attempts of a flow that starts again and does not say how often.
const DefaultAttempts = 5

// FlowStep is a read or a write of a flow, or gives values names.
type FlowStep struct {
	// Read or Write names the pattern; the other is "". Both are where the step only has Let.
	Read  string `json:"read,omitempty"`
	Write string `json:"write,omitempty"`
	// Let are values that the steps which follow have beside those that the flow is given.
	Let []*Argument `json:"let,omitempty"`
	// As names what a read has found, for the steps that follow; "" for none.
	As string `json:"as,omitempty"`
	// If is the condition under which the step is made; nil is always.
	If *Expression `json:"if,omitempty"`
	// Each repeats the step for the items of a list; nil does not.
	Each *Selection `json:"each,omitempty"`
	// With gives the pattern values, beside those of the flow that have the names of its inputs.
	With []*Argument `json:"with,omitempty"`
	// Lines are the lines of a write that takes some; nil for none.
	Lines *Selection `json:"lines,omitempty"`
	Pos   Pos        `json:"-"`
}

// Argument is a value with a name: one that a step hands to its pattern, or to the steps that follow.
type Argument struct {
	Name  string      `json:"name"`
	Value *Expression `json:"value"`
	Pos   Pos         `json:"-"`
}

// Race is a scenario: what is there, and what then runs at once.
type Race struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Start are run one after another first.
	Start []*RaceCall `json:"start,omitempty"`
	// Run are run at once, in every order of their requests.
	Run []*RaceCall `json:"run"`
	// Crash lets each of them stop between two requests. Stale lets reads that are not strongly consistent miss what was
	// written last. Expire lets all that Start has made and that has a time to go be over, and removed at any moment.
	Crash  bool `json:"crash,omitempty"`
	Stale  bool `json:"stale,omitempty"`
	Expire bool `json:"expire,omitempty"`
	// Depth bounds the requests of an order, States the states that are looked at; 0 leaves it to the command.
	Depth  int `json:"depth,omitempty"`
	States int `json:"states,omitempty"`
	Pos    Pos `json:"-"`
}

// RaceCall is one call of a flow or write, or an item that is there, with values.
type RaceCall struct {
	// One of these is not "": a flow, a write, or the entity of an item that is put as it is.
	Flow  string `json:"flow,omitempty"`
	Write string `json:"write,omitempty"`
	Put   string `json:"put,omitempty"`
	// Given are the values by name. What is needed and not given is made up of its name and type.
	Given map[string]Literal `json:"given,omitempty"`
	// Times is how many of it run at once; at least 1.
	Times int `json:"times"`
	Pos   Pos `json:"-"`
}

// Flow returns the flow of that name, nil where there is none.
func (d *Design) Flow(name string) *Flow {
	return find(d.Flows, func(f *Flow) bool { return f.Name == name })
}

// Race returns the race of that name, nil where there is none.
func (d *Design) Race(name string) *Race {
	return find(d.Races, func(r *Race) bool { return r.Name == name })
}
