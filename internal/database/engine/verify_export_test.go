package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// VerifyFollowing is Verify that follows so many items of a change log at once.
func VerifyFollowing(ctx context.Context, store kv.Store, items int, report func(Finding)) (Verified, error) {
	return verify(ctx, store, report, nil, items)
}
