package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// checkIndexUpdates checks the form of a list of index updates: each is one thing, and no index is meant
// twice.
func checkIndexUpdates(updates []api.GlobalSecondaryIndexUpdate) error {
	seen := map[string]bool{}
	online := 0
	for _, g := range updates {
		name, kinds := "", 0
		if g.Update != nil {
			name, kinds = *g.Update.IndexName, kinds+1
		}
		if g.Create != nil {
			name, kinds = *g.Create.IndexName, kinds+1
			online++
		}
		if g.Delete != nil {
			name, kinds = *g.Delete.IndexName, kinds+1
			online++
		}
		switch {
		case kinds == 0:
			return apierr.IndexUpdateEmpty.With()
		case kinds > 1:
			return apierr.IndexUpdateAmbiguous.With()
		case seen[name]:
			return apierr.IndexUpdatedTwice.With(name)
		}
		seen[name] = true
	}
	if online > 1 {
		return apierr.TooManyIndexesInTheMake.With()
	}
	return nil
}

// indexes applies the index updates.
func (u *tableUpdate) indexes(d *catalog.Descriptor) error {
	for _, g := range u.in.GlobalSecondaryIndexUpdates {
		var err error
		switch {
		case g.Create != nil:
			err = u.createIndex(d, g.Create)
		case g.Delete != nil:
			err = u.deleteIndex(d, g.Delete)
		default:
			err = u.updateIndex(d, g.Update)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// createIndex adds an index that writes keep from now on, and the job that fills it.
func (u *tableUpdate) createIndex(d *catalog.Descriptor, in *api.CreateGlobalSecondaryIndexAction) error {
	if d.Index(*in.IndexName) != nil {
		return apierr.IndexExists.With()
	}
	global := 0
	for i := range d.Indexes {
		if !d.Indexes[i].Local {
			global++
		}
	}
	if global >= globalIndexesMax {
		return apierr.NoRoomForGlobalIndex.With()
	}
	if !u.defines(in.KeySchema) {
		return apierr.KeyUndefined.With()
	}
	s := u.mergedSchema(d)
	index := api.GlobalSecondaryIndex(*in)
	if err := s.globalIndex(d, index, catalog.IndexAllocating); err != nil {
		return err
	}
	d.Attributes = s.attributes
	pruneAttributes(d)
	u.addJob(d, job.Backfill, d.LastIndexID)
	return nil
}

// defines reports whether the request itself defines all attributes of a key. AWS asks for that even where
// the table has the definitions.
func (u *tableUpdate) defines(key []api.KeySchemaElement) bool {
	for _, k := range key {
		if !slices.ContainsFunc(u.in.AttributeDefinitions, func(a api.AttributeDefinition) bool {
			return *a.AttributeName == *k.AttributeName
		}) {
			return false
		}
	}
	return true
}

// mergedSchema is the table's attribute definitions and after them those of the request that are new; a
// definition that the table has stays as it is, whatever the request says.
func (u *tableUpdate) mergedSchema(d *catalog.Descriptor) *schema {
	s := &schema{attributes: slices.Clone(d.Attributes), types: map[string]string{}}
	for _, a := range d.Attributes {
		s.types[a.Name] = a.Type
	}
	for _, a := range u.in.AttributeDefinitions {
		if _, there := s.types[*a.AttributeName]; !there {
			s.types[*a.AttributeName] = *a.AttributeType
			s.attributes = append(s.attributes, catalog.Attribute{Name: *a.AttributeName, Type: *a.AttributeType})
		}
	}
	return s
}

// pruneAttributes drops the definitions that no key uses any more.
func pruneAttributes(d *catalog.Descriptor) {
	used := usedAttributes(d)
	d.Attributes = slices.DeleteFunc(d.Attributes, func(a catalog.Attribute) bool {
		_, found := slices.BinarySearch(used, a.Name)
		return !found
	})
}

// deleteIndex marks an index as going; the job removes its entries and then its definition.
func (u *tableUpdate) deleteIndex(d *catalog.Descriptor, in *api.DeleteGlobalSecondaryIndexAction) error {
	x := d.Index(*in.IndexName)
	if x == nil || x.Local {
		return apierr.NotFound.With()
	}
	x.State = catalog.IndexDeleting
	u.addJob(d, job.DropIndex, x.ID)
	return nil
}

// updateIndex changes the throughput of an index.
func (u *tableUpdate) updateIndex(d *catalog.Descriptor, in *api.UpdateGlobalSecondaryIndexAction) error {
	x := d.Index(*in.IndexName)
	if x == nil || x.Local {
		return apierr.NotFound.With()
	}
	if in.ProvisionedThroughput == nil && in.OnDemandThroughput == nil && in.WarmThroughput == nil {
		return apierr.IndexUpdateUnchanged.With(x.Name)
	}
	if in.ProvisionedThroughput != nil {
		if err := checkTableThroughput(d.Billing.OnDemand, true, in.ProvisionedThroughput); err != nil {
			return err
		}
		if err := checkUnits(in.ProvisionedThroughput, x.Name); err != nil {
			return err
		}
		if unchanged(x.Throughput, in.ProvisionedThroughput) {
			return apierr.IndexThroughputUnchanged.With(x.Name, x.Throughput.Read, x.Throughput.Write)
		}
		changeThroughput(&x.Throughput, in.ProvisionedThroughput, u.now)
	}
	if in.OnDemandThroughput != nil {
		var err error
		if x.OnDemand, err = newMaxima(in.OnDemandThroughput, d.Billing.OnDemand, x.Name); err != nil {
			return err
		}
	}
	if in.WarmThroughput != nil {
		var err error
		if x.Warm, err = newWarm(in.WarmThroughput, warmUnits(x.Warm, d.Billing.OnDemand, x.Throughput), x.Name); err != nil {
			return err
		}
	}
	x.SettledAt = u.engine.settledAt(u.now)
	u.touched = append(u.touched, x.ID)
	return nil
}

// addJob plans work on an index; it begins when the table's UPDATING would be over by itself.
func (u *tableUpdate) addJob(d *catalog.Descriptor, kind job.Kind, index keyenc.IndexID) {
	u.jobs = append(u.jobs, job.Record{
		Kind: kind, Table: d.ID, Name: d.Name, Index: index, NotBefore: u.engine.settledAt(u.now),
	})
}
