package schema

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// checkIndexUpdates checks the form of a list of index updates: each has one action, and each index occurs once.
func checkIndexUpdates(updates []api.GlobalSecondaryIndexUpdate, vectorUpdates []api.VectorIndexUpdate) error {
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
	vectors, err := checkVectorUpdates(vectorUpdates)
	if err != nil {
		return err
	}
	if online+vectors > 1 {
		return apierr.TooManyIndexesInTheMake.With()
	}
	return nil
}

// checkIndexWarmth rejects updates with an empty WarmThroughput. AWS does so before anything else, even for a missing table.
func checkIndexWarmth(updates []api.GlobalSecondaryIndexUpdate) error {
	for _, g := range updates {
		if g.Update != nil && g.Update.WarmThroughput != nil && *g.Update.WarmThroughput == (api.WarmThroughput{}) {
			return apierr.IndexWarmthEmpty.With(*g.Update.IndexName)
		}
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

// createIndex adds an index that writes maintain from now on, and that is to be filled with the existing items.
func (c *Change) createIndex(d *catalog.Descriptor, in *api.CreateGlobalSecondaryIndexAction) error {
	if d.Index(*in.IndexName) != nil {
		return apierr.IndexExists.With()
	}
	global := 0
	for i := range d.Indexes {
		if !d.Indexes[i].Local && d.Indexes[i].Vector == nil {
			global++
		}
	}
	if global >= globalIndexesMax {
		return apierr.NoRoomForGlobalIndex.With()
	}
	if err := c.checkDefinitions(d, in); err != nil {
		return err
	}
	attributes := c.mergedAttributes(d)
	if err := addGlobalIndex(d, api.GlobalSecondaryIndex(*in), catalog.IndexAllocating, ofAddedIndex); err != nil {
		return err
	}
	d.Attributes = attributes
	PruneAttributes(d)
	c.Built = append(c.Built, d.LastIndexID)
	return nil
}

// checkDefinitions checks that the request itself defines the key of a new index, even if the table has the definitions, and
// defines it as the table does.
func (c *Change) checkDefinitions(d *catalog.Descriptor, in *api.CreateGlobalSecondaryIndexAction) error {
	if len(c.in.AttributeDefinitions) == 0 {
		return apierr.IndexAttributesMissing.With(*in.IndexName)
	}
	s, err := newDefinitions(c.in.AttributeDefinitions)
	if err != nil {
		return err
	}
	keys := newKeys(in.KeySchema)
	if len(s.types) < len(keys) {
		return apierr.KeyUndefined.With()
	}
	if err := s.defined(keys); err != nil {
		return err
	}
	var old, changed []string
	for i, k := range in.KeySchema {
		known := slices.IndexFunc(d.Attributes, func(a catalog.Attribute) bool { return a.Name == keys[i].Name })
		if known >= 0 && d.Attributes[known].Type != s.types[keys[i].Name] {
			old = append(old, schemaElement(keys[i].Name, d.Attributes[known].Type, *k.KeyType))
			changed = append(changed, schemaElement(keys[i].Name, s.types[keys[i].Name], *k.KeyType))
		}
	}
	if old != nil {
		return apierr.AttributesRedefined.With(strings.Join(old, ", "), strings.Join(changed, ", "))
	}
	return nil
}

// schemaElement prints an attribute of a key as AWS does.
func schemaElement(name, attributeType, role string) string {
	return "SchemaElement: key{" + name + ":" + attributeType + ":" + role + "}"
}

// mergedAttributes returns the table's attribute definitions followed by the new ones in the request. Definitions of the table
// are unchanged: where the request differs, it is not for the new index.
func (c *Change) mergedAttributes(d *catalog.Descriptor) []catalog.Attribute {
	merged := slices.Clone(d.Attributes)
	for _, a := range c.in.AttributeDefinitions {
		if !slices.ContainsFunc(merged, func(m catalog.Attribute) bool { return m.Name == *a.AttributeName }) {
			merged = append(merged, catalog.Attribute{Name: *a.AttributeName, Type: *a.AttributeType})
		}
	}
	return merged
}

// PruneAttributes removes the definitions that no key uses any more.
func PruneAttributes(d *catalog.Descriptor) {
	used := usedAttributes(d)
	d.Attributes = slices.DeleteFunc(d.Attributes, func(a catalog.Attribute) bool {
		_, found := slices.BinarySearch(used, a.Name)
		return !found
	})
}

// deleteIndex marks an index as being deleted: its entries, and then its definition, are to be removed.
func (c *Change) deleteIndex(d *catalog.Descriptor, in *api.DeleteGlobalSecondaryIndexAction) error {
	x, err := globalIndex(d, *in.IndexName, "delete")
	if err != nil {
		return err
	}
	x.State = catalog.IndexDeleting
	c.Dropped = append(c.Dropped, x.ID)
	return nil
}

// globalIndex returns the global index with a name, for an action on it.
func globalIndex(d *catalog.Descriptor, name, action string) (*catalog.IndexDescriptor, error) {
	switch x := d.Index(name); {
	case x == nil || x.Vector != nil:
		return nil, apierr.IndexNotFound.With(name, d.Name)
	case x.Local:
		return nil, apierr.NotGlobalIndex.With(action, name)
	default:
		return x, nil
	}
}

// updateIndex changes the throughput of an index.
func (c *Change) updateIndex(d *catalog.Descriptor, in *api.UpdateGlobalSecondaryIndexAction) error {
	x, err := globalIndex(d, *in.IndexName, "update")
	if err != nil {
		return err
	}
	maxima := in.OnDemandThroughput
	if maxima != nil && *maxima == (api.OnDemandThroughput{}) {
		maxima = nil // AWS ignores an empty struct
	}
	switch {
	case in.ProvisionedThroughput != nil || maxima != nil || in.WarmThroughput != nil:
	case d.Billing.OnDemand:
		return apierr.IndexUpdateOnDemand.With(x.Name)
	default:
		return apierr.IndexUpdateUnchanged.With(x.Name)
	}
	if c.Env.Now.UnixMilli() < x.SettledAt {
		return apierr.IndexBeingUpdated.With(d.Name, x.Name)
	}
	warm := warmUnits(x.Warm, d.Billing.OnDemand, x.Throughput)
	if err := c.indexThroughput(d, x, in.ProvisionedThroughput); err != nil {
		return err
	}
	t := target{index: x.Name, onDemand: d.Billing.OnDemand, throughput: x.Throughput}
	if x.OnDemand, err = t.maxima(x.OnDemand, maxima); err != nil {
		return err
	}
	x.Warm = keptWarm(warm, warmUnits(nil, d.Billing.OnDemand, x.Throughput))
	if in.WarmThroughput != nil {
		c.warmWas[x.ID] = warm
	}
	if x.Warm, err = t.warm(x.Warm, in.WarmThroughput); err != nil {
		return err
	}
	x.SettledAt = c.Env.SettledAt
	c.touched = append(c.touched, x.ID)
	return nil
}

// indexThroughput sets the provisioned throughput of an index, unless a switch of the billing mode has done so.
func (c *Change) indexThroughput(d *catalog.Descriptor, x *catalog.IndexDescriptor, in *api.ProvisionedThroughput) error {
	switch {
	case in == nil:
		return nil
	case c.switched:
		return checkUnits(in, x.Name)
	case d.Billing.OnDemand && c.in.BillingMode != nil:
		return apierr.IndexThroughputOnDemand.With(x.Name)
	case d.Billing.OnDemand:
		return apierr.IndexUpdateOnDemand.With(x.Name)
	}
	if err := checkUnits(in, x.Name); err != nil {
		return err
	}
	if unchanged(x.Throughput, in) {
		return apierr.IndexThroughputUnchanged.With(x.Name, x.Throughput.Read, x.Throughput.Write)
	}
	return c.changeThroughput(&x.Throughput, in)
}
