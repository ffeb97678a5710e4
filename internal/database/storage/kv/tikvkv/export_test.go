//go:build tikv

package tikvkv

import (
	"context"
	"time"
)

// RemoveBefore removes old versions now.
func (s *Store) RemoveBefore(ctx context.Context, age time.Duration) error {
	return s.removeBefore(ctx, age)
}

// KeepVersions reports the versions needed by open snapshots to the placement driver now.
func (s *Store) KeepVersions(ctx context.Context) error { return s.keepFrom(ctx, s.held.oldest()) }

// Quiet turns off the client library's log.
func Quiet() { quiet() }
