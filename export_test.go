package monotable

import "context"

// SettleMetrics ends the current minute, for tests that do not wait for it.
func (db *DB) SettleMetrics(ctx context.Context) error { return db.history.Settle(ctx) }
