package monotable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/cloudwatch/history"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/kinesis"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

// region is a Region that a database serves in addition to Options.Region. It has its own engine, in a part of the store named
// after the Region (docs/decisions/0020-regions.md).
type region struct {
	name    string
	engine  *engine.Engine
	kinesis *kinesis.Deliverer // nil if there is no destination
}

// isRegion reports whether a text can be the name of a Region, real or made up. SDKs accept no others.
func isRegion(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r) && (r < '0' || '9' < r) && r != '-'
	})
}

// openEngine opens the engine of a Region and starts its deliveries to Kinesis. prefix precedes the names of its tables in
// metrics.
func (db *DB) openEngine(store kv.Store, name, prefix string, o *Options, regions *engine.Regions, buckets bucket.Store) (*region, error) {
	deliverer, err := newDeliverer(db.dir, o, db.observe)
	if err != nil {
		return nil, err
	}
	options := engine.Options{
		Region: name, AccountID: o.AccountID, MetricsPrefix: prefix,
		Now: o.Now, Rand: o.Rand, Logger: o.Logger, Observe: db.observe,
		GSIDelay: o.GSIDelay, TableDelay: o.TableDelay, EnforceCapacity: o.EnforceCapacity, Regions: regions, Shared: o.shared, ReplicationDelay: o.ReplicationDelay,
		StreamShards: o.StreamShards, StreamShardRotation: o.StreamShardRotation, LogMaxBytes: o.LogMaxBytes, Buckets: buckets,
		Unencrypted: o.unencrypted, ItemRules: db.itemRules(o.ItemRules, name),
	}
	if deliverer != nil {
		options.OnDeliveries = deliverer.Wake
	}
	e, err := engine.Open(context.Background(), store, options)
	if err != nil {
		return nil, fmt.Errorf("monotable: %w", err)
	}
	if deliverer != nil {
		deliverer.Start(e)
	}
	return &region{name, e, deliverer}, nil
}

func (r *region) close() error {
	if r.kinesis != nil {
		r.kinesis.Close()
	}
	return r.engine.Close()
}

// checkDefaultRegion rejects a default Region that is another Region of the store: the tables of that one could not be reached, and
// its requests would get those of the former default Region.
func checkDefaultRegion(ctx context.Context, store kv.Store, region string) error {
	names, err := part.Names(ctx, store)
	if err != nil || !slices.Contains(names, region) {
		return err
	}
	p, err := part.Open(ctx, store, region)
	if err != nil {
		return err
	}
	lo, hi := keyenc.TableDescriptors()
	it, err := p.Iter(ctx, lo, hi, kv.IterOptions{Limit: 1})
	if err != nil {
		return err
	}
	defer it.Close()
	if it.Next() {
		return fmt.Errorf("%s has tables of its own in this database and cannot become its default Region: use the former --region (Options.Region), and --regions (Options.Regions) for %[1]s", region)
	}
	return it.Err()
}

// openRegions opens the engines of the Regions other than the default one.
func (db *DB) openRegions(o *Options, regions *engine.Regions, buckets bucket.Store) error {
	names := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(o.Regions))), func(name string) bool { return name == o.Region })
	for _, name := range names {
		store, err := part.Open(context.Background(), db.store, name)
		if err != nil {
			return fmt.Errorf("monotable: Region %s: %w", name, err)
		}
		r, err := db.openEngine(store, name, name+"/", o, regions, buckets)
		if err != nil {
			return fmt.Errorf("monotable: Region %s: %w", name, err)
		}
		db.regions = append(db.regions, r)
	}
	return nil
}

// engines returns the engines by Region for the server, or nil if there is only one, which serves all requests whatever Region
// they are signed for.
func (db *DB) engines() map[string]server.Engine {
	if len(db.regions) == 0 {
		return nil
	}
	all := map[string]server.Engine{db.region: db.engine}
	for _, r := range db.regions {
		all[r.name] = r.engine
	}
	return all
}

// inRegion returns the engine that has a table, and the table's name there. A name may be REGION/TABLE; an ARN contains its
// Region; other names belong to the default Region.
func (db *DB) inRegion(table string) (in *engine.Engine, name string) {
	region, name, found := strings.Cut(table, "/")
	if arn := strings.SplitN(table, ":", 5); len(arn) == 5 {
		region, name, found = arn[3], table, true
	}
	if found && region == db.region {
		return db.engine, name
	}
	for _, r := range db.regions {
		if found && r.name == region {
			return r.engine, name
		}
	}
	return db.engine, table
}

// gauges returns the gauges of all Regions, the default one first.
func (db *DB) gauges(ctx context.Context) (engine.Gauges, error) {
	g, err := db.engine.Gauges(ctx)
	for _, r := range db.regions {
		if err != nil {
			break
		}
		var more engine.Gauges
		if more, err = r.engine.Gauges(ctx); err == nil {
			g.Merge(&more)
		}
	}
	return g, err
}

// countedTables returns the tables of all Regions by the names used in metrics: REGION/TABLE outside the default Region.
func (db *DB) countedTables() history.Tables {
	if len(db.regions) == 0 {
		return db.engine.Tables()
	}
	all := maps.Clone(db.engine.Tables())
	for _, r := range db.regions {
		for name, t := range r.engine.Tables() {
			all[r.name+"/"+name] = t
		}
	}
	return all
}

// pendingReplication returns how many changes of global tables are waiting to be replicated. Only version 2017.11.29 counts,
// because AWS has this metric only there.
func (db *DB) pendingReplication(ctx context.Context) (history.Pending, error) {
	pending := history.Pending{}
	if len(db.regions) == 0 {
		return pending, nil
	}
	err := db.engine.PendingReplication(ctx, pending)
	for _, r := range db.regions {
		err = errors.Join(err, r.engine.PendingReplication(ctx, pending))
	}
	return pending, err
}

// verifyRegions verifies the parts of a store that are Regions, and the replicas in them, and adds their counts to done. Findings name a
// table REGION/TABLE.
func verifyRegions(ctx context.Context, store kv.Store, done *verify.Verified, report func(Finding)) error {
	lo, hi := keyenc.TableDescriptors()
	regions := []verify.Region{{Lo: lo, Hi: hi}}
	names, err := part.Names(ctx, store)
	for _, name := range names {
		p, opened := part.Open(ctx, store, name)
		if opened != nil {
			return errors.Join(err, opened)
		}
		more, failed := verify.Run(ctx, p, reportTo(func(f Finding) {
			if f.Table = name + "/" + cmp.Or(f.Table, "store"); report != nil {
				report(f)
			}
		}), verify.Options{})
		done.Add(&more)
		err = errors.Join(err, failed)
		bounds := p.Outer([][]byte{lo, hi})
		regions = append(regions, verify.Region{Prefix: name + "/", Lo: bounds[0], Hi: bounds[1]})
	}
	if err != nil {
		return err
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return err
	}
	findings, err := verify.Replicas(snapshot, regions, reportTo(report))
	done.Findings += findings
	return errors.Join(err, snapshot.Close())
}
