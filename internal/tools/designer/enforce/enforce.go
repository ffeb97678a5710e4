// Package enforce turns designs into rules for items: a write is rejected if its item does not match the table's design.
//
// # Model
//
//	client's write ──Rules.Of(table)──▶ its design, given or attached ──conform.Judge──▶ rule ──▶ nil, or the fault
//
// A table's design is looked up again after a second, so attaching, changing or detaching a design takes effect within that time.
// If a lookup fails, the rule is unchanged.
//
// # Invariants
//
//	E1  A rule rejects exactly the items that conform reports on their own.
//	E2  A design that cannot be read rejects every item, because it is unknown what it would allow.
//
// Rules are safe for concurrent use.
package enforce

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/attach"
	"github.com/monotable/monotable/internal/tools/designer/conform"
)

const (
	// lookAgain is how long a table's design is cached.
	lookAgain = time.Second
	// tablesMax is the maximum number of cached tables.
	tablesMax = 4096
)

// Options configure designs besides attached ones.
type Options struct {
	// Given returns the design of a table, the table in it, and the file's name; nil for none. It takes precedence over an
	// attached one.
	Given func(table string) (*design.Design, *design.Table, string, error)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Rules are the rules of a database's tables.
type Rules struct {
	options Options

	mu     sync.Mutex
	tables map[[2]string]*ruled // by Region and name
}

// ruled is a table with its rule.
type ruled struct {
	mu     sync.Mutex
	looked time.Time
	rule   func(map[string]types.AttributeValue) error
	// The inputs of the rule.
	design  *design.Design
	version int
	at      time.Time
}

// New returns the rules of a database.
func New(o Options) *Rules {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Rules{options: o, tables: map[[2]string]*ruled{}}
}

// Of returns a table's rule, or nil if it has no design. client reads attached designs.
func (r *Rules) Of(ctx context.Context, client *dynamodb.Client, table string) (func(map[string]types.AttributeValue) error, error) {
	if table == attach.Table {
		return nil, nil //nolint:nilnil // any item may be there
	}
	t := r.table([2]string{client.Options().Region, table})
	t.mu.Lock()
	defer t.mu.Unlock()
	now := r.options.Now()
	if passed := now.Sub(t.looked); passed >= 0 && passed < lookAgain {
		return t.rule, nil
	}
	if err := r.look(ctx, client, table, t); err != nil && t.looked.IsZero() {
		return nil, fmt.Errorf("look up the design of %s: %w", table, err)
	}
	t.looked = now
	return t.rule, nil
}

func (r *Rules) table(key [2]string) *ruled {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tables[key]
	if t == nil {
		if len(r.tables) >= tablesMax {
			clear(r.tables)
		}
		t = new(ruled)
		r.tables[key] = t
	}
	return t
}

// look finds a table's design, and creates a new rule if it has changed.
func (r *Rules) look(ctx context.Context, client *dynamodb.Client, table string, t *ruled) error {
	if r.options.Given != nil {
		d, of, file, err := r.options.Given(table)
		if err != nil {
			t.set(refusing(fmt.Sprintf("the design of table %s cannot be read: %v", table, err)), nil)
			return nil
		}
		if d != nil {
			if d != t.design {
				t.set(ruleOf(d, of, table, file), d)
			}
			return nil
		}
	}
	latest, err := attach.Latest(ctx, client, table)
	switch {
	case err != nil:
		return err
	case latest == nil:
		t.set(nil, nil)
	case t.version != latest.Version || !t.at.Equal(latest.At):
		t.set(attachedRule(latest, table), nil)
		t.version, t.at = latest.Version, latest.At
	}
	return nil
}

func (t *ruled) set(rule func(map[string]types.AttributeValue) error, of *design.Design) {
	t.rule, t.design, t.version, t.at = rule, of, 0, time.Time{}
}

func attachedRule(latest *attach.Design, table string) func(map[string]types.AttributeValue) error {
	d, err := latest.Parse()
	if err != nil {
		return refusing(fmt.Sprintf("version %d of the design that is attached to table %s cannot be read: %v", latest.Version, table, err))
	}
	of, _ := attach.TableOf(d, latest.Tables, table)
	if of == nil {
		return refusing(fmt.Sprintf("version %d of the design that is attached to table %s has no such table", latest.Version, table))
	}
	return ruleOf(d, of, table, fmt.Sprintf("%s, version %d", latest.File, latest.Version))
}

// ruleOf returns the rule for a table according to a design; name identifies the design.
func ruleOf(d *design.Design, of *design.Table, table, name string) func(map[string]types.AttributeValue) error {
	judge := conform.NewJudge(d, of.Name)
	return func(item map[string]types.AttributeValue) error {
		if fault := judge.Fault(item); fault != nil {
			return fmt.Errorf("the design of table %s (%s) does not allow this item: %w. Write an item that matches the design, or attach a design that allows it", table, name, fault)
		}
		return nil
	}
}

// refusing is a rule that rejects every item.
func refusing(why string) func(map[string]types.AttributeValue) error {
	return func(map[string]types.AttributeValue) error {
		return fmt.Errorf("%s. Attach a design that can be read, or detach this one", why)
	}
}
