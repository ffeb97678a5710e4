package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Personal is a way to reach items of a person, and what erasure does with them.
type Personal struct {
	Entity string
	// By says how the items are identified, Place where they are found; "" if nothing finds them.
	By, Place string
	// Erased is what happens to them, and Copied whether they are in the person's export.
	Erased string
	Copied bool
}

// Persons are the items of a person, in the order of erasure; none if the design has no persons.
func Persons(d *design.Design) []Personal {
	p := plan.ForPerson(d)
	if p == nil {
		return nil
	}
	return personal(p.Parts, nil)
}

func personal(parts []*plan.PersonPart, of *plan.PersonPart) []Personal {
	var out []Personal
	for _, part := range parts {
		x := Personal{Entity: part.Entity.Name, By: part.Field, Erased: erased(part), Copied: part.Plan != nil && !part.Others}
		if of != nil {
			x.By = "its " + of.Entity.Name
		}
		if part.Plan != nil {
			x.Place = part.Plan.Place.String()
		}
		out = append(append(out, x), personal(part.Parts, part)...)
	}
	return out
}

// erased describes a fate in words.
func erased(part *plan.PersonPart) string {
	f := part.Fate
	switch f.Do {
	case design.FateDelete:
		return "deleted"
	case design.FateExpire:
		return "expires"
	default:
	}
	var changes []string
	for _, a := range f.Set {
		changes = append(changes, a.Field+" = "+a.Value.Text)
	}
	for _, path := range f.Remove {
		changes = append(changes, "without "+path)
	}
	if len(changes) == 0 {
		return "kept: " + f.Reason
	}
	return "kept, " + strings.Join(changes, ", ") + ": " + f.Reason
}

// WritePersons writes which items belong to which person, as text; nothing if the design has no
// persons.
func WritePersons(w io.Writer, d *design.Design) error {
	list := Persons(d)
	if list == nil {
		return nil
	}
	if _, err := fmt.Fprintf(w, "ErasePerson: items that identify a person by %s\n", d.Person); err != nil {
		return err
	}
	rows := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range list {
		place := "not found by any key"
		if x.Place != "" {
			place = "found in " + x.Place
		}
		copied := ""
		if !x.Copied {
			copied = ", not in the copy"
		}
		if _, err := fmt.Fprintf(rows, "  %s\tby %s\t%s\t%s%s\n", x.Entity, x.By, place, x.Erased, copied); err != nil {
			return err
		}
	}
	return rows.Flush()
}
