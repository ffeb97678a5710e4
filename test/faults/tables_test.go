package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableTime is the timeout for a change of a table, which may have to wait for leases to expire.
const tableTime = 20 * time.Second

// changeTables creates tables at one server, uses them at the others as soon as they are active, and deletes them. The others
// must know what one server has acknowledged, unless they cannot respond.
func (w *workload) changeTables(ctx context.Context, t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(w.seed, 1<<33))
	var clients []*dynamodb.Client
	for _, f := range w.cluster.frontEnds {
		clients = append(clients, newClient(f.clients, tableTime))
	}
	for n := 0; ctx.Err() == nil; n++ {
		random.Shuffle(len(clients), func(i, j int) { clients[i], clients[j] = clients[j], clients[i] })
		faults, err := changeTable(ctx, clients, aws.String(fmt.Sprint("scratch", n)))
		if err == nil {
			w.tables.Add(1)
		}
		if len(faults) > 0 || err != nil && ctx.Err() == nil && !mayHappen(err) {
			t.Error(faults, err)
			return
		}
		rest(ctx, 100*time.Millisecond)
	}
}

// changeTable returns an error if there was no response, so that the state of the table is unknown. The first client changes
// it.
func changeTable(ctx context.Context, clients []*dynamodb.Client, table *string) (faults []string, err error) {
	_, err = clients[0].CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	for active := false; err == nil && !active; {
		var out *dynamodb.DescribeTableOutput
		if out, err = clients[0].DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table}); err == nil {
			active = out.Table.TableStatus == types.TableStatusActive
		}
	}
	if err != nil {
		return nil, err
	}
	id := map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: "1"}}
	for n, c := range clients {
		if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: id}); isUnknown(err) {
			faults = append(faults, fmt.Sprintf("server %d of the order does not know %s, which is active: %v", n, *table, err))
		}
	}
	if _, err := clients[0].DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: table}); err != nil {
		return faults, err
	}
	for n, c := range clients {
		if _, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: id}); err == nil {
			faults = append(faults, fmt.Sprintf("server %d of the order reads %s, which is deleted", n, *table))
		}
	}
	return faults, nil
}

func isUnknown(err error) bool {
	_, is := errors.AsType[*types.ResourceNotFoundException](err)
	return is
}
