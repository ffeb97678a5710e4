package appcore_test

import (
	"iter"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// stored is the table's entire content.
type stored struct {
	users         []appcoredb.User
	truth, copies map[string]appcoredb.Transaction // by txId
	index         map[string]int                   // entries in GSI1 by txId
	notifications map[string][]appcoredb.Notification
	requests      map[string][]appcoredb.Idempotency
}

// scan reads the whole table and its index.
func scan(tb testing.TB, v *apitest.Server) stored {
	tb.Helper()
	s := stored{
		truth: map[string]appcoredb.Transaction{}, copies: map[string]appcoredb.Transaction{}, index: map[string]int{},
		notifications: map[string][]appcoredb.Notification{}, requests: map[string][]appcoredb.Idempotency{},
	}
	for it := range items(tb, v, "") {
		x, place, err := appcoredb.Decode(it)
		if err != nil {
			tb.Fatal(err)
		}
		switch x := x.(type) {
		case appcoredb.User:
			s.users = append(s.users, x)
		case appcoredb.Transaction:
			if place.Kind == table.CopyPlace {
				s.copies[x.TxID] = x
			} else {
				s.truth[x.TxID] = x
			}
		case appcoredb.Notification:
			s.notifications[x.TxID] = append(s.notifications[x.TxID], x)
		case appcoredb.Idempotency:
			s.requests[x.TxID] = append(s.requests[x.TxID], x)
		case appcoredb.Act:
		default:
			tb.Errorf("an item of no entity: %v", it)
		}
	}
	for it := range items(tb, v, "GSI1") {
		if id, ok := it["txId"].(*types.AttributeValueMemberS); ok && it["userId"] == nil {
			s.index[id.Value]++
			continue
		}
		tb.Errorf("an entry of no transaction, or that tells whose it is: %v", it)
	}
	return s
}

// items returns a scan's items.
func items(tb testing.TB, v *apitest.Server, index string) iter.Seq[table.Item] {
	tb.Helper()
	return v.Database.Items(tb, "AppCore", index)
}

// sound fails the test unless the stored data is consistent: each transaction has one equal copy and one index entry and, if it
// is settled, one notification to its owner with the outcome.
func (s stored) sound(tb testing.TB) {
	tb.Helper()
	if len(s.copies) != len(s.truth) || len(s.index) != len(s.truth) {
		tb.Errorf("%d transactions, %d copies, %d in the index", len(s.truth), len(s.copies), len(s.index))
	}
	for id, tx := range s.truth {
		if s.copies[id] != tx {
			tb.Errorf("the copy of %+v is %+v", tx, s.copies[id])
		}
		if s.index[id] != 1 {
			tb.Errorf("%s has %d entries in the index", id, s.index[id])
		}
		want := 1
		if tx.Status == appcoredb.TxStatusPending {
			want = 0
		}
		if len(s.notifications[id]) != want {
			tb.Fatalf("%s is %s and has %d notifications, want %d", id, tx.Status, len(s.notifications[id]), want)
		}
		for _, n := range s.notifications[id] {
			verdict := map[appcoredb.TxStatus]string{appcoredb.TxStatusCompleted: "aprobada", appcoredb.TxStatusFailed: "rechazada"}[tx.Status]
			if text := "Tu transacción TX#" + id + " fue " + verdict + "."; n.UserID != tx.UserID || n.Message != text {
				tb.Errorf("%+v was notified as %+v, want %q", tx, n, text)
			}
		}
	}
	for id := range s.notifications {
		if _, ok := s.truth[id]; !ok {
			tb.Errorf("a notification of missing transaction %s", id)
		}
	}
}
