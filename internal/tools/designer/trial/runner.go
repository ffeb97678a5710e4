package trial

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// Runner runs patterns: a *table.DB, or code that was generated from the design in another language.
type Runner interface {
	Get(ctx context.Context, r *table.Read, in table.Input) (table.Values, error)
	Batch(ctx context.Context, r *table.Read, in []table.Input) ([]table.Values, error)
	Page(ctx context.Context, r *table.Read, in table.Input, o table.PageOptions) (table.Page[table.Values], error)
	List(ctx context.Context, r *table.Read, in table.Input) ([]table.Values, error)
	All(ctx context.Context, r *table.Read, in table.Input) iter.Seq2[table.Values, error]
	Collect(ctx context.Context, c *table.Collection, in table.Input, o table.PageOptions) (table.Page[table.Found], error)
	Write(ctx context.Context, w *table.Write, in table.Input) (table.Outcome, error)
	Export(ctx context.Context, p *table.Person, id string, after table.Cursor) iter.Seq2[table.PersonItem, error]
	Erase(ctx context.Context, p *table.Person, id string) (table.Erased, error)
}

// World is a database with the tables of a design and the records of a trial, for Options.Open. Config has the names
// of the tables; its Observe must be called for each call.
type World struct {
	Program *lower.Program
	Client  table.Client
	Config  table.Config
	Specs   []provision.Spec
	Records []table.Record
}

// Opener creates a Runner for a world. The trial closes it if it is an io.Closer.
type Opener func(context.Context, World) (Runner, error)

// run creates the world's Runner with an Opener.
func (w *world) run(ctx context.Context, config table.Config, open Opener) error {
	if open == nil {
		return nil
	}
	under := World{Program: w.program, Client: w.client, Config: config, Specs: w.specs}
	for _, r := range w.records {
		under.Records = append(under.Records, table.Record{Entity: r.run, Values: r.values})
	}
	runner, err := open(ctx, under)
	if err == nil {
		w.db = runner
	}
	return err
}

// count runs a read that counts, if the Runner can.
func (w *world) count(ctx context.Context, r *table.Read, in table.Input) (int, error) {
	counter, able := w.db.(interface {
		Count(ctx context.Context, r *table.Read, in table.Input) (int, error)
	})
	if !able {
		return 0, errors.New("this runner does not measure capacity")
	}
	return counter.Count(ctx, r, in)
}

// closeRunner closes the world's Runner if it is an io.Closer.
func (w *world) closeRunner() error {
	if c, ok := w.db.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
