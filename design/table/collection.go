package table

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// Collect runs a collection and returns a page, or everything if it has no pages. Items of other entities are omitted. If
// there is a root, it is on the first page, wherever it sorts; Collect returns ErrNotFound if it does not exist or has
// another owner. Later pages rely on that check.
func (db *DB) Collect(ctx context.Context, c *Collection, in Input, o PageOptions) (p Page[Found], err error) {
	counted := db.begin(c.Pattern)
	defer func() { counted.end(ctx, err) }()
	p, err = db.collect(ctx, counted, c, in, o)
	return p, schema.Named(c.Pattern, err)
}

func (db *DB) collect(ctx context.Context, counted *call, c *Collection, in Input, o PageOptions) (Page[Found], error) {
	if err := checkInputs(c, in.Values); err != nil {
		return Page[Found]{}, err
	}
	s := query.OfCollection(c)
	partitions, err := s.Partitions(in)
	if err != nil {
		return Page[Found]{}, err
	}
	names := slices.Clone(c.By)
	if c.Owner != "" {
		names = append(names, c.Owner)
	}
	scope := db.scope(ctx, s, Input{Values: in.Values}, names)
	var positions []cursor.Position
	if o.After != "" {
		text, err := db.opened(scope, o.After)
		if err != nil {
			return Page[Found]{}, err
		}
		if _, positions, err = cursor.DecodePositions(text, partitions, s.Positioned); err != nil {
			return Page[Found]{}, err
		}
	}
	request, err := s.Request(db.tableName(s.Table), in)
	if err != nil {
		return Page[Found]{}, err
	}
	g := gathering{db: db, counted: counted, collection: c, input: in, first: o.After == ""}
	if c.Owner != "" {
		g.owner = in.Values[c.Owner]
	}
	if g.equal, err = query.Fill(s.Entity, schema.Each(c.PK, func(a KeyAttribute) Template { return a.Template }), c.By, "", in.Values); err != nil {
		return Page[Found]{}, err
	}
	if g.first && c.RootApart {
		if err := g.seekRoot(ctx, *s, partitions); err != nil {
			return Page[Found]{}, err
		}
	}
	if request == nil { // the bounds exclude everything
		partitions = nil
	}
	g.reading = db.read(counted, s, request, partitions, positions)
	page, positions, err := g.page(ctx, o)
	if err == nil && g.first && c.Root >= 0 && (g.root == nil || !g.owned(g.root)) {
		err = ErrNotFound
	}
	if err != nil {
		return Page[Found]{}, err
	}
	if positions != nil {
		page.Next, err = db.cursor(scope, nil, 0, positions, s.Positioned)
	}
	return page, err
}

// checkInputs checks that all inputs are given and have the types of their fields.
func checkInputs(c *Collection, v Values) error {
	names := slices.Clone(c.By)
	if c.Owner != "" {
		names = append(names, c.Owner)
	}
	for _, name := range names {
		if v[name] == nil {
			return schema.Missing(name)
		}
		for _, m := range c.Members {
			if f := m.Entity.Field(name); f != nil {
				if err := f.Type.CheckValue(name, v[name], f.MinBytes, f.MaxBytes); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// gathering reads a collection.
type gathering struct {
	db         *DB
	counted    *call
	collection *Collection
	input      Input
	first      bool // the first page
	equal      query.Filled
	owner      types.AttributeValue // nil if no one owns the items
	reading    *reading
	root       Values // nil until it is found
	apart      bool   // the root was read apart, and is part of the first page
}

// page reads a page, or everything, with the positions after it; nil at the end.
func (g *gathering) page(ctx context.Context, o PageOptions) (p Page[Found], behind []cursor.Position, err error) {
	all := g.collection.Page == 0
	size := o.size(g.collection.Page)
	if g.apart {
		p.Items = append(p.Items, g.shown(Found{Member: g.collection.Root, Values: g.root}))
	}
	for round := 0; !g.reading.done() && (all || round < maxPageRounds && len(p.Items) < size); round++ {
		n := MaxPage
		if !all {
			n = size - len(p.Items)
		}
		found, err := g.next(ctx, n)
		if err != nil {
			return Page[Found]{}, nil, err
		}
		p.Items = append(p.Items, found...)
	}
	if g.reading.done() {
		return p, nil, nil
	}
	return p, g.reading.positions(g.reading.lanes), nil
}

// next are the members' items among the next n.
func (g *gathering) next(ctx context.Context, n int) ([]Found, error) {
	items, err := g.reading.next(ctx, n)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, it := range items {
		f, ok := g.member(it)
		if !ok || g.collection.Root < 0 && !g.owned(f.Values) {
			continue
		}
		if f.Member == g.collection.Root {
			if !g.first && g.collection.RootApart || g.apart {
				continue // the first page has it
			}
			g.root = f.Values
		}
		out = append(out, g.shown(f))
	}
	return out, nil
}

// shown reduces the items to the fields of their members.
func (g *gathering) shown(f Found) Found {
	f.Values = restricted(f.Values, g.collection.Members[f.Member].Fields)
	return f
}

// member returns the member to which an item belongs.
func (g *gathering) member(it Item) (Found, bool) {
	for i, m := range g.collection.Members {
		v, is := m.Entity.Is(m.Place, it)
		if is && g.equal.Hold(m.Entity, v, m.Place.Kind == KeyPlace) {
			return Found{Member: i, Values: v}, true
		}
	}
	return Found{}, false
}

// owned reports whether values belong to the owner.
func (g *gathering) owned(v Values) bool {
	return g.owner == nil || schema.SameValue(v[g.collection.Owner], g.owner)
}

// seekRoot reads the root before the rest: the first item with its sort key, as far as it is known, that is the root.
func (g *gathering) seekRoot(ctx context.Context, s query.Source, partitions []Item) error {
	s.SK, s.Reverse = g.collection.RootSK, false
	request, err := s.Request(g.db.tableName(s.Table), g.input)
	if err != nil {
		return err
	}
	if request == nil {
		return ErrNotFound
	}
	for g.reading = g.db.read(g.counted, &s, request, partitions, nil); g.root == nil && !g.reading.done(); {
		if _, err := g.next(ctx, MaxPage); err != nil {
			return err
		}
	}
	if g.root == nil || !g.owned(g.root) {
		return ErrNotFound
	}
	g.apart = true
	return nil
}
