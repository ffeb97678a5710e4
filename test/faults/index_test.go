package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/test/internal/registers"
)

const extraIndex = "extra"

// changeIndexes repeatedly adds an index, waits until it is filled and removes it.
func (w *workload) changeIndexes(ctx context.Context, t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(w.seed, 1<<32))
	for ctx.Err() == nil {
		client := w.clients[random.IntN(frontEnds)]
		status, err := extraStatus(ctx, client)
		switch {
		case err != nil:
		case status == "":
			err = createExtra(ctx, client)
		case status == types.IndexStatusActive:
			w.indexes.Add(1)
			err = deleteExtra(ctx, client)
		}
		if err != nil && ctx.Err() == nil && !mayHappenToIndex(err) {
			t.Error(err)
			return
		}
		rest(ctx, w.cluster.store.pace().rest)
	}
}

// mayHappenToIndex is mayHappen for changes of which an earlier one may still be in progress, or have been executed without a
// response.
func mayHappenToIndex(err error) bool {
	if refused, is := errors.AsType[smithy.APIError](err); is {
		if code := refused.ErrorCode(); code == "ResourceInUseException" || code == "ValidationException" || code == "ResourceNotFoundException" {
			return true
		}
	}
	return mayHappen(err)
}

// finishIndexes waits until the index exists and is filled.
func (w *workload) finishIndexes(t *testing.T) {
	t.Helper()
	poll(t, "an index is added", func() error {
		status, err := extraStatus(t.Context(), w.clients[0])
		switch {
		case err != nil:
			return err
		case status == types.IndexStatusActive:
			return nil
		case status == "":
			return errors.Join(createExtra(t.Context(), w.clients[0]), errors.New("it has just been created"))
		default:
			return errors.New(string(status))
		}
	})
}

// extraStatus is "" if there is no such index.
func extraStatus(ctx context.Context, client *dynamodb.Client) (types.IndexStatus, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(registers.Table)})
	if err != nil {
		return "", err
	}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		if *x.IndexName == extraIndex {
			return x.IndexStatus, nil
		}
	}
	return "", nil
}

func createExtra(ctx context.Context, client *dynamodb.Client) error {
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeN}
	}
	return updateExtra(ctx, client, types.GlobalSecondaryIndexUpdate{Create: &types.CreateGlobalSecondaryIndexAction{
		IndexName: aws.String(extraIndex), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("register"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("n"), KeyType: types.KeyTypeRange},
		},
	}}, attribute("register"), attribute("n"))
}

func deleteExtra(ctx context.Context, client *dynamodb.Client) error {
	return updateExtra(ctx, client, types.GlobalSecondaryIndexUpdate{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String(extraIndex)}})
}

func updateExtra(ctx context.Context, client *dynamodb.Client, update types.GlobalSecondaryIndexUpdate, attributes ...types.AttributeDefinition) error {
	_, err := client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: aws.String(registers.Table), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{update}, AttributeDefinitions: attributes,
	})
	return err
}
