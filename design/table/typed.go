package table

import (
	"context"
	"iter"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// One is Get with the result as a T.
func One[T any](ctx context.Context, db *DB, r *Read, in Input, decode func(Values) (T, error)) (T, error) {
	var none T
	v, err := db.Get(ctx, r, in)
	if err != nil {
		return none, err
	}
	x, err := decode(v)
	if err != nil {
		return none, schema.Named(r.Pattern, err)
	}
	return x, nil
}

// Many is Page with the results as Ts.
func Many[T any](ctx context.Context, db *DB, r *Read, in Input, o PageOptions, decode func(Values) (T, error)) (Page[T], error) {
	p, err := db.Page(ctx, r, in, o)
	if err != nil {
		return Page[T]{}, err
	}
	items, err := decodeEach(r, p.Items, decode)
	if err != nil {
		return Page[T]{}, err
	}
	return Page[T]{Items: items, Next: p.Next}, nil
}

// First is List with the results as Ts.
func First[T any](ctx context.Context, db *DB, r *Read, in Input, decode func(Values) (T, error)) ([]T, error) {
	list, err := db.List(ctx, r, in)
	if err != nil {
		return nil, err
	}
	return decodeEach(r, list, decode)
}

// Each is All with the results as Ts. The iteration ends at an error.
func Each[T any](ctx context.Context, db *DB, r *Read, in Input, decode func(Values) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for v, err := range db.All(ctx, r, in) {
			if err != nil {
				yield(none, err)
				return
			}
			x, err := decode(v)
			if err != nil {
				yield(none, schema.Named(r.Pattern, err))
				return
			}
			if !yield(x, nil) {
				return
			}
		}
	}
}

// BatchOf is Batch for inputs converted by in, with the results as Ts: nil for an item that does not exist.
func BatchOf[I, T any](ctx context.Context, db *DB, r *Read, in []I, input func(I) Input, decode func(Values) (T, error)) ([]*T, error) {
	list, err := db.Batch(ctx, r, schema.Each(in, input))
	if err != nil {
		return nil, err
	}
	out := make([]*T, len(list))
	for i, v := range list {
		if v == nil {
			continue
		}
		x, err := decode(v)
		if err != nil {
			return nil, schema.Named(r.Pattern, err)
		}
		out[i] = &x
	}
	return out, nil
}

// Do is Write with the result as a T.
func Do[T any](ctx context.Context, db *DB, w *Write, in Input, decode func(context.Context, Input, Outcome) (T, error)) (T, error) {
	out, err := db.Write(ctx, w, in)
	if err != nil {
		var none T
		return none, err
	}
	return decode(ctx, in, out)
}

func decodeEach[T any](r *Read, list []Values, decode func(Values) (T, error)) ([]T, error) {
	out := make([]T, len(list))
	for i, v := range list {
		var err error
		if out[i], err = decode(v); err != nil {
			return nil, schema.Named(r.Pattern, err)
		}
	}
	return out, nil
}
