package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

const accountsTable = `{"TableName":"Accounts","BillingMode":"PAY_PER_REQUEST",
 "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"branch","AttributeType":"S"}],
 "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
 "GlobalSecondaryIndexes":[{"IndexName":"branches","KeySchema":[{"AttributeName":"branch","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

func openAccounts(t *testing.T, store kv.Store) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Verify(context.Background(), func(f verify.Finding) { t.Error(f) }, nil); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	send(t, e, "create-table", accountsTable)
	return e
}

// send performs a request that must succeed.
func send(t *testing.T, e *engine.Engine, directive, body string) string {
	t.Helper()
	out, err := perform(t.Context(), e, directive, body)
	if err != nil {
		t.Errorf("%s %s: %v", directive, body, err)
	}
	return strings.TrimSpace(out)
}

// together runs n of f at once, and waits for all.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// Updates of one item do not lose each other.
func TestConcurrentCounter(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openAccounts(t, s.open(t)())
			const writers, each = 32, 20
			together(writers, func(int) {
				for range each {
					send(t, e, "update-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`)
				}
			})
			got := send(t, e, "get-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}},"ConsistentRead":true}`)
			if want := fmt.Sprintf(`{"Item":{"id":{"S":"a"},"n":{"N":"%d"}}}`, writers*each); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// Of many puts that ask that there be no item, one succeeds.
func TestConcurrentConditionalPut(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openAccounts(t, s.open(t)())
			var mu sync.Mutex
			won := 0
			together(32, func(int) {
				_, err := perform(t.Context(), e, "put-item", `{"TableName":"Accounts","Item":{"id":{"S":"a"}},"ConditionExpression":"attribute_not_exists(id)"}`)
				switch {
				case err == nil:
					mu.Lock()
					won++
					mu.Unlock()
				case codeOf(err) != apierr.ConditionalCheckFailedException:
					t.Error(err)
				}
			})
			if won != 1 {
				t.Errorf("%d puts succeeded", won)
			}
		})
	}
}

func codeOf(err error) apierr.Code {
	var e *apierr.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// TestTransfers tests that transfers between accounts, concurrent with plain writes of the same items,
// preserve the sum at every moment that a transaction can see, and conflict only in the ways that AWS
// documents.
func TestTransfers(t *testing.T) {
	const accounts, workers, each, initial = 6, 8, 25, 100
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openAccounts(t, s.open(t)())
			for i := range accounts {
				send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Accounts","Item":{"id":{"S":"%d"},"n":{"N":"%d"},"branch":{"S":"x"}}}`, i, initial))
			}
			together(workers, func(worker int) {
				random := rand.New(rand.NewPCG(seed, uint64(worker)))
				for range each {
					switch random.IntN(4) {
					case 0:
						touch(t, e, random.IntN(accounts), random.IntN(3))
					case 1:
						checkSum(t, e, accounts, accounts*initial)
					default:
						from := random.IntN(accounts)
						transfer(t, e, from, (from+1+random.IntN(accounts-1))%accounts, 1+random.IntN(30))
					}
				}
			})
			checkSum(t, e, accounts, accounts*initial)
		})
	}
}

func transfer(t *testing.T, e *engine.Engine, from, to, amount int) {
	t.Helper()
	_, err := perform(t.Context(), e, "transact-write-items", fmt.Sprintf(`{"TransactItems":[
	 {"Update":{"TableName":"Accounts","Key":{"id":{"S":"%d"}},"UpdateExpression":"SET n = n - :a","ConditionExpression":"n >= :a","ExpressionAttributeValues":{":a":{"N":"%d"}}}},
	 {"Update":{"TableName":"Accounts","Key":{"id":{"S":"%d"}},"UpdateExpression":"SET n = n + :a","ExpressionAttributeValues":{":a":{"N":"%d"}}}}]}`,
		from, amount, to, amount))
	if err == nil {
		return
	}
	for _, code := range reasonCodes(err) {
		if !slices.Contains([]string{"None", "ConditionalCheckFailed", "TransactionConflict"}, code) {
			t.Error(err)
		}
	}
}

func reasonCodes(err error) []string {
	if err == nil {
		return nil
	}
	var e *apierr.Error
	if !errors.As(err, &e) || e.Code != apierr.TransactionCanceledException {
		return []string{err.Error()}
	}
	details, ok := e.Details.(api.TransactionCanceledDetails)
	if !ok {
		return []string{err.Error()}
	}
	codes := make([]string, len(details.CancellationReasons))
	for i, r := range details.CancellationReasons {
		codes[i] = *r.Code
	}
	return codes
}

