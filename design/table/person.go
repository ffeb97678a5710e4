package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

const (
	// maxErasePasses is how often Erase checks again for items written in the meantime.
	maxErasePasses = 8
	// firstErasePause is the first pause between passes; it doubles with each pass.
	firstErasePause = 20 * time.Millisecond
)

// ErrStillWritten means that items of the person were still being written during erasure.
var ErrStillWritten = errors.New("items of the person are still being written")

// PersonItem is an item of a person. As JSON it is {"entity": …, "item": {…}}, with the fields by their names in the
// design, times as RFC 3339, and without secrets.
type PersonItem struct {
	Entity string
	Values Values
	// Resume continues an export with the page that the item is on, so that some items come again; "" if the DB has no
	// CursorKey.
	Resume Cursor

	entity *Entity
}

// MarshalJSON writes the item.
func (x PersonItem) MarshalJSON() ([]byte, error) {
	out := appendText([]byte(`{"entity":`), x.Entity)
	out = append(out, `,"item":`...)
	out = appendFields(out, x.entity.Fields, func(f *Field) types.AttributeValue { return x.Values[f.Name] })
	return append(out, '}'), nil
}

// Export iterates over all items of a person and their dependents. Requests are sent only as needed, and one page of
// items is held at a time. An error ends the iteration.
func (db *DB) Export(ctx context.Context, p *Person, id string, after Cursor) iter.Seq2[PersonItem, error] {
	return func(yield func(PersonItem, error) bool) {
		x := exporter{db: db, person: p, yield: yield}
		if err := x.run(ctx, id, after); err != nil {
			yield(PersonItem{}, err)
		}
	}
}

// exporter is a running Export.
type exporter struct {
	db     *DB
	person *Person
	yield  func(PersonItem, error) bool
	ended  bool
	resume Cursor
}

func (x *exporter) run(ctx context.Context, id string, after Cursor) error {
	first := 0
	if after != "" {
		number, cursor, split := strings.Cut(string(after), ".")
		n, err := strconv.Atoi(number)
		if !split || err != nil || n < 0 || n >= len(x.person.Parts) {
			return fmt.Errorf("export: %w", ErrCursor)
		}
		first, after = n, Cursor(cursor)
	}
	for n := first; n < len(x.person.Parts) && !x.ended; n++ {
		part := x.person.Parts[n]
		if part.Read == nil || part.Others {
			continue
		}
		if err := x.part(ctx, n, part, id, after); err != nil {
			return err
		}
		after = ""
	}
	return nil
}

// part exports a part page by page. Without a cursor key there are no pages to resume from.
func (x *exporter) part(ctx context.Context, n int, part *PersonPart, id string, after Cursor) error {
	in := Input{Values: Values{part.Field: &types.AttributeValueMemberS{Value: id}}}
	if x.db.cursors == nil {
		return x.walk(ctx, part, in)
	}
	for !x.ended {
		page, err := x.db.Page(ctx, part.Read, in, PageOptions{After: after})
		if err != nil {
			return err
		}
		x.resume = Cursor(strconv.Itoa(n) + "." + string(after))
		if err := x.items(ctx, part, page.Items); err != nil || page.Next == "" {
			return err
		}
		after = page.Next
	}
	return nil
}

func (x *exporter) walk(ctx context.Context, part *PersonPart, in Input) (err error) {
	c := x.db.begin(part.Read.Pattern)
	defer func() { c.end(ctx, err) }()
	return schema.Named(part.Read.Pattern, x.db.pages(ctx, c, part.Read, in, func(page []Values) (bool, error) {
		err := x.items(ctx, part, page)
		return !x.ended, err
	}))
}

// items exports items with their dependents.
func (x *exporter) items(ctx context.Context, part *PersonPart, page []Values) error {
	for _, v := range page {
		if x.ended = x.ended || !x.yield(PersonItem{Entity: part.Entity.Name, Values: v, Resume: x.resume, entity: part.Entity}, nil); x.ended {
			return nil
		}
		for _, below := range part.Parts {
			if below.Read == nil || below.Others {
				continue
			}
			if err := x.walk(ctx, below, Input{Values: v}); err != nil || x.ended {
				return err
			}
		}
	}
	return nil
}

// Erased is the result of Erase, by entity name.
type Erased struct {
	// Deleted and Changed count items; Kept counts those that stay unchanged, by the design.
	Deleted, Changed, Kept map[string]int
}

