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

// Policy is a function's policy.
type Policy struct {
	Version   string
	Statement []Statement
}

// Statement allows actions on partitions of a table or index, in the format of monotable provision.
type Statement struct {
	Effect    string
	Action    []string
	Resource  string
	Condition *Condition `json:",omitempty"`
}

// Condition restricts the partition keys.
type Condition struct {
	Like map[string][]string `json:"ForAllValues:StringLike"`
	Null map[string]string
}

// Access is a request's effect on a partition.
type Access struct {
	Action string // dynamodb:GetItem
	// Table is the physical name; Index is "" for the table itself.
	Table, Index string
	// Leading is the partition key.
	Leading string
}

// OfPages is the function name of requests that are not operations.
const OfPages = "pages"

// called returns the patterns of all functions: operations by operationId, pages by OfPages, stream consumers by "stream NAME",
// schedules by "schedule NAME".
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

// policies returns the policies of all functions, which monotable provision writes for a stage.
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

// Roles are the policies of all functions for a stage's tables, by the names in called, and by "redrive NAME" for functions that
// reprocess a consumer's failed batches.
type Roles map[string]Policy

// Roles returns the roles of the template's functions.
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

// rereading returns the permissions to read a stream's records again.
func rereading() []string { return []string{"dynamodb:GetRecords", "dynamodb:GetShardIterator"} }

// written formats statements for a function's properties.
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

// resource formats the resource of a policy for the template.
func (p *provisioned) resource(tb testing.TB, arn string) any {
	tb.Helper()
	name, index, _ := strings.Cut(strings.TrimPrefix(arn, tableARN), indexARN)
	t := p.table(tb, name)
	if index == "" {
		return attribute(t.id, "Arn")
	}
	return sub("${" + t.id + ".Arn}" + indexARN + index)
}

// Idle returns the statements of a role that no access needs. Reads of streams are not recorded as accesses, so redrive functions
// are skipped: they do what the consumer does.
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

// of describes the keys that a statement covers.
func (s Statement) of() string {
	if s.Condition == nil {
		return ""
	}
	return fmt.Sprintf(" of %v", s.Condition.Like[leadingKeys])
}

// like implements IAM's StringLike, without ? and escaped wildcards: each * matches any text, including none.
func like(pattern, text string) bool {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(text)
}

func (a Access) resource() string {
	if a.Index == "" {
		return tableARN + a.Table
	}
	return tableARN + a.Table + indexARN + a.Index
}
