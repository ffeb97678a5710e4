package consumer_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/consumer"
)

// A consumer reads the records of a table's stream, and on its next run the new ones.
func Example() {
	ctx := context.Background()
	db, err := monotable.OpenMemory(nil)
	check(err)
	defer db.Close()
	arn := createOrders(ctx, db.Client())
	putOrder(ctx, db.Client(), "ana", "12.50")
	putOrder(ctx, db.Client(), "ana", "13")

	show := func(_ context.Context, batch consumer.Batch) error {
		for _, r := range batch.Records {
			fmt.Println(r.EventName, r.Dynamodb.NewImage["total"].(*streamtypes.AttributeValueMemberN).Value)
		}
		return nil // the checkpoint moves on
	}
	c, err := consumer.New(db.StreamsClient(), arn, show, consumer.Options{
		Checkpoints: consumer.NewMemory(), // or OpenFile, NewTable
	})
	check(err)
	check(c.CatchUp(ctx)) // or Run, which continues

	putOrder(ctx, db.Client(), "ben", "7")
	check(c.CatchUp(ctx))
	// Output:
	// INSERT 12.5
	// MODIFY 13
	// INSERT 7
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// createOrders creates a table with a stream and returns the stream's ARN.
func createOrders(ctx context.Context, client *dynamodb.Client) (streamARN string) {
	out, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("customer"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	check(err)
	return *out.TableDescription.LatestStreamArn
}

func putOrder(ctx context.Context, client *dynamodb.Client, customer, total string) {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: customer}, "total": &types.AttributeValueMemberN{Value: total},
	}})
	check(err)
}
