package infer

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Describe converts a DescribeTable result to a Table without items.
func Describe(d *types.TableDescription, ttlAttr string) Table {
	of := map[string]string{}
	for _, a := range d.AttributeDefinitions {
		of[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	keys := func(schema []types.KeySchemaElement) (pk, sk []Key) {
		for _, e := range schema {
			k := Key{aws.ToString(e.AttributeName), of[aws.ToString(e.AttributeName)]}
			if e.KeyType == types.KeyTypeHash {
				pk = append(pk, k)
			} else {
				sk = append(sk, k)
			}
		}
		return pk, sk
	}
	out := Table{Name: aws.ToString(d.TableName), TTLAttr: ttlAttr, Total: aws.ToInt64(d.ItemCount)}
	pk, sk := keys(d.KeySchema)
	if len(pk) > 0 {
		out.PK = pk[0]
	}
	if len(sk) > 0 {
		out.SK = sk[0]
	}
	index := func(name *string, local bool, schema []types.KeySchemaElement, projection *types.Projection) {
		x := Index{Name: aws.ToString(name), Local: local, Projection: string(types.ProjectionTypeAll)}
		x.PK, x.SK = keys(schema)
		if projection != nil {
			x.Projection, x.Attributes = string(projection.ProjectionType), projection.NonKeyAttributes
		}
		out.Indexes = append(out.Indexes, x)
	}
	for _, x := range d.GlobalSecondaryIndexes {
		index(x.IndexName, false, x.KeySchema, x.Projection)
	}
	for _, x := range d.LocalSecondaryIndexes {
		index(x.IndexName, true, x.KeySchema, x.Projection)
	}
	if s := d.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		out.Stream = string(s.StreamViewType)
	}
	if p := d.ProvisionedThroughput; p != nil && aws.ToInt64(p.WriteCapacityUnits) > 0 {
		out.Provisioned = d.BillingModeSummary == nil || d.BillingModeSummary.BillingMode != types.BillingModePayPerRequest
	}
	return out
}
