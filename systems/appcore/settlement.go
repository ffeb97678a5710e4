package appcore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
)

// DefaultSettleMax is the largest amount approved by default.
const DefaultSettleMax = 1_000_000

// Rule decides pending transactions. It is called concurrently, and again for redelivered records; the first stored decision is
// final. An error means a temporary condition, such as a bank that does not respond: the transaction stays pending, and the
// records after its batch wait until the error is gone. A transaction that can never be approved is not an error.
type Rule interface {
	Approve(context.Context, appcoredb.Transaction) (bool, error)
}

// errNoImage reports a stream whose view type differs from the design's.
var errNoImage = errors.New("it has no image of the item: the stream's view type must be NEW_AND_OLD_IMAGES")

// UpTo approves amounts up to its value, in the currency's smallest unit.
type UpTo int64

// Approve implements Rule.
func (most UpTo) Approve(_ context.Context, tx appcoredb.Transaction) (bool, error) {
	return tx.Amount <= int64(most), nil
}

// settleAtOnce is how many transactions of a batch are settled concurrently. Most of their time is spent waiting for the rule and
// the database.
const settleAtOnce = 16

// settleBatch settles the transactions in a batch of stream records. They are independent: if one cannot be settled, the rest of
// the batch is, and then the batch is redelivered.
func (s *service) settleBatch(ctx context.Context, b consumer.Batch) error {
	var pending []appcoredb.Transaction
	for _, r := range b.Records {
		if tx, ok := s.created(ctx, r); ok {
			pending = append(pending, tx)
		}
	}
	return settleAll(pending, func(tx appcoredb.Transaction) (string, error) { return tx.TxID, s.settle(ctx, tx) })
}

// settleAll settles several transactions concurrently, and returns the first error.
func settleAll[T any](list []T, settle func(T) (txID string, err error)) error {
	faults := make([]error, len(list))
	free := make(chan struct{}, settleAtOnce)
	var all sync.WaitGroup
	for i, x := range list {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if id, err := settle(x); err != nil {
				faults[i] = fmt.Errorf("settle %s, the first of the remaining ones: %w", id, err)
			}
		})
	}
	all.Wait()
	return cmp.Or(faults...)
}

// created returns the transaction that a record has created. Copies are ignored, and unreadable records are skipped, because a retry
// would not help.
func (s *service) created(ctx context.Context, r streams.Record) (appcoredb.Transaction, bool) {
	if r.EventName != streams.OperationTypeInsert || r.Dynamodb == nil {
		return appcoredb.Transaction{}, false
	}
	item, place, err := appcoredb.Decode(table.FromStream(r.Dynamodb.NewImage))
	if err == nil && r.Dynamodb.NewImage == nil {
		err = errNoImage
	}
	if err != nil {
		s.logger.ErrorContext(ctx, "a record of the stream cannot be read", "sequence", aws.ToString(r.Dynamodb.SequenceNumber), "error", err)
		return appcoredb.Transaction{}, false
	}
	tx, ok := item.(appcoredb.Transaction)
	return tx, ok && place.Kind == table.KeyPlace && tx.Status == appcoredb.TxStatusPending
}

// settle applies the rule to a transaction and completes or fails it.
func (s *service) settle(ctx context.Context, tx appcoredb.Transaction) error {
	approved, err := s.approve(ctx, tx)
	if err != nil {
		return err
	}
	return s.end(ctx, tx, approved)
}

// end completes or fails a transaction and notifies its owner, unless that has already been done.
func (s *service) end(ctx context.Context, tx appcoredb.Transaction, approved bool) error {
	outcome := appcoredb.TxStatusFailed
	if approved {
		outcome = appcoredb.TxStatusCompleted
	}
	_, err := s.db.SettleTransaction(ctx, appcoredb.SettleTransactionInput{
		Outcome: outcome, TxID: tx.TxID, UserID: tx.UserID, NotifID: notificationID(tx.TxID),
		Message: message(tx.TxID, outcome),
	})
	var value *table.ValueError
	switch {
	case errors.Is(err, appcoredb.ErrAlreadySettled):
		return nil
	case errors.Is(err, appcoredb.ErrTransactionNotFound), errors.Is(err, appcoredb.ErrAnothersTransaction):
		// It has been deleted or replaced manually, so there is no owner to notify.
		s.logger.WarnContext(ctx, "a transaction of the stream is not in the table", "txId", tx.TxID, "error", err)
		return nil
	case errors.As(err, &value):
		// It was written manually with a value that no pattern accepts: a retry would not help.
		s.logger.ErrorContext(ctx, "a transaction of the stream cannot be settled", "txId", tx.TxID, "error", err)
		return nil
	}
	return err
}

// approve calls the rule. A panic becomes an error, because it must not crash the process, which does more than settle.
func (s *service) approve(ctx context.Context, tx appcoredb.Transaction) (approved bool, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the rule panicked: %v\n%s", fault, debug.Stack())
		}
	}()
	return s.rule.Approve(ctx, tx)
}

// message returns a notification's text, worded as in the document.
func message(txID string, outcome appcoredb.TxStatus) string {
	verdict := "rechazada"
	if outcome == appcoredb.TxStatusCompleted {
		verdict = "aprobada"
	}
	return "Tu transacción TX#" + txID + " fue " + verdict + "."
}

// notificationID returns the id of a transaction's notification, which does not depend on the process that settles it.
func notificationID(txID string) string {
	sum := sha256.Sum256([]byte("notification of " + txID))
	id := ulid.ULID(sum[:])
	if of, err := ulid.ParseStrict(txID); err == nil {
		copy(id[:], of[:6]) // the transaction's time
	}
	return id.String()
}
