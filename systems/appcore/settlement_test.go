package appcore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/system"
)

// rule is a Rule made of a function.
type rule func(appcoredb.Transaction) (bool, error)

func (r rule) Approve(_ context.Context, tx appcoredb.Transaction) (bool, error) { return r(tx) }

// TestSettlement: what the rule approves is completed, what it does not fails, and the owner is told, once however often
// the records come.
func TestSettlement(t *testing.T) {
	apitest.Each(t, appcore.System(appcore.Options{}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		want := map[int64]appcoredb.TxStatus{
			1: appcoredb.TxStatusCompleted, appcore.DefaultSettleMax: appcoredb.TxStatusCompleted, appcore.DefaultSettleMax + 1: appcoredb.TxStatusFailed,
		}
		for amount := range want {
			create(t, v, ana, fmt.Sprint(amount), amount)
		}
		for range 3 {
			v.Clock.Advance(time.Minute)
			v.Deliver(t)
		}
		s := scan(t, v)
		s.sound(t)
		for _, tx := range s.truth {
			if tx.Status != want[tx.Amount] {
				t.Errorf("%d is %s, want %s", tx.Amount, tx.Status, want[tx.Amount])
			}
		}
		for _, tx := range list(t, v, ana).Items {
			if tx.Status != want[tx.Amount] {
				t.Errorf("listed, %d is %s, want %s", tx.Amount, tx.Status, want[tx.Amount])
			}
		}
	})
}

// TestSettledByMany delivers all records to many workers at once, again and again, which do not even agree, while more
// transactions are made.
func TestSettledByMany(t *testing.T) {
	const workers, transactions, rounds = 8, 20, 3
	coin := rule(func(appcoredb.Transaction) (bool, error) { return rand.N(2) == 0, nil }) //nolint:gosec // a coin
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: coin}))
	for i := range transactions {
		create(t, v, ana, fmt.Sprint(i), 500)
	}
	for round := range rounds {
		var all sync.WaitGroup
		for range workers {
			all.Go(func() { v.Deliver(t) })
		}
		all.Go(func() { create(t, v, bruno, fmt.Sprint(round), 500) })
		all.Wait()
	}
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != transactions+rounds || len(s.notifications) != transactions+rounds {
		t.Errorf("%d transactions and %d notifications, want %d", len(s.truth), len(s.notifications), transactions+rounds)
	}
}

// TestSettlementWorker follows the stream as a process does, and goes on where it was stopped.
func TestSettlementWorker(t *testing.T) {
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for run := range 2 {
		stop := v.Work(t)
		for i := range 3 {
			tx := create(t, v, ana, fmt.Sprint(run, "-", i), 500)
			apitest.Eventually(t, "settle "+tx.TxID, func() bool { return list(t, v, ana, "limit", "1").Items[0].Status == "COMPLETED" })
			v.Clock.Advance(time.Millisecond)
		}
		stop()
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.notifications) != 6 {
		t.Errorf("%d notifications, want 6", len(s.notifications))
	}
}

// TestRuleFails: a batch whose rule fails is not acknowledged, and comes again.
func TestRuleFails(t *testing.T) {
	down := errors.New("the bank does not answer")
	answer := down
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(appcoredb.Transaction) (bool, error) { return true, answer })}))
	create(t, v, ana, "k", 500)
	follower := v.Host.Service(appcore.Name).Streams[0]
	for _, batch := range v.Batches(t, follower.Table) {
		if err := follower.Handle(t.Context(), batch); !errors.Is(err, down) {
			t.Errorf("handled with %v, want the rule's error", err)
		}
	}
	scan(t, v).sound(t)
	answer = nil
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	if len(s.notifications) != 1 {
		t.Errorf("%d notifications, want 1", len(s.notifications))
	}
}

// TestDeletedTransaction: records of what is not there any more do not stop the stream.
func TestDeletedTransaction(t *testing.T) {
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	gone := create(t, v, ana, "gone", 500)
	create(t, v, ana, "stays", 500)
	for it := range items(t, v, "") {
		x, _, err := appcoredb.Decode(it)
		if tx, ok := x.(appcoredb.Transaction); err != nil || !ok || tx.TxID != gone.TxID {
			continue
		}
		_, err = v.Database.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String("AppCore"), Key: table.Item{"pk": it["pk"], "sk": it["sk"]},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != 1 || len(s.notifications) != 1 {
		t.Errorf("%d transactions and %d notifications, want the one that stays", len(s.truth), len(s.notifications))
	}
}

// TestSettleMax: the largest amount that is approved can be set, and nonsense ends the start.
func TestSettleMax(t *testing.T) {
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for value, ok := range map[string]bool{"": true, "0": true, "250": true, "-1": false, "10.5": false, "much": false} {
		_, err := appcore.System(appcore.Options{}).Open(t.Context(), system.Deps{
			DynamoDB: v.Database.DynamoDB, Clock: v.Clock.Now, Getenv: func(name string) string {
				return map[string]string{"APPCORE_SETTLE_MAX": value}[name]
			},
		})
		if (err == nil) != ok {
			t.Errorf("APPCORE_SETTLE_MAX=%q: %v", value, err)
		}
	}
	for amount, want := range map[int64]bool{249: true, 250: true, 251: false} {
		if got, _ := appcore.UpTo(250).Approve(t.Context(), appcoredb.Transaction{Amount: amount}); got != want {
			t.Errorf("up to 250, %d is approved: %v", amount, got)
		}
	}
}

// TestNotifications are a user's own, newest first, in pages.
func TestNotifications(t *testing.T) {
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for i := range 5 {
		create(t, v, []string{ana, bruno}[i/4], fmt.Sprint(i), 500)
		v.Clock.Advance(time.Second)
		v.Deliver(t)
	}
	type page struct {
		Items []appcore.Notification
		Next  string
	}
	var walked []appcore.Notification
	for next := ""; ; {
		var p page
		v.Do(t, apitest.Request{Method: http.MethodGet, Path: apitest.Query("/notifications", "limit", "3", "cursor", next), As: ana}).JSON(t, &p)
		walked = append(walked, p.Items...)
		if next = p.Next; next == "" {
			break
		}
	}
	if len(walked) != 4 {
		t.Fatalf("%d notifications, want 4", len(walked))
	}
	for i, n := range walked {
		if i > 0 && !n.CreatedAt.Before(walked[i-1].CreatedAt) {
			t.Errorf("%+v stands behind %+v", n, walked[i-1])
		}
	}
}
