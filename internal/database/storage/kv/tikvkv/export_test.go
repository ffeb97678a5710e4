//go:build tikv

package tikvkv

import (
	"context"
	"time"
)

// RemoveBefore has old versions removed now.
func (s *Store) RemoveBefore(ctx context.Context, age time.Duration) error {
	return s.removeBefore(ctx, age)
}

// KeepVersions tells the placement driver now what the open snapshots need.
func (s *Store) KeepVersions(ctx context.Context) error { return s.keepFrom(ctx, s.held.oldest()) }

// Quiet turns off the log of the client library.
func Quiet() { quiet() }
