// Package schema defines valid table definitions: it checks the requests that define, change or restore a table, in AWS's order,
// converts them to descriptors, and describes descriptors as the API does. It does not access a store; package engine commits the
// results.
package schema

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// The limits of a table's schema.
const (
	localIndexesMax    = 5
	globalIndexesMax   = 20
	indexKeysMax       = 4   // of a role
	projectedNamesMax  = 100 // over all indexes of a table
	keyElementsOfTable = 2
)

// definitions are the attribute definitions of a request, against which keys and indexes are checked.
type definitions struct {
	attributes []catalog.Attribute // as given
	types      map[string]string
}

// newDefinitions returns the definitions of a request; it rejects duplicate names.
func newDefinitions(in []api.AttributeDefinition) (*definitions, error) {
	s := &definitions{types: make(map[string]string, len(in))}
	for _, a := range in {
		if _, twice := s.types[*a.AttributeName]; twice {
			return nil, apierr.AttributeDefinedTwice.With(*a.AttributeName)
		}
		s.types[*a.AttributeName] = *a.AttributeType
		s.attributes = append(s.attributes, catalog.Attribute{Name: *a.AttributeName, Type: *a.AttributeType})
	}
	return s, nil
}

// names lists the defined attributes in order of name.
func (s *definitions) names() []string {
	names := make([]string, 0, len(s.types))
	for name := range s.types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// tableKeys checks a table's own key schema: HASH, or HASH and RANGE, all defined.
func (s *definitions) tableKeys(in []api.KeySchemaElement) ([]catalog.KeyElement, error) {
	keys := newKeys(in)
	if len(s.types) < len(keys) {
		return nil, apierr.KeyUndefined.With()
	}
	if err := s.defined(keys); err != nil {
		return nil, err
	}
	return keys, checkSimpleKeys(in)
}

// checkSimpleKeys checks the form of a key of one HASH and at most one RANGE attribute.
func checkSimpleKeys(in []api.KeySchemaElement) error {
	switch {
	case *in[0].KeyType != keyHash:
		return apierr.FirstKeyNotHash.With()
	case len(in) == keyElementsOfTable && *in[0].AttributeName == *in[1].AttributeName:
		return apierr.KeysEqual.With()
	case len(in) == keyElementsOfTable && *in[1].KeyType != keyRange:
		return apierr.SecondKeyNotRange.With()
	}
	return nil
}

// checkIndexKeys checks the form of a global index's key: up to four HASH attributes, then up to four RANGE
// attributes, no name twice.
func checkIndexKeys(in []api.KeySchemaElement) error {
	if *in[0].KeyType != keyHash {
		return apierr.FirstKeyNotHash.With()
	}
	seen := map[string]bool{}
	roles := map[string]int{}
	for _, k := range in {
		switch {
		case seen[*k.AttributeName]:
			return apierr.KeyRepeated.With()
		case *k.KeyType == keyHash && roles[keyRange] > 0:
			return apierr.HashAfterRange.With()
		}
		seen[*k.AttributeName] = true
		roles[*k.KeyType]++
	}
	for _, role := range []string{keyHash, keyRange} {
		if roles[role] > indexKeysMax {
			return apierr.TooManyIndexKeys.With(role)
		}
	}
	return nil
}

func newKeys(in []api.KeySchemaElement) []catalog.KeyElement {
	keys := make([]catalog.KeyElement, len(in))
	for i, k := range in {
		keys[i] = catalog.KeyElement{Name: *k.AttributeName, Range: *k.KeyType == keyRange}
	}
	return keys
}

// localIndexes checks the LSIs of a new table and adds them to d.
func localIndexes(d *catalog.Descriptor, in []api.LocalSecondaryIndex) error {
	if in == nil {
		return nil
	}
	if len(d.Keys) < keyElementsOfTable {
		return apierr.LocalIndexNoTableSort.With()
	}
	for _, x := range in {
		if err := localIndex(d, x); err != nil {
			return err
		}
	}
	if len(in) > localIndexesMax {
		return apierr.TooManyLocalIndexes.With()
	}
	return nil
}

func localIndex(d *catalog.Descriptor, x api.LocalSecondaryIndex) error {
	if err := checkSimpleKeys(x.KeySchema); err != nil {
		return err
	}
	index := catalog.IndexDescriptor{Name: *x.IndexName, Local: true, Keys: newKeys(x.KeySchema)}
	switch {
	case len(index.Keys) < keyElementsOfTable:
		return apierr.LocalIndexNoSort.With(index.Name)
	case index.Keys[0].Name != d.Keys[0].Name:
		return apierr.LocalIndexOtherHash.With(index.Name, index.Keys[0].Name, d.Keys[0].Name)
	}
	return addIndex(d, index, x.Projection)
}

// globalIndexes checks the GSIs of a new table and adds them to d.
func globalIndexes(d *catalog.Descriptor, in []api.GlobalSecondaryIndex) error {
	for _, x := range in {
		if err := addGlobalIndex(d, x, catalog.IndexActive, ofNewTable); err != nil {
			return err
		}
	}
	if len(in) > globalIndexesMax {
		return apierr.TooManyGlobalIndexes.With()
	}
	return nil
}

// addGlobalIndex checks a global index whose keys are defined and adds it to d.
func addGlobalIndex(d *catalog.Descriptor, x api.GlobalSecondaryIndex, state catalog.IndexState, w indexWording) error {
	if err := checkIndexKeys(x.KeySchema); err != nil {
		return err
	}
	index := catalog.IndexDescriptor{Name: *x.IndexName, Keys: newKeys(x.KeySchema), State: state}
	if err := w.check(d.Billing.OnDemand, index.Name, x.ProvisionedThroughput); err != nil {
		return err
	}
	if !d.Billing.OnDemand {
		index.Throughput = newThroughput(x.ProvisionedThroughput)
	}
	t := target{index: index.Name, onDemand: d.Billing.OnDemand, isNew: true, throughput: index.Throughput}
	var err error
	if index.OnDemand, err = t.maxima(nil, x.OnDemandThroughput); err != nil {
		return err
	}
	if index.Warm, err = t.warm(nil, x.WarmThroughput); err != nil {
		return err
	}
	return addIndex(d, index, x.Projection)
}

// defined checks that every attribute of a key has a definition.
func (s *definitions) defined(keys []catalog.KeyElement) error {
	missing := slices.ContainsFunc(keys, func(k catalog.KeyElement) bool { return s.types[k.Name] == "" })
	if !missing {
		return nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return apierr.IndexKeysUndefined.With(apierr.List(names), apierr.List(s.names()))
}

// addIndex checks the name and projection of an index and assigns the table's next index id.
func addIndex(d *catalog.Descriptor, index catalog.IndexDescriptor, p *api.Projection) error {
	if d.Index(index.Name) != nil {
		return apierr.IndexRepeated.With(index.Name)
	}
	if err := checkProjection(p); err != nil {
		return err
	}
	index.Projection, index.Included = *p.ProjectionType, p.NonKeyAttributes
	projected := projectedNames(&index)
	for i := range d.Indexes {
		projected += projectedNames(&d.Indexes[i])
	}
	if projected > projectedNamesMax {
		return apierr.TooManyProjectedNames.With(projectedNamesMax)
	}
	if d.LastIndexID == ^keyenc.IndexID(0) {
		return apierr.TooManyIndexesEver.With()
	}
	d.LastIndexID++
	index.ID = d.LastIndexID
	d.Indexes = append(d.Indexes, index)
	return nil
}

func checkProjection(p *api.Projection) error {
	if p.ProjectionType == nil {
		return apierr.ProjectionTypeMissing.With()
	}
	included := *p.ProjectionType == catalog.ProjectInclude
	switch {
	case !included && p.NonKeyAttributes != nil:
		return apierr.ProjectionTakesNoNames.With(*p.ProjectionType)
	case included && p.NonKeyAttributes == nil:
		return apierr.ProjectionLacksNames.With()
	}
	seen := map[string]bool{}
	for _, name := range p.NonKeyAttributes {
		if seen[name] {
			return apierr.ProjectionRepeatsName.With(name)
		}
		seen[name] = true
	}
	return nil
}

// allUsed checks that every definition is used by a key.
func (s *definitions) allUsed(keys [][]catalog.KeyElement) error {
	used := namesOf(keys)
	if len(used) == len(s.types) {
		return nil
	}
	return apierr.AttributesUnused.With(apierr.List(s.names()), apierr.List(used))
}

// usedAttributes lists the attributes of all keys of a table in order of name.
func usedAttributes(d *catalog.Descriptor) []string {
	keys := [][]catalog.KeyElement{d.Keys}
	for i := range d.Indexes {
		keys = append(keys, d.Indexes[i].Keys, filterKeys(&d.Indexes[i]))
	}
	return namesOf(keys)
}

// namesOf lists the attributes of keys in order of name.
func namesOf(keys [][]catalog.KeyElement) []string {
	var names []string
	for _, key := range keys {
		for _, k := range key {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
