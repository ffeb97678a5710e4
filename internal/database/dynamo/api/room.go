package api

import "context"

const (
	// LargeRead is from how many bytes on a request asks for room before it reads more. Most requests never do.
	LargeRead = 64 << 10
	// LongRead is from how many bytes on a page takes most of a millisecond, or longer.
	LongRead = 300 << 10
)

// Room waits until a request may read items of some bytes, altogether, beyond LargeRead. It returns an error if the request must
// not. long says that the request will keep a processor for long.
type Room func(bytes int64, long bool) error

type roomKey struct{}

// WithRoom returns a context whose requests ask f for room.
func WithRoom(ctx context.Context, f Room) context.Context {
	return context.WithValue(ctx, roomKey{}, f)
}

func ask(ctx context.Context, bytes int64, long bool) error {
	if f, ok := ctx.Value(roomKey{}).(Room); ok {
		return f(bytes, long)
	}
	return nil
}

// ReserveMemory asks for all the room that a long request needs. A context without room has no bounds.
func ReserveMemory(ctx context.Context, bytes int64) error { return ask(ctx, bytes, true) }

// ReservePage asks for all the room that a page needs, which only takes long if it then calls TakesLong.
func ReservePage(ctx context.Context, bytes int64) error { return ask(ctx, bytes, false) }

// TakesLong says that a page has read more than LongRead.
func TakesLong(ctx context.Context) error { return ask(ctx, 0, true) }
