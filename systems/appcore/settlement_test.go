package appcore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/system"
)

// rule is a function as a Rule.
type rule func(appcoredb.Transaction) (bool, error)

func (r rule) Approve(_ context.Context, tx appcoredb.Transaction) (bool, error) { return r(tx) }

// TestSettlement: transactions that the rule approves are completed, others fail, and the owner is notified once even if records
// are redelivered.
func TestSettlement(t *testing.T) {
	t.Parallel()
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

// TestConcurrentSettlement delivers all records to many workers concurrently and repeatedly, with rules that disagree, while more
// transactions are created.
func TestConcurrentSettlement(t *testing.T) {
	t.Parallel()
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

// TestSettlementWorker consumes the stream as a process does, and resumes where it stopped.
func TestSettlementWorker(t *testing.T) {
	t.Parallel()
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

// TestRuleFails: if the rule fails or panics for a transaction, its batch is not acknowledged. The other transactions are
// settled, and the batch is redelivered.
func TestRuleFails(t *testing.T) {
	t.Parallel()
	const bad = 13
	down := errors.New("the bank does not respond")
	for name, fault := range map[string]func() error{
		"error": func() error { return down },
		"panic": func() error { panic(down) },
	} {
		t.Run(name, func(t *testing.T) {
			var repaired atomic.Bool
			v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(tx appcoredb.Transaction) (bool, error) {
				if tx.Amount == bad && !repaired.Load() {
					return true, fault()
				}
				return true, nil
			})}))
			const transactions = 40
			for i := range transactions {
				create(t, v, ana, fmt.Sprint(i), int64(i+1))
			}
			follower := v.Host.Service(appcore.Name).Streams[0]
			for _, batch := range v.Batches(t, follower.Table) {
				if err := follower.Handle(t.Context(), batch); err == nil || !strings.Contains(err.Error(), down.Error()) {
					t.Errorf("handled with %v, want the rule's fault", err)
				}
			}
			s := scan(t, v)
			s.sound(t)
			for _, tx := range s.truth {
				if pending := tx.Status == appcoredb.TxStatusPending; pending != (tx.Amount == bad) {
					t.Errorf("while the rule cannot decide one, %+v", tx)
				}
			}
			repaired.Store(true)
			v.Deliver(t)
			s = scan(t, v)
			s.sound(t)
			if len(s.notifications) != transactions {
				t.Errorf("%d notifications, want %d", len(s.notifications), transactions)
			}
		})
	}
}

// TestRedrive: records that the consumer gave up while the rule could not decide are settled once when they are redriven, and no
// others.
func TestRedrive(t *testing.T) {
	t.Parallel()
	const transactions = 30
	var repaired atomic.Bool
	down := errors.New("the bank does not respond")
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(appcoredb.Transaction) (bool, error) {
		if repaired.Load() {
			return true, nil
		}
		return false, down
	})}))
	for i := range transactions {
		create(t, v, ana, fmt.Sprint(i), 500)
	}
	given := v.Batches(t, "AppCore")
	for _, batch := range given {
		if err := v.Redrive(t.Context(), t, batch); !errors.Is(err, down) {
			t.Errorf("redriven too early: %v", err)
		}
	}
	repaired.Store(true)
	create(t, v, bruno, "later", 500)
	for range 2 {
		for _, batch := range given {
			if err := v.Redrive(t.Context(), t, batch); err != nil {
				t.Error(err)
			}
		}
		s := scan(t, v)
		s.sound(t)
		if len(s.notifications) != transactions {
			t.Errorf("%d notifications, want %d", len(s.notifications), transactions)
		}
	}
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	if len(s.notifications) != transactions+1 {
		t.Errorf("%d notifications, want %d", len(s.notifications), transactions+1)
	}
}

