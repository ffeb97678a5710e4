package docs

import "github.com/monotable/monotable/internal/tools/designer/explain"

// persons describes whose items are whose, and what happens to them; nothing if the design has no
// persons.
func (p *page) persons() {
	list := explain.Persons(p.design)
	if list == nil {
		return
	}
	p.heading(2, "Personal data")
	p.paragraph("A person is identified by " + code(p.design.Person) + ". These items belong to them or identify them. Erasure handles them from first to last, and the dependents of " +
		"an item before the item.")
	t := table{head: []string{"Items", "Known by", "Found in", "When the person is erased", "In their copy"}}
	for _, x := range list {
		copied := "no"
		if x.Copied {
			copied = "yes"
		}
		t.row(code(x.Entity), text(x.By), code(x.Place), text(x.Erased), copied)
	}
	p.table(t)
}
