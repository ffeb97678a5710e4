//go:build !tikv

package monotable

import (
	"context"
	"errors"
	"log/slog"

	"github.com/monotable/monotable/internal/database/move"
)

// openTiKV returns an error: TiKV's client library would add 16 MB to every program that opens a database.
func openTiKV(context.Context, string, bool, *slog.Logger) (move.Store, error) {
	return nil, errors.New("this program was built without TiKV: build it with go build -tags tikv")
}
