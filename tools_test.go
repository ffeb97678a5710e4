package monotable_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/monotabletest"
)

// openOrders opens a database on disk with a table of one item.
func openOrders(t *testing.T, dir string) *monotable.DB {
	t.Helper()
	db, err := monotable.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	createOrders(t.Context(), db.Client())
	putOrder(t, db, "1")
	return db
}

func putOrder(t *testing.T, db *monotable.DB, order string) {
	t.Helper()
	_, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("orders"),
		Item: map[string]types.AttributeValue{
			"customer": &types.AttributeValueMemberS{Value: "c"}, "order": &types.AttributeValueMemberS{Value: order},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantVerified verifies a directory, which must have that many items.
func wantVerified(t *testing.T, dir string, items int64) {
	t.Helper()
	done, err := monotable.Verify(t.Context(), dir, nil, func(f monotable.Finding) { t.Error(f) }, nil)
	if err != nil || done.Items != items {
		t.Errorf("%s: %+v, %v, want %d items", dir, done, err, items)
	}
}

// TestBackupAndRestore: a backup of an open database, one of its directory, and their restores have the content at the time.
func TestBackupAndRestore(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	var done, total int64
	progress := func(d, n int64) { done, total = d, n }

	db := openOrders(t, at("db"))
	if err := db.Backup(t.Context(), at("first"), progress); err != nil || done != total || total <= 0 {
		t.Errorf("backup: %v, %d of %d bytes", err, done, total)
	}
	putOrder(t, db, "2")
	if err := monotable.Backup(t.Context(), at("db"), at("none"), nil); !errors.Is(err, monotable.ErrLocked) {
		t.Errorf("backup of a directory that is open: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := monotable.Backup(t.Context(), at("db"), at("second"), progress); err != nil || done != total || total <= 0 {
		t.Errorf("backup: %v, %d of %d bytes", err, done, total)
	}
	if err := monotable.Restore(t.Context(), at("first"), at("back"), progress); err != nil || done != total || total <= 0 {
		t.Errorf("restore: %v, %d of %d bytes", err, done, total)
	}
	wantVerified(t, at("db"), 2)
	wantVerified(t, at("first"), 1)
	wantVerified(t, at("second"), 2)
	wantVerified(t, at("back"), 1)

	if err := os.Symlink(at("db"), at("link")); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"backup into a link":      monotable.Backup(t.Context(), at("db"), at("link/copy"), nil),
		"backup of a link":        monotable.Backup(t.Context(), at("link"), at("db/copy"), nil),
		"backup over a database":  monotable.Backup(t.Context(), at("db"), at("first"), nil),
		"restore over a database": monotable.Restore(t.Context(), at("first"), at("db"), nil),
		"backup into itself":      monotable.Backup(t.Context(), at("db"), at("db/copy"), nil),
		"backup to nowhere":       monotable.Backup(t.Context(), at("db"), "", nil),
		"backup of nothing":       monotable.Backup(t.Context(), at("nothing"), at("none"), nil),
		"restore of nothing":      monotable.Restore(t.Context(), at("nothing"), at("none"), nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if _, err := os.Stat(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left of what failed: %v", err)
	}
	wantVerified(t, at("db"), 2)
	wantVerified(t, at("first"), 1)
}

// TestBackupCanceled: a canceled backup leaves nothing.
func TestBackupCanceled(t *testing.T) {
	home := t.TempDir()
	db := openOrders(t, filepath.Join(home, "db"))
	defer db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Backup(ctx, filepath.Join(home, "copy"), func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("backup: %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, "copy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// TestToolsInMemory: operations that need files report that there are none.
func TestToolsInMemory(t *testing.T) {
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Backup(t.Context(), filepath.Join(t.TempDir(), "copy"), nil); err == nil || !strings.Contains(err.Error(), "in memory") {
		t.Errorf("backup: %v", err)
	}
	if err := db.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if s, err := db.Stats(t.Context()); err != nil || s.Directory != 0 || len(s.Tables) != 0 {
		t.Errorf("stats: %+v, %v", s, err)
	}
	if done, err := db.Verify(t.Context(), func(f monotable.Finding) { t.Error(f) }, nil); err != nil || done.Tables != 0 {
		t.Errorf("verify: %+v, %v", done, err)
	}
}

// TestStats: an open database and its directory have the same stats.
func TestStats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	db := openOrders(t, dir)
	if err := db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	open, err := db.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := monotable.Compact(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	closed, err := monotable.ReadStats(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	// "customer", "c", "order" and "1" have 15 bytes.
	want := monotable.TableStats{Name: "orders", Status: "ACTIVE", Indexes: []monotable.IndexStats{}}
	want.Items.Rows, want.Items.Bytes = 1, 15
	want.Total = want.Items
	for _, s := range []monotable.Stats{open, closed} {
		if len(s.Tables) != 1 || s.Total.Rows != 1 || s.Total.Bytes != 15 || s.Total.Disk <= 0 || s.Directory < s.Total.Disk {
			t.Fatalf("stats: %+v", s)
		}
		got := s.Tables[0]
		if got.Total.Disk != got.Items.Disk+got.Expiries.Disk+got.ChangeLog.Disk || got.Items.Disk <= 0 {
			t.Errorf("rooms: %+v", got)
		}
		got.Items.Disk, got.Expiries.Disk, got.ChangeLog.Disk, got.Total.Disk = 0, 0, 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
	}
}

// TestVerifyFails: the error of a verification that cannot be done is returned once.
func TestVerifyFails(t *testing.T) {
	db := monotabletest.New(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Verify(t.Context(), nil, nil); err == nil || err.Error() != "monotable: verify: the store is closed" {
		t.Errorf("error %v", err)
	}
}

// TestVerifyWithoutReport counts findings.
func TestVerifyWithoutReport(t *testing.T) {
	dir := t.TempDir()
	db, err := monotable.Open(dir, &monotable.Options{Regions: []string{"eu-west-1"}})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	store, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	region, err := part.Open(ctx, store, "eu-west-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []kv.Store{store, region} { // an index entry of a table that does not exist
		key, _ := keyenc.IndexBounds(7, 1)
		err = errors.Join(err, s.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
			txn.Set(key, []byte("x"))
			return nil
		}))
	}
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if done, err := monotable.Verify(ctx, dir, nil, nil, nil); err != nil || done.Findings != 2 {
		t.Errorf("%d findings, %v; want 2", done.Findings, err)
	}
}

// TestReopenWithoutOptions: a directory that is not encrypted needs none.
func TestReopenWithoutOptions(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	db, err := monotable.Open(from, nil)
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		_, err = monotable.Move(t.Context(), &monotable.MoveOptions{From: from, To: to})
	}
	if err == nil {
		err = monotable.Reopen(t.Context(), from, nil)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestMissingFiles: a directory without one of its files, or with a part of it, is damaged.
func TestMissingFiles(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"missing":   os.Remove,
		"truncated": func(file string) error { return os.Truncate(file, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			db := openOrders(t, dir)
			if err := errors.Join(db.Compact(ctx), db.Close()); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "pebble", "*.sst"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, file := range files {
				if err := damage(file); err != nil {
					t.Fatal(err)
				}
			}
			_, opened := monotable.Open(dir, nil)
			_, verified := monotable.Verify(ctx, dir, nil, nil, nil)
			for _, err := range []error{opened, verified} {
				if _, ok := errors.AsType[*monotable.DamageError](err); !ok || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want a DamageError in one line", err)
				}
			}
		})
	}
}

// TestIAMOfDirectory: ARNs in a directory that is not open have the account of the options, as when it is open.
func TestIAMOfDirectory(t *testing.T) {
	dir, o := t.TempDir(), &monotable.Options{AccountID: "123456789012"}
	db, err := monotable.Open(dir, o)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	result, err := monotable.IAM(t.Context(), dir, o, &monotable.IAMRequest{Action: "user create", Name: "ana"})
	if err != nil || result.Users[0].ARN != "arn:aws:iam::123456789012:user/ana" {
		t.Errorf("%+v, %v", result, err)
	}
}
