package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

func backUp(ctx context.Context, e *engine.Engine, table string) (arn string, err error) {
	out, err := e.CreateBackup(ctx, &api.CreateBackupInput{TableName: &table, BackupName: new("backup")})
	if err != nil {
		return "", err
	}
	return *out.BackupDetails.BackupArn, nil
}

func mustBackUp(t *testing.T, e *engine.Engine, table string) (arn string) {
	t.Helper()
	arn, err := backUp(t.Context(), e, table)
	if err != nil {
		t.Fatal(err)
	}
	return arn
}

func restoreBackup(ctx context.Context, e *engine.Engine, arn, target string) error {
	_, err := e.RestoreTableFromBackup(ctx, &api.RestoreTableFromBackupInput{BackupArn: &arn, TargetTableName: &target})
	return err
}

func turnRecoveryOn(ctx context.Context, e *engine.Engine, table string) error {
	_, err := e.UpdateContinuousBackups(ctx, &api.UpdateContinuousBackupsInput{
		TableName:                        &table,
		PointInTimeRecoverySpecification: &api.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: new(true)},
	})
	return err
}

func restoreTo(ctx context.Context, e *engine.Engine, table string, at time.Time, target string) error {
	_, err := e.RestoreTableToPointInTime(ctx, &api.RestoreTableToPointInTimeInput{
		SourceTableName: &table, TargetTableName: &target, RestoreDateTime: new(api.Timestamp(at.Unix())),
	})
	return err
}

// bank is a table of accounts between which transactions transfer money, with a clock that advances whenever it is read.
type bank struct {
	engine *engine.Engine
	millis atomic.Int64
}

const (
	bankAccounts = 8
	bankSum      = bankAccounts * 100
)

func newBank(t *testing.T, s storeKind) *bank {
	t.Helper()
	b := &bank{}
	b.millis.Store(1_800_000_000_000)
	store := s.open(t)()
	e, err := engine.Open(t.Context(), kv.Checked(store), engine.Options{
		Now: func() time.Time { return time.UnixMilli(b.millis.Add(1)) }, TTLInterval: -1, StreamShardRotation: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.engine = e
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	send(t, e, "create-table", accountsTable)
	for i := range bankAccounts {
		send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Accounts","Item":{"id":{"S":"%d"},"branch":{"S":"b"},"n":{"N":"100"}}}`, i))
	}
	b.millis.Add(2000)
	if err := turnRecoveryOn(t.Context(), e, "Accounts"); err != nil {
		t.Fatal(err)
	}
	b.millis.Add(2000)
	return b
}

// transfer transfers money until stop is closed, ignoring conflicts.
func (b *bank) transfer(t *testing.T, rng *rand.Rand, stop <-chan struct{}) {
	t.Helper()
	for {
		select {
		case <-stop:
			return
		default:
		}
		from, to := rng.IntN(bankAccounts), rng.IntN(bankAccounts)
		if from == to {
			continue
		}
		const update = `{"Update":{"TableName":"Accounts","Key":{"id":{"S":"%d"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"%d"}}}}`
		body := fmt.Sprintf(`{"TransactItems":[`+update+`,`+update+`]}`, from, -3, to, 3)
		if _, err := perform(context.Background(), b.engine, "transact-write-items", body); err != nil && codeOf(err) != apierr.TransactionCanceledException {
			t.Error(err)
			return
		}
	}
}

// wantSum checks that a table has all the money.
func (b *bank) wantSum(t *testing.T, table string) {
	t.Helper()
	out, err := b.engine.Scan(t.Context(), &api.ScanInput{TableName: &table})
	if err != nil {
		t.Error(err)
		return
	}
	sum := 0
	for _, stored := range out.Items {
		it, err := stored.Decode()
		if err != nil {
			t.Fatal(err)
		}
		n, _ := it.Get("n")
		var amount int
		if _, err := fmt.Sscan(n.Text(), &amount); err != nil {
			t.Fatal(err)
		}
		sum += amount
	}
	if sum != bankSum {
		t.Errorf("%s has %d, want %d", table, sum, bankSum)
	}
}

// TestBackupsUnderTransfers makes backups, and restores to the latest second, while transactions transfer money: each has either
// all of a transaction or nothing, and a backup has everything acknowledged before it.
func TestBackupsUnderTransfers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			b := newBank(t, s)
			stop := make(chan struct{})
			var workers sync.WaitGroup
			for w := range uint64(2) {
				workers.Go(func() { b.transfer(t, rand.New(rand.NewPCG(seed, w)), stop) })
			}
			var restored []string
			for i := range 6 {
				marker := fmt.Sprintf("%d", i)
				send(t, b.engine, "put-item", `{"TableName":"Accounts","Item":{"id":{"S":"marker"},"n":{"N":"0"},"is":{"S":"`+marker+`"}}}`)
				arn := mustBackUp(t, b.engine, "Accounts")
				backup, instant := "Backup"+marker, "Instant"+marker
				if err := restoreBackup(t.Context(), b.engine, arn, backup); err != nil {
					t.Fatal(err)
				}
				send(t, b.engine, "restore-table-to-point-in-time", `{"SourceTableName":"Accounts","TargetTableName":"`+instant+`","UseLatestRestorableTime":true}`)
				b.engine.Settle()
				got := send(t, b.engine, "get-item", `{"TableName":"`+backup+`","Key":{"id":{"S":"marker"}},"ProjectionExpression":"#is","ExpressionAttributeNames":{"#is":"is"}}`)
				if want := `{"Item":{"is":{"S":"` + marker + `"}}}`; got != want {
					t.Errorf("the backup holds %s, want %s", got, want)
				}
				restored = append(restored, backup, instant)
			}
			close(stop)
			workers.Wait()
			for _, table := range append(restored, "Accounts") {
				b.wantSum(t, table)
			}
			wantVerified(t, b.engine)
		})
	}
}

