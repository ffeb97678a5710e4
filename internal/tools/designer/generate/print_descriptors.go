package generate

// printDescriptors prints the descriptors: tables, entities, patterns. Circular references, which Go does not allow in
// variable initializers, are set in init.
func (m *model) printDescriptors(s *source) {
	l := m.literals()
	s.print("// The tables.\nvar (")
	for _, t := range m.tables {
		s.print("%s = %s", t.variable, "&"+l.literal(*t.run))
	}
	s.print(")\n")
	m.printStructFields(s, l)
	s.print("// The entities: how their items are stored, and what belongs to them.\nvar (")
	for _, e := range m.entities {
		run := *e.run
		run.Counts = nil
		s.print("%s = &%s", e.variable, l.literal(run))
	}
	s.print(")\n")
	m.printPatterns(s, l)
	m.printCircles(s, l)
}

// printStructFields prints the fields of structures that are not recursive.
func (m *model) printStructFields(s *source, l *literals) {
	open := false
	for _, x := range m.structs {
		if x.run == nil {
			continue
		}
		if !open {
			s.print("// The fields of structures.\nvar (")
			open = true
		}
		if x.circular {
			s.print("%s []table.Field", x.fields)
			continue
		}
		s.print("%s = %s", x.fields, l.literal(*x.run))
	}
	if open {
		s.print(")\n")
	}
}

func (m *model) printPatterns(s *source, l *literals) {
	if len(m.reads)+len(m.collections) > 0 {
		s.print("// The reads.\nvar (")
		for _, r := range m.reads {
			s.print("%s = &%s", r.variable, l.literal(*r.Run))
		}
		for _, c := range m.collections {
			s.print("%s = &%s", c.variable, l.literal(*c.Run))
		}
		s.print(")\n")
	}
	if len(m.writes) > 0 {
		s.print("// The writes.\nvar (")
		for _, w := range m.writes {
			s.print("%s = &%s", w.variable, l.literal(*w.Run))
		}
		s.print(")\n")
	}
}

func (m *model) printCircles(s *source, l *literals) {
	body := &source{}
	for _, x := range m.structs {
		if x.circular && x.run != nil {
			body.print("%s = %s", x.fields, l.literal(*x.run))
		}
	}
	for _, e := range m.entities {
		if len(e.run.Counts) > 0 {
			body.print("%s.Counts = %s", e.variable, l.literal(e.run.Counts))
		}
	}
	if !body.empty() {
		s.print("// Counters lead from entity to entity, and structures may hold themselves: such circles are closed here.")
		s.print("func init() {\n%s}\n", body.out.String())
	}
}
