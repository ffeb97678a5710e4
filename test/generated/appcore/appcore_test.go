package appcore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/test/generated/appcore"
)

// begin is when the tests' clocks start.
var begin = time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)

// bank is the package over a database of the test's own, whose clock the test moves.
type bank struct {
	*appcore.DB
	client *dynamodb.Client
	now    time.Time
	calls  []table.Call
}

func open(t *testing.T) *bank {
	t.Helper()
	server := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return begin }}) // so that nothing expires
	b := &bank{client: server.Client(), now: begin}
	config := appcore.Config{
		Table: "payments", CursorKey: []byte("0123456789abcdef0123456789abcdef"), Clock: func() time.Time { return b.now },
		Observe: func(_ context.Context, c table.Call) { b.calls = append(b.calls, c) },
	}
	for _, in := range appcore.CreateTables(config) {
		if _, err := b.client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range appcore.TimeToLive(config) {
		if _, err := b.client.UpdateTimeToLive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if b.DB, err = appcore.New(b.client, config); err != nil {
		t.Fatal(err)
	}
	return b
}

// txID is a ULID that sorts by n.
func txID(n int) string { return fmt.Sprintf("01HM%022d", n) }

func (b *bank) pay(t *testing.T, user string, n int) appcore.Transaction {
	t.Helper()
	b.now = begin.Add(time.Duration(n) * time.Minute)
	out, err := b.CreateTransaction(t.Context(), appcore.CreateTransactionInput{
		RequestKey: fmt.Sprintf("key-%d", n), TxID: txID(n), UserID: user, Amount: int64(100 * n), Currency: appcore.CurrencyARS,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Transaction
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func fails(t *testing.T, what string, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("%s: %v, want %v", what, err, w)
		}
	}
}

// TestCreateTransaction: a transaction is made once for a request, and found by its owner only.
func TestCreateTransaction(t *testing.T) {
	b := open(t)
	in := appcore.CreateTransactionInput{RequestKey: "key-1", TxID: txID(1), UserID: "u-1", Amount: 500, Currency: appcore.CurrencyUSD}
	want := appcore.Transaction{
		TxID: txID(1), UserID: "u-1", Amount: 500, Currency: appcore.CurrencyUSD, Status: appcore.TxStatusPending, CreatedAt: begin,
	}
	first, err := b.CreateTransaction(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the first request", first, appcore.CreateTransactionResult{Transaction: want})

	got, err := b.TransactionByID(t.Context(), appcore.TransactionByIDInput{TxID: txID(1), UserID: "u-1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the transaction", got, want)
	_, err = b.TransactionByID(t.Context(), appcore.TransactionByIDInput{TxID: txID(1), UserID: "u-2"})
	fails(t, "another's", err, table.ErrNotFound)
	_, err = b.TransactionByID(t.Context(), appcore.TransactionByIDInput{TxID: txID(2), UserID: "u-1"})
	fails(t, "none", err, table.ErrNotFound)

	b.now = begin.Add(time.Hour)
	in.TxID = txID(9) // a client that makes a new id for each attempt
	again, err := b.CreateTransaction(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the repetition", again, appcore.CreateTransactionResult{Transaction: want, Replayed: true})

	in.Amount++
	_, err = b.CreateTransaction(t.Context(), in)
	fails(t, "another request of that key", err, appcore.ErrIdempotencyReused, table.ErrReused)

	in.UserID, in.TxID = "u-2", txID(1)
	_, err = b.CreateTransaction(t.Context(), in)
	fails(t, "the id of another transaction", err, appcore.ErrTransactionExists, table.ErrExists)
	in.TxID = txID(3)
	if out, err := b.CreateTransaction(t.Context(), in); err != nil || out.Replayed {
		t.Errorf("the key of another user is no repetition: %v, %v", out, err)
	}

	in.Currency = "EUR"
	in.RequestKey = "key-2"
	_, err = b.CreateTransaction(t.Context(), in)
	if fault, ok := errors.AsType[*table.ValueError](err); !ok || fault.Field != "currency" {
		t.Errorf("a currency that is none: %v", err)
	}
	if last := b.calls[len(b.calls)-1]; last.Pattern != "CreateTransaction" || last.Requests != 0 || last.Err == nil {
		t.Errorf("the call was observed as %+v", last)
	}
}

// TestSettleTransaction: the copy follows, the notification is made along, and a settled one is refused with what it is.
func TestSettleTransaction(t *testing.T) {
	b := open(t)
	paid := b.pay(t, "u-1", 1)
	settle := func(n int) (appcore.SettleTransactionResult, error) {
		return b.SettleTransaction(t.Context(), appcore.SettleTransactionInput{
			Outcome: appcore.TxStatusCompleted, TxID: txID(n), NotifID: txID(n), UserID: "u-1", Message: "done",
		})
	}
	b.now = begin.Add(time.Hour)
	out, err := settle(1)
	if err != nil {
		t.Fatal(err)
	}
	note := appcore.Notification{
		NotifID: txID(1), UserID: "u-1", Message: "done", CreatedAt: b.now, ExpiresAt: b.now.Add(90 * 24 * time.Hour),
	}
	paid.Status = appcore.TxStatusCompleted
	same(t, "the notification", out.Notification, note)
	if out.Transaction != nil {
		same(t, "the transaction", *out.Transaction, paid)
	}
	page, err := b.UserTransactions(t.Context(), appcore.UserTransactionsInput{UserID: "u-1"}, table.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the copy", page, table.Page[appcore.Transaction]{Items: []appcore.Transaction{paid}})

	_, err = settle(1)
	fails(t, "a second time", err, appcore.ErrAlreadySettled)
	refusal, ok := errors.AsType[*table.Refusal](err)
	if !ok || refusal.Pattern != "SettleTransaction" || refusal.Step != 0 {
		t.Fatalf("the refusal is %+v", refusal)
	}
	old, _, err := appcore.Decode(refusal.Old)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "what refused", old, paid)
	_, err = settle(2)
	fails(t, "none", err, appcore.ErrTransactionNotFound, table.ErrNotFound)

	read, err := b.MarkNotificationRead(t.Context(), appcore.MarkNotificationReadInput{NotifID: txID(1), UserID: "u-1", CreatedAt: note.CreatedAt})
	if err != nil {
		t.Fatal(err)
	}
	note.Read = true
	same(t, "the notification, read", read.Notification, note)
	_, err = b.MarkNotificationRead(t.Context(), appcore.MarkNotificationReadInput{NotifID: txID(1), UserID: "u-2", CreatedAt: note.CreatedAt})
	fails(t, "another's", err, appcore.ErrNotificationNotFound)
}

// TestPages: pages, bounds, cursors and iterators give the same transactions, newest first.
func TestPages(t *testing.T) {
	b := open(t)
	var want []appcore.Transaction
	for n := 1; n <= 45; n++ {
		want = append(want, b.pay(t, "u-1", n))
	}
	other := b.pay(t, "u-10", 50) // whose key begins as the other's does
	slices.Reverse(want)

	in := appcore.UserTransactionsInput{UserID: "u-1"}
	var got []appcore.Transaction
	var lengths []int
	var cursors []table.Cursor
	for options := (table.PageOptions{}); ; {
		page, err := b.UserTransactions(t.Context(), in, options)
		if err != nil {
			t.Fatal(err)
		}
		got, lengths = append(got, page.Items...), append(lengths, len(page.Items))
		if options.After = page.Next; page.Next == "" {
			break
		}
		cursors = append(cursors, page.Next)
	}
	same(t, "the lengths of pages", lengths, []int{20, 20, 5})
	same(t, "all pages", got, want)

	_, err := b.UserTransactions(t.Context(), appcore.UserTransactionsInput{UserID: "u-10"}, table.PageOptions{After: cursors[0]})
	fails(t, "another's cursor", err, table.ErrCursor)
	_, err = b.UserNotifications(t.Context(), appcore.UserNotificationsInput{UserID: "u-1"}, table.PageOptions{After: cursors[0]})
	fails(t, "another pattern's cursor", err, table.ErrCursor)

	got = nil
	for x, err := range b.UserTransactionsAll(t.Context(), in) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	same(t, "the iterator", got, want)
	got = nil
	for x, err := range b.UserTransactionsAll(t.Context(), in) {
		if got = append(got, x); err != nil || len(got) == 3 {
			break
		}
	}
	same(t, "the iterator's beginning", got, want[:3])

	in.CreatedAtFrom, in.CreatedAtTo = &want[30].CreatedAt, &want[10].CreatedAt
	page, err := b.UserTransactions(t.Context(), in, table.PageOptions{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "between bounds", page.Items, want[10:31])

	latest, err := b.LatestTransactions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, x := range latest {
		ids = append(ids, x.TxID)
	}
	wantIDs := []string{other.TxID}
	for _, x := range want[:9] {
		wantIDs = append(wantIDs, x.TxID)
	}
	same(t, "the latest of all users", ids, wantIDs)
	same(t, "the very latest", latest[0], appcore.LatestTransactionsItem{
		TxID: other.TxID, Amount: 5000, Currency: appcore.CurrencyARS, Status: appcore.TxStatusPending, CreatedAt: other.CreatedAt,
	})
}

// TestBatch: answers stand in the order of the inputs, and what is another's is as good as absent.
func TestBatch(t *testing.T) {
	b := open(t)
	one, two, three := b.pay(t, "u-1", 1), b.pay(t, "u-2", 2), b.pay(t, "u-1", 3)
	ask := func(n int) appcore.TransactionByIDInput {
		return appcore.TransactionByIDInput{TxID: txID(n), UserID: "u-1"}
	}
	got, err := b.TransactionByIDBatch(t.Context(), []appcore.TransactionByIDInput{ask(3), ask(2), ask(9), ask(1), ask(3)})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the batch", got, []*appcore.Transaction{&three, nil, nil, &one, &three})
	if two.UserID != "u-2" {
		t.Errorf("the second is %s's", two.UserID)
	}
}

// TestLoadAndDecode: what is loaded is found by patterns, and what is stored is recognised.
func TestLoadAndDecode(t *testing.T) {
	b := open(t)
	user := appcore.User{UserID: "u-1", Email: "ana@mail.com", Name: "Ana García", CreatedAt: begin}
	tx := appcore.Transaction{TxID: txID(1), UserID: "u-1", Amount: 1, Currency: appcore.CurrencyBRL, Status: appcore.TxStatusFailed, CreatedAt: begin}
	note := appcore.Notification{NotifID: txID(2), UserID: "u-1", Message: "m", Read: true, CreatedAt: begin, ExpiresAt: begin.AddDate(100, 0, 0)}
	progress := 0
	records := []table.Record{user.Record(), tx.Record(), note.Record()}
	if err := b.Load(t.Context(), slices.Values(records), func(n int) { progress = n }); err != nil {
		t.Fatal(err)
	}
	if progress != 3 {
		t.Errorf("%d records are said to be stored, want 3", progress)
	}
	found, err := b.TransactionByID(t.Context(), appcore.TransactionByIDInput{TxID: tx.TxID, UserID: "u-1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the loaded transaction", found, tx)

	if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("payments"), Item: table.Item{
		"pk": &types.AttributeValueMemberS{Value: "ELSE"}, "sk": &types.AttributeValueMemberS{Value: "ELSE"},
	}}); err != nil {
		t.Fatal(err)
	}
	scan, err := b.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("payments")})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, item := range scan.Items {
		x, place, err := appcore.Decode(item)
		if err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprintf("%T %d %s", x, place.Kind, place.Copy)] = x
	}
	same(t, "the items", got, map[string]any{
		"appcore.User 0 ": user, "appcore.Transaction 0 ": tx, "appcore.Transaction 1 byUser": tx, "appcore.Notification 0 ": note, "<nil> 0 ": nil,
	})
}

// TestNew: what a DB cannot do without is asked for.
func TestNew(t *testing.T) {
	if _, err := appcore.New(nil, appcore.Config{}); err == nil {
		t.Error("a DB without a client was made")
	}
	client := monotabletest.New(t).Client()
	if _, err := appcore.New(client, appcore.Config{CursorKey: []byte("short")}); err == nil {
		t.Error("a DB with a short cursor key was made")
	}
	if _, err := appcore.New(client, appcore.Config{}); err != nil {
		t.Error(err)
	}
	if !appcore.TxStatusFailed.Valid() || appcore.TxStatus("failed").Valid() {
		t.Error("Valid does not tell the values of TxStatus")
	}
}
