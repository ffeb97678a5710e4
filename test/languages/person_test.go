package languages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/monotable/monotable/design/table"
)

// personItem is an item of a person, as generated code exports it.
type personItem struct {
	Entity string
	Values map[string]value
	JSON   string
	Resume table.Cursor
}

// Export exports by both, continues by both in the middle, and behind what is no cursor.
func (m *mirror) Export(ctx context.Context, p *table.Person, id string, after table.Cursor) iter.Seq2[table.PersonItem, error] {
	return func(yield func(table.PersonItem, error) bool) {
		want, got, err := m.export(ctx, p, id, after, after)
		if n := len(want) / 2; err == nil && n > 0 {
			_, _, err = m.export(ctx, p, id, want[n].Resume, got[n].Resume)
		}
		for _, after := range []table.Cursor{"99.x", "x", "0.x"} {
			if _, _, ended := m.export(ctx, p, id, after, after); err == nil && !errors.Is(ended, table.ErrCursor) {
				err = differs("export behind "+string(after), ended, table.ErrCursor)
			}
		}
		for _, x := range want {
			if !yield(x, nil) {
				return
			}
		}
		if err != nil {
			yield(table.PersonItem{}, err)
		}
	}
}

// export compares an export of both, each behind a cursor of its own.
func (m *mirror) export(ctx context.Context, p *table.Person, id string, after, own table.Cursor) ([]table.PersonItem, []personItem, error) {
	call := "export of " + id + " after " + string(after)
	var want []table.PersonItem
	var err error
	for x, fault := range m.db.Export(ctx, p, id, after) {
		if err = fault; err == nil {
			want = append(want, x)
		}
	}
	var got []personItem
	failed, ended := m.call("export", map[string]any{"id": id, "after": own}, &got)
	if ended != nil {
		return nil, nil, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return nil, nil, cmp.Or(different, err)
	}
	if len(got) != len(want) {
		return nil, nil, differs(call, fmt.Sprintf("%d items", len(got)), fmt.Sprintf("%d items", len(want)))
	}
	for i, x := range want {
		name := fmt.Sprintf("%s, item %d", call, i+1)
		if got[i].Entity != x.Entity || (got[i].Resume == "") != (x.Resume == "") {
			return nil, nil, differs(name, got[i], x)
		}
		if err := cmp.Or(sameValues(name, got[i].Values, x.Values), sameJSON(name, got[i].JSON, x)); err != nil {
			return nil, nil, err
		}
	}
	return want, got, nil
}

// sameJSON compares an item's JSON, whatever characters are escaped in it.
func sameJSON(call, got string, item table.PersonItem) error {
	want, err := json.Marshal(item)
	if err != nil {
		return err
	}
	var a, b any
	for text, to := range map[string]*any{got: &a, string(want): &b} {
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(to); err != nil {
			return differs(call+" as JSON", got, err)
		}
	}
	if got == string(want) || reflect.DeepEqual(a, b) {
		return nil
	}
	return differs(call+" as JSON", got, string(want))
}

// Erase erases by both, and compares what was done, all tables, and what is kept by the design.
func (m *mirror) Erase(ctx context.Context, p *table.Person, id string) (table.Erased, error) {
	if err := m.follow(ctx); err != nil {
		return table.Erased{}, err
	}
	m.firstID += 1000
	m.id = m.firstID
	call := "erase " + id
	want, err := m.db.Erase(ctx, p, id)
	var got struct {
		Erased table.Erased
		Kept   []table.Kept
	}
	failed, ended := m.call("erase", map[string]any{"id": id, "firstID": m.firstID}, &got)
	if ended != nil {
		return want, ended
	}
	refused, different := m.sameError(call, failed, err)
	if different := cmp.Or(different, m.sameTables(ctx, call)); different != nil || refused {
		return want, cmp.Or(different, err)
	}
	if !reflect.DeepEqual(got.Erased, want) {
		return want, differs(call, got.Erased, want)
	}
	if kept := p.Kept(); len(got.Kept) != len(kept) || len(kept) > 0 && !reflect.DeepEqual(got.Kept, kept) {
		return want, differs(call+", what is kept", got.Kept, kept)
	}
	return want, nil
}