// TestPointInTimeUnderTransfers restores to one past second twice, while writes continue, with the same result.
func TestPointInTimeUnderTransfers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			b := newBank(t, s)
			stop := make(chan struct{})
			var workers sync.WaitGroup
			for w := range uint64(2) {
				workers.Go(func() { b.transfer(t, rand.New(rand.NewPCG(seed, w)), stop) })
			}
			for i := range 4 {
				described, err := b.engine.DescribeContinuousBackups(t.Context(), &api.DescribeContinuousBackupsInput{TableName: new("Accounts")})
				if err != nil {
					t.Fatal(err)
				}
				at := time.Unix(int64(*described.ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime), 0)
				first, second := fmt.Sprintf("First%d", i), fmt.Sprintf("Second%d", i)
				for _, target := range []string{first, second} {
					if err := restoreTo(t.Context(), b.engine, "Accounts", at, target); err != nil {
						t.Fatal(err)
					}
				}
				b.engine.Settle()
				b.wantSum(t, first)
				scan := func(table string) string { return send(t, b.engine, "scan", `{"TableName":"`+table+`"}`) }
				if diff := cmp.Diff(scan(first), scan(second)); diff != "" {
					t.Errorf("two restores to %v differ:\n%s", at, diff)
				}
			}
			close(stop)
			workers.Wait()
			wantVerified(t, b.engine)
		})
	}
}

// gate is a store that lets some loads and job updates pass, and blocks the next one until the engine is closed.
type gate struct {
	kv.Store
	loads, updates atomic.Int64 // how many may pass
	reached        chan struct{}
	once           sync.Once
}

// requested marks the context of a request, whose calls pass all gates.
type requested struct{}

func ofRequest(ctx context.Context) context.Context { return context.WithValue(ctx, requested{}, true) }

func newGate(s kv.Store, loads, updates int64) *gate {
	g := &gate{Store: s, reached: make(chan struct{})}
	g.loads.Store(loads)
	g.updates.Store(updates)
	return g
}

