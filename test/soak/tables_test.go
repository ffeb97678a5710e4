package soak

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// streamed is the table with a stream.
const streamed = "soak-streamed"

// tables are the tables of the run. Each client has items in all of them.
var tables = []string{"soak-plain", "soak-indexed", streamed}

// tableOf is the table of an item, determined by the last digit of its name.
func tableOf(item string) string { return tables[int(item[len(item)-1]-'0')%len(tables)] }

// connect returns a client with a connection for each of the run's clients. It retries, see package crash.
func connect(server *serverproc.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.Endpoint), Credentials: aws.AnonymousCredentials{},
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost = clients, clients
		}),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 20 * time.Millisecond }),
	})
}

// createTables makes a plain table, one with local and global indexes and expiry, and one with a global index and a
// stream. It returns the stream's ARN.
func createTables(t *testing.T, c *dynamodb.Client) (stream string) {
	t.Helper()
	definition := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	schema := func(partition, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &partition, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	keys := []types.AttributeDefinition{definition("pk", types.ScalarAttributeTypeS), definition("sk", types.ScalarAttributeTypeS)}
	indexed := slices.Concat(keys, []types.AttributeDefinition{
		definition("parity", types.ScalarAttributeTypeS), definition("version", types.ScalarAttributeTypeN),
	})
	byParity := types.GlobalSecondaryIndex{
		IndexName: aws.String("byParity"), KeySchema: schema("parity", "version"),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}
	byVersion := types.LocalSecondaryIndex{
		IndexName: aws.String("byVersion"), KeySchema: schema("pk", "version"),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}
	for _, in := range []*dynamodb.CreateTableInput{
		{AttributeDefinitions: keys},
		{
			AttributeDefinitions:   indexed,
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{byParity}, LocalSecondaryIndexes: []types.LocalSecondaryIndex{byVersion},
		},
		{
			AttributeDefinitions: indexed, GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{byParity},
			StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
		},
	} {
		in.TableName, in.KeySchema, in.BillingMode = &tables[0], schema("pk", "sk"), types.BillingModePayPerRequest
		switch {
		case in.StreamSpecification != nil:
			in.TableName = aws.String(streamed)
		case in.LocalSecondaryIndexes != nil:
			in.TableName = &tables[1]
		}
		out, err := c.CreateTable(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		stream = aws.ToString(out.TableDescription.LatestStreamArn)
	}
	_, err := c.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               &tables[1],
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}
