package api

import "context"

// LargeRead is from how many bytes on a request asks for room before it reads more. Most requests never do.
const LargeRead = 64 << 10

type roomKey struct{}

// WithRoom returns a context whose requests ask f for room.
func WithRoom(ctx context.Context, f func(bytes int64) error) context.Context {
	return context.WithValue(ctx, roomKey{}, f)
}

// ReserveMemory waits until a request may read items of some bytes, altogether, beyond LargeRead. It returns an error if it
// must not. A context without room has no bounds.
func ReserveMemory(ctx context.Context, bytes int64) error {
	if f, ok := ctx.Value(roomKey{}).(func(int64) error); ok {
		return f(bytes)
	}
	return nil
}