// touch moves an account in the index, which leaves its balance alone.
func touch(t *testing.T, e *engine.Engine, account, branch int) {
	t.Helper()
	_, err := perform(t.Context(), e, "update-item", fmt.Sprintf(`{"TableName":"Accounts","Key":{"id":{"S":"%d"}},
	 "UpdateExpression":"SET branch = :b","ExpressionAttributeValues":{":b":{"S":"%d"}}}`, account, branch))
	if err != nil && codeOf(err) != apierr.TransactionConflictException {
		t.Error(err)
	}
}

func checkSum(t *testing.T, e *engine.Engine, accounts, want int) {
	t.Helper()
	gets := make([]string, accounts)
	for i := range gets {
		gets[i] = fmt.Sprintf(`{"Get":{"TableName":"Accounts","Key":{"id":{"S":"%d"}},"ProjectionExpression":"n"}}`, i)
	}
	in := decoded[api.TransactGetItemsInput](t, `{"TransactItems":[`+strings.Join(gets, ",")+`]}`)
	out, err := e.TransactGetItems(t.Context(), in)
	if err != nil {
		if codes := reasonCodes(err); slices.ContainsFunc(codes, func(c string) bool { return c != "None" && c != "TransactionConflict" }) {
			t.Error(err)
		}
		return
	}
	sum := 0
	for _, r := range out.Responses {
		v, _, err := r.Item.Get("n")
		if err != nil {
			t.Error(err)
		}
		var n int
		if _, err := fmt.Sscan(v.Text(), &n); err != nil {
			t.Error(err)
		}
		sum += n
	}
	if sum != want {
		t.Errorf("the accounts hold %d, want %d", sum, want)
	}
}

// However often and however concurrently a request with a token is sent, it happens once.
func TestConcurrentToken(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openAccounts(t, s.open(t)())
			const request = `{"ClientRequestToken":"once","TransactItems":[{"Update":{"TableName":"Accounts","Key":{"id":{"S":"a"}},
			 "UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`
			together(32, func(int) {
				_, err := perform(t.Context(), e, "transact-write-items", request)
				if err != nil && codeOf(err) != apierr.TransactionInProgressException && !slices.Equal(reasonCodes(err), []string{"TransactionConflict"}) {
					t.Error(err)
				}
			})
			got := send(t, e, "get-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}}}`)
			if want := `{"Item":{"id":{"S":"a"},"n":{"N":"1"}}}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// pausing holds transactions with their keys until they are let go.
type pausing struct {
	kv.Store
	entered, letGo chan struct{}
}

func (p *pausing) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if !in.Transaction {
		return p.Store.Update(ctx, in, fn)
	}
	return p.Store.Update(ctx, in, func(txn kv.Txn) error {
		p.entered <- struct{}{}
		<-p.letGo
		return fn(txn)
	})
}

// TestConflicts tests that while a transaction is in progress, each operation that conflicts with it
// responds as on AWS.
func TestConflicts(t *testing.T) {
	store := &pausing{stores()[0].open(t)(), make(chan struct{}), make(chan struct{})}
	e := openAccounts(t, store)
	send(t, e, "put-item", `{"TableName":"Accounts","Item":{"id":{"S":"b"},"n":{"N":"1"}}}`)
	var under sync.WaitGroup
	under.Go(func() {
		send(t, e, "transact-write-items", `{"ClientRequestToken":"tok","TransactItems":[
		 {"Put":{"TableName":"Accounts","Item":{"id":{"S":"a"}}}},
		 {"Update":{"TableName":"Accounts","Key":{"id":{"S":"b"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}},
		 {"ConditionCheck":{"TableName":"Accounts","Key":{"id":{"S":"c"}},"ConditionExpression":"attribute_not_exists(id)"}}]}`)
	})
	<-store.entered
	const conflict = "TransactionConflictException: Transaction is ongoing for the item"
	for _, tt := range []struct{ directive, body, want string }{
		{"put-item", `{"TableName":"Accounts","Item":{"id":{"S":"a"}}}`, conflict},
		{"delete-item", `{"TableName":"Accounts","Key":{"id":{"S":"b"}}}`, conflict},
		{"update-item", `{"TableName":"Accounts","Key":{"id":{"S":"c"}}}`, conflict},
		{"get-item", `{"TableName":"Accounts","Key":{"id":{"S":"b"}},"ConsistentRead":true}`, `{"Item":{"id":{"S":"b"},"n":{"N":"1"}}}`},
		{
			"transact-write-items", `{"TransactItems":[
			 {"Put":{"TableName":"Accounts","Item":{"id":{"S":"other"}}}},
			 {"Delete":{"TableName":"Accounts","Key":{"id":{"S":"b"}}}}]}`,
			"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]",
		},
		{
			"transact-write-items", `{"ClientRequestToken":"tok","TransactItems":[{"Put":{"TableName":"Accounts","Item":{"id":{"S":"other"}}}}]}`,
			"TransactionInProgressException: Transaction from previous request is still in progress",
		},
		{"put-item", `{"TableName":"Accounts","Item":{"id":{"S":"free"}}}`, "{}"},
	} {
		out, err := perform(t.Context(), e, tt.directive, tt.body)
		if err != nil {
			out = err.Error()
		}
		got, _, _ := strings.Cut(out, "\n")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got)\n%s", tt.directive, tt.body, diff)
		}
	}
	// A batch waits for the transaction.
	under.Go(func() {
		send(t, e, "batch-write-item", `{"RequestItems":{"Accounts":[{"DeleteRequest":{"Key":{"id":{"S":"a"}}}}]}}`)
	})
	store.letGo <- struct{}{}
	under.Wait()
	if got := send(t, e, "get-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}}}`); got != "{}" {
		t.Errorf("after the batch there is %s", got)
	}
}

// Writes continue while an index is created and deleted; afterwards it agrees with the table (openAccounts verifies).
func TestWritesWhileIndexesChange(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openAccounts(t, s.open(t)())
			stop := make(chan struct{})
			var writers sync.WaitGroup
			for worker := range 4 {
				writers.Go(func() {
					random := rand.New(rand.NewPCG(1, uint64(worker)))
					for {
						select {
						case <-stop:
							return
						default:
						}
						id := random.IntN(20)
						if random.IntN(4) == 0 {
							send(t, e, "delete-item", fmt.Sprintf(`{"TableName":"Accounts","Key":{"id":{"S":"%d"}}}`, id))
							continue
						}
						send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Accounts","Item":{"id":{"S":"%d"},"branch":{"S":"%d"},"city":{"S":"%d"}}}`,
							id, random.IntN(3), random.IntN(3)))
					}
				})
			}
			for range 3 {
				change(t, e, `{"TableName":"Accounts","AttributeDefinitions":[{"AttributeName":"city","AttributeType":"S"}],
				 "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"cities","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`)
				change(t, e, `{"TableName":"Accounts","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"cities"}}]}`)
			}
			change(t, e, `{"TableName":"Accounts","AttributeDefinitions":[{"AttributeName":"city","AttributeType":"S"}],
			 "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"cities","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`)
			close(stop)
			writers.Wait()
		})
	}
}

