// Package sam writes the template with which AWS SAM deploys a system: its tables as written by monotable provision, an HTTP API
// with one function per operation, functions that consume streams or run at intervals, alarms and a dashboard.
//
// # Model
//
//	design ── provision --as sam ──▶ tables ──────────────────────────╮
//	design ── provision --as iam ──▶ a policy for each function ─╮     ├──▶ template.yaml
//	API's document ──▶ routes ── Functions: patterns of each ────┴─────╯
//
// # Invariants
//
//	S1  Each route has one function, and each function serves a route, the pages, a stream, a queue of failed batches or a
//	    schedule.
//	S2  A function may only do what its patterns do: on the table or index, and in the partitions of their templates
//	    ("USER#*"). A role cannot distinguish tenants, because a function serves all of them; data access does. A system's
//	    tests run with these policies, and need each of their statements (apitest.Main).
//	S3  All functions are one binary.
//	S4  Every alarm notifies the topic in the parameter AlarmTopic. The alarms cover throttled requests of tables, 5xx
//	    responses, functions that fail or are throttled, streams that are consumed too late, and failed batches.
//	S5  A route that requires a token has the user pool's authorizer: API Gateway rejects all other tokens without calling a
//	    function. The functions verify tokens anyway, because the gateway checks neither all claims nor sessions.
//	    A system that can sign tokens itself has no authorizer, which would accept only the user pool's.
//	S6  A function is called through its alias, which moves to a new version gradually, and back if the function's alarm goes
//	    off.
package sam

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
)

// Template describes what to write.
type Template struct {
	// Name is the system's name, Title the title in the description.
	Name, Title string
	// AdminGroup is the user pool's group of admins, or "" if there are none.
	AdminGroup string
	// Design is the path of the design.
	Design string
	// Routes are the API's routes.
	Routes []Route
	// Functions are the patterns that each operation calls, by operationId.
	Functions map[string][]string
	// Streams are functions that consume streams.
	Streams []Stream
	// Schedules are functions that run at intervals.
	Schedules []Schedule
	// Settings are the system's own environment variables.
	Settings []Setting
	// Pages is the function for the pages, or nil if there are none.
	Pages *Pages
	// Bucket is the system's bucket for files, or nil if it has none.
	Bucket *Bucket
	// Memory is the size in megabytes for functions that need more than others, by operationId.
	Memory map[string]int
}

// Pages are a system's pages, served by one function.
type Pages struct {
	// Paths are the GET paths, as API Gateway writes them.
	Paths []string
	// Patterns are the names of the patterns that they call.
	Patterns []string
}

// Route is an operation of the API.
type Route struct {
	ID, Method, Path, Summary string
	// Token means that the route requires a token.
	Token bool
}

// Stream is a function that consumes a table's stream.
type Stream struct {
	// Name is the consumer's name, Table the table's name in the design.
	Name, Table string
	// Patterns are the names of the patterns that it calls.
	Patterns []string
	// Filter is the pattern of an event filter, as JSON; "" selects all records.
	Filter string
}

// Schedule is a function that runs at intervals.
type Schedule struct {
	Name string
	// Every is a whole number of minutes.
	Every time.Duration
	// Patterns are the names of the patterns that it calls.
	Patterns []string
}

// IssuerKey is the variable of a system that can sign tokens itself.
const IssuerKey = "APP_ISSUER_KEY"

// Setting is an environment variable whose value is a parameter of the template.
type Setting struct {
	Variable, Parameter, Default, About string
	// Secret hides the value in CloudFormation (NoEcho).
	Secret bool
	// Layer is the parameter for the layer that contains the file named by the value, or "" if the value names no file.
	Layer string
}

// object is an ordered mapping.
type object = yaml.MapSlice

func of(pairs ...any) object {
	out := make(object, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, yaml.MapItem{Key: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func get(o object, key string) any {
	for _, item := range o {
		if item.Key == key {
			return item.Value
		}
	}
	return nil
}

func ref(id string) object             { return of("Ref", id) }
func sub(text string) object           { return of("Fn::Sub", text) }
func attribute(id, name string) object { return of("Fn::GetAtt", []string{id, name}) }

// Write writes the template.
func (t Template) Write(tb testing.TB, w io.Writer) {
	tb.Helper()
	p := t.provision(tb)
	t.complete(tb)
	out := of(
		"AWSTemplateFormatVersion", "2010-09-09", "Transform", "AWS::Serverless-2016-10-31",
		"Description", t.Title, "Parameters", t.parameters(p), "Conditions", t.conditions(), "Globals", t.globals(), "Resources", t.resources(tb, p),
		"Outputs", append(of("Url", of("Value", sub("https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}"))), p.outputs...),
	)
	if len(t.conditions()) == 0 {
		out = slices.DeleteFunc(out, func(item yaml.MapItem) bool { return item.Key == "Conditions" })
	}
	text, err := yaml.MarshalWithOptions(out, yaml.IndentSequence(true))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Fprintf(w, "# Written by %s; DO NOT EDIT. Deployment is described in ../README.md.\n%s", "go generate ./systems/"+t.Name, text); err != nil {
		tb.Fatal(err)
	}
}

// complete checks invariant S1.
func (t Template) complete(tb testing.TB) {
	tb.Helper()
	known := map[string]bool{}
	for _, r := range t.Routes {
		known[r.ID] = true
		if _, ok := t.Functions[r.ID]; !ok {
			tb.Errorf("operation %s has no function", r.ID)
		}
	}
	for id := range t.Functions {
		if !known[id] {
			tb.Errorf("function %s is for no operation", id)
		}
	}
}

var update = flag.Bool("update", false, "write the templates that differ") //nolint:gochecknoglobals // a flag of tests

// Compare compares the template and the pipeline with template.yaml and pipeline.yaml in a directory. With -update it writes the
// files.
func (t Template) Compare(tb testing.TB, dir string) {
	tb.Helper()
	for name, write := range map[string]func(testing.TB, io.Writer){"template.yaml": t.Write, "pipeline.yaml": t.WritePipeline} {
		file := filepath.Join(dir, name)
		var text strings.Builder
		write(tb, &text)
		if *update {
			if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
				tb.Fatal(err)
			}
			continue
		}
		kept, err := os.ReadFile(file) //nolint:gosec // a test's own path
		if err != nil {
			tb.Fatal(err)
		}
		if string(kept) != text.String() {
			tb.Errorf("%s is not what would be written: go generate ./systems/%s", file, t.Name)
		}
	}
}

// logicalID converts a name to a logical id: letters and digits, each word capitalised.
func logicalID(name string) string {
	var out strings.Builder
	capital := true
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			capital = true
		case capital:
			out.WriteRune(unicode.ToUpper(c))
			capital = false
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}
