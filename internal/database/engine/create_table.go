package engine

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/policy"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// CreateTable creates a table. The response shows it CREATING; without Options.TableDelay the next request finds it ACTIVE.
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
	e.spread(ctx, d, 0)
	d.ReadyAt = d.Created + max(1, e.options.TableDelay.Milliseconds())
	description, err := e.describeAt(ctx, d, time.UnixMilli(d.Created))
	if err != nil {
		return nil, err
	}
	return &api.CreateTableOutput{TableDescription: schema.WithoutWarm(description, d)}, nil
}

func (e *Engine) newDescriptor(in *api.CreateTableInput) (d *catalog.Descriptor, err error) {
	if d, err = schema.New(in, e.env(e.options.Now())); err != nil {
		return nil, err
	}
	if in.ResourcePolicy != nil {
		if err := policy.Check(*in.ResourcePolicy, policy.Table, e.catalog.TableARN(d.Name)); err != nil {
			return nil, err
		}
		d.Policies = []catalog.Policy{{Document: *in.ResourcePolicy, Revision: strconv.FormatInt(d.Created, 10)}}
	}
	if err := e.checkQuotas(d); err != nil {
		return nil, err
	}
	d.UUID, err = e.newUUID()
	return d, err
}

// env returns the environment in which a definition is created.
func (e *Engine) env(now time.Time) schema.Env {
	return schema.Env{Region: e.options.Region, AccountID: e.options.AccountID, Now: now, SettledAt: e.settledAt(now)}
}

// settledAt returns when a state that begins now ends by itself; 0 means immediately.
func (e *Engine) settledAt(now time.Time) int64 {
	if e.options.TableDelay <= 0 {
		return 0
	}
	return now.Add(e.options.TableDelay).UnixMilli()
}

// newUUID returns a random (version 4) UUID.
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
