package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// sourceFor is how long a replica must stay after another was created from it.
const sourceFor = 24 * time.Hour

var (
	// errIsReplica: the table belongs to a global table, so the other replicas must be changed, too.
	errIsReplica = errors.New("engine: the table is a replica")
	// errReplicasChanged: the replicas have changed since the update was prepared.
	errReplicasChanged = errors.New("engine: the replicas have changed")
)

// replaced converts errors of a change of replicas: a replica replaced by another table is a change of the replicas.
func replaced(err error) error {
	if errors.Is(err, catalog.ErrReplaced) {
		return errReplicasChanged
	}
	return err
}

// updateReplicas executes an UpdateTable of a table that is, or becomes, a replica, in all Regions in one commit.
func (e *Engine) updateReplicas(ctx context.Context, u *tableUpdate) (*catalog.Descriptor, error) {
	before, err := e.catalog.Get(ctx, *u.in.TableName)
	if err != nil {
		return nil, err
	}
	r := &replicasUpdate{engine: e, in: u.in, own: u, now: e.options.Now()}
	if r.replicas, err = e.group(ctx, before); err != nil {
		return nil, err
	}
	if err := r.plan(); err != nil {
		return nil, err
	}
	return r.commit(ctx)
}

// replicasUpdate is one change of a global table in progress.
type replicasUpdate struct {
	engine   *Engine
	in       *api.UpdateTableInput
	own      *tableUpdate
	now      time.Time
	replicas []*replicaMember // the first is that of the requested Region
	created  []*newReplica
	removed  []string // Regions whose replicas are to be deleted
	leaves   bool     // the replica of the requested Region is to be disassociated

	// The results of the last run of edit.
	others []*tableUpdate
	jobs   map[*Engine][]job.Record
}

// newReplica is a replica being created.
type newReplica struct {
	member
	action *api.CreateReplicationGroupMemberAction
	d      *catalog.Descriptor
}

// plan evaluates the replica updates of the request.
func (r *replicasUpdate) plan() error {
	own := r.engine.options.Region
	if err := r.checkUpdates(); err != nil {
		return err
	}
	var missing []string
	for i := range r.in.ReplicaUpdates {
		switch u := &r.in.ReplicaUpdates[i]; {
		case u.Create != nil && *u.Create.RegionName == own, u.Delete != nil && *u.Delete.RegionName == own:
			return apierr.ReplicaIsLocal.With()
		case u.Update != nil && *u.Update.RegionName == own:
			return apierr.LocalReplicaUpdate.With()
		case u.Create != nil:
			if r.replicas[0].before.Global.Replica(*u.Create.RegionName) != nil {
				return apierr.ReplicaExists.With(r.replicas[0].before.Name)
			}
			x, err := r.engine.regions.served(*u.Create.RegionName)
			if err != nil {
				return err
			}
			r.created = append(r.created, &newReplica{
				member: member{engine: x, intent: kv.Intent{Write: catalog.NewKeys(r.replicas[0].before.Name)}}, action: u.Create,
			})
		case u.Update != nil && r.replica(*u.Update.RegionName) == nil:
			missing = append(missing, *u.Update.RegionName)
		case u.Delete != nil && r.replica(*u.Delete.RegionName) == nil:
			missing = append(missing, *u.Delete.RegionName)
		case u.Delete != nil:
			r.removed = append(r.removed, *u.Delete.RegionName)
		case u.Disassociate != nil && *u.Disassociate.RegionName != own:
			return apierr.DisassociationOther.With(*u.Disassociate.RegionName)
		case u.Disassociate != nil:
			r.leaves = true
		}
	}
	if missing != nil {
		return apierr.ReplicaMissing.With(strings.Join(missing, ", "))
	}
	return nil
}

// checkUpdates checks the replica updates against each other and the requested Region.
func (r *replicasUpdate) checkUpdates() error {
	own, before := r.engine.options.Region, r.replicas[0].before
	if schema.RequestsStrong(r.in) {
		if err := schema.CheckStrongRegions(own); err != nil {
			return err
		}
		for i := range r.in.GlobalTableWitnessUpdates {
			if w := r.in.GlobalTableWitnessUpdates[i].Create; w != nil && *w.RegionName == own {
				return apierr.WitnessIsLocal.With()
			}
		}
	}
	if before.Synchronized() && r.in.MultiRegionConsistency != nil {
		return apierr.ConsistencyFixed.With()
	}
	members, repeated, seen := 0, "", map[string]bool{}
	for i := range r.in.ReplicaUpdates {
		u := &r.in.ReplicaUpdates[i]
		if u.Create != nil && before.Synchronized() && before.Global.Strong {
			return apierr.StrongIsWhole.With()
		}
		if u.Create != nil || u.Delete != nil {
			members++
		}
		region := regionOf(u)
		if seen[region] {
			repeated = region
		}
		seen[region] = true
	}
	strong := schema.RequestsStrong(r.in) || before.Global != nil && before.Global.Strong
	switch {
	case members > 1 && !strong:
		return apierr.ReplicasOneByOne.With()
	case repeated != "":
		return apierr.ReplicaRepeated.With(repeated)
	}
	return nil
}

