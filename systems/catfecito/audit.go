package catfecito

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

const (
	// auditBytes is the length to which long values are truncated.
	auditBytes = 300
	// sequenceDigits is the maximum length of a stream record's sequence number.
	sequenceDigits = 40
	// auditAtOnce is how many entries of a batch are stored concurrently.
	auditAtOnce = 16
)

// audit records a batch of the table's stream. Batches may be redelivered, but an entry's key is derived from its record, so it
// is written once. Entries are independent: if one cannot be stored, the others of its batch are, and then the batch is retried.
func (s *service) audit(ctx context.Context, changes []change) error {
	faults := make([]error, len(changes))
	free := make(chan struct{}, auditAtOnce)
	var all sync.WaitGroup
	for i, c := range changes {
		entry, ok := entryOf(c)
		if !ok {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			faults[i] = s.record(ctx, entry)
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// record stores an entry unless it exists.
func (s *service) record(ctx context.Context, entry catfecitodb.RecordChangeInput) error {
	_, err := s.db.RecordChange(ctx, entry)
	switch value := (*table.ValueError)(nil); {
	case err == nil, errors.Is(err, catfecitodb.ErrAuditEntryExists):
		return nil
	case errors.As(err, &value): // a retry would not help, and must not block later records
		s.logger.ErrorContext(ctx, "a change cannot be recorded in the audit trail", "sequence", entry.Sequence, "item", entry.Item, "error", err)
		return nil
	default:
		return fmt.Errorf("record %s of %s %s: %w", entry.Sequence, entry.Subject, entry.SubjectID, err)
	}
}

// entryOf returns the entry for a change. Carts, request records and the history itself have no entries.
func entryOf(c change) (catfecitodb.RecordChangeInput, bool) {
	before, itemBefore := recordedItemOf(c.before)
	after, itemAfter := recordedItemOf(c.after)
	if !itemBefore && !itemAfter {
		return catfecitodb.RecordChangeInput{}, false
	}
	of := after
	if !itemAfter {
		of = before
	}
	return catfecitodb.RecordChangeInput{
		Subject: of.subject, SubjectID: of.id, Item: of.item, Change: catfecitodb.Change(c.record.EventName),
		// Lambda's times have a precision of seconds, a consumer's are finer.
		At:       aws.ToTime(c.record.Dynamodb.ApproximateCreationDateTime).UTC().Truncate(time.Second),
		Sequence: padded(aws.ToString(c.record.Dynamodb.SequenceNumber)),
		Fields:   differences(before.facts, after.facts),
	}, true
}

// padded makes a sequence number sort numerically.
func padded(sequence string) string {
	return strings.Repeat("0", max(0, sequenceDigits-len(sequence))) + sequence
}

// recordedItem is what the history records of an item.
type recordedItem struct {
	subject  catfecitodb.Subject
	id, item string
	facts    []fact
}

// fact is a field's value as a string; absent values are omitted. For personal fields only the fact of a change is recorded,
// because an entry outlives the user.
type fact struct {
	field, value string
	personal     bool
}

// recordedValue returns the value to record.
func (f fact) recordedValue() *string {
	if f.personal {
		return nil
	}
	return clipped(&f.value)
}

// recordedItemOf lists the recorded fields. Unlisted fields are never recorded, above all password hashes.
func recordedItemOf(x any) (recordedItem, bool) {
	switch x := x.(type) {
	case catfecitodb.User:
		return recordedItem{catfecitodb.SubjectUser, x.UserID, "User", []fact{
			{"email", x.Email, true}, {"name", x.Name, true}, {"role", string(x.Role), false},
		}}, true
	case catfecitodb.Credential:
		return recordedItem{catfecitodb.SubjectUser, x.UserID, "Credential", []fact{{"updatedAt", x.UpdatedAt.Format(time.RFC3339), false}}}, true
	case catfecitodb.Category:
		return recordedItem{catfecitodb.SubjectCategory, x.CategoryID, "Category", []fact{{"name", x.Name, false}, {"description", x.Description, false}}}, true
	case catfecitodb.Product:
		facts := []fact{
			{"categoryId", x.CategoryID, false},
			{"name", x.Name, false},
			{"description", x.Description, false},
			{"price", Money(x.Price).String(), false},
			{"stock", strconv.FormatInt(x.Stock, 10), false},
			{"isActive", strconv.FormatBool(x.IsActive), false},
		}
		if x.ImageURL != nil {
			facts = append(facts, fact{"imageUrl", *x.ImageURL, false})
		}
		return recordedItem{catfecitodb.SubjectProduct, x.ProductID, "Product", facts}, true
	case catfecitodb.Order:
		return recordedItem{catfecitodb.SubjectOrder, x.OrderID, "Order", []fact{
			{"userId", x.UserID, true}, {"total", Money(x.Total).String(), false}, {"status", string(x.Status), false},
		}}, true
	case catfecitodb.OrderItem:
		return recordedItem{catfecitodb.SubjectOrder, x.OrderID, "OrderItem", []fact{
			{"productId", x.ProductID, false},
			{"productName", x.ProductName, false},
			{"price", Money(x.Price).String(), false},
			{"quantity", strconv.FormatInt(x.Quantity, 10), false},
			{"subtotal", Money(x.Subtotal).String(), false},
		}}, true
	default:
		return recordedItem{}, false
	}
}

// differences returns the fields that differ, in the order of telling.
func differences(before, after []fact) []catfecitodb.FieldChange {
	list := []catfecitodb.FieldChange{}
	of := func(facts []fact, field string) *fact {
		for i := range facts {
			if facts[i].field == field {
				return &facts[i]
			}
		}
		return nil
	}
	for _, f := range after {
		switch was := of(before, f.field); {
		case was == nil:
			list = append(list, catfecitodb.FieldChange{Field: f.field, After: f.recordedValue()})
		case was.value != f.value:
			list = append(list, catfecitodb.FieldChange{Field: f.field, Before: was.recordedValue(), After: f.recordedValue()})
		}
	}
	for _, f := range before {
		if of(after, f.field) == nil {
			list = append(list, catfecitodb.FieldChange{Field: f.field, Before: f.recordedValue()})
		}
	}
	return list
}

// clipped truncates a long value.
func clipped(value *string) *string {
	if value == nil || len(*value) <= auditBytes {
		return value
	}
	end := auditBytes
	for end > 0 && !isStart((*value)[end]) {
		end--
	}
	short := (*value)[:end] + "…"
	return &short
}

// isStart reports whether a byte begins a UTF-8 character.
func isStart(b byte) bool { return b&0xC0 != 0x80 }
