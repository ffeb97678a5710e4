package sam

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

const (
	tableARN    = "arn:aws:dynamodb:*:*:table/"
	indexARN    = "/index/"
	leadingKeys = "dynamodb:LeadingKeys"
)

// Policy is that of a function.
type Policy struct {
	Version   string
	Statement []Statement
}

// Statement lets a function do something to partitions of a table or index, as monotable provision writes it.
type Statement struct {
	Effect    string
	Action    []string
	Resource  string
	Condition *Condition `json:",omitempty"`
}

// Condition is on the partition keys.
type Condition struct {
	Like map[string][]string `json:"ForAllValues:StringLike"`
	Null map[string]string
}

// Access is what a request does to a partition: an action of IAM.
type Access struct {
	Action string // dynamodb:GetItem
	// Table is the physical name, Index is "" for the table itself.
	Table, Index string
	// Leading is the partition key.
	Leading string
}

// OfPages is the name of what requests do that are no operations.
const OfPages = "pages"

// called are the patterns of all functions: those of operations by operationId, of pages by OfPages, of streams' followers by
// "stream NAME", of schedules by "schedule NAME".
func (t Template) called() map[string][]string {
	called := maps.Clone(t.Functions)
	if t.Pages != nil {
		called[OfPages] = t.Pages.Patterns
	}
	for _, s := range t.Streams {
		called["stream "+s.Name] = s.Patterns
	}
	for _, s := range t.Schedules {
		called["schedule "+s.Name] = s.Patterns
	}
	return called
}

// policies are those of all functions, as monotable provision writes them for a stage.
func (t Template) policies(tb testing.TB, stage string) map[string]Policy {
	tb.Helper()
	text, err := json.Marshal(t.called())
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "functions.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	out := map[string]Policy{}
	written := designcheck.Command(tb, "provision", t.Design, "--as", "iam", "--functions", file, "--set", "stage="+stage, "--tenant-variable", "*")
	if err := json.Unmarshal([]byte(written), &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// Roles are the policies of all functions on the tables of a stage, by the names of called, and by "redrive NAME" for those that
// process again what a follower has given up.
type Roles map[string]Policy

// Roles are those of the template's functions.
func (t Template) Roles(tb testing.TB, stage string) Roles {
	tb.Helper()
	roles := t.policies(tb, stage)
	for _, s := range t.Streams {
		p := roles["stream "+s.Name]
		table := strings.ReplaceAll(t.provision(tb).table(tb, s.Table).name, stageMark, stage)
		p.Statement = append(slices.Clone(p.Statement), Statement{Effect: "Allow", Action: rereading(), Resource: tableARN + table + "/stream/*"})
		roles["redrive "+s.Name] = p
	}
	return roles
}

// rereading is what it takes to read records of a stream again.
func rereading() []string { return []string{"dynamodb:GetRecords", "dynamodb:GetShardIterator"} }

// written are statements as a function's properties have them.
func (p *provisioned) written(tb testing.TB, function string) []object {
	tb.Helper()
	var list []object
	for _, s := range p.policies[function].Statement {
		statement := of("Effect", s.Effect, "Action", s.Action, "Resource", p.resource(tb, s.Resource))
		if s.Condition != nil {
			statement = append(statement, of("Condition", of(
				"ForAllValues:StringLike", of(leadingKeys, s.Condition.Like[leadingKeys]), "Null", of(leadingKeys, s.Condition.Null[leadingKeys]),
			))...)
		}
		list = append(list, statement)
	}
	if list == nil {
		return []object{}
	}
	return []object{of("Version", "2012-10-17", "Statement", list)}
}

// resource is the resource of a policy as the template has it.
func (p *provisioned) resource(tb testing.TB, arn string) any {
	tb.Helper()
	name, index, _ := strings.Cut(strings.TrimPrefix(arn, tableARN), indexARN)
	t := p.table(tb, name)
	if index == "" {
		return attribute(t.id, "Arn")
	}
	return sub("${" + t.id + ".Arn}" + indexARN + index)
}

// Idle tells of each statement of a role without which nothing in the accesses would be refused. Streams are in no accesses, so that
// what processes again what was given up is left out: it does what the follower does.
func (r Roles) Idle(accesses map[string][]Access) []string {
	var out []string
	for _, function := range slices.Sorted(maps.Keys(r)) {
		if strings.HasPrefix(function, "redrive ") {
			continue
		}
		all := r[function].Statement
		for i, s := range all {
			others := slices.Concat(all[:i], all[i+1:])
			needed := slices.ContainsFunc(accesses[function], func(a Access) bool { return s.permits(a) && !permitted(others, a) })
			if !needed {
				out = append(out, fmt.Sprintf("%s: nothing that was asked needs its statement for %v on %s%s", function, s.Action, s.Resource, s.of()))
			}
		}
	}
	return out
}

func permitted(statements []Statement, a Access) bool {
	return slices.ContainsFunc(statements, func(s Statement) bool { return s.permits(a) })
}

func (s Statement) permits(a Access) bool {
	return slices.Contains(s.Action, a.Action) && s.Resource == a.resource() &&
		(s.Condition == nil || slices.ContainsFunc(s.Condition.Like[leadingKeys], func(pattern string) bool { return like(pattern, a.Leading) }))
}

// of says which keys a statement is for.
func (s Statement) of() string {
	if s.Condition == nil {
		return ""
	}
	return fmt.Sprintf(" of %v", s.Condition.Like[leadingKeys])
}

// like is IAM's StringLike, without ? and literal wildcards: each * stands for any text, or none.
func like(pattern, text string) bool {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(text)
}

func (a Access) resource() string {
	if a.Index == "" {
		return tableARN + a.Table
	}
	return tableARN + a.Table + indexARN + a.Index
}
