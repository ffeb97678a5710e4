package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// destinationsMax is the maximum number of a table's destinations, including disabled ones.
const destinationsMax = 10

// Delivery is a Kinesis destination of a table's changes. The deliverer follows the changes from a position and stores its
// progress.
type Delivery struct {
	Table     string
	Label     string // of the table in Observe
	ID        keyenc.TableID
	StreamARN string
	Region    string // of the table
	Precision string
	From      kv.Seq // changes after it are delivered
}

// Deliveries returns the enabled destinations, or none if another server delivers to them.
func (e *Engine) Deliveries() []Delivery {
	if !e.jobs.leads() {
		return nil
	}
	var all []Delivery
	for name, t := range e.catalog.Tables() {
		x := t.Descriptor.Destination()
		if x == nil || t.Descriptor.GoneAt != 0 {
			continue
		}
		precision := x.Precision
		if precision == "" {
			precision = catalog.PrecisionMillisecond
		}
		all = append(all, Delivery{
			Table: name, Label: e.options.MetricsPrefix + name, ID: t.ID, StreamARN: x.StreamARN, Region: e.options.Region, Precision: precision, From: x.From,
		})
	}
	return all
}

// Delivered returns the number up to which changes have been delivered.
func (e *Engine) Delivered(ctx context.Context, d *Delivery) (kv.Seq, error) {
	data, err := e.store.Get(ctx, keyenc.Delivery(d.ID))
	if err != nil || data == nil {
		return d.From, err
	}
	if len(data) != 8 {
		return 0, fmt.Errorf("engine: the delivery position of table %q is corrupted: it has %d bytes, want 8", d.Table, len(data))
	}
	return max(d.From, kv.Seq(binary.BigEndian.Uint64(data))), nil
}

// SetDelivered stores a delivery's progress, unless its table was deleted.
func (e *Engine) SetDelivered(ctx context.Context, d *Delivery, upTo kv.Seq) error {
	key, version := keyenc.Delivery(d.ID), keyenc.TableVersion(d.ID)
	intent := kv.Intent{Write: [][]byte{key}, Check: [][]byte{version}}
	return e.store.Update(ctx, intent, func(txn kv.Txn) error {
		if v, err := catalog.Version(txn, d.ID); err != nil || v == 0 {
			return err
		}
		data, err := txn.Get(key)
		if err != nil {
			return err
		}
		if len(data) == 8 && binary.BigEndian.Uint64(data) >= uint64(upTo) { // another server has taken over the deliveries
			return nil
		}
		txn.Set(key, binary.BigEndian.AppendUint64(nil, uint64(upTo)))
		return nil
	})
}

// checkKinesisARN rejects ARNs other than arn:PARTITION:kinesis:REGION:ACCOUNT:stream/NAME.
func checkKinesisARN(text string) error {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) == 6 && parts[0] == "arn" && parts[2] == "kinesis" && parts[3] != "" && parts[4] != "" {
		if name, ok := strings.CutPrefix(parts[5], "stream/"); ok && len(name) <= 128 && kinesisName(name) &&
			kinesisName(parts[3]) && kinesisName(parts[4]) && !strings.Contains(parts[3]+parts[4], ".") {
			return nil
		}
	}
	return apierr.InvalidKinesisARN.With(text)
}

// kinesisName reports whether a text consists of characters allowed in the name of a data stream.
func kinesisName(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_.-", rune(c)) {
			return false
		}
	}
	return text != ""
}

// changeDestinations changes the destinations of a table and notifies the deliverer. unusable is the error for a table that is
// being deleted while it has a destination, which AWS calls a wrong state of the destination; nil for an update, which AWS accepts
// (https://github.com/aws-controllers-k8s/dynamodb-controller, DDB-TABLE-236).
func (e *Engine) changeDestinations(ctx context.Context, nameOrARN string, unusable error, edit func(txn kv.Txn, d *catalog.Descriptor, now time.Time) error) (*catalog.Descriptor, error) {
	d, err := e.catalog.Change(ctx, nameOrARN, func(txn kv.Txn, d *catalog.Descriptor) error {
		if err := e.checkRestored(d); err != nil {
			return err
		}
		now := e.options.Now()
		if d.Status(now) == catalog.StatusDeleting && d.Destination() != nil {
			if unusable != nil {
				return unusable
			}
			return edit(txn, d, now)
		}
		if err := e.checkSettled(d, now, !d.Global.Settling()); err != nil {
			return err
		}
		return edit(txn, d, now)
	})
	if err != nil {
		return nil, err
	}
	if e.options.OnDeliveries != nil {
		e.options.OnDeliveries()
	}
	return d, nil
}

// activeDestination returns the ACTIVE destination with an ARN, or nil.
func activeDestination(d *catalog.Descriptor, arn string, now time.Time) *catalog.Destination {
	x := d.Destination()
	if x == nil || x.StreamARN != arn || now.UnixMilli() < x.SettledAt {
		return nil
	}
	return x
}

// settleDestination starts a new state of a destination and returns its name.
func (e *Engine) settleDestination(x *catalog.Destination, now time.Time) string {
	x.SettledAt = max(e.settledAt(now), now.UnixMilli())
	return x.Status(time.UnixMilli(x.SettledAt - 1))
}

func enableConfiguration(c *api.EnableKinesisStreamingConfiguration) string {
	if c == nil {
		return ""
	}
	return valueOf(c.ApproximateCreationDateTimePrecision)
}
