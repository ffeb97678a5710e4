package trial

import (
	"fmt"
	"io"
	"strings"
)

// Result is the result of trying one subject.
type Result struct {
	Subject

	// Cases is the number of compared calls, Requests the number of their database requests.
	Cases    int `json:"cases"`
	Requests int `json:"requests"`
	// Measured is the average capacity of a call; Formula is the cost model's price of the same calls with the actual
	// items, which must be equal; Declared is its price with the declared volumes.
	Measured float64 `json:"measured"`
	Formula  float64 `json:"formula"`
	Declared float64 `json:"declared"`
	// Failed is the number of failed cases; Failures are the first of each kind.
	Failed   int       `json:"failed"`
	Failures []Failure `json:"failures"`
	// Accepted are the kinds of failures that the design accepts; they are not included in Failed and Failures.
	Accepted []Accepted `json:"accepted,omitempty"`
	// Note is useful information that is not a failure.
	Note string `json:"note,omitempty"`
}

func (r *Result) fail(f Failure) {
	r.Cases++
	r.Failed++
	r.Failures = append(r.Failures, f)
}

// OK reports whether nothing failed.
func (r *Result) OK() bool { return r.Failed == 0 }

// Failure is a failed case, with as few items as possible.
type Failure struct {
	Pattern string   `json:"pattern"`
	Kind    Kind     `json:"kind"`
	Given   string   `json:"given,omitempty"`
	Call    string   `json:"call,omitempty"`
	Got     string   `json:"got"`
	Want    string   `json:"want"`
	Detail  []string `json:"detail,omitempty"`
	// Items are the items that show the failure, one line each.
	Items  []string `json:"items,omitempty"`
	Shrunk string   `json:"shrunk,omitempty"`
}

// String formats the failure in several lines, without a final newline.
func (f *Failure) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s", f.Pattern, f.Kind)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&out, "\n    %-6s %s", name, text)
		}
	}
	line("given", f.Given)
	line("call", f.Call)
	line("got", f.Got)
	line("want", f.Want)
	for _, d := range f.Detail {
		line("", d)
	}
	for i, item := range f.Items {
		name := ""
		if i == 0 {
			name = "items"
		}
		line(name, item)
	}
	line("", f.Shrunk)
	return out.String()
}

// WriteHead writes the header of the table that WriteLine writes.
func WriteHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, "      %-10s %-28s %7s %9s %9s %9s %9s\n", "", "", "cases", "requests", "units", "formula", "declared")
	return err
}

// WriteLine writes a result in one line.
func (r *Result) WriteLine(w io.Writer) error {
	verdict := "ok"
	if !r.OK() {
		verdict = "FAIL"
	}
	units := ""
	if r.Measured > 0 || r.Declared > 0 {
		units = fmt.Sprintf(" %9.4g %9.4g %9.4g", r.Measured, r.Formula, r.Declared)
	}
	_, err := fmt.Fprintf(w, "%-5s %-10s %-28s %7d %9d%s\n", verdict, r.Kind, r.Name, r.Cases, r.Requests, units)
	return err
}
