package table

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Creation describes a table to create.
type Creation struct {
	Name    string // on DynamoDB
	Table   *Table
	Indexes []Index
	Stream  types.StreamViewType // "" for none
	// Read and Write are capacity units of the table and of each global index; 0 means on demand.
	Read, Write int64
}

// Index describes a secondary index of a table to create.
type Index struct {
	Name  string
	Local bool
	// PK and SK are the key attributes: "status", or "total:N" for a type other than S.
	PK, SK []string
	// Project are the projected attributes in addition to keys; All projects everything.
	All     bool
	Project []string
}

// Request returns the request that creates the table.
func (c Creation) Request() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &c.Name, BillingMode: types.BillingModePayPerRequest}
	define := func(a Attribute) string {
		if !slices.ContainsFunc(in.AttributeDefinitions, func(d types.AttributeDefinition) bool { return *d.AttributeName == a.Name }) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &a.Name, AttributeType: a.Type})
		}
		return a.Name
	}
	in.KeySchema = keySchema(nil, types.KeyTypeHash, define(c.Table.PK))
	if c.Table.SK.Name != "" {
		in.KeySchema = keySchema(in.KeySchema, types.KeyTypeRange, define(c.Table.SK))
	}
	if c.Read > 0 {
		in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, c.throughput()
	}
	for _, x := range c.Indexes {
		var key []types.KeySchemaElement
		for _, a := range x.PK {
			key = keySchema(key, types.KeyTypeHash, define(attributeOf(a)))
		}
		for _, a := range x.SK {
			key = keySchema(key, types.KeyTypeRange, define(attributeOf(a)))
		}
		if x.Local {
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{IndexName: &x.Name, KeySchema: key, Projection: x.projection()})
			continue
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &x.Name, KeySchema: key, Projection: x.projection(), ProvisionedThroughput: c.throughput(),
		})
	}
	if c.Stream != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: c.Stream}
	}
	return in
}

// throughput is the capacity, nil on demand.
func (c Creation) throughput() *types.ProvisionedThroughput {
	if c.Read == 0 {
		return nil
	}
	return &types.ProvisionedThroughput{ReadCapacityUnits: &c.Read, WriteCapacityUnits: &c.Write}
}

func keySchema(key []types.KeySchemaElement, kind types.KeyType, name string) []types.KeySchemaElement {
	return append(key, types.KeySchemaElement{AttributeName: &name, KeyType: kind})
}

// attributeOf is a key attribute: "status", or "total:N".
func attributeOf(s string) Attribute {
	for _, t := range []types.ScalarAttributeType{types.ScalarAttributeTypeN, types.ScalarAttributeTypeB} {
		if name, is := strings.CutSuffix(s, ":"+string(t)); is {
			return Attribute{Name: name, Type: t}
		}
	}
	return Attribute{Name: s, Type: types.ScalarAttributeTypeS}
}

func (x Index) projection() *types.Projection {
	switch {
	case x.All:
		return &types.Projection{ProjectionType: types.ProjectionTypeAll}
	case len(x.Project) == 0:
		return &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	default:
		return &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: x.Project}
	}
}

// CreateTables returns the requests that create tables.
func CreateTables(list []Creation) []*dynamodb.CreateTableInput {
	out := make([]*dynamodb.CreateTableInput, len(list))
	for i := range list {
		out[i] = list[i].Request()
	}
	return out
}

// TimeToLive returns the requests that enable TTL, for the tables with expiring items.
func TimeToLive(list []Creation) []*dynamodb.UpdateTimeToLiveInput {
	var out []*dynamodb.UpdateTimeToLiveInput
	for _, c := range list {
		if c.Table.TTLAttr != "" {
			out = append(out, &dynamodb.UpdateTimeToLiveInput{
				TableName: &c.Name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &c.Table.TTLAttr, Enabled: aws.Bool(true)},
			})
		}
	}
	return out
}
