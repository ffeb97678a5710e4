package generate

import (
	"fmt"
	"slices"
	"strings"
)

func (m *model) printWrites(s *source) {
	for _, w := range m.writes {
		m.printWrite(s, w)
	}
	if m.composable() {
		m.printTx(s)
	}
}

func (m *model) printWrite(s *source, w *writeModel) {
	if w.input != "" {
		var more []string
		if w.line != "" {
			more = []string{"Lines []" + w.line}
		}
		s.comment(w.input + " is the input of " + w.Go + ".")
		m.printStruct(s, w.input, w.inputs, more...)
	}
	if w.line != "" {
		s.comment(w.line + " is a line of " + w.Go + ".")
		m.printStruct(s, w.line, w.lines)
	}
	if w.result != "" {
		m.printResult(s, w)
	}
	m.printWriteMethod(s, w)
	if w.Run.Idempotent != nil {
		m.printReplay(s, w)
	}
}

func (m *model) printResult(s *source, w *writeModel) {
	s.comment(w.result + " is the result of " + w.Go + ".")
	s.print("type %s struct {", w.result)
	for _, x := range w.returned {
		switch {
		case x.each:
			s.print("%s []%s", x.field, x.entity.Go)
		case x.maybe:
			s.comment(x.field + " is the item after the write; nil if the write did not need to read it.")
			s.print("%s *%s", x.field, x.entity.Go)
		default:
			s.print("%s %s", x.field, x.entity.Go)
		}
	}
	if w.Run.Idempotent != nil {
		s.comment("Replayed is set for a repeated request: nothing was done, and the result is the first one's" + m.replayed(w) + ".")
		s.print("Replayed bool")
	}
	s.print("}\n")
}

// replayed describes the result of a repetition.
func (m *model) replayed(w *writeModel) string {
	switch {
	case w.replayRead != nil:
		return ", as " + w.replayRead.Go + " finds it now"
	case w.replayCollection != nil:
		return ", as " + w.replayCollection.Go + " finds it now"
	default:
		return ", with the fields that " + w.record.Go + " keeps: other fields are zero"
	}
}

func (m *model) printWriteMethod(s *source, w *writeModel) {
	takes, input := "ctx context.Context", "table.Input{}"
	if w.input != "" {
		takes, input = takes+", in "+w.input, "in.input()"
	}
	s.comment(m.writeRemarks(w)...)
	if w.result == "" {
		s.print("func (db *DB) %s(%s) error {\n_, err := db.run.Write(ctx, %s, %s)\nreturn err\n}\n", w.Go, takes, w.variable, input)
		return
	}
	s.print("func (db *DB) %s(%s) (%s, error) {\nreturn table.Do(ctx, db.run, %s, %s, db.%s)\n}\n", w.Go, takes, w.result, w.variable, input, w.outcome)
	m.printOutcome(s, w)
}

// printOutcome prints the function that makes the result of a write.
func (m *model) printOutcome(s *source, w *writeModel) {
	idempotent := w.Run.Idempotent != nil
	parameters, out := "_ context.Context, _ table.Input", "out"
	if idempotent {
		parameters = "ctx context.Context, input table.Input"
	}
	s.comment(w.outcome + " converts the outcome of " + w.Go + ".")
	s.print("func (db *DB) %s(%s, %s table.Outcome) (%s, error) {", w.outcome, parameters, out, w.result)
	if idempotent {
		s.print("if out.Replayed {\nreturn db.replay%s(ctx, input, out.Record)\n}", w.Go)
	}
	if len(w.returned) == 0 {
		s.print("return %s{}, nil\n}\n", w.result)
		return
	}
	s.print("d := table.DecodeOutcome(out)\nreturn %s{", w.result)
	for _, x := range w.returned {
		function := "Made"
		switch {
		case x.each:
			function = "MadeEach"
		case x.maybe:
			function = "Known"
		}
		s.print("%s: table.%s(d, %d, %s),", x.field, function, x.step, x.entity.decode)
	}
	s.print("}, d.Err()\n}\n")
}

