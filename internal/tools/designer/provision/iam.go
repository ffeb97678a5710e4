package provision

import (
	"io"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// WriteIAM writes a policy document for each pattern of a design, and for ExportPerson and ErasePerson where it has persons: the least that a function serving just that pattern
// needs. Where every partition key that it touches begins with the tenant, dynamodb:LeadingKeys binds the caller to its
// own: variable is the policy variable that holds the tenant, as "${aws:PrincipalTag/userId}".
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
func WriteIAM(w io.Writer, d *design.Design, specs []Spec, variable string) error {
	i := iam{design: d, specs: specs, variable: variable}
	out := new(object)
	for _, r := range d.Reads {
		s := statement{name: r.Name}
		i.read(&s, plan.ForRead(d, r).Plan)
		out.set(r.Name, i.policy(s))
	}
	for _, c := range d.Collections {
		s := statement{name: c.Name}
		for _, m := range plan.ForCollection(d, c).Members {
			i.touch(&s, m, "dynamodb:Query")
		}
		out.set(c.Name, i.policy(s))
	}
	for _, w := range d.Writes {
		s := statement{name: w.Name}
		i.write(&s, w)
		out.set(w.Name, i.policy(s))
	}
	if p := plan.ForPerson(d); p != nil {
		export, erase := statement{name: "ExportPerson"}, statement{name: "ErasePerson"}
		p.Each(func(part *plan.PersonPart) {
			if part.Plan == nil {
				return
			}
			if !part.Others {
				i.read(&export, part.Plan)
			}
			i.read(&erase, part.Plan)
			if w := part.Erase(d); w != nil {
				i.write(&erase, w)
			}
		})
		out.set(export.name, i.policy(export))
		out.set(erase.name, i.policy(erase))
	}
	return writeJSON(w, out)
}

// read adds what a read touches.
func (i *iam) read(s *statement, p *plan.Plan) {
	i.touch(s, p.Place, "dynamodb:"+string(p.Operation))
	s.shared = s.shared || p.Operation == plan.Scan                      // which has no leading keys
	if p.Operation == plan.GetItem && p.Place.Kind != plan.MarkerPlace { // the generated code has it for several at once, too
		i.touch(s, p.Place, "dynamodb:BatchGetItem")
	}
	if p.Place.Kind == plan.MarkerPlace || len(p.Hydrate) > 0 { // what the place lacks is read for all that was found at once
		i.touch(s, plan.Places(i.design, p.Place.Entity)[0], "dynamodb:BatchGetItem")
	}
}

// write adds what a write touches.
func (i *iam) write(s *statement, w *design.Write) {
	for _, item := range plan.ForWrite(i.design, w).Items {
		if w.Batch {
			i.touch(s, item.Place, "dynamodb:BatchWriteItem")
			continue
		}
		i.touch(s, item.Place, actions[item.Action])
		if item.Place.Kind == plan.KeyPlace && mayRead(i.design, w, item) {
			i.touch(s, item.Place, "dynamodb:GetItem")
			i.touch(s, item.Place, "dynamodb:BatchGetItem")
		}
	}
}

// mayRead reports whether a write can have to read an item first: the record of a request, or an item that is changed or
// goes, of which copies, index entries, markers or counters hold what only the item tells.
func mayRead(d *design.Design, w *design.Write, item plan.ItemWrite) bool {
	e := item.Place.Entity
	counted := slices.ContainsFunc(d.Entities, func(holder *design.Entity) bool {
		return slices.ContainsFunc(holder.Counters, func(c *design.Counter) bool { return c.Of == e.Name })
	})
	switch item.Action {
	case design.Update, design.Upsert, design.Delete:
		return len(e.Copies)+len(e.Entries)+len(e.Unique) > 0 || counted
	default:
		return w.Idempotent != nil && item.Step == nil
	}
}

// actions are the permissions of what a write does with an item.
var actions = map[design.Action]string{ //nolint:gochecknoglobals // a table
	design.Create: "dynamodb:PutItem", design.Put: "dynamodb:PutItem", design.Update: "dynamodb:UpdateItem",
	design.Upsert: "dynamodb:UpdateItem", design.Delete: "dynamodb:DeleteItem", design.Check: "dynamodb:ConditionCheckItem",
}

type iam struct {
	design   *design.Design
	specs    []Spec
	variable string
}

// statement is what one pattern touches.
type statement struct {
	name      string
	actions   []string
	resources []string
	leading   []string // the patterns of partition keys; nil once one is not the tenant's
	shared    bool     // some partition key does not begin with the tenant
}

func (i *iam) touch(s *statement, p plan.Place, action string) {
	add := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	add(&s.actions, action)
	name := i.specs[slices.Index(i.design.Tables, p.Table)].Name
	resource := "arn:aws:dynamodb:*:*:table/" + name
	if p.Index != nil {
		resource += "/index/" + p.Index.Name
	}
	add(&s.resources, resource)
	if leading, ok := i.leadingKey(p); ok {
		add(&s.leading, leading)
	} else {
		s.shared = true
	}
}

// leadingKey is the pattern of a partition key in which the first field is the tenant: what follows the tenant must be
// set apart from it, or one tenant's name could be the beginning of another's.
func (i *iam) leadingKey(p plan.Place) (string, bool) {
	if i.design.Tenant == "" || len(p.PK) != 1 {
		return "", false
	}
	parts := p.PK[0].Parts
	var out strings.Builder
	for n, part := range parts {
		switch {
		case part.Field == "":
			out.WriteString(part.Literal)
		case part.Field != i.design.Tenant || len(part.Funcs) > 0:
			return "", false
		case n == len(parts)-1:
			return out.String() + i.variable, true
		case parts[n+1].Field == "":
			return out.String() + i.variable + parts[n+1].Literal + "*", true
		default:
			return "", false
		}
	}
	return "", false
}

func (i *iam) policy(s statement) *object {
	slices.Sort(s.actions)
	statement := new(object).set("Sid", s.name).set("Effect", "Allow").set("Action", s.actions).set("Resource", s.resources)
	if !s.shared && len(s.leading) > 0 {
		statement.set("Condition", new(object).set("ForAllValues:StringLike", new(object).set("dynamodb:LeadingKeys", s.leading)))
	}
	return new(object).set("Version", "2012-10-17").set("Statement", []*object{statement})
}
