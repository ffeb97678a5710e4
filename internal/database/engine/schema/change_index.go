package schema

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
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
func (c *Change) indexes(d *catalog.Descriptor) error {
	for _, g := range c.in.GlobalSecondaryIndexUpdates {
		var err error
		switch {
		case g.Create != nil:
			err = c.createIndex(d, g.Create)
		case g.Delete != nil:
			err = c.deleteIndex(d, g.Delete)
		default:
			err = c.updateIndex(d, g.Update)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// createIndex adds an index that writes keep from now on, and that is to be filled with the items there are.
func (c *Change) createIndex(d *catalog.Descriptor, in *api.CreateGlobalSecondaryIndexAction) error {
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
	if !c.defines(in.KeySchema) {
		return apierr.KeyUndefined.With()
	}
	s := c.mergedDefinitions(d)
	index := api.GlobalSecondaryIndex(*in)
	if err := s.globalIndex(d, index, catalog.IndexAllocating); err != nil {
		return err
	}
	d.Attributes = s.attributes
	PruneAttributes(d)
	c.Built = append(c.Built, d.LastIndexID)
	return nil
}

// defines reports whether the request itself defines all attributes of a key. AWS asks for that even where
// the table has the definitions.
func (c *Change) defines(key []api.KeySchemaElement) bool {
	for _, k := range key {
		if !slices.ContainsFunc(c.in.AttributeDefinitions, func(a api.AttributeDefinition) bool {
			return *a.AttributeName == *k.AttributeName
		}) {
			return false
		}
	}
	return true
}

// mergedDefinitions are the table's attribute definitions and after them those of the request that are new; a
// definition that the table has stays as it is, whatever the request says.
func (c *Change) mergedDefinitions(d *catalog.Descriptor) *definitions {
	s := &definitions{attributes: slices.Clone(d.Attributes), types: map[string]string{}}
	for _, a := range d.Attributes {
		s.types[a.Name] = a.Type
	}
	for _, a := range c.in.AttributeDefinitions {
		if _, there := s.types[*a.AttributeName]; !there {
			s.types[*a.AttributeName] = *a.AttributeType
			s.attributes = append(s.attributes, catalog.Attribute{Name: *a.AttributeName, Type: *a.AttributeType})
		}
	}
	return s
}

// PruneAttributes drops the definitions that no key uses any more.
func PruneAttributes(d *catalog.Descriptor) {
	used := usedAttributes(d)
	d.Attributes = slices.DeleteFunc(d.Attributes, func(a catalog.Attribute) bool {
		_, found := slices.BinarySearch(used, a.Name)
		return !found
	})
}

// deleteIndex marks an index as going: its entries, and then its definition, are to be removed.
func (c *Change) deleteIndex(d *catalog.Descriptor, in *api.DeleteGlobalSecondaryIndexAction) error {
	x := d.Index(*in.IndexName)
	if x == nil || x.Local {
		return apierr.NotFound.With()
	}
	x.State = catalog.IndexDeleting
	c.Dropped = append(c.Dropped, x.ID)
	return nil
}

// updateIndex changes the throughput of an index.
func (c *Change) updateIndex(d *catalog.Descriptor, in *api.UpdateGlobalSecondaryIndexAction) error {
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
		changeThroughput(&x.Throughput, in.ProvisionedThroughput, c.Env.Now)
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
	x.SettledAt = c.Env.SettledAt
	c.touched = append(c.touched, x.ID)
	return nil
}