// regionOf returns the Region of the only action of a replica update.
func regionOf(u *api.ReplicationGroupUpdate) string {
	switch {
	case u.Create != nil:
		return *u.Create.RegionName
	case u.Update != nil:
		return *u.Update.RegionName
	case u.Delete != nil:
		return *u.Delete.RegionName
	default:
		return *u.Disassociate.RegionName
	}
}

// replica returns the existing replica of a Region, or nil.
func (r *replicasUpdate) replica(region string) *replicaMember {
	i := slices.IndexFunc(r.replicas, func(x *replicaMember) bool { return x.engine.options.Region == region })
	if i < 0 {
		return nil
	}
	return r.replicas[i]
}

// commit commits the change and starts the resulting jobs.
func (r *replicasUpdate) commit(ctx context.Context) (*catalog.Descriptor, error) {
	var more []*member
	for _, n := range r.created {
		more = append(more, &n.member)
	}
	err := r.engine.regions.changeReplicas(ctx, r.replicas, more, r.edit)
	if err != nil {
		return nil, replaced(err)
	}
	for _, n := range r.created {
		if err := n.engine.catalog.Reload(ctx, n.d.Name); err != nil {
			return nil, err
		}
	}
	r.engine.regions.changed()
	for x, jobs := range r.jobs {
		x.jobs.start(jobs...)
	}
	for _, other := range r.others {
		other.engine.jobs.start(other.jobs...)
	}
	return r.replicas[0].d, nil
}

