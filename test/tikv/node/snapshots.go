package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/tidb/store/mockstore/unistore/pd"
)

// setSnapshotsAside moves the snapshots received from other nodes away from where unistore insists on creating their directory,
// and returns a function that moves them back. A node that was killed while it applied one panics if the file is missing.
func setSnapshotsAside(data string) (restore func() error, err error) {
	own, aside := filepath.Join(data, "snap"), filepath.Join(data, "snap-aside")
	if _, err = os.Stat(aside); err == nil { // it was killed before it had moved them back
		err = os.RemoveAll(own)
	} else if err = os.Rename(own, aside); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	return func() error { return errors.Join(os.Remove(own), os.Rename(aside, own)) }, err
}

// registering calls a function before a node registers with the placement driver, which is after unistore has created its
// directories and before it uses them.
type registering struct {
	pd.Client
	before func() error
}

func (r registering) PutStore(ctx context.Context, store *metapb.Store) error {
	if err := r.before(); err != nil {
		return err
	}
	return r.Client.PutStore(ctx, store)
}