// printTx prints the method that composes writes.
func (m *model) printTx(s *source) {
	s.comment(
		txRemarks("Tx", "Op"),
		"An error of one write is a *table.TxError, which has its number and wraps the error that the write alone would return. An idempotent write makes "+
			"the whole transaction idempotent.",
	)
	s.print("func (db *DB) Tx(ctx context.Context, writes ...table.TxWrite) error { return db.run.Tx(ctx, writes...) }\n")
	s.comment(m.ops + " has the writes for Tx. Its methods send no request: they take the input of the method of DB, and have its result as Result when Tx has returned.")
	s.print("type %s struct{ db *DB }\n", m.ops)
	for _, w := range m.writes {
		if w.Run.Batch {
			continue
		}
		takes, input, result, of, decode := "", "table.Input{}", "struct{}", "[struct{}]", "nil"
		if w.input != "" {
			takes, input = "in "+w.input, "in.input()"
		}
		if w.result != "" {
			result, of, decode = w.result, "", "o.db."+w.outcome
		}
		s.comment(w.Go + " is " + w.Go + " of DB, for Tx.")
		s.print("func (o %s) %s(%s) *table.Op[%s] {\nreturn table.NewOp%s(o.db.run, %s, %s, %s)\n}\n", m.ops, w.Go, takes, result, of, w.variable, input, decode)
	}
}

// txRemarks describe the method that composes writes.
func txRemarks(name, op string) string {
	return name + " runs writes of " + op + " in one transaction, all or nothing: at most 100 items and 4 MB, where each item costs " +
		"two units per KB. No two of them may touch the same item, which is table.ErrOverlap, except for counters; their order " +
		"does not matter."
}

// composable reports whether some write can be part of a Tx.
func (m *model) composable() bool {
	return slices.ContainsFunc(m.writes, func(w *writeModel) bool { return !w.Run.Batch })
}

// printReplay prints the function that answers a repetition.
func (m *model) printReplay(s *source, w *writeModel) {
	name := "replay" + w.Go
	fail := fmt.Sprintf("if err != nil {\nreturn %s{}, err\n}", w.result)
	signature := fmt.Sprintf("func (db *DB) %s(%%s) (%s, error) {", name, w.result)
	const parameters = "ctx context.Context, input table.Input, record table.Values"
	reads := w.replayRead != nil && len(m.returnedOf(w, w.replayRead.entity)) > 0 ||
		w.replayCollection != nil && slices.ContainsFunc(w.replayCollection.members, func(x memberModel) bool { return len(m.returnedOf(w, x.entity)) > 0 })
	s.comment(name + " is the response to a repetition" + m.replayed(w) + ".")
	if !reads {
		m.printRecorded(s, w, signature)
		return
	}
	s.print(signature, parameters)
	s.print("v := table.Values{}\nmaps.Copy(v, input.Values)\nmaps.Copy(v, record)")
	if w.owner != "" {
		s.print("v[%q] = input.Values[%q] // the owner comes from the caller", w.owner, w.owner)
	}
	s.print("result := %s{Replayed: true}", w.result)
	if r := w.replayRead; r != nil {
		returned := m.returnedOf(w, r.entity)[0]
		if r.Run.Many {
			s.print("list, err := table.First(ctx, db.run, %s, table.Input{Values: v}, %s)\n%s\nfor _, x := range list {", r.variable, r.result.decode, fail)
			m.printReturned(s, returned, r.result, "x")
			s.print("}\nreturn result, nil\n}\n")
			return
		}
		s.print("x, err := table.One(ctx, db.run, %s, table.Input{Values: v}, %s)\n%s", r.variable, r.result.decode, fail)
		m.printReturned(s, returned, r.result, "x")
		s.print("return result, nil\n}\n")
		return
	}
	c := w.replayCollection
	run := c.variable
	if c.Run.Page > 0 {
		s.print("all := *%s\nall.Page = 0", c.variable)
		run = "&all"
	}
	s.print("found, err := db.run.Collect(ctx, %s, table.Input{Values: v}, table.PageOptions{})\n%s\nanswer, err := %s(found.Items)\n%s", run, fail, c.decode, fail)
	for i, x := range c.members {
		returned := m.returnedOf(w, x.entity)
		switch {
		case len(returned) == 0:
		case i != c.Run.Root:
			s.print("for _, x := range answer.%s {", x.field)
			m.printReturned(s, returned[0], x.result, "x")
			s.print("}")
		case c.Run.Page > 0:
			s.print("if x := answer.%s; x != nil {", x.field)
			m.printReturned(s, returned[0], x.result, "*x")
			s.print("}")
		default:
			m.printReturned(s, returned[0], x.result, "answer."+x.field)
		}
	}
	s.print("return result, nil\n}\n")
}

