package move_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// errKilled is the error of every operation in a killed process.
var errKilled = errors.New("the process has been killed")

// process allows a number of changes of stores, and then none.
type process struct{ left int }

// change counts a change.
func (p *process) change() error {
	if p.left--; p.left < 0 {
		return errKilled
	}
	return nil
}

// killable is a store in a process that can be killed.
type killable struct {
	*pebblekv.Store
	process *process
}

func (k killable) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return errorOr(k.process, func() error { return k.Store.Update(ctx, in, fn) })
}

func (k killable) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	return errorOr(k.process, func() error { return k.Store.Load(ctx, fill) })
}

func (k killable) LoadLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return errorOr(k.process, func() error { return k.Store.LoadLog(ctx, log, trimmed, fill) })
}

func (k killable) ExtendLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return errorOr(k.process, func() error { return k.Store.ExtendLog(ctx, log, trimmed, fill) })
}

func (k killable) DeleteRange(ctx context.Context, lo, hi []byte) error {
	return errorOr(k.process, func() error { return k.Store.DeleteRange(ctx, lo, hi) })
}

func (k killable) Keep(ctx context.Context, name string, what kv.Selection) error {
	return errorOr(k.process, func() error { return k.Store.Keep(ctx, name, what) })
}

func (k killable) DropKept(ctx context.Context, name string) error {
	return errorOr(k.process, func() error { return k.Store.DropKept(ctx, name) })
}

func errorOr(p *process, do func() error) error {
	if err := p.change(); err != nil {
		return err
	}
	return do()
}

// disk has a database in /source.
func disk(t *testing.T) vfs.FS {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	db, err := monotable.Open(dir, &monotable.Options{Regions: []string{"eu-west-1"}, Durability: monotable.DurabilityNone})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	c := dynamodb.New(dynamodb.Options{BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		in := func(o *dynamodb.Options) { o.Region = region }
		_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("n"), AttributeType: types.ScalarAttributeTypeN},
			},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName: aws.String("byNumber"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("n"), KeyType: types.KeyTypeHash}},
			}},
			StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
		}, in)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("item", n)}, "n": &types.AttributeValueMemberN{Value: fmt.Sprint(n % 3)},
			}}, in)
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String("things"), BackupName: aws.String("first")}, in); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	fs := vfs.NewMem()
	if ok, err := vfs.Clone(vfs.Default, fs, dir, "/source"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return fs
}

