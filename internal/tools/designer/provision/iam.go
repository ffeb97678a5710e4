package provision

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// IAM is how policies are written.
type IAM struct {
	Specs []Spec
	// Variable is the policy variable that holds the tenant, as "${aws:PrincipalTag/userId}".
	Variable string
	// Functions are the names of the patterns that each function calls: each gets a policy. Names of writes that it
	// composes in one transaction are one, with + between them. Nil for a policy for each pattern.
	Functions map[string][]string
}

// WriteIAM writes a policy document for each pattern of a design, and for ExportPerson and ErasePerson where it has
// persons, or for each function that calls some of them: what the generated code of just that needs, and nothing more.
//
// A statement is about one table or index. dynamodb:LeadingKeys bind it to the partition keys that the patterns reach
// there: the templates of the design, with the tenant's variable for the tenant and * for all other fields. One action on
// one resource is in one statement, for AWS wants one that has all leading keys of a request. There is no condition where
// a template begins and ends with fields alone, in an index whose partition key has several attributes, and for Scans,
// which have no leading keys.
//
// ForAllValues is true of a request without the key. All actions that get the condition have it, and Null makes one that
// had not be refused.
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
func WriteIAM(w io.Writer, d *design.Design, i IAM) error {
	patterns := needsOf(d)
	out := new(object)
	if i.Functions == nil {
		for _, p := range patterns {
			out.set(p.pattern, i.policy(d, p.needs))
		}
		return writeJSON(w, out)
	}
	for _, function := range slices.Sorted(maps.Keys(i.Functions)) {
		var all []need
		for _, names := range i.Functions[function] {
			together := strings.Split(names, "+")
			for _, name := range together {
				at := slices.IndexFunc(patterns, func(p patternNeeds) bool { return p.pattern == strings.TrimSpace(name) })
				if at < 0 {
					return fmt.Errorf("function %s: the design has no pattern %s", function, name)
				}
				all = append(all, patterns[at].needs...)
				if len(together) > 1 {
					all = append(all, patterns[at].together...)
				}
			}
		}
		out.set(function, i.policy(d, all))
	}
	return writeJSON(w, out)
}

// grant is an action on a resource, and the partition keys that it is for.
type grant struct {
	resource, action string
	keys             []string // nil for all
}

// policy is the document that allows what is needed.
func (i IAM) policy(d *design.Design, needs []need) *object {
	var grants []grant
	for _, n := range needs {
		resource, key := i.resource(d, n.place), i.leadingKey(d, n)
		at := slices.IndexFunc(grants, func(g grant) bool { return g.resource == resource && g.action == n.action })
		if at < 0 {
			at = len(grants)
			grants = append(grants, grant{resource, n.action, nil})
		}
		grants[at].keys = append(grants[at].keys, key)
	}
	for n := range grants {
		grants[n].keys = fewest(grants[n].keys)
	}
	slices.SortFunc(grants, func(a, b grant) int {
		return cmp.Or(strings.Compare(a.resource, b.resource), slices.Compare(a.keys, b.keys), strings.Compare(a.action, b.action))
	})
	statements := []*object{}
	for from, to := 0, 0; from < len(grants); from = to {
		var actions []string
		for ; to < len(grants) && grants[to].resource == grants[from].resource && slices.Equal(grants[to].keys, grants[from].keys); to++ {
			actions = append(actions, "dynamodb:"+grants[to].action)
		}
		statement := new(object).set("Effect", "Allow").set("Action", actions).set("Resource", grants[from].resource)
		if keys := grants[from].keys; keys != nil {
			const leading = "dynamodb:LeadingKeys"
			statement.set("Condition", new(object).
				set("ForAllValues:StringLike", new(object).set(leading, keys)).
				set("Null", new(object).set(leading, "false")))
		}
		statements = append(statements, statement)
	}
	return new(object).set("Version", "2012-10-17").set("Statement", statements)
}

// fewest are patterns of keys without those that another covers; nil if one is for all.
func fewest(keys []string) []string {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if slices.Contains(keys, anyKey) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return slices.ContainsFunc(keys, func(other string) bool { return other != key && includes(other, key) })
	})
}

// anyKey is the pattern of all partition keys.
const anyKey = "*"

// includes reports whether a pattern matches all that another does. Of one with variables that is not known.
func includes(pattern, other string) bool {
	if strings.Contains(pattern, "${") {
		return false
	}
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(other)
}

func (i IAM) resource(d *design.Design, p plan.Place) string {
	arn := "arn:aws:dynamodb:*:*:table/" + i.Specs[slices.Index(d.Tables, p.Table)].Name
	if p.Index != nil {
		arn += "/index/" + p.Index.Name
	}
	return arn
}

// leadingKey is the pattern of a place's partition keys.
func (i IAM) leadingKey(d *design.Design, n need) string {
	if n.action == string(plan.Scan) || len(n.place.PK) != 1 {
		return anyKey
	}
	parts := n.place.PK[0].Parts
	var out strings.Builder
	for at, part := range parts {
		switch {
		case part.Field == "":
			out.WriteString(literal.Replace(part.Literal))
		case !n.named && i.isTenant(d, parts, at):
			out.WriteString(i.Variable)
		case !strings.HasSuffix(out.String(), anyKey):
			out.WriteString(anyKey)
		}
	}
	return out.String()
}

// literal makes text of what AWS takes for wildcards and variables.
var literal = strings.NewReplacer("*", "${*}", "?", "${?}", "$", "${$}") //nolint:gochecknoglobals // a table

// isTenant reports whether a part is the tenant, whose variable can stand for it: it is the first field, and what follows
// is set apart from it, or one tenant's name could be the beginning of another's.
func (i IAM) isTenant(d *design.Design, parts []design.Part, at int) bool {
	earlier := slices.ContainsFunc(parts[:at], func(p design.Part) bool { return p.Field != "" })
	return d.Tenant != "" && parts[at].Field == d.Tenant && len(parts[at].Funcs) == 0 && !earlier &&
		(at == len(parts)-1 || parts[at+1].Field == "")
}
