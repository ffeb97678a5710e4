package kv

import (
	"bytes"
	"context"
	"fmt"
)

// Fill is the common part of all implementations of Load. It calls fill, checks what fill puts and passes it to add: keys and
// values within the limits, keys in ascending order and not reserved. The first error of put is Fill's error, even if fill
// ignores it.
func Fill(ctx context.Context, limits Limits, fill func(put func(key, value []byte) error) error, add func(key, value []byte) error) error {
	var last []byte
	check := func(key, value []byte) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(key) > limits.KeyBytes || len(value) > limits.ValueBytes:
			return ErrTooLarge
		case len(key) == 0 || key[0] >= ReservedPrefix:
			return fmt.Errorf("kv: key %x cannot be loaded", key)
		case bytes.Compare(key, last) <= 0:
			return fmt.Errorf("kv: key %x is loaded after key %x", key, last)
		}
		last = append(last[:0], key...)
		return add(key, value)
	}
	var failed error
	err := fill(func(key, value []byte) error {
		if failed == nil {
			failed = check(key, value)
		}
		return failed
	})
	if err != nil {
		return err
	}
	return failed
}

// loadBytes is the approximate size of one update of LoadByUpdates.
const loadBytes = 1 << 20

// LoadByUpdates implements Load with updates of a megabyte each; a smaller load becomes visible at once.
func LoadByUpdates(ctx context.Context, limits Limits, update func(context.Context, Intent, func(Txn) error) error, fill func(put func(key, value []byte) error) error) error {
	var keys, values [][]byte
	size := 0
	flush := func() error {
		err := update(ctx, Intent{}, func(txn Txn) error {
			for i, key := range keys {
				txn.Set(key, values[i])
			}
			return nil
		})
		keys, values, size = nil, nil, 0
		return err
	}
	err := Fill(ctx, limits, fill, func(key, value []byte) error {
		if size > 0 && size+len(key)+len(value) > loadBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		keys, values = append(keys, bytes.Clone(key)), append(values, append([]byte{}, value...))
		size += len(key) + len(value)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
