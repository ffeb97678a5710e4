package table

import (
	"context"
	"fmt"
)

// scope is what a cursor of a source is bound to in a call.
func (db *DB) scope(ctx context.Context, s *source, in Input, names []string) []byte {
	b := s.scope(*db.tableName(s.table), in, names)
	if db.caller == nil {
		return b
	}
	return appendText(b, tagText, db.caller(ctx))
}

// continued opens the cursor that a page is asked behind.
func (db *DB) continued(scope []byte, c Cursor, partitions []Item, attributes []Attribute) (left int, positions []position, err error) {
	if db.cursors == nil {
		return 0, nil, fmt.Errorf("%w: Config.CursorKey is not set, so that there are none", ErrCursor)
	}
	text, err := db.cursors.open(scope, c)
	if err != nil {
		return 0, nil, err
	}
	return decodePositions(text, partitions, attributes)
}

// cursor seals positions: "" at the end of all partitions, and where there is no key.
func (db *DB) cursor(scope []byte, left int, positions []position, attributes []Attribute) (Cursor, error) {
	text, err := encodePositions(left, positions, attributes)
	if db.cursors == nil || err != nil {
		return "", err
	}
	return db.cursors.seal(scope, text), nil
}
