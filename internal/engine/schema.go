package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/dynamo/api"
	"github.com/monotable/monotable/internal/dynamo/apierr"
	"github.com/monotable/monotable/internal/engine/catalog"
	"github.com/monotable/monotable/internal/storage/keyenc"
)

// The limits of a table's schema.
const (
	localIndexesMax    = 5
	globalIndexesMax   = 20
	indexHashKeysMax   = 4
	indexRangeKeysMax  = 4
	projectedNamesMax  = 100 // over all indexes of a table
	keyElementsOfTable = 2
)

// schema is the attribute definitions of a request, against which keys and indexes are checked.
type schema struct {
	attributes []catalog.Attribute // as given
	types      map[string]string
}

// newSchema takes the attribute definitions; a name defined twice is refused.
func newSchema(definitions []api.AttributeDefinition) (*schema, error) {
	s := &schema{types: make(map[string]string, len(definitions))}
	for _, a := range definitions {
		if _, twice := s.types[*a.AttributeName]; twice {
			return nil, apierr.Validation("Attribute Name is duplicated: " + *a.AttributeName)
		}
		s.types[*a.AttributeName] = *a.AttributeType
		s.attributes = append(s.attributes, catalog.Attribute{Name: *a.AttributeName, Type: *a.AttributeType})
	}
	return s, nil
}