// Erase deletes the items of a person, or changes those that are kept, as the design says: dependents before their item,
// the person's own item last, each with its copies, index entries, markers and counters. It searches again until it finds
// nothing. It may be repeated, and resumes after an interruption at any point, because it finds the remaining items.
//
// It erases everything written before the call, and everything written while it still finds items. It does not erase what
// the person writes later: stop their writes first, or call it again. Items that a global index does not show yet are
// only found by a later call.
func (db *DB) Erase(ctx context.Context, p *Person, id string) (Erased, error) {
	x := eraser{db: db, done: Erased{Deleted: map[string]int{}, Changed: map[string]int{}, Kept: map[string]int{}}}
	for pass := range maxErasePasses {
		x.first, x.found = pass == 0, 0
		for _, part := range p.Parts {
			if part.Read == nil {
				continue
			}
			if err := x.part(ctx, part, Input{Values: Values{part.Field: &types.AttributeValueMemberS{Value: id}}}); err != nil {
				return x.done, err
			}
		}
		if x.found == 0 {
			return x.done, nil
		}
		if !db.sequential {
			if err := wait(ctx, firstErasePause<<pass); err != nil {
				return x.done, err
			}
		}
	}
	return x.done, fmt.Errorf("erase: %w, in each of %d passes", ErrStillWritten, maxErasePasses)
}

// eraser is a running Erase.
type eraser struct {
	db    *DB
	done  Erased
	first bool // in the first pass
	found int  // items to erase found in this pass
}

func (x *eraser) part(ctx context.Context, part *PersonPart, in Input) (err error) {
	c := x.db.begin(part.Read.Pattern)
	defer func() { c.end(ctx, err) }()
	return schema.Named(part.Read.Pattern, x.db.pages(ctx, c, part.Read, in, func(page []Values) (bool, error) {
		return true, x.page(ctx, part, page, in)
	}))
}

func (x *eraser) page(ctx context.Context, part *PersonPart, page []Values, in Input) error {
	for _, v := range page {
		if err := x.below(ctx, part, v); err != nil {
			return err
		}
	}
	name := part.Entity.Name
	switch {
	case len(page) == 0:
	case part.Erase == nil:
		if x.first {
			x.done.Kept[name] += len(page)
		}
	case part.Erase.Batch:
		if _, err := x.db.Write(ctx, part.Erase, Input{Lines: page}); err != nil {
			return err
		}
		x.found += len(page)
		x.done.Deleted[name] += len(page)
		return x.again(ctx, part, page)
	default:
		for _, v := range page {
			if err := x.one(ctx, part, v, in); err != nil {
				return err
			}
		}
		return x.again(ctx, part, page)
	}
	return nil
}

// again erases dependents of deleted items, which may have been written just before the deletion.
func (x *eraser) again(ctx context.Context, part *PersonPart, page []Values) error {
	if part.Erase.Steps[0].Action != Delete {
		return nil
	}
	for _, v := range page {
		if err := x.below(ctx, part, v); err != nil {
			return err
		}
	}
	return nil
}

func (x *eraser) below(ctx context.Context, part *PersonPart, v Values) error {
	for _, below := range part.Parts {
		if err := x.part(ctx, below, Input{Values: v}); err != nil {
			return err
		}
	}
	return nil
}

// one erases one item. An item that is gone, or no longer the person's, needs no action.
func (x *eraser) one(ctx context.Context, part *PersonPart, v Values, in Input) error {
	step := &part.Erase.Steps[0]
	released := step.Action == Delete || slices.ContainsFunc(step.Set, func(a Assignment) bool { return a.Path[0] == part.Field }) ||
		slices.ContainsFunc(step.Remove, func(path []string) bool { return path[0] == part.Field })
	if !released && !x.first {
		return nil
	}
	input := maps.Clone(v)
	if part.Field != "" {
		input[part.Field] = in.Values[part.Field]
	}
	_, err := x.db.Write(ctx, part.Erase, Input{Values: input})
	switch {
	case errors.Is(err, ErrNotFound) || errors.Is(err, ErrRefused):
		return nil
	case err != nil:
		return err
	case released:
		x.found++
	}
	count := x.done.Deleted
	if step.Action != Delete {
		count = x.done.Changed
	}
	count[part.Entity.Name]++
	return nil
}
