package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// personName is the name of the subject that exports and erases people's items.
const personName = "ErasePerson"

// peopleTried is the number of people to erase.
const peopleTried = 3

// person erases the people with the most items, and compares all tables with what must remain: nothing of the person,
// everything of others, with consistent counters, copies and markers.
func (t *Trial) person(ctx context.Context, out *Result) error {
	p := plan.ForPerson(t.design)
	records := t.counted(t.records)
	w, err := newWorld(ctx, t.program, t.now, records, t.options.Open)
	if err != nil {
		return err
	}
	defer func() { _ = w.close() }() // in memory
	db := w.db
	if t.options.Open == nil {
		db, err = table.Open(w.client, table.Config{Tables: w.tables, Clock: func() time.Time { return t.now }, Sequential: true}, t.program.Tables...)
		if err != nil {
			return err
		}
	}
	for _, id := range mostReferenced(p, records) {
		fates := map[*record]fate{}
		follow(p.Parts, records, id, nil, fates)
		out.Cases++
		w.client.takeCount()
		m, err := t.erase(ctx, w, db, id, &records, fates)
		out.Requests += w.client.takeCount()
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		out.Failed++
		f := Failure{Pattern: personName, Kind: m.kind, Given: p.Field + " " + id, Got: m.got, Want: m.want}
		for _, r := range m.concerned {
			f.Items = append(f.Items, r.lines(nil, nil)...)
		}
		out.Failures = append(out.Failures, f)
		return nil // the tables no longer match the records
	}
	return nil
}

// counted returns the records without those whose counting item does not exist: writes do not allow such items, and
// erasing cannot count them down.
func (t *Trial) counted(records []*record) []*record {
	for {
		orphans := t.orphans(records)
		left := slices.DeleteFunc(slices.Clone(records), func(r *record) bool { return orphans[r] })
		if len(left) == len(records) {
			return left
		}
		records = left
	}
}

// erase exports and erases a person, and compares the results. It changes records to what remains.
func (t *Trial) erase(ctx context.Context, w *world, db Runner, id string, records *[]*record, fates map[*record]fate) (*mismatch, error) {
	if m, err := t.export(ctx, db, id, fates); m != nil || err != nil {
		return m, err
	}
	for again := range 2 {
		done, err := db.Erase(ctx, t.program.Person, id)
		if err != nil {
			return &mismatch{kind: Failed, got: err.Error(), want: "the person is erased"}, nil //nolint:nilerr // it is the finding
		}
		maps.DeleteFunc(done.Changed, func(entity string, _ int) bool { return stay(entity, fates) })
		if n := len(done.Deleted) + len(done.Changed); again > 0 && n > 0 {
			return &mismatch{kind: Inconsistent, got: fmt.Sprintf("a second call finds %v and %v", done.Deleted, done.Changed), want: "nothing"}, nil
		}
	}
	is, err := w.all(ctx)
	if err != nil {
		return nil, err
	}
	var left []*record
	for _, r := range *records {
		switch f := fates[r]; {
		case f.part != nil && f.part.Fate.Do == design.FateDelete:
		case f.part != nil && f.part.Fate.Changes():
			changed, m := f.changed(r, is, id)
			if m != nil {
				return m, nil
			}
			left = append(left, changed)
		default:
			left = append(left, &record{entity: r.entity, home: r.home, run: r.run, values: maps.Clone(r.values)})
		}
	}
	count(t.program, left)
	*records = left
	return w.compareTables(is, left, nil)
}

// stay reports whether items of an entity still refer to the person after a change, so that each call finds and changes them.
func stay(entity string, fates map[*record]fate) bool {
	for r, f := range fates {
		for _, part := range append([]*plan.PersonPart{f.part}, f.also...) {
			if r.entity.Name == entity && part != nil && part.Fate.Changes() && !slices.Contains(part.Fate.Remove, part.Field) &&
				!slices.ContainsFunc(part.Fate.Set, func(a *design.Assignment) bool { return a.Field == part.Field }) {
				return true
			}
		}
	}
	return false
}

// fate is what happens to a record, by the strongest part that applies.
type fate struct {
	part   *plan.PersonPart
	also   []*plan.PersonPart // that change the item too, because it refers to the person in several fields
	others bool               // the item does not belong to the person in any way
}

