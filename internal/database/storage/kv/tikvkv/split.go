//go:build tikv

package tikvkv

import (
	"bytes"
	"context"
	"slices"
)

// Split splits TiKV's regions at each key, and asks the placement driver to spread the regions' leaders over the nodes. It
// does not wait for that. The placement driver merges regions that are still small after an hour.
func (s *Store) Split(ctx context.Context, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	var at [][]byte
	for _, k := range keys {
		at = append(at, s.key(valueSpace, k...))
	}
	slices.SortFunc(at, bytes.Compare)
	at = slices.CompactFunc(at, bytes.Equal)
	return s.call(ctx, func(ctx context.Context) error {
		_, err := s.client.SplitRegions(ctx, at, true, nil)
		return err
	})
}
