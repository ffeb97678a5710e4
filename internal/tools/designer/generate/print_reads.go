package generate

import (
	"fmt"
	"strings"
)

func (m *model) printReads(s *source) {
	for _, r := range m.reads {
		m.printRead(s, r)
	}
	for _, c := range m.collections {
		m.printCollection(s, c)
	}
}

func (m *model) printRead(s *source, r *readModel) {
	if r.input != "" {
		var more []string
		if r.Range != nil {
			bounds := " are inclusive; nil means no bound."
			switch {
			case r.Run.Open():
				bounds = strings.Replace(strings.TrimPrefix(openBounds(r, "nil"), "The bounds"), " A page", "\n// A page", 1)
			case r.Run.Over != "":
				bounds = fmt.Sprintf(" are inclusive and required; they can span at most %d partitions.", r.Run.MaxBuckets)
			}
			more = append(more, "// "+r.from+" and "+r.to+bounds)
			more = append(more, fmt.Sprintf("%s, %s *%s", r.from, r.to, m.goType(r.Range.Type)))
		}
		takes := "."
		if r.Design.Each {
			takes = " for each item."
		}
		s.comment(r.input + " is the input of " + r.Go + takes)
		m.printStruct(s, r.input, m.asked(r.inputs, r.Design.Owner), more...)
	}
	if r.result.own {
		s.comment(r.result.Go + " is " + indefinite(r.entity.Go) + " as " + r.Go + " returns it, which may lack fields.")
		m.printStruct(s, r.result.Go, r.result.members)
	}
	takes, input := "ctx context.Context", "table.Input{}"
	if r.input != "" {
		takes, input = takes+", in "+r.input, "in.input()"
	}
	call := func(function, more string) string {
		return fmt.Sprintf("table.%s(ctx, db.run, %s, %s%s, %s)", function, r.variable, input, more, r.result.decode)
	}
	s.comment(m.readRemarks(r, "nil")...)
	switch {
	case r.Design.Count:
		s.print("func (db *DB) %s(%s) (int, error) {\nreturn db.run.Count(ctx, %s, %s)\n}\n", r.Go, takes, r.variable, input)
	case r.Design.Each:
		m.printBatch(s, r.Go, r)
	case !r.Run.Many:
		s.print("func (db *DB) %s(%s) (%s, error) {\nreturn %s\n}\n", r.Go, takes, r.result.Go, call("One", ""))
	case !r.paged():
		s.print("func (db *DB) %s(%s) ([]%s, error) {\nreturn %s\n}\n", r.Go, takes, r.result.Go, call("First", ""))
	default:
		s.print("func (db *DB) %s(%s, page table.PageOptions) (table.Page[%s], error) {\nreturn %s\n}\n", r.Go, takes, r.result.Go, call("Many", ", page"))
		s.comment(r.Go + "All iterates over all pages of " + r.Go + ", and requests each when it is needed. The iteration ends at an error.")
		s.print("func (db *DB) %sAll(%s) iter.Seq2[%s, error] {\nreturn %s\n}\n", r.Go, takes, r.result.Go, call("Each", ""))
	}
	if r.batch() && r.input != "" {
		s.comment(r.Go + "Batch is " + r.Go + " for several inputs at once, in BatchGetItem requests. " + inOrder("nil", r.Run.Owner))
		m.printBatch(s, r.Go+"Batch", r)
	}
}

// openBounds describes the default bounds of a walk.
func openBounds(r *readModel, absent string) string {
	ago := map[bool]string{true: " ago"}[r.Run.Back > 0]
	return fmt.Sprintf("The bounds are inclusive; %s means %s%s, the earliest time of items, and now. A page reads at most %d partitions and may be empty "+
		"although more pages follow.", absent, r.Design.Since, ago, r.Run.MaxBuckets)
}

// printBatch prints the method that reads one item for each input.
func (m *model) printBatch(s *source, name string, r *readModel) {
	s.print("func (db *DB) %s(ctx context.Context, in []%s) ([]*%s, error) {", name, r.input, r.result.Go)
	s.print("return table.BatchOf(ctx, db.run, %s, in, %s.input, %s)\n}\n", r.variable, r.input, r.result.decode)
}

// asked are inputs with the owner's value added.
func (m *model) asked(list []member, owner string) []member {
	out := append([]member{}, list...)
	for i := range out {
		switch {
		case out[i].Prefix:
			out[i].Doc = out[i].Go + " is a prefix of " + out[i].Name + `; "" means any value.`
		case out[i].Name == owner:
			out[i].Doc = out[i].Go + " is the caller's own: items of other owners are not found."
		}
	}
	return out
}

func (m *model) printCollection(s *source, c *collectionModel) {
	if c.input != "" {
		s.comment(c.input + " is the input of " + c.Go + ".")
		m.printStruct(s, c.input, m.asked(c.inputs, c.Design.Owner))
	}
	for _, x := range c.members {
		if x.own {
			s.comment(x.Go + " is " + indefinite(x.entity.Go) + " as " + c.Go + " returns it.")
			m.printStruct(s, x.Go, x.members)
		}
	}
	s.comment(c.result + " is the result of " + c.Go + ".")
	s.print("type %s struct {", c.result)
	for i, x := range c.members {
		switch {
		case i != c.Run.Root:
			s.print("%s []%s", x.field, x.Go)
		case c.Run.Page > 0:
			s.print("// %s is on one of the pages, and nil on the others.\n%s *%s", x.field, x.field, x.Go)
		default:
			s.print("%s %s", x.field, x.Go)
		}
	}
	if c.Run.Page > 0 {
		s.print("// Next continues after this page; \"\" on the last page.\nNext table.Cursor")
	}
	s.print("}\n")
	takes, input, page := "ctx context.Context", "table.Input{}", "table.PageOptions{}"
	if c.input != "" {
		takes, input = takes+", in "+c.input, "in.input()"
	}
	if c.Run.Page > 0 {
		takes, page = takes+", page table.PageOptions", "page"
	}
	s.comment(m.collectionRemarks(c)...)
	s.print("func (db *DB) %s(%s) (%s, error) {", c.Go, takes, c.result)
	s.print("found, err := db.run.Collect(ctx, %s, %s, %s)\nif err != nil {\nreturn %s{}, err\n}", c.variable, input, page, c.result)
	if c.Run.Page == 0 {
		s.print("return %s(found.Items)\n}\n", c.decode)
		return
	}
	s.print("result, err := %s(found.Items)\nresult.Next = found.Next\nreturn result, err\n}\n", c.decode)
}
