package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Global tables of version 2017.11.29 are made of existing, empty tables in each Region. They replicate like those of version
// 2019.11.21, but each table has its own settings, and the items themselves contain the origin of their last write.

// The replication attributes of items in such global tables, sorted.
var legacyAttributes = []string{"aws:rep:deleting", "aws:rep:updateregion", "aws:rep:updatetime"}

// marked returns the item that a write stores: in a replica of version 2017.11.29, with the replication attributes.
func (w *write) marked(txn kv.Txn, next itemenc.Item) (itemenc.Item, error) {
	if !w.t.Legacy || next == nil || w.arrived != nil || w.kind == checkWrite {
		return next, nil
	}
	ms := txn.LogSeq().Millis()
	return next.Replace(nil, legacyAttributes, attr.Item{
		{Name: legacyAttributes[0], Value: attr.Bool(false)},
		{Name: legacyAttributes[1], Value: attr.String(w.t.Replica)},
		{Name: legacyAttributes[2], Value: attr.ParseNumber(fmt.Sprintf("%d.%03d", ms/1000, ms%1000))},
	})
}

// legacyTable returns this Region's table of a global table of version 2017.11.29.
func (e *Engine) legacyTable(ctx context.Context, name string) (*catalog.Descriptor, error) {
	d, err := e.catalog.Get(ctx, name)
	if isNotFound(err) || err == nil && !d.Legacy() {
		return nil, apierr.GlobalTableMissing.With(name)
	}
	return d, err
}

// legacyReplica returns a table that is to become a replica of version 2017.11.29.
func (e *Engine) legacyReplica(ctx context.Context, name, region string) (*replicaMember, error) {
	x, err := e.regions.served(region)
	if err != nil {
		return nil, err
	}
	d, err := x.catalog.Get(ctx, name)
	if isNotFound(err) {
		return nil, apierr.TableNotFound.As(apierr.TableNotFoundException, name)
	}
	return &replicaMember{member: member{engine: x}, before: d}, err
}

// checkLegacy checks AWS's requirements on a new replica, compared with an existing one.
func checkLegacy(first, x *replicaMember) error {
	region := x.engine.options.Region
	// A table that is going away would remain a replica of the others.
	if status := x.d.Status(x.engine.options.Now()); status == catalog.StatusCreating || x.d.Deleting() || x.d.Global != nil && x.d.Global.Leaving {
		return apierr.TableNotFound.As(apierr.TableNotFoundException, x.d.Name)
	}
	if first != x && (!slices.Equal(first.d.Keys, x.d.Keys) || !sameIndexes(first.d, x.d)) {
		return apierr.GlobalReplicaDiffers.With(x.d.Name, region)
	}
	if !x.d.Stream.Enabled || catalog.View(x.d.Stream.View) != catalog.NewAndOldImages {
		return apierr.GlobalReplicaStream.With(x.d.Name, region)
	}
	lo, hi := keyenc.IndexBounds(x.d.ID, 0)
	some, err := firstKey(x.txn, lo, hi)
	if err == nil && some != nil {
		return apierr.GlobalReplicaFilled.With(x.d.Name, region)
	}
	return err
}

// sameIndexes reports whether two tables have indexes with the same names, kinds and keys.
func sameIndexes(a, b *catalog.Descriptor) bool {
	return len(a.Indexes) == len(b.Indexes) && !slices.ContainsFunc(a.Indexes, func(x catalog.IndexDescriptor) bool {
		y := b.Index(x.Name)
		return y == nil || x.Local != y.Local || !slices.Equal(x.Keys, y.Keys)
	})
}

// connect starts replication between two replicas, in both directions.
func connect(x, y *replicaMember) {
	x.d.Global.Add(catalog.Replica{Region: y.engine.options.Region})
	y.d.Global.Add(catalog.Replica{Region: x.engine.options.Region})
	x.txn.Set(keyenc.Position(x.d.ID, y.engine.options.Region), encodeSeq(y.txn.LogSeq()-1))
	y.txn.Set(keyenc.Position(y.d.ID, x.engine.options.Region), encodeSeq(x.txn.LogSeq()-1))
}

