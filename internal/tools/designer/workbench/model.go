// Package workbench converts designs to data models of NoSQL Workbench for DynamoDB.
//
// # Model
//
//	design ──▶ tables with keys and global indexes; a facet for each entity, copy and marker
//	  ╰─ samples, or items that are made up ──Items──▶ the items that the facets show
//
// A facet's aliases are the templates of its keys. The format has no place for reads and writes: their names stand in the
// model's description. Nor has it one for local indexes, index keys of several attributes, and the time to live: Of tells
// what it leaves out.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.ImportExisting.html
//
// Of is a pure function and may be called from any number of goroutines.
package workbench

import (
	"encoding/json"
)

// Model is a data model, as Workbench exports and imports it.
type Model struct {
	ModelName     string
	ModelMetadata Metadata
	DataModel     []Table
}

// Metadata is about the model.
type Metadata struct {
	Author           string
	DateCreated      string
	DateLastModified string
	Description      string
	AWSService       string
	Version          string
}

// Table is a table with its items.
type Table struct {
	TableName                   string
	KeyAttributes               KeyAttributes
	NonKeyAttributes            []Attribute
	TableFacets                 []Facet           `json:",omitempty"`
	GlobalSecondaryIndexes      []Index           `json:",omitempty"`
	LocalSecondaryIndexes       []Index           `json:",omitempty"`
	TableData                   []json.RawMessage `json:",omitempty"`
	DataAccess                  DataAccess
	BillingMode                 string                       `json:",omitempty"`
	ProvisionedCapacitySettings *ProvisionedCapacitySettings `json:",omitempty"`
}

// KeyAttributes are those of a key; SortKey is the zero Attribute for none.
type KeyAttributes struct {
	PartitionKey Attribute
	SortKey      Attribute `json:",omitzero"`
}

// Attribute is an attribute and its type: S, N, B, BOOL, M, L, SS, NS or BS.
type Attribute struct{ AttributeName, AttributeType string }

// Index is a secondary index.
type Index struct {
	IndexName     string
	KeyAttributes KeyAttributes
	Projection    Projection
}

// Projection is what an index holds: ALL, KEYS_ONLY, or INCLUDE with the attributes.
type Projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

// Facet is a view of a table: a kind of items.
type Facet struct {
	FacetName         string
	KeyAttributeAlias KeyAttributeAlias
	TableData         []json.RawMessage `json:",omitempty"`
	NonKeyAttributes  []string
	DataAccess        DataAccess
}

// KeyAttributeAlias is what a facet calls the key's attributes.
type KeyAttributeAlias struct {
	PartitionKeyAlias string
	SortKeyAlias      string `json:",omitempty"`
}

// DataAccess is where Workbench would take data from; it wants the member to be there.
type DataAccess struct{ MySql struct{} } //nolint:revive // the format's name

// ProvisionedCapacitySettings are the capacity of a table that is not on demand.
type ProvisionedCapacitySettings struct {
	ProvisionedThroughput Throughput
}

// Throughput is capacity units.
type Throughput struct{ ReadCapacityUnits, WriteCapacityUnits int }
