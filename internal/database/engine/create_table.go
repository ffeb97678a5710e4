package engine

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// CreateTable makes a table. The answer shows it CREATING; without Options.TableDelay it is ACTIVE for
// whoever asks next.
func (e *Engine) CreateTable(ctx context.Context, in *api.CreateTableInput) (*api.CreateTableOutput, error) {
	d, err := e.newDescriptor(in)
	if err != nil {
		return nil, err
	}
	err = e.catalog.CreateWith(ctx, d, kv.Intent{}, func(txn kv.Txn) error {
		if !d.Stream.Enabled {
			return nil
		}
		return e.openStream(txn, d, time.UnixMilli(d.Created), d.ReadyAt)
	})
	if err != nil {
		return nil, err
	}
	d.ReadyAt = d.Created + max(1, e.options.TableDelay.Milliseconds())
	description, err := e.describeAt(ctx, d, time.UnixMilli(d.Created))
	if err != nil {
		return nil, err
	}
	return &api.CreateTableOutput{TableDescription: description}, nil
}

// newDescriptor checks a CreateTable request in AWS's order: name, billing, keys,
// indexes, attribute definitions, the rest.
func (e *Engine) newDescriptor(in *api.CreateTableInput) (*catalog.Descriptor, error) {
	if !catalog.ValidName(*in.TableName) { // an ARN names a table that is there
		return nil, apierr.InvalidName.With()
	}
	now := e.options.Now()
	d := &catalog.Descriptor{Name: *in.TableName, Created: now.UnixMilli(), ReadyAt: e.settledAt(now)}
	if err := createBilling(d, in); err != nil {
		return nil, err
	}
	if err := createSchema(d, in); err != nil {
		return nil, err
	}
	if err := e.createSettings(d, in); err != nil {
		return nil, err
	}
	var err error
	d.UUID, err = e.newUUID()
	return d, err
}

func createBilling(d *catalog.Descriptor, in *api.CreateTableInput) error {
	d.Billing.OnDemand = in.BillingMode != nil && *in.BillingMode == billingOnDemand
	if err := checkTableThroughput(d.Billing.OnDemand, in.BillingMode != nil, in.ProvisionedThroughput); err != nil {
		return err
	}
	if d.Billing.OnDemand {
		d.Billing.BecameOnDemand = d.Created
	} else {
		d.Billing.Throughput = newThroughput(in.ProvisionedThroughput)
	}
	var err error
	if d.OnDemand, err = newMaxima(in.OnDemandThroughput, d.Billing.OnDemand, ""); err != nil {
		return err
	}
	d.Warm, err = newWarm(in.WarmThroughput, warmUnits(nil, d.Billing.OnDemand, d.Billing.Throughput), "")
	return err
}

func createSchema(d *catalog.Descriptor, in *api.CreateTableInput) error {
	s, err := newSchema(in.AttributeDefinitions)
	if err != nil {
		return err
	}
	if d.Keys, err = s.tableKeys(in.KeySchema); err != nil {
		return err
	}
	if in.LocalSecondaryIndexes == nil && in.GlobalSecondaryIndexes == nil && len(s.types) != len(d.Keys) {
		return apierr.AttributesNotKeys.With()
	}
	if err := s.localIndexes(d, in.LocalSecondaryIndexes); err != nil {
		return err
	}
	if err := s.globalIndexes(d, in.GlobalSecondaryIndexes); err != nil {
		return err
	}
	d.Attributes = s.attributes
	return s.allUsed(d)
}

func (e *Engine) createSettings(d *catalog.Descriptor, in *api.CreateTableInput) error {
	if s := in.StreamSpecification; s != nil {
		if err := checkNewStream(s); err != nil {
			return err
		}
		if *s.StreamEnabled {
			d.Stream = newStream(s, d.Created)
		}
	}
	var err error
	if d.Encryption, err = e.newEncryption(in.SSESpecification); err != nil {
		return err
	}
	if d.Tags, err = mergeTags(nil, in.Tags); err != nil {
		return err
	}
	if in.TableClass != nil {
		d.Class = *in.TableClass
	}
	d.DeletionBarred = in.DeletionProtectionEnabled != nil && *in.DeletionProtectionEnabled
	return nil
}

// settledAt is when a state that begins now is over by itself, 0 for at once.
func (e *Engine) settledAt(now time.Time) int64 {
	if e.options.TableDelay <= 0 {
		return 0
	}
	return now.Add(e.options.TableDelay).UnixMilli()
}

// newUUID makes a random (version 4) UUID.
func (e *Engine) newUUID() (string, error) {
	var b [16]byte
	if err := e.randomBytes(b[:]); err != nil {
		return "", fmt.Errorf("engine: table id: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}