// describeLegacy describes a global table of version 2017.11.29.
func (e *Engine) describeLegacy(d *catalog.Descriptor, status string) *api.GlobalTableDescription {
	out := &api.GlobalTableDescription{
		GlobalTableName: &d.Name, GlobalTableStatus: &status, CreationDateTime: api.TimestampOf(d.Global.Created),
		GlobalTableArn: new("arn:aws:dynamodb::" + e.options.AccountID + ":global-table/" + d.Name),
	}
	for _, r := range legacyGroup(d) {
		out.ReplicationGroup = append(out.ReplicationGroup, api.ReplicaDescription{RegionName: new(r.Region), ReplicaStatus: new(string(r.Status()))})
	}
	return out
}

// legacyGroup returns all replicas of a global table, including that of d, by Region.
func legacyGroup(d *catalog.Descriptor) []catalog.Replica {
	all := append(slices.Clone(d.Global.Replicas), catalog.Replica{Region: d.Global.Region})
	if d.Global.Leaving {
		all[len(all)-1].State = catalog.ReplicaLeaving
	}
	slices.SortFunc(all, func(a, b catalog.Replica) int { return strings.Compare(a.Region, b.Region) })
	return all
}

// legacyStatus returns the status of a global table of version 2017.11.29.
func legacyStatus(d *catalog.Descriptor) string {
	if d.Global.Settling() {
		return string(catalog.StatusUpdating)
	}
	return string(catalog.StatusActive)
}

// changeLegacy is changeReplicas, which the caller must retry if a replica was replaced by another table.
func (e *Engine) changeLegacy(ctx context.Context, replicas []*replicaMember, edit func() error) error {
	err := e.regions.changeReplicas(ctx, replicas, nil, edit)
	if errors.Is(err, catalog.ErrReplaced) {
		return errReplicasChanged
	}
	return err
}

// removeMissing removes replicas that do not belong to their global table. Earlier versions accepted a table that was being deleted,
// and its name stayed in the definitions of the others: their change logs then keep everything for it, and no request can change them.
func (e *Engine) removeMissing(ctx context.Context) {
	for _, t := range e.catalog.Tables() {
		if !t.Descriptor.Legacy() {
			continue
		}
		for _, other := range t.Descriptor.Global.Replicas {
			x := e.regions.get(other.Region)
			if x == nil {
				continue
			}
			if there := x.catalog.Tables()[t.Name]; there != nil && there.Descriptor.Global.Replica(e.options.Region) != nil {
				continue
			}
			removed, err := e.removeReplica(ctx, t.Descriptor, x)
			switch {
			case err != nil:
				e.options.Logger.ErrorContext(ctx, "a replica does not belong to its global table, and cannot be removed from it", "table", t.Name, "replica", other.Region, "error", err)
			case removed:
				e.options.Logger.WarnContext(ctx, "removed a replica that does not belong to its global table", "table", t.Name, "replica", other.Region)
			}
		}
	}
}

// removeReplica removes the replica in the Region of x from a table, unless it belongs to the table after all: another server may
// have created it.
func (e *Engine) removeReplica(ctx context.Context, d *catalog.Descriptor, x *Engine) (removed bool, err error) {
	own := &replicaMember{member: member{engine: e}, before: d}
	other := &member{engine: x, intent: kv.Intent{Check: [][]byte{keyenc.TableDescriptor(d.Name)}}}
	err = e.regions.changeReplicas(ctx, []*replicaMember{own}, []*member{other}, func() error {
		data, err := other.txn.Get(keyenc.TableDescriptor(d.Name))
		if err != nil {
			return err
		}
		if data != nil {
			there, err := catalog.DecodeDescriptor(data)
			if err != nil || there.Global.Replica(e.options.Region) != nil {
				return err
			}
		}
		removed = own.d.Global.Replica(x.options.Region) != nil
		own.d.Global.Remove(x.options.Region)
		return nil
	})
	return removed, err
}
