package appcore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
)

// DefaultSettleMax is the largest amount that is approved if nobody says otherwise.
const DefaultSettleMax = 1_000_000

// Rule decides what becomes of a pending transaction. It is asked again where a record is delivered again; the first
// decision that is stored stays.
type Rule interface {
	Approve(context.Context, appcoredb.Transaction) (bool, error)
}

// UpTo approves amounts up to itself, in the currency's smallest unit.
type UpTo int64

// Approve makes UpTo a Rule.
func (most UpTo) Approve(_ context.Context, tx appcoredb.Transaction) (bool, error) {
	return tx.Amount <= int64(most), nil
}

// settleBatch settles the transactions that a batch of the table's stream tells of. Batches may come again.
func (s *service) settleBatch(ctx context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		tx, ok := s.made(ctx, r)
		if !ok {
			continue
		}
		if err := s.settle(ctx, tx); err != nil {
			return fmt.Errorf("settle %s: %w", tx.TxID, err)
		}
	}
	return nil
}

// made is the transaction that a record tells was made; copies tell nothing.
func (s *service) made(ctx context.Context, r streams.Record) (appcoredb.Transaction, bool) {
	if r.EventName != streams.OperationTypeInsert {
		return appcoredb.Transaction{}, false
	}
	item, place, err := appcoredb.Decode(table.FromStream(r.Dynamodb.NewImage))
	if err != nil { // coming again does not mend it
		s.logger.ErrorContext(ctx, "an item of the stream cannot be read", "error", err)
		return appcoredb.Transaction{}, false
	}
	tx, ok := item.(appcoredb.Transaction)
	return tx, ok && place.Kind == table.KeyPlace && tx.Status == appcoredb.TxStatusPending
}

// settle completes or fails a transaction and notifies its owner, unless that has been done.
func (s *service) settle(ctx context.Context, tx appcoredb.Transaction) error {
	approved, err := s.rule.Approve(ctx, tx)
	if err != nil {
		return err
	}
	outcome := appcoredb.TxStatusFailed
	if approved {
		outcome = appcoredb.TxStatusCompleted
	}
	_, err = s.db.SettleTransaction(ctx, appcoredb.SettleTransactionInput{
		Outcome: outcome, TxID: tx.TxID, UserID: tx.UserID, NotifID: notificationID(tx.TxID),
		Message: message(tx.TxID, outcome),
	})
	switch {
	case errors.Is(err, appcoredb.ErrAlreadySettled):
		return nil
	case errors.Is(err, appcoredb.ErrTransactionNotFound), errors.Is(err, appcoredb.ErrAnothersTransaction):
		// It was deleted, or put by hand, since: nobody is left to be told.
		s.logger.WarnContext(ctx, "a transaction of the stream is not in the table", "txId", tx.TxID, "error", err)
		return nil
	}
	return err
}

// message is what a notification says, as the document words it.
func message(txID string, outcome appcoredb.TxStatus) string {
	verdict := "rechazada"
	if outcome == appcoredb.TxStatusCompleted {
		verdict = "aprobada"
	}
	return "Tu transacción TX#" + txID + " fue " + verdict + "."
}

// notificationID is the id of a transaction's notification: the same whoever settles it.
func notificationID(txID string) string {
	sum := sha256.Sum256([]byte("notification of " + txID))
	id := ulid.ULID(sum[:])
	if of, err := ulid.ParseStrict(txID); err == nil {
		copy(id[:], of[:6]) // the transaction's time
	}
	return id.String()
}
