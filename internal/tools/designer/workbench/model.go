// Package workbench converts designs to data models of NoSQL Workbench for DynamoDB.
//
// # Model
//
//	design ──▶ tables with keys and global indexes; a facet for each entity, copy and marker
//	  ╰─ samples, or items that are made up ──Items──▶ the items that the facets show
//
// A facet's aliases are the templates of its keys. The format cannot express reads and writes; their names are in the
// model's description. It also lacks local indexes, index keys of several attributes, and the TTL attribute; Of reports
// what it omits. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.ImportExisting.html
//
// Of is a pure function and safe for concurrent use.
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

// KeyAttributes are the attributes of a key; SortKey is the zero Attribute if there is none.
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

// Projection is what an index contains: ALL, KEYS_ONLY, or INCLUDE with the attributes.
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

// KeyAttributeAlias has a facet's names for the key attributes.
type KeyAttributeAlias struct {
	PartitionKeyAlias string
	SortKeyAlias      string `json:",omitempty"`
}

// DataAccess is the source of Workbench's data; the format requires the member.
type DataAccess struct{ MySql struct{} } //nolint:revive // the format's name

// ProvisionedCapacitySettings is the capacity of a table that is not on demand.
type ProvisionedCapacitySettings struct {
	ProvisionedThroughput Throughput
}

// Throughput is capacity units.
type Throughput struct{ ReadCapacityUnits, WriteCapacityUnits int }
