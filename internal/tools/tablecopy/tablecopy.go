// Package tablecopy copies tables between DynamoDB endpoints: definitions, tags, items, settings and, optionally, later
// changes of the source.
//
// # Model
//
//	new ─▶ created ─▶ items ─▶ copied ─▶ (followed) ─▶ verified ─▶ settings, done
//	         │          ╰── a position in each segment of the scan, in the state file
//	         ╰── the stream's position, before the first item is read
//
// A copy reads with strongly consistent scans. The stream's position is recorded before the scan begins, and changes are
// applied only after the table's scan has ended, so the last write of every item is either seen by the scan or in the
// stream after that position.
//
// # Invariants
//
//	I1  The state file never runs ahead of the target: a position is saved after the items before it were written.
//	    A copy that was killed at any time can resume; items may be written twice, with the same content.
//	I2  The source is only read, except for its stream setting with Options.EnableStream.
//	I3  Features of the target that act by themselves (expiry, its stream, deletion protection) are turned on last, so
//	    the target neither deletes items before the comparison nor publishes the copy as changes.
//	I4  A target table that this copy has not created is only written to with Options.Existing, and its settings are not
//	    changed.
//
// # Concurrency
//
// A state file belongs to one Run at a time, which is not checked. Progress and Logf are called by several goroutines,
// one at a time.
package tablecopy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/pacing"
)

// Item is an item in the SDK's types.
type Item = map[string]types.AttributeValue

// Mode determines what Run does after the items are copied.
type Mode int

// Modes of Run.
const (
	Once   Mode = iota // compare, turn settings on, end
	Follow             // apply the source's changes until the context ends; a later Finish completes the copy
	Finish             // apply the remaining changes, then like Once
)

// Table is a table to copy.
type Table struct{ Source, Target string }

// Endpoint is one side of a copy.
type Endpoint struct {
	// Name identifies the endpoint in the state file and in messages: its URL, or "aws" with the Region.
	Name    string
	Client  *dynamodb.Client
	Streams *dynamodbstreams.Client // of the source, to follow
}

// Options of a copy.
type Options struct {
	From, To Endpoint
	// Tables to copy; empty for all tables of the source, under their own names.
	Tables []Table
	Mode   Mode
	// StateFile stores the progress of the copy until it is done. Stream checkpoints are in a file next to it.
	StateFile string
	// Segments is the number of segments of a table scanned in parallel, at least 1.
	Segments int
	// Units is the limit of capacity units per second, for reads and writes together; 0 means none.
	Units float64
	// Existing permits writing to existing tables of the target.
	Existing bool
	// EnableStream turns on a source table's stream to follow it, and off again at the end.
	EnableStream bool
	// Verify compares all items at the end of Once and Finish.
	Verify bool
	// Transform changes an item of a source table, including its key; nil copies items unchanged. It must only depend on its
	// arguments: a resumed copy and the comparison call it again with the same seed, which is specific to the copy. It
	// cannot be combined with Follow.
	Transform func(seed []byte, table string, item Item) (Item, error)

	// Logf reports each step as a sentence.
	Logf func(format string, args ...any)
	// Progress reports the number of items read from a table, and their approximate total.
	Progress func(what string, done, total int64)
	// Logger receives retries while following the stream; nil for none.
	Logger *slog.Logger
}

// copier is a running copy.
type copier struct {
	o      Options
	state  *state
	meter  *pacing.Meter
	report sync.Mutex
}

// ErrDifferent is returned if the comparison finds items that differ.
var ErrDifferent = errors.New("the tables differ")

var errNoStream = errors.New("it has no stream to follow: turn one on, or use --enable-stream to turn one on for the duration of the copy")

var errSourceDeleted = errors.New("the source table has been deleted")