// copyOf is a copy of a disk.
func copyOf(t *testing.T, fs vfs.FS) vfs.FS {
	t.Helper()
	other := vfs.NewMem()
	if ok, err := vfs.Clone(fs, other, "/source", "/source"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return other
}

func open(t *testing.T, fs vfs.FS, dir string) *pebblekv.Store {
	t.Helper()
	s, err := pebblekv.Open(dir, pebblekv.Options{FS: fs, Durability: pebblekv.None})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s kv.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// options are the options of all moves here. said receives the notices.
func options(t *testing.T, said *[]string) move.Options {
	t.Helper()
	return move.Options{From: "/source", To: "/target", Notice: func(text string) { *said = append(*said, text) }, Verify: proves(t)}
}

// proves verifies a store and its Region.
func proves(t *testing.T) func(ctx context.Context, s kv.Store) error {
	t.Helper()
	return func(ctx context.Context, s kv.Store) error {
		other, err := part.Open(ctx, s, "eu-west-1")
		if err != nil {
			return err
		}
		for _, store := range []kv.Store{s, other} {
			done, err := verify.Run(ctx, store, func(f verify.Finding) { t.Error(f) }, verify.Options{})
			if err != nil {
				return err
			}
			if done.Items != 20 || done.LogRecords != 20 || done.Backups != 1 {
				t.Errorf("verified %+v", done)
			}
		}
		return nil
	}
}

// whole reports whether a store can be opened as a database.
func whole(t *testing.T, s kv.Store) (is bool, why error) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	version, m, err := format.Read(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if m != nil {
		return false, m.Refusal()
	}
	return version > 0, nil
}

// runKilled moves in a process that is killed after a number of changes, and returns whether the source and the target are
// complete afterwards.
func runKilled(t *testing.T, fs vfs.FS, changes int) (source, target bool, err error) {
	t.Helper()
	from, to := open(t, fs, "/source"), open(t, fs, "/target")
	defer closeStore(t, from)
	defer closeStore(t, to)
	p := &process{left: changes}
	var said []string
	_, err = move.Run(t.Context(), killable{from, p}, killable{to, p}, options(t, &said))
	source, _ = whole(t, from)
	target, _ = whole(t, to)
	return source, target, err
}

// TestKilledAnywhere kills a move after each of its changes. There are never two complete databases; after one more run, which
// is sometimes killed as well, there is one, in the target, and it has everything.
func TestKilledAnywhere(t *testing.T) {
	start := disk(t)
	var said []string
	want := func() move.Result {
		fs := copyOf(t, start)
		from, to := open(t, fs, "/source"), open(t, fs, "/target")
		defer closeStore(t, from)
		defer closeStore(t, to)
		result, err := move.Run(t.Context(), from, to, options(t, &said))
		if err != nil || len(said) != 0 || result.Backups != 2 || result.LogRecords != 40 {
			t.Fatalf("%+v, %v, %q", result, err, said)
		}
		return result
	}()
	killed := 0
	for changes := 0; ; changes++ {
		fs := copyOf(t, start)
		source, target, err := runKilled(t, fs, changes)
		if err == nil {
			if source || !target {
				t.Errorf("moved: the source is whole: %v, the target: %v", source, target)
			}
			break
		}
		killed++
		if !errors.Is(err, errKilled) {
			t.Fatalf("killed after %d changes: %v", changes, err)
		}
		if source && target {
			t.Fatalf("killed after %d changes: two databases", changes)
		}
		if changes%5 == 4 { // kill the next one, too
			source, target, err := runKilled(t, fs, changes/2)
			if source && target || err == nil && !target || err != nil && !errors.Is(err, errKilled) {
				t.Fatalf("killed after %d changes and again: %v, %v, %v", changes, source, target, err)
			}
			if err == nil { // everything had been copied
				continue
			}
		}
		runAgain(t, fs, changes, want)
	}
	if killed < 20 {
		t.Errorf("a move makes %d changes only", killed)
	}
}

// runAgain runs the move again to the end.
func runAgain(t *testing.T, fs vfs.FS, changes int, want move.Result) {
	t.Helper()
	from, to := open(t, fs, "/source"), open(t, fs, "/target")
	defer closeStore(t, from)
	defer closeStore(t, to)
	var said []string
	got, err := move.Run(t.Context(), from, to, options(t, &said))
	if err != nil {
		t.Fatalf("after a kill after %d changes: %v", changes, err)
	}
	if got != want && !got.Completed {
		t.Errorf("after a kill after %d changes: %+v, want %+v", changes, got, want)
	}
	if source, _ := whole(t, from); source {
		t.Errorf("after a kill after %d changes: the source is still a database", changes)
	}
	if target, why := whole(t, to); !target {
		t.Errorf("after a kill after %d changes: %v", changes, why)
	}
	if err := proves(t)(t.Context(), to); err != nil {
		t.Error(err)
	}
}

// TestUnmovableStoresAreRejected tests that stores that cannot be moved, or be a target, are rejected with the reason, and the source can be
// opened afterwards.
func TestUnmovableStoresAreRejected(t *testing.T) {
	start := disk(t)
	set := func(t *testing.T, s kv.Store, key, value []byte) {
		t.Helper()
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error { txn.Set(key, value); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	mark := func(t *testing.T, s kv.Store, m format.Move) {
		t.Helper()
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{keyenc.FormatVersion()}}, m.Save)
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, from, to *pebblekv.Store)
		want    string
		marked  bool // the source has a mark before and after
	}{
		"a database": {want: "the target is not empty: it contains a database", prepare: func(t *testing.T, _, to *pebblekv.Store) {
			t.Helper()
			set(t, to, keyenc.FormatVersion(), []byte{0, 0, 0, 0, 0, 0, 0, 5})
		}},
		"something": {want: "the target is not empty, and a move never overwrites data", prepare: func(t *testing.T, _, to *pebblekv.Store) {
			t.Helper()
			set(t, to, []byte("d"), nil)
		}},
		"a log": {want: "the target is not empty, and a move never overwrites data", prepare: func(t *testing.T, _, to *pebblekv.Store) {
			t.Helper()
			err := to.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error { txn.AppendLog(1, nil); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}},
		"part of another one": {want: "the target is not empty: the move of /other to this store", prepare: func(t *testing.T, _, to *pebblekv.Store) {
			t.Helper()
			mark(t, to, format.Move{Stage: format.Arriving, From: "/other"})
		}},
		"no database": {want: "there is no database in the source", marked: true, prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			if err := from.DeleteRange(t.Context(), nil, nil); err != nil {
				t.Fatal(err)
			}
		}},
		"a newer one": {want: "the store has format version 99 and this program knows", marked: true, prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			set(t, from, keyenc.FormatVersion(), []byte{0, 0, 0, 0, 0, 0, 0, 99})
		}},
		"moved elsewhere": {want: "the database has been moved to /elsewhere", marked: true, prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			mark(t, from, format.Move{Stage: format.Left, To: "/elsewhere", Version: 5})
		}},
		"being moved elsewhere": {want: "the database is being moved to /elsewhere", marked: true, prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			mark(t, from, format.Move{Stage: format.Leaving, To: "/elsewhere", Version: 5})
		}},
		"moved here already": {want: "the database has been moved to /target", marked: true, prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			mark(t, from, format.Move{Stage: format.Left, To: "/target", Version: 5})
		}},
		"half a move itself": {want: "the move of /elsewhere to this store", marked: true, prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			mark(t, from, format.Move{Stage: format.Arriving, From: "/elsewhere", Version: 5})
		}},
		"a server": {want: "servers with the source open: 1", prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			if _, err := cluster.Join(t.Context(), cluster.Options{Store: from, Fence: cluster.NewStore(from)}); err != nil {
				t.Fatal(err)
			}
		}},
		"a clock ahead": {want: "the clock of the target is", prepare: func(t *testing.T, from, _ *pebblekv.Store) {
			t.Helper()
			err := from.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
				txn.Advance(kv.SeqAt(time.Now().Add(time.Hour).UnixMilli()))
				txn.LogSeq()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			fs := copyOf(t, start)
			from, to := open(t, fs, "/source"), open(t, fs, "/target")
			defer closeStore(t, from)
			defer closeStore(t, to)
			c.prepare(t, from, to)
			var said []string
			_, err := move.Run(t.Context(), from, to, options(t, &said))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.marked {
				return
			}
			if is, why := whole(t, from); !is {
				t.Errorf("after %v the source cannot be opened: %v", err, why)
			}
		})
	}
}

