//go:build tikv

package monotable

import (
	"bytes"
	"context"
	"log/slog"

	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv/complete"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
)

// openTiKV opens the store in a TiKV cluster, which must exist or may be made.
func openTiKV(ctx context.Context, address string, exists bool, logger *slog.Logger) (move.Store, error) {
	store, err := tikvkv.Open(ctx, address, tikvkv.Options{Steady: steady, Existing: exists, Logger: logger})
	if err != nil {
		return nil, err
	}
	return complete.NewWithLogs(store), nil
}

// steady reports whether a key is checked by every write but written only by changes of a table or of the storage format.
func steady(key []byte) bool {
	key = part.Inner(key)
	return keyenc.IsTableVersion(key) || bytes.Equal(key, keyenc.FormatVersion())
}
