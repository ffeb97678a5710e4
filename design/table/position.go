package table

import (
	"context"
	"fmt"

	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// scope is what a cursor of a source is bound to in a call.
func (db *DB) scope(ctx context.Context, s *query.Source, in Input, names []string) []byte {
	b := s.Scope(*db.tableName(s.Table), in, names)
	if db.caller == nil {
		return b
	}
	return schema.AppendText(b, schema.TagText, db.caller(ctx))
}

// continued opens the cursor that a page is asked behind.
func (db *DB) continued(scope []byte, c Cursor, partitions []Item, attributes []Attribute) (left int, positions []cursor.Position, err error) {
	if db.cursors == nil {
		return 0, nil, fmt.Errorf("%w: Config.CursorKey is not set, so that there are none", ErrCursor)
	}
	text, err := db.cursors.Open(scope, c)
	if err != nil {
		return 0, nil, err
	}
	return cursor.DecodePositions(text, partitions, attributes)
}

// cursor seals positions: "" at the end of all partitions, and where there is no key.
func (db *DB) cursor(scope []byte, left int, positions []cursor.Position, attributes []Attribute) (Cursor, error) {
	text, err := cursor.EncodePositions(left, positions, attributes)
	if db.cursors == nil || err != nil {
		return "", err
	}
	return db.cursors.Seal(scope, text), nil
}