// TestFails tests that if the proof fails, the copy differs, or the context ends, the source can be opened, and the target
// cannot. Then the move is resumed.
func TestFails(t *testing.T) {
	for name, fail := range map[string]func(o *move.Options, to *pebblekv.Store, cancel func()) string{
		"cancelled": func(o *move.Options, _ *pebblekv.Store, cancel func()) string {
			o.Progress = func(move.Phase, int64, int64) { cancel() }
			return context.Canceled.Error()
		},
		"verify": func(o *move.Options, _ *pebblekv.Store, _ func()) string {
			o.Verify = func(context.Context, kv.Store) error { return errors.New("it is wrong") }
			return "it is wrong"
		},
		"compare": func(o *move.Options, to *pebblekv.Store, _ func()) string {
			changed := false
			o.Progress = func(phase move.Phase, _, _ int64) {
				if phase == move.Copy || changed {
					return
				}
				changed = true // between the reading of backups and of tables
				_ = to.Update(context.Background(), kv.Intent{}, func(txn kv.Txn) error { txn.Set([]byte("z"), nil); return nil })
			}
			return "the copy differs from the source"
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := disk(t)
			from, to := open(t, fs, "/source"), open(t, fs, "/target")
			defer closeStore(t, from)
			defer closeStore(t, to)
			var said []string
			o := options(t, &said)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			want := fail(&o, to, cancel)
			if _, err := move.Run(ctx, from, to, o); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%v, want %q", err, want)
			}
			if is, why := whole(t, from); !is {
				t.Errorf("the source cannot be opened: %v", why)
			}
			if is, _ := whole(t, to); is {
				t.Error("the target can be opened")
			}
			if _, err := move.Run(t.Context(), from, to, options(t, &said)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReopen tests that a move can be undone, and that a database that was not moved is unchanged.
func TestReopen(t *testing.T) {
	fs := disk(t)
	from, to := open(t, fs, "/source"), open(t, fs, "/target")
	defer closeStore(t, from)
	defer closeStore(t, to)
	if err := move.Reopen(t.Context(), from); err == nil || !strings.Contains(err.Error(), "nothing to reopen") {
		t.Errorf("nothing has been moved: %v", err)
	}
	var said []string
	if _, err := move.Run(t.Context(), from, to, options(t, &said)); err != nil {
		t.Fatal(err)
	}
	if err := move.Reopen(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	if is, why := whole(t, from); !is {
		t.Errorf("the source cannot be opened: %v", why)
	}
	if err := move.Reopen(t.Context(), to); err == nil {
		t.Error("the target has been taken back")
	}
}
