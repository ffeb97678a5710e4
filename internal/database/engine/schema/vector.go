package schema

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// The limits of vector indexes.
const (
	vectorIndexesMax = 5
	dimensionsMax    = 4096
	filtersMax       = 18
)

// The roles of attributes in a search schema.
const (
	searchHash   = "HASH"
	searchFilter = "INLINE_FILTER"
)

// vectorIndexes checks the vector indexes of a new table and adds them to d.
func (s *definitions) vectorIndexes(d *catalog.Descriptor, in []api.VectorIndex) error {
	if in == nil {
		return nil
	}
	if len(in) == 0 {
		return apierr.VectorIndexesEmpty.With()
	}
	for i := range in {
		if err := s.vectorIndex(d, &in[i], catalog.IndexActive); err != nil {
			return err
		}
	}
	return nil
}

// vectorIndex checks a vector index and adds it to d.
func (s *definitions) vectorIndex(d *catalog.Descriptor, in *api.VectorIndex, state catalog.IndexState) error {
	if !d.Billing.OnDemand {
		return apierr.VectorIndexProvisioned.With()
	}
	index := catalog.IndexDescriptor{Name: *in.IndexName, State: state}
	v := &catalog.VectorDescriptor{Attribute: *in.VectorAttribute.AttributeName, Function: *in.DistanceFunction}
	if *in.Dimensions > dimensionsMax {
		return apierr.VectorDimensionsTooMany.With(dimensionsMax, *in.Dimensions, index.Name)
	}
	v.Dimensions = int(*in.Dimensions)
	index.Vector = v
	if err := s.searchSchema(&index, in.SearchSchema); err != nil {
		return err
	}
	if s.types[v.Attribute] != "" {
		return apierr.VectorAttributeIsKey.With(v.Attribute)
	}
	count := 1
	for i := range d.Indexes {
		other := d.Indexes[i].Vector
		if other == nil {
			continue
		}
		count++
		if other.Attribute == v.Attribute && other.Dimensions != v.Dimensions {
			return apierr.VectorDimensionsDiffer.With(v.Attribute)
		}
	}
	if count > vectorIndexesMax {
		return apierr.TooManyVectorIndexes.With(vectorIndexesMax)
	}
	return addIndex(d, index, in.Projection)
}

// searchSchema checks the search schema of a vector index and adds it to the index.
func (s *definitions) searchSchema(index *catalog.IndexDescriptor, in []api.SearchSchemaElement) error {
	if _, err := s.searchKeys(in); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range in {
		name := *e.AttributeName
		switch {
		case seen[name]:
			return apierr.SearchSchemaRepeats.With(name)
		case *e.SearchSchemaElementType == searchFilter:
			index.Vector.Filters = append(index.Vector.Filters, name)
		case len(index.Keys) > 0:
			return apierr.SearchSchemaManyKeys.With()
		default:
			index.Keys = []catalog.KeyElement{{Name: name}}
		}
		seen[name] = true
	}
	if len(index.Vector.Filters) > filtersMax {
		return apierr.SearchSchemaManyFilters.With(filtersMax)
	}
	return nil
}

// searchKeys returns the attributes of a search schema, all of which must be defined.
func (s *definitions) searchKeys(in []api.SearchSchemaElement) (keys []catalog.KeyElement, err error) {
	for _, e := range in {
		if s.types[*e.AttributeName] == "" {
			return nil, apierr.SearchSchemaUndefined.With()
		}
		keys = append(keys, catalog.KeyElement{Name: *e.AttributeName})
	}
	return keys, nil
}

// filterKeys returns the inline filters of an index, which like keys need a definition.
func filterKeys(x *catalog.IndexDescriptor) (keys []catalog.KeyElement) {
	if x.Vector != nil {
		for _, name := range x.Vector.Filters {
			keys = append(keys, catalog.KeyElement{Name: name})
		}
	}
	return keys
}

// projectedNames returns how many of the names that the indexes of a table may project an index uses: a vector counts as one, and
// so does each inline filter.
func projectedNames(x *catalog.IndexDescriptor) int {
	if x.Vector == nil {
		return len(x.Included)
	}
	return len(x.Included) + 1 + len(x.Vector.Filters)
}