// Run copies, or resumes the copy in the state file. With Follow, it returns nil when ctx ends while it is following.
func Run(ctx context.Context, o Options) error {
	st, err := openState(o.StateFile)
	if err != nil {
		return err
	}
	c := &copier{o: o, state: st, meter: pacing.NewMeter(o.Units)}
	if err := c.begin(ctx); err != nil {
		return err
	}
	endable, end := context.WithCancel(ctx)
	defer end()
	followers, following := errgroup.WithContext(endable)
	for _, t := range st.Tables {
		if err := c.copyTable(following, t); err != nil {
			end() // following the other tables
			return errors.Join(err, ignoreCanceled(followers.Wait()))
		}
		if o.Mode == Follow {
			followers.Go(func() error { return c.follow(following, t) })
		}
	}
	if o.Mode == Follow {
		err := followers.Wait()
		if ctx.Err() != nil {
			return ignoreCanceled(err)
		}
		return err
	}
	for _, t := range st.Tables {
		if err := c.finishTable(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Source, err)
		}
	}
	return st.remove()
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// begin initializes a new state, or checks that an existing one belongs to this copy.
func (c *copier) begin(ctx context.Context) error {
	st, o := c.state, &c.o
	if o.Segments < 1 {
		return fmt.Errorf("--segments %d: want at least 1", o.Segments)
	}
	if o.Transform != nil && o.Mode != Once {
		return errors.New("--follow cannot be used when items are modified, because a stream record may have only the key of an item")
	}
	if len(st.Tables) > 0 {
		return c.resume()
	}
	if o.Mode == Finish {
		return fmt.Errorf("there is no copy to finish: %s does not exist; start with --follow", o.StateFile)
	}
	if err := st.forgetStreams(); err != nil { // of a copy whose state was deleted to start over
		return err
	}
	tables := o.Tables
	if len(tables) == 0 {
		names, err := listTables(ctx, o.From.Client)
		if err != nil {
			return err
		}
		for _, name := range names {
			tables = append(tables, Table{name, name})
		}
	}
	if len(tables) == 0 {
		return fmt.Errorf("there are no tables at %s", o.From.Name)
	}
	if o.Transform != nil {
		st.Seed = make([]byte, sha256.Size)
		_, _ = rand.Read(st.Seed) // never fails
	}
	st.From, st.To, st.Follow = o.From.Name, o.To.Name, o.Mode == Follow
	for _, t := range tables {
		for _, other := range st.Tables {
			if other.Target == t.Target {
				return fmt.Errorf("two tables cannot be copied to the same table: %s and %s to %s", other.Source, t.Source, t.Target)
			}
		}
		if t.Source == t.Target && o.From.Name == o.To.Name {
			return fmt.Errorf("table %s cannot be copied onto itself: use another endpoint, or another table (--table %s=NEW)", t.Source, t.Source)
		}
		st.Tables = append(st.Tables, &tableState{Source: t.Source, Target: t.Target})
	}
	if o.Mode != Follow || o.EnableStream {
		return nil
	}
	for _, t := range st.Tables { // before any of them is copied, which can take hours
		d, err := describe(ctx, o.From.Client, t.Source)
		if err != nil {
			return err
		}
		if d != nil && !streaming(d) {
			return fmt.Errorf("table %s: %w", t.Source, errNoStream)
		}
	}
	return nil
}

// resume checks that the options match the copy in the state file.
func (c *copier) resume() error {
	st, o := c.state, &c.o
	other := func(what, was, is string) error {
		return fmt.Errorf("%s is the state of another copy (%s %s, not %s): finish that copy, remove the file, or use another with --state", o.StateFile, what, was, is)
	}
	switch {
	case st.From != o.From.Name:
		return other("from", st.From, o.From.Name)
	case st.To != o.To.Name:
		return other("to", st.To, o.To.Name)
	case st.Follow && o.Mode == Once:
		return fmt.Errorf("%s is the state of a copy with --follow: continue it with --follow, or finish it with --finish", o.StateFile)
	case (st.Seed != nil) != (o.Transform != nil):
		return fmt.Errorf("%s is the state of a copy with different flags for modifying items: use the flags that it was started with", o.StateFile)
	case !st.Follow && o.Mode != Once:
		return fmt.Errorf("%s is the state of a copy without --follow, which has not recorded the stream: remove the file to start over", o.StateFile)
	}
	for _, t := range o.Tables {
		if !slices.ContainsFunc(st.Tables, func(s *tableState) bool { return s.Source == t.Source && s.Target == t.Target }) {
			return fmt.Errorf("%s is the state of another copy, without table %s: use another file with --state", o.StateFile, t.Source)
		}
	}
	items, done := int64(0), 0
	for _, t := range st.Tables {
		items += t.items()
		if t.Copied {
			done++
		}
	}
	c.logf("resuming: already copied %d of %s, and %s", done, plural.Of(len(st.Tables), "table"), plural.Of(items, "item"))
	return nil
}

// copyTable takes a table to the state "copied".
func (c *copier) copyTable(ctx context.Context, t *tableState) error {
	if t.Copied {
		return nil
	}
	err := c.create(ctx, t)
	if err == nil && c.state.Follow {
		err = c.position(ctx, t)
	}
	if err == nil {
		err = c.items(ctx, t)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Source, err)
	}
	t.Copied = true
	c.logf("%s: copied %s to %s", t.Source, plural.Of(t.items(), "item"), t.Target)
	return c.state.save()
}

// finishTable compares a copied table and turns its settings on.
func (c *copier) finishTable(ctx context.Context, t *tableState) error {
	if t.Done {
		return nil
	}
	if c.o.Mode == Finish {
		if err := c.catchUp(ctx, t); err != nil {
			return err
		}
	}
	if c.o.Verify {
		if err := c.verify(ctx, t); err != nil {
			return err
		}
	}
	if err := c.settings(ctx, t); err != nil {
		return err
	}
	t.Done = true
	return c.state.save()
}

func (c *copier) logf(format string, args ...any) {
	c.report.Lock()
	defer c.report.Unlock()
	c.o.Logf(format, args...)
}

func (c *copier) progress(what string, done, total int64) {
	c.report.Lock()
	defer c.report.Unlock()
	c.o.Progress(what, done, max(done, total))
}

func listTables(ctx context.Context, client *dynamodb.Client) ([]string, error) {
	var names []string
	pages := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		names = append(names, page.TableNames...)
	}
	return names, nil
}