// TestInvalidRecordsDoNotBlock: records that can never be settled are logged, and do not stop the stream.
func TestInvalidRecordsDoNotBlock(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	text := func(s string) *types.AttributeValueMemberS { return &types.AttributeValueMemberS{Value: s} }
	put := func(id string, attributes table.Item) {
		it := table.Item{
			"pk": text("TX#" + id), "sk": text("METADATA"), "entityType": text("TRANSACTION"), "txId": text(id), "userId": text(ana),
			"amount": &types.AttributeValueMemberN{Value: "1"}, "currency": text("ARS"), "status": text("PENDING"),
			"createdAt": text("2024-01-15T10:05:00.000Z"),
		}
		maps.Copy(it, attributes)
		if _, err := v.Database.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("AppCore"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	unreadable := map[string]table.Item{
		"01HM699R7006AFVGQT5ZYC0GE0": {"amount": text("much")},
		"01HM699R7006AFVGQT5ZYC0GE1": {"userId": &types.AttributeValueMemberBOOL{Value: true}},
		"01HM699R7006AFVGQT5ZYC0GE2": {"userId": text("no#id")},
		"01HM699R7006AFVGQT5ZYC0GE3": {"createdAt": text("yesterday")},
	}
	for id, attributes := range unreadable {
		put(id, attributes)
	}
	good := create(t, v, ana, "good", 500)
	var log bytes.Buffer
	service, err := appcore.System(appcore.Options{}).Open(t.Context(), system.Deps{
		DynamoDB: v.Database.DynamoDB, Clock: v.Clock.Now, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	batches := v.Batches(t, "AppCore")
	batches[0].Records = append(batches[0].Records, streams.Record{
		EventName: streams.OperationTypeInsert, Dynamodb: &streams.StreamRecord{SequenceNumber: aws.String("without-image")},
	})
	for _, batch := range batches {
		if err := service.Streams[0].Handle(t.Context(), batch); err != nil {
			t.Error(err)
		}
	}
	if now := list(t, v, ana).Items; len(now) != 1 || now[0].TxID != good.TxID || now[0].Status != "COMPLETED" {
		t.Errorf("the transactions are %+v, want %s settled", now, good.TxID)
	}
	if lines := strings.Count(log.String(), "level=ERROR"); lines != len(unreadable)+1 || !strings.Contains(log.String(), "sequence=without-image") {
		t.Errorf("%d lines of errors, want %d:\n%s", lines, len(unreadable)+1, log.String())
	}
}

// TestOrder: records can be settled in any order, alone or together, and repeatedly.
func TestOrder(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for i := range 6 {
		create(t, v, []string{ana, bruno}[i%2], fmt.Sprint(i), int64(i%2)*2*appcore.DefaultSettleMax+1)
	}
	follower := v.Host.Service(appcore.Name).Streams[0]
	for range 2 { // the second round includes the records of the first
		for _, batch := range v.Batches(t, follower.Table) {
			for _, r := range slices.Backward(batch.Records) {
				one := consumer.Batch{Stream: batch.Stream, Shard: batch.Shard, Records: []streams.Record{r, r}}
				if err := follower.Handle(t.Context(), one); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.notifications) != len(s.truth) || len(s.truth) != 6 {
		t.Errorf("%d transactions, %d notifications; want 6 of each", len(s.truth), len(s.notifications))
	}
}

// TestChangedCopiesAreRepaired: a settlement repairs a copy that has been changed or deleted manually.
func TestChangedCopiesAreRepaired(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for i := range 3 {
		create(t, v, ana, fmt.Sprint(i), int64(i+1))
	}
	changes := []func(table.Item) error{
		func(it table.Item) error { // as in the document's own example
			it["status"] = &types.AttributeValueMemberS{Value: "COMPLETED"}
			_, err := v.Database.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("AppCore"), Item: it})
			return err
		},
		func(it table.Item) error {
			_, err := v.Database.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: aws.String("AppCore"), Key: table.Item{"pk": it["pk"], "sk": it["sk"]},
			})
			return err
		},
	}
	for it := range items(t, v, "") {
		_, place, err := appcoredb.Decode(it)
		if err != nil {
			t.Fatal(err)
		}
		if place.Kind != table.CopyPlace || len(changes) == 0 {
			continue
		}
		if err := changes[0](it); err != nil {
			t.Fatal(err)
		}
		changes = changes[1:]
	}
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	if len(s.notifications) != 3 {
		t.Errorf("%d notifications, want 3", len(s.notifications))
	}
}

// TestDeletedTransaction: records of deleted transactions do not stop the stream.
func TestDeletedTransaction(t *testing.T) {
	t.Parallel()
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

// TestSettleMax: the largest approved amount can be configured, and an invalid value prevents startup.
func TestSettleMax(t *testing.T) {
	t.Parallel()
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