// checkVectorUpdates checks the form of a list of index updates and returns how many indexes it creates or deletes.
func checkVectorUpdates(updates []api.VectorIndexUpdate) (online int, err error) {
	seen := map[string]bool{}
	for _, u := range updates {
		var name string
		switch {
		case u.Create == nil && u.Delete == nil:
			return 0, apierr.VectorIndexUpdateEmpty.With()
		case u.Create != nil && u.Delete != nil:
			return 0, apierr.VectorIndexUpdateAmbiguous.With()
		case u.Create != nil:
			name = *u.Create.IndexName
		default:
			name = *u.Delete.IndexName
		}
		if seen[name] {
			return 0, apierr.VectorIndexUpdatedTwice.With(name)
		}
		seen[name] = true
	}
	return len(updates), nil
}

// vectorIndexes applies the updates of vector indexes. A table that is no longer on-demand cannot have any.
func (c *Change) vectorIndexes(d *catalog.Descriptor) error {
	for _, u := range c.in.VectorIndexUpdates {
		var err error
		if u.Create != nil {
			err = c.createVectorIndex(d, u.Create)
		} else {
			err = c.deleteVectorIndex(d, *u.Delete.IndexName)
		}
		if err != nil {
			return err
		}
	}
	if !d.Billing.OnDemand && slices.ContainsFunc(d.Indexes, func(x catalog.IndexDescriptor) bool { return x.Vector != nil }) {
		return apierr.VectorIndexProvisioned.With()
	}
	return nil
}

// createVectorIndex is createIndex for a vector index.
func (c *Change) createVectorIndex(d *catalog.Descriptor, in *api.VectorIndex) error {
	if d.Index(*in.IndexName) != nil {
		return apierr.IndexExists.With()
	}
	s := &definitions{attributes: c.mergedAttributes(d), types: map[string]string{}}
	for _, a := range s.attributes {
		s.types[a.Name] = a.Type
	}
	if err := s.vectorIndex(d, in, catalog.IndexAllocating); err != nil {
		return err
	}
	d.Attributes = s.attributes
	PruneAttributes(d)
	c.Built = append(c.Built, d.LastIndexID)
	return nil
}

func (c *Change) deleteVectorIndex(d *catalog.Descriptor, name string) error {
	x := d.Index(name)
	if x == nil || x.Vector == nil {
		return apierr.NotFound.With()
	}
	x.State = catalog.IndexDeleting
	c.Dropped = append(c.Dropped, x.ID)
	return nil
}

// describeVector describes the settings that only vector indexes have.
func describeVector(x *catalog.IndexDescriptor) api.VectorIndexInfo {
	v := x.Vector
	dimensions := int64(v.Dimensions)
	out := api.VectorIndexInfo{
		IndexName:        &x.Name,
		VectorAttribute:  &api.VectorAttributeDefinition{AttributeName: &v.Attribute},
		Projection:       describeProjection(x),
		Dimensions:       &dimensions,
		DistanceFunction: &v.Function,
	}
	for i := range x.Keys {
		out.SearchSchema = append(out.SearchSchema, searchElement(&x.Keys[i].Name, searchHash))
	}
	for i := range v.Filters {
		out.SearchSchema = append(out.SearchSchema, searchElement(&v.Filters[i], searchFilter))
	}
	return out
}

func searchElement(name *string, role string) api.SearchSchemaElement {
	return api.SearchSchemaElement{AttributeName: name, SearchSchemaElementType: &role}
}

// sameVector reports whether a request describes a vector index exactly.
func sameVector(x *catalog.IndexDescriptor, in *api.VectorIndex) bool {
	return *in.VectorAttribute.AttributeName == x.Vector.Attribute && *in.Dimensions == int64(x.Vector.Dimensions) &&
		*in.DistanceFunction == x.Vector.Function &&
		slices.Equal(elementNames(in.SearchSchema, searchFilter), x.Vector.Filters) &&
		slices.EqualFunc(elementNames(in.SearchSchema, searchHash), x.Keys, func(name string, k catalog.KeyElement) bool { return name == k.Name })
}

func elementNames(in []api.SearchSchemaElement, role string) (names []string) {
	for _, e := range in {
		if *e.SearchSchemaElementType == role {
			names = append(names, *e.AttributeName)
		}
	}
	return names
}
