package appcore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestSweep: transactions that have been pending for five minutes are settled without the stream; newer ones are left to it.
func TestSweep(t *testing.T) {
	t.Parallel()
	apitest.Each(t, appcore.System(appcore.Options{}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		const first = 130 // more than a page
		for i := range first {
			create(t, v, []string{ana, bruno}[i%2], fmt.Sprint("old-", i), int64(i%2)*2*appcore.DefaultSettleMax+1)
		}
		v.Clock.Advance(4 * time.Minute)
		create(t, v, ana, "young", 500)
		v.Tick(t)
		left := func(want int) {
			t.Helper()
			s := scan(t, v)
			s.sound(t)
			pending := 0
			for _, tx := range s.truth {
				if tx.Status == appcoredb.TxStatusPending {
					pending++
				} else if (tx.Status == appcoredb.TxStatusCompleted) != (tx.Amount <= appcore.DefaultSettleMax) {
					t.Errorf("%d is %s", tx.Amount, tx.Status)
				}
			}
			if entries := waiting(t, v); pending != want || entries != want {
				t.Errorf("%d are pending and %d in the index, want %d", pending, entries, want)
			}
		}
		left(first + 1)
		v.Clock.Advance(time.Minute)
		v.Tick(t)
		left(1)
		v.Tick(t)
		left(1)
		v.Deliver(t) // the stream is late
		left(0)
	})
}

// waiting counts the index entries of pending transactions; the index also contains failed ones.
func waiting(tb testing.TB, v *apitest.Server) (n int) {
	tb.Helper()
	for it := range items(tb, v, "GSI2") {
		if pk, ok := it["GSI2PK"].(*types.AttributeValueMemberS); ok && strings.HasPrefix(pk.Value, "PENDING_TX#") {
			n++
		}
	}
	return n
}

// TestConcurrentSweeps: several processes sweep while stream records are delivered repeatedly, and their rules disagree.
func TestConcurrentSweeps(t *testing.T) {
	t.Parallel()
	const workers, transactions = 6, 40
	var asked atomic.Int64
	coin := rule(func(appcoredb.Transaction) (bool, error) { return asked.Add(1)%2 == 0, nil })
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: coin}))
	for i := range transactions {
		create(t, v, ana, fmt.Sprint(i), 500)
	}
	v.Clock.Advance(time.Hour)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { v.Tick(t) })
		all.Go(func() { v.Deliver(t) })
	}
	all.Wait()
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != transactions || len(s.notifications) != transactions || waiting(t, v) != 0 {
		t.Errorf("%d transactions, %d notifications, %d in the index of pending ones", len(s.truth), len(s.notifications), waiting(t, v))
	}
}

// TestInterruptedSweepIsCompleted: a sweep that is interrupted with requests in flight leaves each transaction either settled or pending, and the
// next sweep settles the rest once.
func TestInterruptedSweepIsCompleted(t *testing.T) {
	t.Parallel()
	const transactions = 60
	var asked atomic.Int64
	cancelled, cancel := context.WithCancel(t.Context())
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(appcoredb.Transaction) (bool, error) {
		if asked.Add(1) == transactions/2 {
			cancel()
		}
		return true, nil
	})}))
	for i := range transactions {
		create(t, v, ana, fmt.Sprint(i), 500)
	}
	v.Clock.Advance(time.Hour)
	sweep := v.Host.Service(appcore.Name).Schedules[0]
	if err := sweep.Run(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("the sweep ended with %v", err)
	}
	s := scan(t, v)
	s.sound(t)
	if n := len(s.notifications); n == 0 || n == transactions {
		t.Errorf("%d of %d were settled before it died", n, transactions)
	}
	v.Tick(t)
	s = scan(t, v)
	s.sound(t)
	if len(s.notifications) != transactions {
		t.Errorf("%d are settled, want %d", len(s.notifications), transactions)
	}
}

// TestUndecidedTransactionFailsAfterADay: a transaction that the rule cannot decide stays pending for a day, does not block others, and then fails.
func TestUndecidedTransactionFailsAfterADay(t *testing.T) {
	t.Parallel()
	const bad = 13
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(tx appcoredb.Transaction) (bool, error) {
		if tx.Amount == bad {
			return true, errors.New("the bank does not respond")
		}
		return true, nil
	})}))
	undecided := create(t, v, ana, "undecided", bad)
	create(t, v, ana, "good", 500)
	sweep := v.Host.Service(appcore.Name).Schedules[0]
	for _, c := range []struct {
		after time.Duration
		fails bool
		want  appcoredb.TxStatus
	}{
		{time.Hour, true, appcoredb.TxStatusPending},
		{24*time.Hour - time.Hour - time.Millisecond, true, appcoredb.TxStatusPending},
		{time.Millisecond, false, appcoredb.TxStatusFailed},
		{time.Hour, false, appcoredb.TxStatusFailed},
	} {
		v.Clock.Advance(c.after)
		if err := sweep.Run(t.Context()); (err != nil) != c.fails {
			t.Errorf("the sweep ended with %v", err)
		}
		s := scan(t, v)
		s.sound(t)
		if got := s.truth[undecided.TxID].Status; got != c.want {
			t.Errorf("the transaction is %s, want %s", got, c.want)
		}
		if others := slices.Collect(func(yield func(string) bool) {
			for id, tx := range s.truth {
				if tx.Amount != bad && tx.Status != appcoredb.TxStatusCompleted && !yield(id) {
					return
				}
			}
		}); len(others) > 0 {
			t.Errorf("held up are %v", others)
		}
	}
}

// TestUndecidedTransactionIsNotErased: a user cannot be erased while a transaction of theirs is undecided, however many they have made since.
func TestUndecidedTransactionIsNotErased(t *testing.T) {
	t.Parallel()
	const bad, since = 13, 101
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(tx appcoredb.Transaction) (bool, error) {
		if tx.Amount == bad {
			return true, errors.New("the bank does not respond")
		}
		return true, nil
	})}))
	create(t, v, ana, "undecided", bad)
	v.Clock.Advance(time.Minute)
	for i := range since {
		create(t, v, ana, fmt.Sprint("later-", i), 500)
	}
	sweep := v.Host.Service(appcore.Name).Schedules[0]
	erase := apitest.Request{Method: http.MethodDelete, Path: "/me", As: ana, Header: map[string]string{"Confirm": "erase"}}
	v.Clock.Advance(time.Hour)
	if err := sweep.Run(t.Context()); err == nil {
		t.Error("the sweep hides the rule's fault")
	}
	if r := v.Do(t, erase); r.Status != http.StatusConflict || r.Problem(t).Code != "transactions_pending" {
		t.Errorf("erased while a transaction is undecided: %d %s", r.Status, r.Body)
	}
	v.Clock.Advance(24 * time.Hour) // now it fails
	if err := sweep.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if r := v.Do(t, erase); r.Status != http.StatusOK {
		t.Errorf("not erased: %d %s", r.Status, r.Body)
	}
}
