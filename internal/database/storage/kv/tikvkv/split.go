//go:build tikv

package tikvkv

import (
	"bytes"
	"context"
	"slices"
)

// Split begins a region of TiKV's at each key, and has the placement driver spread the regions' leaders over the nodes. It does not wait until they are
// spread. The placement driver merges regions again that are still small after an hour.
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