// change retries an UpdateTable until the table accepts it, and waits until it is done.
func change(t *testing.T, e *engine.Engine, body string) {
	t.Helper()
	for {
		_, err := perform(t.Context(), e, "update-table", body)
		if err == nil {
			break
		}
		if code := codeOf(err); code != apierr.ResourceInUseException && code != apierr.LimitExceededException {
			t.Error(err)
			return
		}
		runtime.Gosched()
	}
	for strings.Contains(send(t, e, "describe-table", `{"TableName":"Accounts"}`), "ING\"") {
		runtime.Gosched()
	}
}

// slowSync is a disk whose syncs take 2 ms.
type slowSync struct{}

func (slowSync) String() string { return "slow" }

func (slowSync) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo {
		<-time.After(2 * time.Millisecond)
	}
	return nil
}

// TestReadAfterLargeBatch: clients that each write a small item between large ones in one batch, over and over, read what they have
// written, not what another client wrote meanwhile.
func TestReadAfterLargeBatch(t *testing.T) {
	store, err := pebblekv.Open(t.TempDir(), pebblekv.Options{FS: errorfs.Wrap(vfs.Default, slowSync{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	e := openAccounts(t, store)
	together(6, func(client int) {
		for round := range 8 {
			var puts []string
			for i := range 5 {
				id, text := fmt.Sprintf("large %d %d", client, i), strings.Repeat(string(rune('a'+round)), 390<<10)
				if i == 2 {
					id, text = fmt.Sprintf("small %d", client), fmt.Sprint("of round ", round)
				}
				puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"id":{"S":%q},"text":{"S":%q}}}}`, id, text))
			}
			send(t, e, "batch-write-item", `{"RequestItems":{"Accounts":[`+strings.Join(puts, ",")+`]}}`)
			for range 3 {
				got, err := perform(t.Context(), e, "get-item", fmt.Sprintf(`{"TableName":"Accounts","Key":{"id":{"S":"small %d"}},"ConsistentRead":true}`, client))
				if err != nil || !strings.Contains(got, fmt.Sprintf(`"small %d"`, client)) || !strings.Contains(got, fmt.Sprintf(`"of round %d"`, round)) {
					t.Errorf("client %d reads in round %d: %s, %v", client, round, got, err)
				}
			}
		}
	})
}
