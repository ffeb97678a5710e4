package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
)

// placed is an expected item of a record, with its place.
type placed struct {
	record *record
	number int // of table.Items
	item   table.Item
}

// must are the expected items of records, by their keys.
func must(records []*record) (map[string]placed, error) {
	out := map[string]placed{}
	for _, r := range records {
		items, err := r.items()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.entity.Name, err)
		}
		for i, it := range items {
			out[keyOf(r.run.Table, it)] = placed{r, i, it}
		}
	}
	return out, nil
}

// all are the items of all tables, by their keys.
func (w *world) all(ctx context.Context) (map[string]table.Item, error) {
	out := map[string]table.Item{}
	for i, t := range w.program.Design.Tables {
		items, err := w.scan(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			out[keyOf(w.program.Tables[i], it)] = it
		}
	}
	return out, nil
}

// before is the content of all tables before a write: what was read after the previous one.
func (w *world) before(ctx context.Context) (map[string]table.Item, error) {
	if w.seen == nil {
		is, err := w.all(ctx)
		if err != nil {
			return nil, err
		}
		w.seen = is
	}
	return w.seen, nil
}

// become makes the tables contain exactly the items of the records.
func (w *world) become(ctx context.Context, records []*record) error {
	is, err := w.before(ctx)
	if err != nil {
		return err
	}
	want, err := must(records)
	if err != nil {
		return err
	}
	client := w.memory.Client()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		p := want[key]
		if there := is[key]; there != nil && differs("", there, p) == nil && len(there) == len(p.item) {
			continue
		}
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: w.tableOf(p.record.run.Table), Item: p.item}); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, wanted := want[key]; wanted {
			continue
		}
		for _, t := range w.program.Tables {
			if keyOf(t, is[key]) != key {
				continue
			}
			own := table.Item{t.PK.Name: is[key][t.PK.Name]}
			if t.SK.Name != "" {
				own[t.SK.Name] = is[key][t.SK.Name]
			}
			if _, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: w.tableOf(t), Key: own}); err != nil {
				return err
			}
		}
	}
	w.records, w.seen, w.ghosts = records, nil, map[string]bool{}
	return nil
}

func (w *world) tableOf(t *table.Table) *string { return aws.String(w.tables[t.Name]) }

// compareTables compares the tables with the expected items; nil if they match. Ghosts are allowed.
func (w *world) compareTables(is map[string]table.Item, records []*record, ghosts map[string]bool) (*mismatch, error) {
	want, err := must(records)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		p := want[key]
		name := placeNames(p.record.entity)[p.number]
		it, there := is[key]
		if !there {
			kind := Inconsistent
			if p.number == 0 {
				kind = WrongWrite
			}
			return (&mismatch{kind: kind, got: "there is no " + name + " " + tableKey(p.record.run.Table, p.item), want: "it exists"}).about(p.record), nil
		}
		if m := differs(name, it, p); m != nil {
			return m, nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, wanted := want[key]; wanted || ghosts[key] || w.ghosts[key] {
			continue
		}
		taken := "an item that does not match the design"
		var of *table.Entity
		for i, t := range w.program.Tables {
			if keyOf(t, is[key]) != key {
				continue
			}
			taken += " in " + w.program.Design.Tables[i].Name
			var place table.Place
			if of, place, _ = table.Recognize(w.entitiesIn(t), is[key]); of != nil {
				taken = fmt.Sprintf("a %s %s%s %s", of.Name, place.Copy, place.Marker, tableKey(t, is[key]))
			}
		}
		return &mismatch{kind: Inconsistent, got: "there is " + taken, want: "no such item"}, nil
	}
	return nil, nil //nolint:nilnil // it is as expected
}

func (w *world) entitiesIn(t *table.Table) []*table.Entity {
	return slices.DeleteFunc(slices.Clone(w.program.Entities), func(e *table.Entity) bool { return e.Table != t })
}

// differs describes the first attribute in which an item differs from the expected one.
func differs(name string, it table.Item, p placed) *mismatch {
	same := len(it) == len(p.item)
	for attribute, v := range p.item {
		same = same && equal(it[attribute], v)
	}
	if same {
		return nil
	}
	names := append(slices.Collect(maps.Keys(it)), slices.Collect(maps.Keys(p.item))...)
	slices.Sort(names)
	for _, attribute := range slices.Compact(names) {
		if equal(it[attribute], p.item[attribute]) {
			continue
		}
		kind := Inconsistent
		for _, f := range p.record.entity.Fields {
			if p.number == 0 && f.Path[0] == attribute {
				kind = WrongWrite
			}
		}
		for _, c := range p.record.entity.Counters {
			if f := p.record.entity.Field(c.Field); f.Path[0] == attribute {
				kind = Inconsistent
			}
		}
		return (&mismatch{
			kind: kind, got: fmt.Sprintf("%s of %s is %s", attribute, name, show(it[attribute])), want: show(p.item[attribute]),
		}).about(p.record)
	}
	return nil
}