func (g *gate) holds(ctx context.Context, left *atomic.Int64) bool {
	return ctx.Value(requested{}) == nil && left.Add(-1) < 0
}

func (g *gate) wait(ctx context.Context) error {
	g.once.Do(func() { close(g.reached) })
	<-ctx.Done()
	return ctx.Err()
}

func (g *gate) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if g.holds(ctx, &g.loads) {
		return g.wait(ctx)
	}
	return g.Store.Load(ctx, fill)
}

func (g *gate) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if g.holds(ctx, &g.updates) {
		return g.wait(ctx)
	}
	return g.Store.Update(ctx, in, fn)
}

// TestRestartDuringRestore closes the engine at every step of a restore to an earlier time, and finds the restore complete after
// the next start.
func TestRestartDuringRestore(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			for loads := range int64(5) {
				testRestart(t, s, loads, 1<<40)
			}
			for updates := range int64(10) {
				testRestart(t, s, 1<<40, updates)
			}
		})
	}
}

func testRestart(t *testing.T, s storeKind, loads, updates int64) {
	t.Helper()
	open := s.open(t)
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	start := func(store kv.Store) *engine.Engine {
		o := engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1}
		e, err := engine.Open(ofRequest(t.Context()), store, o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	g := newGate(open(), loads, updates)
	e := start(g)
	perform := func(directive, body string) {
		if _, err := perform(ofRequest(t.Context()), e, directive, body); err != nil {
			t.Fatal(err)
		}
	}
	write := func(n int) {
		for i := range n {
			perform("put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"%d"},"sk":{"N":"%d"},"g":{"S":"x"},"l":{"S":"y"},"at":{"S":"%v"}}}`, i%7, i, c.now().UnixMilli()))
		}
	}
	perform("create-table", historyTable)
	if err := turnRecoveryOn(ofRequest(t.Context()), e, "History"); err != nil {
		t.Fatal(err)
	}
	c.set(c.now().Add(time.Second))
	write(30)
	want := contents(t, e, "History")
	for range 12 { // two stretches of the log
		c.set(c.now().Add(2 * time.Second))
		write(100)
	}
	if err := restoreTo(ofRequest(t.Context()), e, "History", c.now().Add(-23*time.Second), "Again"); err != nil {
		t.Fatal(err)
	}
	finished := make(chan struct{})
	go func(e *engine.Engine) { e.Settle(); close(finished) }(e)
	select {
	case <-g.reached:
	case <-finished:
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	<-finished

	store := open()
	e = start(store)
	e.Settle()
	if diff := cmp.Diff(want, contents(t, e, "Again")); diff != "" {
		t.Errorf("stopped after %d loads, %d updates (-want +got):\n%s", loads, updates, diff)
	}
	wantVerified(t, e)
	wantKept(t, store)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// cancelingStore is a store whose reads observe their context, which ends when a table has just been created.
type cancelingStore struct {
	kv.Store
	cancel func()
}

func (s *cancelingStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	err := s.Store.Update(ctx, in, fn)
	if s.cancel != nil && slices.ContainsFunc(in.Write, func(key []byte) bool { return bytes.Equal(key, keyenc.NextTableID()) }) {
		s.cancel()
	}
	return err
}

func (s *cancelingStore) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

// TestRestoreOutlivesRequest: a client that disconnects right after a restore has started does not leave a table that is CREATING
// forever.
func TestRestoreOutlivesRequest(t *testing.T) {
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	store := &cancelingStore{Store: memkv.New()}
	e := openOn(t, store, engine.Options{Now: c.now, TTLInterval: -1})
	defer e.Close()
	send(t, e, "create-table", historyTable)
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	c.set(c.now().Add(2 * time.Second))
	ctx, cancel := context.WithCancel(t.Context())
	store.cancel = cancel
	_ = restoreTo(ctx, e, "History", c.now().Add(-time.Second), "Again")
	e.Settle()
	send(t, e, "put-item", `{"TableName":"Again","Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}`)
	wantKept(t, store)
}

// slowExpiry is a store that commits an expiry right after it has kept data.
type slowExpiry struct {
	kv.Store
	begun, kept, ended chan struct{}
}

// expiring marks the context of an expiry.
type expiring struct{}

func (s *slowExpiry) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if ctx.Value(expiring{}) != nil {
		close(s.begun)
		<-s.kept
	}
	return s.Store.Update(ctx, in, fn)
}

func (s *slowExpiry) Keep(ctx context.Context, name string, what kv.Selection) error {
	err := s.Store.Keep(ctx, name, what)
	close(s.kept)
	<-s.ended
	return err
}

// TestSystemBackupCountsWhatItKeeps: an expiry that begins while a table is being deleted can end after the table's data is kept
// for the system backup, which has the item and counts it.
func TestSystemBackupCountsWhatItKeeps(t *testing.T) {
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	store := &slowExpiry{memkv.New(), make(chan struct{}), make(chan struct{}), make(chan struct{})}
	e := openOn(t, store, engine.Options{Now: c.now, TTLInterval: -1, TableDelay: time.Second})
	defer e.Close()
	send(t, e, "create-table", historyTable)
	later := func() {
		c.set(c.now().Add(2 * time.Second))
		e.Settle()
	}
	later()
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	send(t, e, "update-time-to-live", `{"TableName":"History","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
	later()
	send(t, e, "put-item", `{"TableName":"History","Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}`)
	send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"a"},"sk":{"N":"2"},"exp":{"N":"%d"}}}`, c.now().Unix()))
	send(t, e, "delete-table", `{"TableName":"History"}`)
	go func() {
		defer close(store.ended)
		if n, err := e.ExpireNow(context.WithValue(t.Context(), expiring{}, true)); n != 1 || err != nil {
			t.Errorf("%d items expired, %v", n, err)
		}
	}()
	<-store.begun
	later()
	<-store.ended
	e.Settle()
	if _, err := verify.Run(t.Context(), store, func(f verify.Finding) { t.Error(f) }, verify.Options{}); err != nil {
		t.Error(err)
	}
}

// lingering is a store that counts job updates from a certain one on, and completes the first of them only when the engine is
// being closed.
type lingering struct {
	*gate
	late atomic.Int64
}

func (s *lingering) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.holds(ctx, &s.updates) {
		s.late.Add(1)
		_ = s.wait(ctx)
	}
	return s.Store.Update(ctx, in, fn)
}

// TestCloseDuringUndo: a restore with a lot to undo does not delay the closing of the engine.
func TestCloseDuringUndo(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			var c clock
			c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
			store := &lingering{gate: newGate(s.open(t)(), 1<<40, 1<<40)}
			e, err := engine.Open(ofRequest(t.Context()), store, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1})
			if err != nil {
				t.Fatal(err)
			}
			send(t, e, "create-table", historyTable)
			if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
				t.Fatal(err)
			}
			c.set(c.now().Add(2 * time.Second))
			padding := strings.Repeat("x", 390_000)
			for i := range 60 {
				send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"a"},"sk":{"N":"%d"},"x":{"S":"%s"}}}`, i, padding))
			}
			for i := range 60 { // eleven in a step
				send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"a"},"sk":{"N":"%d"},"y":{"S":"%s"}}}`, i, padding))
			}
			store.updates.Store(2) // two for the copied data
			if err := restoreTo(ofRequest(t.Context()), e, "History", c.now().Add(-time.Second), "Again"); err != nil {
				t.Fatal(err)
			}
			<-store.reached
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if n := store.late.Load(); n != 1 {
				t.Errorf("%d steps were taken after the engine was to end", n-1)
			}
		})
	}
}

// wantKept checks which snapshots a store keeps.
func wantKept(t *testing.T, store kv.Store, want ...string) {
	t.Helper()
	kept, err := store.Kept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range kept {
		names = append(names, k.Name)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("kept snapshots (-want +got):\n%s", diff)
	}
}

// TestBackupOfChangingTable makes a backup while one index is being built and another dropped: a restore has the former
// completely and lacks the latter.
func TestBackupOfChangingTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second})
		createTable(t, e, musicTable("a", "b"))
		_, err := backUp(t.Context(), e, "Music")
		const creating = "TableNotFoundException: Table not found: Music"
		if err == nil || err.Error() != creating {
			t.Errorf("backup of a table that is being created: %v", err)
		}
		err = turnRecoveryOn(t.Context(), e, "Music")
		if err == nil || err.Error() != "ContinuousBackupsUnavailableException: Backups are being enabled for the table: Music. Please retry later" {
			t.Errorf("recovery of a table that is being created: %v", err)
		}
		advance(10 * time.Second)
		for i := range 100 {
			if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i)), field("a", "x"), field("b", "y"), field("c", "z")); err != nil {
				t.Fatal(err)
			}
		}
		if err := turnRecoveryOn(t.Context(), e, "Music"); err != nil {
			t.Fatal(err)
		}
		advance(2 * time.Second)
		deleteIndex(t, e, "b")
		dropping := mustBackUp(t, e, "Music")
		advance(11 * time.Second)
		createIndex(t, e, "c")
		wantStatus(t, e, "UPDATING a=ACTIVE c=CREATING(backfilling false)")
		building := mustBackUp(t, e, "Music")
		if err := putMusic(t.Context(), e, field("pk", "new"), field("c", "z")); err != nil { // an entry before the backfill reaches it
			t.Fatal(err)
		}
		partly := mustBackUp(t, e, "Music")
		if err := restoreTo(t.Context(), e, "Music", time.Now().Add(-11*time.Second), "Earlier"); err != nil {
			t.Fatal(err)
		}
		for target, arn := range map[string]string{"Dropping": dropping, "Building": building, "Partly": partly} {
			if err := restoreBackup(t.Context(), e, arn, target); err != nil {
				t.Fatal(err)
			}
		}
		err = restoreBackup(t.Context(), e, dropping, "Dropping")
		if err == nil || err.Error() != "TableInUseException: Table: Dropping is already being restored from backup: "+dropping {
			t.Errorf("restore to a table that is being restored: %v", err)
		}
		advance(time.Second) // the items are there
		err = restoreBackup(t.Context(), e, dropping, "Another")
		if err == nil || err.Error() != "BackupInUseException: Backup is being used to restore another table: "+dropping {
			t.Errorf("restore of a backup whose table is CREATING: %v", err)
		}
		_, err = e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Building")})
		if err == nil || err.Error() != "ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: Building" {
			t.Errorf("deletion of a table that is being restored: %v", err)
		}
		advance(30 * time.Second)
		for table, want := range map[string]string{"Dropping": "a=100", "Building": "a=100 c=100", "Partly": "a=100 c=101", "Earlier": "a=100 c=100"} {
			out, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: &table})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range out.Table.GlobalSecondaryIndexes {
				got = append(got, fmt.Sprintf("%s=%d", *x.IndexName, *x.ItemCount))
			}
			if *out.Table.TableStatus != "ACTIVE" || strings.Join(got, " ") != want {
				t.Errorf("%s is %s with indexes %v, want %s", table, *out.Table.TableStatus, got, want)
			}
		}
		wantVerified(t, e)
	})
}

// TestTablesBeingRestored: a backup can be used by one restore at a time and cannot be deleted meanwhile, 50 restores may run at
// once, and only DescribeTable, CreateTable, DeleteTable and another restore see the new table.
func TestTablesBeingRestored(t *testing.T) {
	g := newGate(memkv.New(), 0, 1<<40)
	e, err := engine.Open(t.Context(), g, engine.Options{TTLInterval: -1, StreamShardRotation: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	createTable(t, e, musicTable())
	if err := putMusic(t.Context(), e, field("pk", "1")); err != nil {
		t.Fatal(err)
	}
	var arn string
	for i := range 50 {
		arn = mustBackUp(t, e, "Music")
		if err := restoreBackup(t.Context(), e, arn, fmt.Sprintf("Target%d", i)); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			continue
		}
		err := restoreBackup(t.Context(), e, arn, "Other")
		if want := "BackupInUseException: Backup is being used to restore another table: " + arn; err == nil || err.Error() != want {
			t.Errorf("a second restore of a backup: %v, want %s", err, want)
		}
		err = restoreBackup(t.Context(), e, arn, "Target0")
		if want := "TableInUseException: Table: Target0 is already being restored from backup: " + arn; err == nil || err.Error() != want {
			t.Errorf("a second restore of a backup to the same table: %v, want %s", err, want)
		}
	}
	if err := restoreBackup(t.Context(), e, mustBackUp(t, e, "Music"), "OneMore"); codeOf(err) != apierr.LimitExceededException {
		t.Errorf("the 51st restore: %v", err)
	}
	_, err = e.DeleteBackup(t.Context(), &api.DeleteBackupInput{BackupArn: &arn})
	if codeOf(err) != apierr.BackupInUseException {
		t.Errorf("deletion of a backup that is being restored: %v", err)
	}
	const target, resource = `{"TableName":"Target0"`, `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Target0"`
	for _, c := range []struct {
		directive, body string
		want            apierr.Code
	}{
		{"describe-table", target + `}`, ""},
		{"create-table", target + `,"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`, apierr.ResourceInUseException},
		{"delete-table", target + `}`, apierr.ResourceInUseException},
		{"update-table", target + `,"DeletionProtectionEnabled":true}`, apierr.ResourceNotFoundException},
		{"update-time-to-live", target + `,"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`, apierr.ResourceNotFoundException},
		{"describe-time-to-live", target + `}`, apierr.ResourceNotFoundException},
		{"tag-resource", resource + `,"Tags":[{"Key":"a","Value":"b"}]}`, apierr.ResourceNotFoundException},
		{"untag-resource", resource + `,"TagKeys":["a"]}`, apierr.ResourceNotFoundException},
		{"list-tags-of-resource", resource + `}`, apierr.ResourceNotFoundException},
		{"get-resource-policy", resource + `}`, apierr.ResourceNotFoundException},
		{"put-resource-policy", resource + `,"Policy":"{}"}`, apierr.ResourceNotFoundException},
		{"delete-resource-policy", resource + `}`, apierr.ResourceNotFoundException},
		{"describe-contributor-insights", target + `}`, apierr.ResourceNotFoundException},
		{"update-contributor-insights", target + `,"ContributorInsightsAction":"ENABLE"}`, apierr.ResourceNotFoundException},
		{"list-contributor-insights", target + `}`, apierr.ResourceNotFoundException},
		{"describe-kinesis-streaming-destination", target + `}`, apierr.ResourceNotFoundException},
		{"describe-continuous-backups", target + `}`, apierr.TableNotFoundException},
		{"update-continuous-backups", target + `,"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`, apierr.TableNotFoundException},
		{"create-backup", target + `,"BackupName":"one"}`, apierr.TableNotFoundException},
		{"put-item", target + `,"Item":{"pk":{"S":"2"}}}`, apierr.ResourceNotFoundException},
	} {
		if _, err := perform(t.Context(), e, c.directive, c.body); codeOf(err) != c.want {
			t.Errorf("%s of a table that is being restored: %v, want %s", c.directive, err, c.want)
		}
	}
}

