package generate

// The names of what a package with persons has beside its patterns.
const (
	exportPerson = "ExportPerson"
	erasePerson  = "ErasePerson"
	personKept   = "PersonKept"
)

// printPerson prints the export and the erasure of a person's items; nothing where the design has no persons.
func (m *model) printPerson(s *source) {
	p := m.program.Person
	if p == nil {
		return
	}
	s.comment(exportPerson + " walks the items of the person of an id, by the design's " + p.Field + ", and what belongs to them, page by page: those of others " +
		"that only name the person are left out. An item is written as JSON without secrets. after is the Resume of an item, to continue there; \"\" begins. An error ends it.")
	s.print("func (db *DB) %s(ctx context.Context, id string, after table.Cursor) iter.Seq2[table.PersonItem, error] {", exportPerson)
	s.print("return db.run.Export(ctx, %s, id, after)\n}\n", m.person)
	s.comment(erasePerson+" erases the person of an id, as the design says: items are deleted with their copies, index entries, markers and counters, or "+
		"kept without what names the person, see "+personKept+". It may be repeated, and finishes what was stopped at any point.",
		"What was written before the call is erased. What the person writes while it runs is found by another pass, or it fails with "+
			"table.ErrStillWritten; what is written later stays until the next call.")
	s.print("func (db *DB) %s(ctx context.Context, id string) (table.Erased, error) {\nreturn db.run.Erase(ctx, %s, id)\n}\n", erasePerson, m.person)
	s.comment(personKept + " are the items that " + erasePerson + " does not delete, with the reasons.")
	s.print("func %s() []table.Kept { return %s.Kept() }\n", personKept, m.person)
	s.comment(m.person + " says whose items are whose.")
	s.print("var %s = &%s", m.person, m.literals().literal(*p))
}
