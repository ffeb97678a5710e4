package monotable

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Change is the effect of one write on one item.
type Change struct {
	// Sequence is the position of the change in its table. It is greater than that of every earlier change, also across restarts.
	// Pass it to Changes to continue after this change.
	Sequence Position
	Time     time.Time // of the write, by the database's clock, to the millisecond
	Kind     ChangeKind
	TTL      bool // the item was removed because its time to live had expired
	Keys     map[string]types.AttributeValue
	Old      map[string]types.AttributeValue // nil for an Insert
	New      map[string]types.AttributeValue // nil for a Remove
}

// ChangeKind tells how the item changed. The names are those of DynamoDB Streams.
type ChangeKind string

// The kinds of change. A write that leaves an item unchanged produces none.
const (
	Insert ChangeKind = "INSERT"
	Modify ChangeKind = "MODIFY"
	Remove ChangeKind = "REMOVE"
)

// Position is a position in the changes of a table: FromBeginning, FromNow, or the Sequence of a change.
type Position uint64

// Positions that are not the Sequence of a change.
const (
	// FromBeginning is before the oldest retained change. At least the last 24 hours are retained, as far back as both images
	// were recorded.
	FromBeginning = Position(engine.ChangesKept)
	// FromNow is after all writes that were acknowledged before Changes was called.
	FromNow = Position(engine.ChangesNow)
)

// Errors that can end Changes, for errors.Is.
var (
	// ErrTrimmed: changes after the position are no longer retained, or were never recorded.
	ErrTrimmed = engine.ErrChangesTrimmed
	// ErrAhead: the position is later than any change of this database.
	ErrAhead = engine.ErrChangesAhead
	// ErrTableDeleted: the table was deleted, and all its changes have been returned.
	ErrTableDeleted = engine.ErrTableGone
	// ErrTableNotFound: the table did not exist when Changes was called.
	ErrTableNotFound = engine.ErrNoTable
	// ErrClosed: the database was closed.
	ErrClosed = kv.ErrClosed
)

// Changes follows the changes of a table in this process, whether or not the table has a stream. It returns every change after
// the position exactly once, and the changes of one item in order. When it has returned all changes it waits for more, so the
// sequence is endless: the loop ends by a break, or with a last pair that has an error, for example the context's.
//
//	for change, err := range db.Changes(ctx, "orders", monotable.FromNow) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// A table in a Region other than Options.Region is given as REGION/TABLE or by its ARN.
//
// FromNow is the position at the time of the call, not of the loop. A reader that stores the Sequence of the last change it has
// processed can continue from there after a restart.
//
// A table records its changes, with both images, while it has a stream with NEW_AND_OLD_IMAGES, while it is followed, and for at
// least 24 hours after the call and after its last loop has ended. Without a stream, recording begins with the first call of
// Changes. A loop that starts later than that, or starts again, ends with ErrTrimmed if changes after its position were not
// recorded in the meantime.
func (db *DB) Changes(ctx context.Context, table string, from Position) iter.Seq2[Change, error] {
	in, name := db.inRegion(table)
	changes := in.Changes(ctx, name, kv.Seq(from))
	return func(yield func(Change, error) bool) {
		for c, err := range changes {
			if err != nil {
				yield(Change{}, fmt.Errorf("monotable: changes of table %q: %w", table, err))
				return
			}
			if !yield(newChange(&c), nil) {
				return
			}
		}
	}
}

func newChange(c *engine.Change) Change {
	out := Change{
		Sequence: Position(c.Seq), Time: c.Time, Kind: Modify, TTL: c.Expired,
		Keys: attributes(c.Key), Old: attributes(c.Old), New: attributes(c.New),
	}
	switch {
	case c.Old == nil:
		out.Kind = Insert
	case c.New == nil:
		out.Kind = Remove
	}
	return out
}

// attributes returns an item in the SDK's form, or nil for a missing item.
func attributes(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(it))
	for _, field := range it {
		out[field.Name] = attribute(field.Value)
	}
	return out
}

func attribute(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.KindString:
		return &types.AttributeValueMemberS{Value: v.Text()}
	case attr.KindNumber:
		return &types.AttributeValueMemberN{Value: v.Text()}
	case attr.KindBinary:
		return &types.AttributeValueMemberB{Value: []byte(v.Text())}
	case attr.KindBool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.KindList:
		list := make([]types.AttributeValue, len(v.Elems()))
		for i, element := range v.Elems() {
			list[i] = attribute(element)
		}
		return &types.AttributeValueMemberL{Value: list}
	case attr.KindMap:
		return &types.AttributeValueMemberM{Value: attributes(v.Item())}
	case attr.KindStringSet:
		return &types.AttributeValueMemberSS{Value: texts(v)}
	case attr.KindNumberSet:
		return &types.AttributeValueMemberNS{Value: texts(v)}
	case attr.KindBinarySet:
		members := make([][]byte, len(v.Elems()))
		for i, member := range v.Elems() {
			members[i] = []byte(member.Text())
		}
		return &types.AttributeValueMemberBS{Value: members}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

func texts(set attr.Value) []string {
	members := make([]string, len(set.Elems()))
	for i, member := range set.Elems() {
		members[i] = member.Text()
	}
	return members
}