// returnedOf are the items of an entity that a write returns.
func (m *model) returnedOf(w *writeModel, e *entityModel) []returnedModel {
	return slices.DeleteFunc(slices.Clone(w.returned), func(x returnedModel) bool { return x.entity != e })
}

// printReturned prints the statement that sets an item of a result to one that a read found.
func (m *model) printReturned(s *source, to returnedModel, from result, x string) {
	if from.own {
		x = converted(to.entity.Go, from.members, x)
	}
	switch {
	case to.each:
		s.print("result.%s = append(result.%s, %s)", to.field, to.field, x)
	case to.maybe:
		s.print("{\nx := %s\nresult.%s = &x\n}", x, to.field)
	default:
		s.print("result.%s = %s", to.field, x)
	}
}

// converted is a value with fields copied from another.
func converted(name string, list []member, x string) string {
	x = strings.TrimPrefix(x, "*")
	var parts []string
	for _, f := range list {
		parts = append(parts, f.Go+": "+x+"."+f.Go)
	}
	return composite(name, parts)
}

// printRecorded prints the function that answers a repetition from the record alone.
func (m *model) printRecorded(s *source, w *writeModel, signature string) {
	body := &source{}
	for _, returned := range w.returned {
		if !returned.each {
			printRecordedItem(body, w.record, returned)
		}
	}
	if body.empty() {
		s.print(signature, "_ context.Context, _ table.Input, _ table.Values")
		s.print("return %s{Replayed: true}, nil\n}\n", w.result)
		return
	}
	s.print(signature, "_ context.Context, _ table.Input, record table.Values")
	s.print("r, err := %s(record)\nif err != nil {\nreturn %s{}, err\n}\nresult := %s{Replayed: true}", w.record.decode, w.result, w.result)
	s.print("%sreturn result, nil\n}\n", body.out.String())
}

// printRecordedItem prints the statements that set an item of the result from the record.
func printRecordedItem(s *source, record *entityModel, returned returnedModel) {
	var same, known []member
	for _, f := range returned.entity.members {
		for _, r := range record.members {
			switch {
			case r.Name != f.Name || r.Type.String() != f.Type.String():
			case r.Optional == f.Optional && r.Go == f.Go:
				same = append(same, f)
			case r.Optional && !f.Optional && !nilable(r.Type):
				known = append(known, f)
			}
		}
	}
	if len(same)+len(known) == 0 {
		return
	}
	if returned.maybe || len(same) > 0 {
		reference := map[bool]string{true: "&", false: ""}[returned.maybe]
		s.print("result.%s = %s%s", returned.field, reference, converted(returned.entity.Go, same, "r"))
	}
	for _, f := range known {
		s.print("if r.%s != nil {\nresult.%s.%s = *r.%s\n}", f.Go, returned.field, f.Go, f.Go)
	}
}
