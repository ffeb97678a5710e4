package tabletest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// MakeTable makes a table.
func MakeTable(t *testing.T, client *dynamodb.Client, table *schema.Table) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &table.Physical, BillingMode: types.BillingModePayPerRequest}
	for i, a := range []schema.Attribute{table.PK, table.SK} {
		if a.Name != "" {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(a.Name), AttributeType: a.Type})
			in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(a.Name), KeyType: []types.KeyType{"HASH", "RANGE"}[i]})
		}
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}
