package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/attach"
	"github.com/monotable/monotable/internal/tools/designer/view"
)

// attachedMax is the maximum number of cached attached designs.
const attachedMax = 64

// Designs are the designs of a console in addition to those attached to tables. They are safe for concurrent use.
type Designs struct {
	mu       sync.Mutex
	known    []*known
	attached map[string]*known // by table
}

// known is a known design with its source.
type known struct {
	source Source
	// tables maps the names in the design to the tables' actual names, where they differ.
	tables map[string]string
	read   time.Time // modification time of the file that was read
	view   *view.View
}

// Source says where a design comes from.
type Source struct {
	// File is its path; Version and At are those of an attached design.
	File    string    `json:"file"`
	Version int       `json:"version,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// AddFile adds the design of a file, which is reread when it changes.
func (d *Designs) AddFile(file string) error {
	k := &known{source: Source{File: file}}
	if err := k.reread(); err != nil {
		return err
	}
	d.add(k)
	return nil
}

// Add adds a design from its text.
func (d *Designs) Add(file string, text []byte) error {
	k := &known{source: Source{File: file}}
	if err := k.parse(file, text); err != nil {
		return err
	}
	d.add(k)
	return nil
}

func (d *Designs) add(k *known) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known = append(d.known, k)
}

func (k *known) parse(file string, text []byte) error {
	parsed, err := attach.Parse(file, text)
	if err != nil {
		return err
	}
	k.view, err = view.New(parsed)
	return err
}

// reread rereads the file of a design if it has changed.
func (k *known) reread() error {
	about, err := os.Stat(k.source.File)
	if err != nil {
		return err
	}
	if about.ModTime().Equal(k.read) {
		return nil
	}
	text, err := os.ReadFile(k.source.File)
	if err != nil {
		return err
	}
	if err := k.parse(filepath.Base(k.source.File), text); err != nil {
		return err
	}
	k.read = about.ModTime()
	return nil
}

// described is the design of a table, with the table's name in the design and the actual names of all its tables.
type described struct {
	*view.View

	source Source
	table  *design.Table
	tables map[string]string
}

// of returns the design of a table, or nil. Added designs take precedence over an attached one.
func (d *Designs) of(ctx context.Context, client attach.Client, table string) (*described, error) {
	if found, err := d.given(table); found != nil || err != nil {
		return found, err
	}
	latest, err := attach.Latest(ctx, client, table)
	if latest == nil || err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.attached[table]
	if k == nil || k.source.Version != latest.Version || !k.source.At.Equal(latest.At) {
		k = &known{source: Source{latest.File, latest.Version, latest.At}, tables: latest.Tables}
		if err := k.parse(latest.File, []byte(latest.Text)); err != nil {
			return nil, fmt.Errorf("version %d of the design that is attached to %s: %w", latest.Version, table, err)
		}
		if d.attached == nil || len(d.attached) >= attachedMax {
			d.attached = map[string]*known{}
		}
		d.attached[table] = k
	}
	return k.of(table), nil
}

// given returns the design of a table among the added ones.
func (d *Designs) given(table string) (*described, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.known {
		if !k.read.IsZero() {
			if err := k.reread(); err != nil {
				return nil, err
			}
		}
		if found := k.of(table); found != nil {
			return found, nil
		}
	}
	return nil, nil //nolint:nilnil // having no design is not an error
}

// of returns the design if the table is one of its tables.
func (k *known) of(table string) *described {
	t, named := attach.TableOf(k.view.Design, k.tables, table)
	if t == nil {
		return nil
	}
	return &described{k.view, k.source, t, named}
}

// Given returns the design of a table among the added ones, with the table and the design's file; nil if there is none.
func (d *Designs) Given(table string) (found *design.Design, of *design.Table, file string, err error) {
	k, err := d.given(table)
	if k == nil || err != nil {
		return nil, nil, "", err
	}
	return k.Design, k.table, k.source.File, nil
}
