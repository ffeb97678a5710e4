package table

import (
	"context"
	"fmt"
	"time"

	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// scope is the scope of a source's cursor in a call.
func (db *DB) scope(ctx context.Context, s *query.Source, in Input, names []string) []byte {
	b := s.Scope(*db.tableName(s.Table), in, names)
	if db.caller == nil {
		return b
	}
	return schema.AppendText(b, schema.TagText, db.caller(ctx))
}

// position is the progress of a list: how many items may follow, and how far each partition was read. For a read over periods
// they are the partitions of period at, and now is when the list was started.
type position struct {
	left       int
	partitions []cursor.Position
	at         string
	now        time.Time
}

// opened is the text of a cursor.
func (db *DB) opened(scope []byte, c Cursor) ([]byte, error) {
	if db.cursors == nil {
		return nil, fmt.Errorf("%w: Config.CursorKey is not set, so there are no cursors", ErrCursor)
	}
	return db.cursors.Open(scope, c)
}

// resume is the position in the cursor with which a page of a read is requested.
func (db *DB) resume(scope []byte, c Cursor, q *query.Question, s *query.Source) (p position, err error) {
	text, err := db.opened(scope, c)
	if err != nil {
		return p, err
	}
	p.now = db.now()
	if s.Walks() {
		if p.now, p.at, text, err = cursor.DecodePeriod(text); err != nil {
			return p, err
		}
	}
	_, _, partitions, err := begin(q, s, p.at)
	if err == nil {
		p.left, p.partitions, err = cursor.DecodePositions(text, partitions, s.Positioned)
	}
	return p, err
}

// behind returns the cursor of a reading's progress: "" if there is no key.
func (db *DB) behind(scope []byte, p position, r *reading) (Cursor, error) {
	if r.walk == nil {
		return db.cursor(scope, nil, p.left, r.positions(r.lanes), r.source.Positioned)
	}
	lanes, err := r.current()
	if err != nil {
		return "", err
	}
	return db.cursor(scope, cursor.EncodePeriod(p.now, r.at[0]), p.left, r.positions(lanes), r.source.Positioned)
}

// cursor encrypts positions after a text: "" if there is no key.
func (db *DB) cursor(scope, text []byte, left int, positions []cursor.Position, attributes []Attribute) (Cursor, error) {
	text, err := cursor.EncodePositions(text, left, positions, attributes)
	if db.cursors == nil || err != nil {
		return "", err
	}
	return db.cursors.Seal(scope, text), nil
}