// keptReaders counts the kept snapshots that are open.
type keptReaders struct {
	kv.Store
	open, most atomic.Int64
}

type keptReader struct {
	kv.Snapshot
	of *keptReaders
}

func (s *keptReaders) OpenKept(ctx context.Context, name string) (kv.Snapshot, error) {
	snapshot, err := s.Store.OpenKept(ctx, name)
	if err != nil {
		return nil, err
	}
	s.most.Store(max(s.most.Load(), s.open.Add(1)))
	<-time.After(time.Second) // in which the others start
	return keptReader{snapshot, s}, nil
}

func (r keptReader) Close() error {
	r.of.open.Add(-1)
	return r.Snapshot.Close()
}

// TestManyRestores tests that many restores have few snapshots open at a time: for these a store can have limited connections.
func TestManyRestores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &keptReaders{Store: memkv.New()}
		e := openOn(t, s, engine.Options{})
		defer e.Close()
		createTable(t, e, musicTable())
		if err := putMusic(t.Context(), e, field("pk", "1")); err != nil {
			t.Fatal(err)
		}
		const restores, most = 12, 4
		var backups []string
		for range restores {
			backups = append(backups, mustBackUp(t, e, "Music"))
		}
		for n, arn := range backups {
			if err := restoreBackup(t.Context(), e, arn, fmt.Sprint("Restored", n)); err != nil {
				t.Fatal(err)
			}
		}
		advance(time.Minute)
		for n := range restores {
			out, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new(fmt.Sprint("Restored", n))})
			if err != nil || *out.Table.TableStatus != "ACTIVE" {
				t.Errorf("restore %d has not ended: %v, %v", n, out, err)
			}
		}
		if got := s.most.Load(); got > most {
			t.Errorf("%d snapshots were open at a time, want at most %d", got, most)
		}
	})
}