// names lists the defined attributes in order of name.
func (s *schema) names() []string {
	names := make([]string, 0, len(s.types))
	for name := range s.types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// tableKeys checks a table's own key schema: HASH, or HASH and RANGE.
func (s *schema) tableKeys(in []api.KeySchemaElement) ([]catalog.KeyElement, error) {
	if len(in) == 0 {
		return nil, apierr.Validation("1 validation error detected: Value null at 'keySchema' failed to satisfy " +
			"constraint: Member must not be null")
	}
	if err := checkSimpleKeys(in); err != nil {
		return nil, err
	}
	keys := newKeys(in)
	for _, k := range keys {
		if s.types[k.Name] == "" {
			return nil, errKeyUndefined()
		}
	}
	return keys, nil
}

func errKeyUndefined() error {
	return apierr.Validation("Invalid KeySchema: Some index key attribute have no definition")
}

// checkSimpleKeys checks the form of a key of one HASH and at most one RANGE attribute.
func checkSimpleKeys(in []api.KeySchemaElement) error {
	switch {
	case *in[0].KeyType != keyHash:
		return apierr.Validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case len(in) == keyElementsOfTable && *in[1].KeyType != keyRange:
		return apierr.Validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	case len(in) == keyElementsOfTable && *in[0].AttributeName == *in[1].AttributeName:
		return apierr.Validation("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	return nil
}

// checkIndexKeys checks the form of a global index's key: up to four HASH attributes, then up to four RANGE
// attributes, no name twice.
func checkIndexKeys(in []api.KeySchemaElement) error {
	if len(in) <= keyElementsOfTable && (len(in) < 2 || *in[1].KeyType == keyRange) {
		return checkSimpleKeys(in)
	}
	if *in[0].KeyType != keyHash {
		return apierr.Validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	seen := map[string]bool{}
	var hash, ranges int
	for _, k := range in {
		switch {
		case seen[*k.AttributeName]:
			return apierr.Validation("Invalid KeySchema: The KeySchema has the attribute " + *k.AttributeName + " more than once")
		case *k.KeyType == keyRange:
			ranges++
		case ranges > 0:
			return apierr.Validation("Invalid KeySchema: HASH key elements must come before RANGE key elements")
		default:
			hash++
		}
		seen[*k.AttributeName] = true
	}
	if hash > indexHashKeysMax || ranges > indexRangeKeysMax {
		return apierr.Validation(fmt.Sprintf("Invalid KeySchema: The KeySchema of an index may have at most %d HASH and %d RANGE elements",
			indexHashKeysMax, indexRangeKeysMax))
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
func (s *schema) localIndexes(d *catalog.Descriptor, in []api.LocalSecondaryIndex) error {
	if in == nil {
		return nil
	}
	switch {
	case len(in) == 0:
		return apierr.InvalidParameter("List of LocalSecondaryIndexes is empty")
	case len(d.Keys) < keyElementsOfTable:
		return apierr.InvalidParameter("Table KeySchema does not have a range key, which is required when specifying a " +
			"LocalSecondaryIndex")
	}
	for _, x := range in {
		if err := s.localIndex(d, x); err != nil {
			return err
		}
	}
	if len(in) > localIndexesMax {
		return apierr.InvalidParameter("Number of LocalSecondaryIndexes exceeds per-table limit of 5")
	}
	return nil
}

func (s *schema) localIndex(d *catalog.Descriptor, x api.LocalSecondaryIndex) error {
	if err := checkSimpleKeys(x.KeySchema); err != nil {
		return err
	}
	index := catalog.IndexDescriptor{Name: *x.IndexName, Local: true, Keys: newKeys(x.KeySchema)}
	if err := s.defined(index.Keys); err != nil {
		return err
	}
	switch {
	case len(index.Keys) < keyElementsOfTable:
		return apierr.InvalidParameter("Index KeySchema does not have a range key for index: " + index.Name)
	case index.Keys[0].Name != d.Keys[0].Name:
		return apierr.InvalidParameter(fmt.Sprintf("Index KeySchema does not have the same leading hash key as table KeySchema "+
			"for index: %s. index hash key: %s, table hash key: %s", index.Name, index.Keys[0].Name, d.Keys[0].Name))
	}
	return addIndex(d, index, x.Projection)
}

// globalIndexes checks the GSIs of a new table and adds them to d.
func (s *schema) globalIndexes(d *catalog.Descriptor, in []api.GlobalSecondaryIndex) error {
	if in == nil {
		return nil
	}
	if len(in) == 0 {
		return apierr.InvalidParameter("List of GlobalSecondaryIndexes is empty")
	}
	for _, x := range in {
		if err := s.globalIndex(d, x, catalog.IndexActive); err != nil {
			return err
		}
	}
	if len(in) > globalIndexesMax {
		return apierr.InvalidParameter("GlobalSecondaryIndex count exceeds the per-table limit of 20")
	}
	return nil
}

func (s *schema) globalIndex(d *catalog.Descriptor, x api.GlobalSecondaryIndex, state catalog.IndexState) error {
	if err := checkIndexKeys(x.KeySchema); err != nil {
		return err
	}
	index := catalog.IndexDescriptor{Name: *x.IndexName, Keys: newKeys(x.KeySchema), State: state}
	if err := s.defined(index.Keys); err != nil {
		return err
	}
	if err := checkIndexThroughput(d.Billing.OnDemand, index.Name, x.ProvisionedThroughput); err != nil {
		return err
	}
	if !d.Billing.OnDemand {
		index.Throughput = newThroughput(x.ProvisionedThroughput)
	}
	var err error
	if index.OnDemand, err = newMaxima(x.OnDemandThroughput, d.Billing.OnDemand, index.Name); err != nil {
		return err
	}
	floor := warmUnits(nil, d.Billing.OnDemand, index.Throughput)
	if index.Warm, err = newWarm(x.WarmThroughput, floor, index.Name); err != nil {
		return err
	}
	return addIndex(d, index, x.Projection)
}

// defined checks that every attribute of an index's key has a definition.
func (s *schema) defined(keys []catalog.KeyElement) error {
	missing := slices.ContainsFunc(keys, func(k catalog.KeyElement) bool { return s.types[k.Name] == "" })
	if !missing {
		return nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return apierr.InvalidParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: " +
		bracketed(names) + ", AttributeDefinitions: " + bracketed(s.names()))
}

// addIndex checks name and projection of an index and gives it the table's next index id.
func addIndex(d *catalog.Descriptor, index catalog.IndexDescriptor, p *api.Projection) error {
	if d.Index(index.Name) != nil {
		return apierr.InvalidParameter("Duplicate index name: " + index.Name)
	}
	if err := checkProjection(p); err != nil {
		return err
	}
	index.Projection, index.Included = *p.ProjectionType, p.NonKeyAttributes
	projected := len(index.Included)
	for i := range d.Indexes {
		projected += len(d.Indexes[i].Included)
	}
	if projected > projectedNamesMax {
		return apierr.InvalidParameter(fmt.Sprintf("Number of projected non-key attributes over all indexes exceeds the "+
			"per-table limit of %d", projectedNamesMax))
	}
	if d.LastIndexID == ^keyenc.IndexID(0) {
		return apierr.New(apierr.LimitExceededException, "The table has had too many indexes; copy it to a new one")
	}
	d.LastIndexID++
	index.ID = d.LastIndexID
	d.Indexes = append(d.Indexes, index)
	return nil
}

func checkProjection(p *api.Projection) error {
	if p.ProjectionType == nil {
		return apierr.InvalidParameter("Unknown ProjectionType: null")
	}
	included := *p.ProjectionType == catalog.ProjectInclude
	switch {
	case !included && p.NonKeyAttributes != nil:
		return apierr.InvalidParameter("ProjectionType is " + *p.ProjectionType + ", but NonKeyAttributes is specified")
	case included && p.NonKeyAttributes == nil:
		return apierr.InvalidParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	seen := map[string]bool{}
	for _, name := range p.NonKeyAttributes {
		if seen[name] {
			return apierr.InvalidParameter("Duplicate attribute in NonKeyAttributes: " + name)
		}
		seen[name] = true
	}
	return nil
}

// allUsed checks that every definition is of a key of the table or one of its indexes.
func (s *schema) allUsed(d *catalog.Descriptor) error {
	used := usedAttributes(d)
	if len(used) == len(s.types) {
		return nil
	}
	return apierr.InvalidParameter("Some AttributeDefinitions are not used. AttributeDefinitions: " +
		bracketed(s.names()) + ", keys used: " + bracketed(used))
}

// usedAttributes lists the attributes of all keys in order of name.
func usedAttributes(d *catalog.Descriptor) []string {
	var used []string
	add := func(keys []catalog.KeyElement) {
		for _, k := range keys {
			used = append(used, k.Name)
		}
	}
	add(d.Keys)
	for i := range d.Indexes {
		add(d.Indexes[i].Keys)
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// bracketed prints a list as AWS does.
func bracketed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