// changed is a record whose item is kept with changes. Generated IDs are taken from the item.
func (f fate) changed(r *record, is map[string]table.Item, id string) (*record, *mismatch) {
	out := &record{entity: r.entity, home: r.home, run: r.run, values: maps.Clone(r.values)}
	items, err := r.items()
	if err != nil {
		return out, nil
	}
	it := is[keyOf(r.run.Table, items[0])]
	if it == nil {
		return nil, (&mismatch{kind: WrongWrite, got: "it was deleted", want: "it is kept: " + f.part.Fate.Reason}).about(r)
	}
	var sets []*design.Assignment
	for _, part := range append([]*plan.PersonPart{f.part}, f.also...) {
		sets = append(sets, part.Fate.Set...)
		for _, field := range part.Fate.Remove {
			delete(out.values, field)
		}
	}
	for _, a := range sets {
		v := r.run.ValuesOf(it)[a.Field]
		if term := a.Value.Terms[0]; term.Kind == design.ConstantTerm && term.Constant.Kind == design.StringConstant {
			v = &types.AttributeValueMemberS{Value: term.Constant.Text}
		}
		if text, ok := v.(*types.AttributeValueMemberS); v == nil || ok && text.Value == id {
			return nil, (&mismatch{kind: WrongWrite, got: a.Field + " is " + show(v), want: "another value"}).about(r)
		}
		out.values[a.Field] = v
	}
	return out, nil
}

// follow finds the fates of the records that parts cover.
func follow(parts []*plan.PersonPart, records []*record, id string, of *record, fates map[*record]fate) {
	for _, part := range parts {
		for _, r := range records {
			if r.entity != part.Entity || !concerns(part, r, id, of) {
				continue
			}
			f, met := fates[r]
			switch {
			case weight(part) > weight(f.part):
				f.part, f.also = part, nil
			case part.Fate.Changes() && weight(part) == weight(f.part):
				f.also = append(f.also, part)
			}
			f.others = part.Others && (!met || f.others)
			fates[r] = f
			follow(part.Parts, records, id, r, fates)
		}
	}
}

// concerns reports whether a record's item belongs to a part: it identifies the person, or belongs to the item of a
// record.
func concerns(part *plan.PersonPart, r *record, id string, of *record) bool {
	if part.Field != "" {
		v, ok := r.values[part.Field].(*types.AttributeValueMemberS)
		return ok && v.Value == id && part.Plan != nil
	}
	return !slices.ContainsFunc(plan.KeyFields(of.entity), func(name string) bool { return !equal(r.values[name], of.values[name]) })
}

// weight orders fates: deletion overrides everything else.
func weight(part *plan.PersonPart) int {
	switch {
	case part == nil:
		return 0
	case part.Fate.Do == design.FateDelete:
		return 3
	case part.Fate.Changes():
		return 2
	default:
		return 1
	}
}

// mostReferenced are the people who are referred to by the most records.
func mostReferenced(p *plan.Person, records []*record) []string {
	n := map[string]int{}
	for _, r := range records {
		if v, ok := r.values[p.Field].(*types.AttributeValueMemberS); ok {
			n[v.Value]++
		}
	}
	ids := slices.Sorted(maps.Keys(n))
	slices.SortStableFunc(ids, func(a, b string) int { return n[b] - n[a] })
	return ids[:min(len(ids), peopleTried)]
}

// export compares a person's export with the records that belong to the person.
func (t *Trial) export(ctx context.Context, db Runner, id string, fates map[*record]fate) (*mismatch, error) {
	got, want := map[string]int{}, map[string]*record{}
	for r, f := range fates {
		if !f.others {
			want[r.entity.Name+fmt.Sprint(r.identity())] = r
		}
	}
	for item, err := range db.Export(ctx, t.program.Person, id, "") {
		if err != nil {
			return &mismatch{kind: Failed, got: err.Error(), want: "a copy of the person's items"}, nil
		}
		if text, err := json.Marshal(item); err != nil || strings.Contains(string(text), `:null`) {
			return &mismatch{kind: WrongFields, got: fmt.Sprintf("%s, %v", text, err), want: "JSON"}, nil
		}
		e := t.design.Entity(item.Entity)
		got[e.Name+fmt.Sprint((&record{entity: e, values: item.Values}).identity())]++
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] == 0 {
			return (&mismatch{kind: WrongSet, got: "it is not in the copy", want: "it is in the copy"}).about(want[key]), nil
		}
	}
	if len(got) != len(want) {
		return &mismatch{kind: WrongSet, got: fmt.Sprintf("%d items in the copy", len(got)), want: fmt.Sprint(len(want))}, nil
	}
	return nil, nil //nolint:nilnil // it is correct
}
