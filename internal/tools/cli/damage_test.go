package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

func damageCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: damage DIR")
	}
	store, err := pebblekv.Open(ts.MkAbs(args[0]), pebblekv.Options{})
	ts.Check(err)
	ctx := context.Background()
	lo, hi := keyenc.IndexBounds(1, 0)
	it, err := store.Iter(ctx, lo, hi, kv.IterOptions{})
	ts.Check(err)
	if !it.Next() {
		ts.Fatalf("there is no item to remove")
	}
	key := bytes.Clone(it.Key())
	ts.Check(it.Close())
	ts.Check(store.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		txn.Delete(key)
		return nil
	}))
	ts.Check(store.Close())
}

func corruptCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: corrupt GLOB")
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) != 1 {
		ts.Fatalf("%d files match %s, want one", len(names), args[0])
	}
	data, err := os.ReadFile(names[0])
	ts.Check(err)
	data[len(data)/4] ^= 1
	ts.Check(os.WriteFile(names[0], data, 0o600))
}

func digestCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: digest DIR")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			_, err = fmt.Fprintf(ts.Stdout(), "%x %s\n", sha256.Sum256(data), path)
		}
		return err
	}))
}
