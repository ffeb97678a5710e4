package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// killableKeeper is a killableStore that also counts snapshots and loads.
type killableKeeper struct{ *killableStore }

func (m killableKeeper) Keep(ctx context.Context, name string, what kv.Selection) error {
	if m.dead() {
		return kv.ErrClosed
	}
	return m.Store.Keep(ctx, name, what)
}

func (m killableKeeper) DropKept(ctx context.Context, name string) error {
	if m.dead() {
		return kv.ErrClosed
	}
	return m.Store.DropKept(ctx, name)
}

func (m killableKeeper) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if m.dead() {
		return kv.ErrClosed
	}
	return m.Store.Load(ctx, fill)
}

// TestKilledWithinBackups makes and uses backups and restores, killed after every number of writes. A reopened store has
// everything that was acknowledged, completes unfinished work, and keeps no unused snapshots.
func TestKilledWithinBackups(t *testing.T) {
	for writes := int64(0); ; writes++ {
		survived := false
		t.Run(fmt.Sprint(writes), func(t *testing.T) { survived = testKilled(t, writes) })
		if survived || t.Failed() {
			return
		}
	}
}

func testKilled(t *testing.T, writes int64) (survived bool) {
	t.Helper()
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	o := engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1}
	store := killableKeeper{&killableStore{Store: kv.Checked(memkv.New())}}
	store.left.Store(1 << 30)
	e := openOn(t, store, o)
	send(t, e, "create-table", historyTable)
	write := func(value string) {
		for i := range 10 {
			send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"%d"},"sk":{"N":"%d"},"g":{"S":%q},"l":{"S":"y"}}}`, i%3, i, value))
		}
	}
	write("first")
	first := contents(t, e, "History")
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	c.set(c.now().Add(time.Second))
	write("second")
	second := contents(t, e, "History")
	store.left.Store(writes)
	done := liveWithBackups(t.Context(), e, c.now().Add(-time.Second))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	e = openOn(t, store.Store, o)
	defer e.Close()
	e.Settle()
	wantVerified(t, e)
	wantBackups(t, e, store.Store, done)
	for table, want := range map[string]map[string]string{"FromBackup": second, "ToInstant": first, "FromDeleted": second} {
		if _, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: &table}); err != nil {
			if slices.Contains(done, table) {
				t.Errorf("%s is lost: %v", table, err)
			}
			continue
		}
		if diff := cmp.Diff(want, contents(t, e, table)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", table, diff)
		}
	}
	return len(done) == 7
}

// liveWithBackups makes and uses backups step by step, and returns the acknowledged steps.
func liveWithBackups(ctx context.Context, e *engine.Engine, before time.Time) (done []string) {
	var arn string
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"backup", func() (err error) {
			arn, err = backUp(ctx, e, "History")
			return err
		}},
		{"FromBackup", func() error { return restoreBackup(ctx, e, arn, "FromBackup") }},
		{"ToInstant", func() error { return restoreTo(ctx, e, "History", before, "ToInstant") }},
		{"delete backup", func() error {
			_, err := e.DeleteBackup(ctx, &api.DeleteBackupInput{BackupArn: &arn})
			return err
		}},
		{"delete table", func() error {
			_, err := e.DeleteTable(ctx, &api.DeleteTableInput{TableName: new("History")})
			return err
		}},
		{"FromDeleted", func() error {
			out, err := e.ListBackups(ctx, &api.ListBackupsInput{BackupType: new("SYSTEM")})
			if err != nil {
				return err
			}
			return restoreBackup(ctx, e, *out.BackupSummaries[0].BackupArn, "FromDeleted")
		}},
		{"end", func() error { return e.ExpireBackups(ctx) }},
	} {
		err := step.do()
		e.Settle()
		if err != nil {
			break
		}
		if jobs, err := e.PendingJobs(ctx); err != nil || jobs > 1 { // the change log is dropped after a day
			return append(done, step.name)
		}
		done = append(done, step.name)
	}
	return done
}

// wantBackups checks that each backup has its snapshot and each snapshot its backup.
func wantBackups(t *testing.T, e *engine.Engine, store kv.Store, done []string) {
	t.Helper()
	out, err := e.ListBackups(t.Context(), &api.ListBackupsInput{BackupType: new("ALL")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	users, systems := 0, 0
	for _, b := range out.BackupSummaries {
		if *b.BackupStatus != "AVAILABLE" {
			t.Errorf("backup %s is %s", *b.BackupArn, *b.BackupStatus)
		}
		if *b.BackupType == "USER" {
			users++
		} else {
			systems++
		}
		id := (*b.BackupArn)[len("arn:aws:dynamodb:us-east-1:000000000000:table/History/backup/"):]
		names = append(names, "backup-"+id)
	}
	slices.Sort(names)
	wantKept(t, store, names...)
	if slices.Contains(done, "delete table") && systems != 1 {
		t.Errorf("the deleted table has %d backups", systems)
	}
	if deleted := slices.Contains(done, "delete backup"); slices.Contains(done, "backup") && !deleted && users == 0 && len(done) < 3 ||
		deleted && users != 0 {
		t.Errorf("there are %d backups after %v", users, done)
	}
}
