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

// IAM configures how policies are written.
type IAM struct {
	Specs []Spec
	// Variable is the policy variable with the tenant, such as "${aws:PrincipalTag/userId}".
	Variable string
	// Functions are the names of the patterns that each function calls: each function gets a policy. Writes that it
	// composes in one transaction are joined by +. If nil, each pattern gets a policy.
	Functions map[string][]string
}

// WriteIAM writes a policy document for each pattern of a design, including ExportPerson and ErasePerson if it has
// persons, or for each function that calls some of them: the permissions that the generated code of these patterns needs,
// and no others.
//
// A statement is about one table or index. dynamodb:LeadingKeys restricts it to the partition keys that the patterns
// reach there: the templates of the design, with the tenant's variable for the tenant and * for all other fields. One
// action on one resource is in one statement, because AWS requires a single statement that covers all leading keys of a
// request. There is no condition if a template starts and ends with fields, for an index whose partition key has several
// attributes, and for Scans, which have no leading keys.
//
// ForAllValues is true if a request lacks the key. All actions with the condition have the key, and Null rejects a
// request without it.
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

// grant is an action on a resource, with the partition keys it is restricted to.
type grant struct {
	resource, action string
	keys             []string // nil for all keys
}

// policy is the document that allows these needs.
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

// fewest are patterns of keys without those that another covers; nil if one matches all keys.
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

// anyKey is the pattern that matches all partition keys.
const anyKey = "*"

// includes reports whether a pattern matches everything that another does. For patterns with variables it cannot know,
// and says no.
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

// literal escapes the characters that AWS reads as wildcards and variables.
var literal = strings.NewReplacer("*", "${*}", "?", "${?}", "$", "${$}") //nolint:gochecknoglobals // a table

// isTenant reports whether the variable can replace a part: it is the tenant's field, it is the first field, and a
// separator follows, since otherwise one tenant's name could be the prefix of another's.
func (i IAM) isTenant(d *design.Design, parts []design.Part, at int) bool {
	earlier := slices.ContainsFunc(parts[:at], func(p design.Part) bool { return p.Field != "" })
	return d.Tenant != "" && parts[at].Field == d.Tenant && len(parts[at].Funcs) == 0 && !earlier &&
		(at == len(parts)-1 || parts[at+1].Field == "")
}
