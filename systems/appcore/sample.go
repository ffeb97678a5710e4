package appcore

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/seed"
)

const (
	// sampleBlock is the number of records of a user: twenty transactions, all settled except the last.
	sampleBlock = 40
	// sampleFirstUser makes the first user the one whose token the demo's page shows.
	sampleFirstUser = 123
	sampleLeast     = 100
	sampleMost      = 2_000_000
)

// sample generates one part of the sample data.
func sample(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		m := sampleMaker{Chance: p.Chance}
		for i := range p.Items {
			if !yield(m.record(p.First+i, i%sampleBlock)) {
				return
			}
		}
	}
}

// sampleMaker generates the records of a part sequentially.
type sampleMaker struct {
	seed.Chance
	tx appcoredb.Transaction // the previous transaction
}

// record generates the n-th record, at a position in its block: the user, then the transactions, each except the last followed by
// its notification.
func (m *sampleMaker) record(n, place int) table.Record {
	// One second per record, so that times do not depend on the sample's size.
	at := time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	userID := fmt.Sprintf("u-%d", sampleFirstUser+n/sampleBlock)
	switch {
	case place == 0:
		return m.user(userID, at).Record()
	case place%2 == 1:
		m.tx = m.transaction(userID, at, place == sampleBlock-1)
		return m.tx.Record()
	default:
		return m.notification(at).Record()
	}
}

func (m *sampleMaker) user(userID string, at time.Time) appcoredb.User {
	return appcoredb.User{UserID: userID, Email: strings.ReplaceAll(userID, "-", ".") + "@example.com", Name: m.Name(), CreatedAt: at}
}

// transaction returns a transaction. Amounts of all magnitudes are equally frequent, and DefaultSettleMax decides them.
func (m *sampleMaker) transaction(userID string, at time.Time, pending bool) appcoredb.Transaction {
	currencies := []appcoredb.Currency{appcoredb.CurrencyARS, appcoredb.CurrencyBRL, appcoredb.CurrencyUSD}
	tx := appcoredb.Transaction{
		TxID: m.ULID(at), UserID: userID, Currency: currencies[m.IntN(len(currencies))], CreatedAt: at,
		Amount: int64(sampleLeast * math.Pow(sampleMost/sampleLeast, m.Float64())),
	}
	switch {
	case pending:
		tx.Status = appcoredb.TxStatusPending
	case tx.Amount <= DefaultSettleMax:
		tx.Status = appcoredb.TxStatusCompleted
	default:
		tx.Status = appcoredb.TxStatusFailed
	}
	return tx
}

// notification returns the notification about the previous transaction. It expires later than any use of the sample.
func (m *sampleMaker) notification(at time.Time) appcoredb.Notification {
	return appcoredb.Notification{
		NotifID: notificationID(m.tx.TxID), UserID: m.tx.UserID, TxID: m.tx.TxID, Message: message(m.tx.TxID, m.tx.Status),
		Read: m.IntN(2) == 0, NotifiedAt: at, ExpiresAt: time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC),
	}
}