// TestStoredForms pins the stored form of backups and of restores in progress: changes need new format versions.
func TestStoredForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newGate(memkv.New(), 0, 1<<40)
		e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1, Rand: &counting{}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		createTable(t, e, musicTable())
		if err := putMusic(t.Context(), e, field("pk", "1")); err != nil {
			t.Fatal(err)
		}
		if err := restoreBackup(t.Context(), e, mustBackUp(t, e, "Music"), "Restored"); err != nil {
			t.Fatal(err)
		}
		const table = `{"format":2,"id":1,"version":1,"name":"Music","uuid":"01020304-0506-4708-890a-0b0c0d0e0f10","created":946684800000,` +
			`"attributes":[{"name":"pk","type":"S"}],"keys":[{"name":"pk"}],"billing":{"onDemand":true,"becameOnDemand":946684800000}}`
		for _, c := range []struct {
			key  []byte
			want string
		}{
			{keyenc.Backup("00946684800000-11121314"), `{"format":1,"id":"00946684800000-11121314","name":"backup","type":"USER",` +
				`"created":946684800000,"items":1,"bytes":3,"table":` + table + `}`},
			{keyenc.Job(2, 0, 'r'), `{"format":1,"kind":114,"table":2,"name":"Restored","restore":{"kept":"backup-00946684800000-11121314","source":1}}`},
		} {
			got, err := store.Get(t.Context(), c.key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", keyenc.Format(c.key), diff)
			}
		}
	})
}

// copying is a store that takes a minute to keep a snapshot.
type copying struct{ kv.Store }

func (c copying) Keep(ctx context.Context, name string, what kv.Selection) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return c.Store.Keep(ctx, name, what)
	}
}

// TestBackupOutlivesRequest: the copying for a backup or a restore may take longer than a request, and ends with the engine.
func TestBackupOutlivesRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOn(t, copying{memkv.New()}, engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		if err := turnRecoveryOn(t.Context(), e, "Music"); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		arn, err := backUp(ctx, e, "Music")
		if err != nil {
			t.Fatal(err)
		}
		if err := restoreBackup(t.Context(), e, arn, "restored"); err != nil {
			t.Error(err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := restoreTo(ctx, e, "Music", time.Now().Add(-time.Second), "earlier"); err != nil {
			t.Error(err)
		}
		closed := make(chan error)
		go func() {
			_, err := backUp(t.Context(), e, "Music")
			closed <- err
		}()
		synctest.Wait()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := <-closed; err == nil {
			t.Error("a closed engine created a backup")
		}
	})
}
