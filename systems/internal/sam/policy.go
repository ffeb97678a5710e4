package sam

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
)

const (
	tableARN    = "arn:aws:dynamodb:*:*:table/"
	indexARN    = "/index/"
	leadingKeys = "dynamodb:LeadingKeys"
)

// Access is what a request does to a partition: an action of IAM.
type Access struct {
	Action string // dynamodb:GetItem
	// Table is the physical name, Index is "" for the table itself.
	Table, Index string
	// Leading is the partition key.
	Leading string
}

// statements are what a function may do that calls the patterns.
func (p *provisioned) statements(tb testing.TB, patterns []string) []Statement {
	tb.Helper()
	var out []Statement
	for _, name := range patterns {
		of, known := p.patterns[name]
		if !known {
			tb.Fatalf("the design has no pattern %s", name)
		}
		for _, s := range of.Statement {
			s.Action = slices.Clone(s.Action)
			if w := p.design.Write(name); w != nil && p.mayRead(w) {
				s.Action = append(s.Action, "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem")
				slices.Sort(s.Action)
				s.Action = slices.Compact(s.Action)
			}
			out = p.merged(tb, out, s)
		}
	}
	return out
}

// mayRead tells whether generated code may have to read what it writes, and to make the write depend on what it has read:
// where other items follow from fields that the caller does not give.
func (p *provisioned) mayRead(w *design.Write) bool {
	return slices.ContainsFunc(w.Steps, func(s *design.Step) bool {
		e := p.design.Entity(s.Entity)
		counted := slices.ContainsFunc(p.design.Entities, func(of *design.Entity) bool {
			return slices.ContainsFunc(of.Counters, func(c *design.Counter) bool { return c.Of == e.Name })
		})
		return s.Action != design.Create && s.Action != design.Check &&
			(counted || len(e.Copies) > 0 || len(e.Entries) > 0 || len(e.Unique) > 0)
	})
}

// merged adds a statement, its actions to one about the same resources and keys where there is one.
func (p *provisioned) merged(tb testing.TB, list []Statement, s Statement) []Statement {
	tb.Helper()
	for i := range list {
		if slices.Equal(list[i].Resource, s.Resource) && slices.Equal(list[i].Condition.Like[leadingKeys], s.Condition.Like[leadingKeys]) {
			list[i].Action = slices.Compact(slices.Sorted(slices.Values(append(list[i].Action, s.Action...))))
			return list
		}
	}
	for _, resource := range s.Resource {
		p.resource(tb, resource)
	}
	return append(list, s)
}

// policies are statements as a function's properties have them.
func (p *provisioned) policies(tb testing.TB, statements []Statement) []object {
	tb.Helper()
	var list []object
	for _, s := range statements {
		resources := make([]any, len(s.Resource))
		for i, arn := range s.Resource {
			resources[i] = p.resource(tb, arn)
		}
		statement := of("Effect", "Allow", "Action", s.Action, "Resource", resources)
		if keys := s.Condition.Like[leadingKeys]; len(keys) > 0 {
			statement = append(statement, of("Condition", of("ForAllValues:StringLike", of(leadingKeys, keys)))...)
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

// Permits fails for each access that its function's policy does not let pass: those of operations by operationId, those
// of streams' followers by "stream NAME", of schedules by "schedule NAME". Tables are named as in a stage of the tests.
func (t Template) Permits(tb testing.TB, testStage string, accesses map[string][]Access) {
	tb.Helper()
	p := t.provision(tb)
	patterns := maps.Clone(t.Functions)
	for _, s := range t.Streams {
		patterns["stream "+s.Name] = s.Patterns
	}
	for _, s := range t.Schedules {
		patterns["schedule "+s.Name] = s.Patterns
	}
	for of, list := range accesses {
		names, known := patterns[of]
		if !known {
			tb.Errorf("%s has no function, but reaches the tables", of)
			continue
		}
		statements := p.statements(tb, names)
		for _, a := range list {
			if !permitted(statements, testStage, a) {
				tb.Errorf("the policy of %s does not permit %+v", of, a)
			}
		}
	}
}

func permitted(statements []Statement, testStage string, a Access) bool {
	return slices.ContainsFunc(statements, func(s Statement) bool {
		keys := s.Condition.Like[leadingKeys]
		return slices.Contains(s.Action, a.Action) &&
			slices.ContainsFunc(s.Resource, func(arn string) bool { return strings.ReplaceAll(arn, stageMark, testStage) == a.resource() }) &&
			(len(keys) == 0 || slices.ContainsFunc(keys, func(pattern string) bool { return like(pattern, a.Leading) }))
	})
}

// like is IAM's StringLike, without ?: each * stands for any text, or none.
func like(pattern, text string) bool {
	before, rest, wild := strings.Cut(pattern, "*")
	text, found := strings.CutPrefix(text, before)
	if !found || !wild {
		return found && text == ""
	}
	for i := range len(text) + 1 {
		if like(rest, text[i:]) {
			return true
		}
	}
	return false
}

func (a Access) resource() string {
	if a.Index == "" {
		return tableARN + a.Table
	}
	return tableARN + a.Table + indexARN + a.Index
}