// edit changes the definitions within the transaction.
func (r *replicasUpdate) edit() error {
	r.others, r.jobs = nil, map[*Engine][]job.Record{}
	own := r.replicas[0]
	if !r.sameReplicas() {
		return errReplicasChanged
	}
	if own.d.Global != nil && own.d.IsReplica() && own.d.Global.Version != catalog.GlobalVersion2019 && schema.ChangesReplicas(r.in) {
		return apierr.GlobalVersionOther.With(own.d.Name, own.d.Global.Version)
	}
	if err := r.own.edit(own.txn, own.d); err != nil {
		return err
	}
	for _, x := range r.replicas[1:] {
		if in := schema.Synchronized(r.in, x.d); in != nil {
			other := &tableUpdate{engine: x.engine, in: in}
			if err := other.edit(x.txn, x.d); err != nil {
				return err
			}
			r.others = append(r.others, other)
		}
	}
	if !schema.ChangesReplicas(r.in) {
		return nil
	}
	for _, step := range []func() error{r.consistency, r.override, r.remove, r.disassociate, r.create} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// sameReplicas reports whether the global table still has the replicas of this update.
func (r *replicasUpdate) sameReplicas() bool {
	g := r.replicas[0].d.Global
	if g == nil {
		return len(r.replicas) == 1
	}
	return len(g.Replicas) == len(r.replicas)-1 && !slices.ContainsFunc(g.Replicas, func(x catalog.Replica) bool { return r.replica(x.Region) == nil })
}

// override changes the settings that differ between replicas.
func (r *replicasUpdate) override() error {
	for i := range r.in.ReplicaUpdates {
		if u := r.in.ReplicaUpdates[i].Update; u != nil {
			x := r.replica(*u.RegionName)
			if err := x.engine.checkSettled(x.d, r.now, false); err != nil {
				return err
			}
			if err := x.engine.env(r.now).Override(x.d, u); err != nil {
				return err
			}
			if err := x.engine.checkQuotas(x.d); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove starts the deletion of replicas.
func (r *replicasUpdate) remove() error {
	return r.removeReplicas(false, r.named(r.removed)...)
}

// named returns the existing replicas of Regions.
func (r *replicasUpdate) named(regions []string) (all []*replicaMember) {
	for _, region := range regions {
		all = append(all, r.replica(region))
	}
	return all
}

// disassociate starts to turn the replica of the requested Region into an independent table.
func (r *replicasUpdate) disassociate() error {
	if !r.leaves {
		return nil
	}
	own := r.replicas[0]
	switch {
	case !own.d.Replicates():
		return apierr.DisassociationNeedsMREC.With(own.d.Name)
	case !own.d.Global.Unprotected:
		return apierr.DisassociationBarred.With()
	}
	return r.removeReplicas(true, own)
}

// removeReplicas starts to remove replicas from the global table.
func (r *replicasUpdate) removeReplicas(stays bool, leaving ...*replicaMember) error {
	for _, x := range leaving {
		if err := r.checkDeparture(x, stays); err != nil {
			return err
		}
	}
	for _, x := range leaving {
		x.d.Global.Leaving, x.d.Global.Stays = true, stays
		for _, y := range r.replicas {
			if other := y.d.Global.Replica(x.engine.options.Region); other != nil {
				other.State = catalog.ReplicaLeaving
			}
		}
		work := job.Record{Kind: job.Leave, Table: x.d.ID, Name: x.d.Name, NotBefore: x.engine.settledAt(r.now)}
		if err := r.job(x.engine, x.txn, work); err != nil {
			return err
		}
	}
	return nil
}

// checkDeparture checks that a replica can leave the global table now.
func (r *replicasUpdate) checkDeparture(leaving *replicaMember, stays bool) error {
	d := leaving.d
	if !stays {
		switch {
		case d.DeletionBarred:
			return apierr.ReplicaProtected.With(d.Name, leaving.engine.options.Region)
		case d.Global.SourceAt != 0 && r.now.Sub(time.UnixMilli(d.Global.SourceAt)) < sourceFor:
			return apierr.ReplicaIsSource.With()
		}
	}
	if leaving == r.replicas[0] {
		return nil // already checked
	}
	return leaving.engine.checkSettled(d, r.now, false)
}

// job adds a job in a Region.
func (r *replicasUpdate) job(x *Engine, txn kv.Txn, work job.Record) error {
	r.jobs[x] = append(r.jobs[x], work)
	return work.Save(txn)
}

// create adds replicas: their definitions, the jobs that fill them, and the positions at which replication starts.
func (r *replicasUpdate) create() error {
	if len(r.created) == 0 {
		return nil
	}
	own := r.replicas[0]
	if !own.d.Global.Strong && schema.StreamOfReplicas(own.d, own.engine.env(r.now)) {
		if err := own.engine.openStream(own.txn, own.d, r.now, own.d.SettledAt); err != nil {
			return err
		}
	}
	own.d.Global.SourceAt = r.now.UnixMilli()
	var err error
	for _, n := range r.created {
		if n.d, err = schema.NewReplica(own.d, n.action, n.engine.env(r.now)); err != nil {
			return err
		}
		n.d.Global.Strong, n.d.Global.Witness = own.d.Global.Strong, own.d.Global.Witness
		if n.d.UUID, err = n.engine.newUUID(); err != nil {
			return err
		}
		for _, x := range r.replicas {
			x.d.Global.Add(catalog.Replica{Region: n.engine.options.Region, State: catalog.ReplicaCreating})
			n.d.Global.Add(catalog.Replica{Region: x.engine.options.Region})
		}
		for _, other := range r.created {
			if other != n {
				n.d.Global.Add(catalog.Replica{Region: other.engine.options.Region, State: catalog.ReplicaCreating})
			}
		}
	}
	for _, n := range r.created {
		if err := n.engine.catalog.Add(n.txn, n.d, func(kv.Txn) error { return r.start(n) }); err != nil {
			if known, ok := errors.AsType[*apierr.Error](err); ok && known.Code == apierr.ResourceInUseException {
				return apierr.ReplicaExists.With(n.d.Name)
			}
			return err
		}
	}
	return nil
}

// start writes the initial records of a new replica.
func (r *replicasUpdate) start(n *newReplica) error {
	if n.d.Stream.Enabled {
		if err := n.engine.openStream(n.txn, n.d, r.now, n.d.ReadyAt); err != nil {
			return err
		}
	}
	own, region := r.replicas[0], n.engine.options.Region
	for _, x := range r.replicas {
		// The copy includes at least what the other replicas have fetched of x, and x's own writes.
		from := encodeSeq(x.txn.LogSeq() - 1)
		if x != own && !own.d.Global.Strong {
			var err error
			if from, err = own.txn.Get(keyenc.Position(own.d.ID, x.engine.options.Region)); err != nil {
				return err
			}
		}
		n.txn.Set(keyenc.Position(n.d.ID, x.engine.options.Region), from)
		x.txn.Set(keyenc.Position(x.d.ID, region), encodeSeq(n.txn.LogSeq()-1))
	}
	for _, other := range r.created {
		if other != n {
			n.txn.Set(keyenc.Position(n.d.ID, other.engine.options.Region), encodeSeq(other.txn.LogSeq()-1))
		}
	}
	return r.job(n.engine, n.txn, job.Record{
		Kind: job.Replica, Table: n.d.ID, Name: n.d.Name, Region: own.engine.options.Region, NotBefore: n.d.ReadyAt,
	})
}

// deleteReplica starts to delete the replica named in a DeleteTable.
func (e *Engine) deleteReplica(ctx context.Context, nameOrARN string) (*catalog.Descriptor, error) {
	before, err := e.catalog.Get(ctx, nameOrARN)
	if err != nil {
		return nil, err
	}
	r := &replicasUpdate{engine: e, in: &api.UpdateTableInput{TableName: &nameOrARN}, now: e.options.Now()}
	if r.replicas, err = e.group(ctx, before); err != nil {
		return nil, err
	}
	err = e.regions.changeReplicas(ctx, r.replicas, nil, func() error {
		r.jobs = map[*Engine][]job.Record{}
		d := r.replicas[0].d
		switch {
		case !r.sameReplicas() || !d.IsReplica():
			return errReplicasChanged
		case d.Deleting():
			return nil
		case d.Global.Strong:
			return apierr.StrongEndsWhole.With()
		}
		if err := e.checkDeletable(d, r.now); err != nil {
			return err
		}
		return r.removeReplicas(false, r.replicas[0])
	})
	if err != nil {
		return nil, replaced(err)
	}
	for x, jobs := range r.jobs {
		x.jobs.start(jobs...)
	}
	return r.replicas[0].d, nil
}
