package generate

import (
	"strconv"

	"github.com/monotable/monotable/design/table"
)

// The additional names in a package with persons.
const (
	exportPerson = "ExportPerson"
	erasePerson  = "ErasePerson"
	personKept   = "PersonKept"
)

// printPerson prints the export and the erasure of a person's items; nothing if the design has no persons.
func (m *model) printPerson(s *source) {
	p := m.program.Person
	if p == nil {
		return
	}
	s.comment(m.exportRemarks(exportPerson, "An item's JSON has no secrets. after is the Resume of the item to continue after; \"\" starts at the beginning. The iteration ends at an error."))
	s.print("func (db *DB) %s(ctx context.Context, id string, after table.Cursor) iter.Seq2[table.PersonItem, error] {", exportPerson)
	s.print("return db.run.Export(ctx, %s, id, after)\n}\n", m.person)
	s.comment(eraseRemarks(erasePerson, personKept)...)
	s.print("func (db *DB) %s(ctx context.Context, id string) (table.Erased, error) {\nreturn db.run.Erase(ctx, %s, id)\n}\n", erasePerson, m.person)
	s.comment(personKept + " are the items that " + erasePerson + " keeps, with the reasons.")
	s.print("func %s() []table.Kept { return %s.Kept() }\n", personKept, m.person)
	s.comment(m.person + " describes which items belong to a person.")
	s.print("var %s = &%s", m.person, m.literals().literal(*p))
}

// exportRemarks describe the export and its items.
func (m *model) exportRemarks(name, items string) string {
	return name + " iterates over the items of the person with an id, by the design's field " + m.program.Person.Field + ", and their dependents, page by page. Items of " +
		"others that only mention the person are left out. " + items
}

// eraseRemarks describe the erasure.
func eraseRemarks(name, kept string) []string {
	return []string{
		name + " erases the person with an id, as the design says: items are deleted with their copies, index entries, markers and counters, or " +
			"kept without the fields that identify the person, see " + kept + ". It can be repeated, and completes an interrupted erasure.",
		"Items written before the call are erased. Items written while it runs are found by another pass, or it fails with " +
			"table.ErrStillWritten. Items written later stay until the next call.",
	}
}

// printTypeScriptPerson prints the methods that export and erase a person's items.
func (m *model) printTypeScriptPerson(s *source) {
	if m.program.Person == nil {
		return
	}
	tsDoc(s, "  ", m.exportRemarks(lowerCamel(exportPerson), "after is the resume of the item to continue after."))
	s.print("  %s(id: string, after = \"\", options: table.CallOptions = {}): AsyncGenerator<PersonItem, void, undefined> {", lowerCamel(exportPerson))
	s.print("    return this.#run.exportPerson<LoadRecord>(id, after, options);\n  }\n")
	tsDoc(s, "  ", eraseRemarks(lowerCamel(erasePerson), lowerCamel(personKept))...)
	s.print("  %s(id: string, options: table.CallOptions = {}): Promise<table.Erased> {\n    return this.#run.erasePerson(id, options);\n  }\n", lowerCamel(erasePerson))
}

// printTypeScriptKept prints the type of the items of an export, and what an erasure keeps.
func (m *model) printTypeScriptKept(s *source) {
	p := m.program.Person
	if p == nil {
		return
	}
	tsDoc(s, "", "An item of "+lowerCamel(exportPerson)+". Its method json returns it without secrets.")
	s.print("export type PersonItem = table.PersonItem & LoadRecord;\n")
	tsDoc(s, "", personKept+" are the items that "+lowerCamel(erasePerson)+" keeps, with the reasons.")
	s.print("export const %s: readonly table.Kept[] = %s;\n", lowerCamel(personKept), keptJSON(p))
}

// keptJSON are the items that erasure does not delete, as JSON.
func keptJSON(p *table.Person) string {
	var parts []string
	for _, k := range p.Kept() {
		o := object{{"entity", quoted(k.Entity)}, {"reason", quoted(k.Reason)}, {"changed", strconv.FormatBool(k.Changed)}, {"expires", strconv.FormatBool(k.Expires)}}
		parts = append(parts, o.text())
	}
	return bracketed("[", "]", parts)
}
