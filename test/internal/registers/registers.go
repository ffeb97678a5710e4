package registers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Table is the name of the table with the registers.
const Table = "registers"

// index has the registers of a pair by their values.
const index = "byValue"

// The attributes of an item.
const (
	pairName     = "pair"
	registerName = "register"
	valueName    = "n"
)

// ErrTwice is the error of a query that returned an item twice.
var ErrTwice = errors.New("registers: a query returned an item twice")

// Item is the register in an image of a stream, Absent if there is none.
func Item(image map[string]streamtypes.AttributeValue) int {
	return streamInt(image, valueName)
}

// Place is the register that a record of a stream is about.
func Place(keys map[string]streamtypes.AttributeValue) (pair, register int) {
	return streamInt(keys, pairName), streamInt(keys, registerName)
}

func streamInt(attributes map[string]streamtypes.AttributeValue, name string) int {
	v, is := attributes[name].(*streamtypes.AttributeValueMemberN)
	if !is {
		return Absent
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil {
		panic(err)
	}
	return n
}

// Create creates the table, with a stream of old and new images.
func Create(tb testing.TB, client *dynamodb.Client) {
	tb.Helper()
	_, err := client.CreateTable(tb.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String(Table),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(pairName), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String(registerName), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String(valueName), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: keySchema(pairName, registerName),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(index), KeySchema: keySchema(pairName, valueName), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func keySchema(partition, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(partition), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
	}
}

// Perform sends the request. A false condition and a conflict are valid results.
func Perform(ctx context.Context, client *dynamodb.Client, r Request) (Response, error) {
	a, err := send(ctx, client, r)
	var failed *types.ConditionalCheckFailedException
	var conflict *types.TransactionConflictException
	var canceled *types.TransactionCanceledException
	switch {
	case errors.As(err, &failed):
		return Response{Refused: true}, nil
	case errors.As(err, &conflict):
		return Response{Conflict: true}, nil
	case errors.As(err, &canceled):
		return responseOf(canceled)
	default:
		return a, err
	}
}

func responseOf(canceled *types.TransactionCanceledException) (Response, error) {
	var a Response
	for _, reason := range canceled.CancellationReasons {
		switch *reason.Code {
		case "ConditionalCheckFailed":
			a.Refused = true
		case "TransactionConflict":
			a.Conflict = true
		}
	}
	if a.Refused == a.Conflict {
		return a, canceled
	}
	return a, nil
}

func send(ctx context.Context, client *dynamodb.Client, r Request) (Response, error) {
	name := aws.String(Table)
	mine := key(r.Pair, r.Register)
	switch r.Kind {
	case Get:
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: mine, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return Response{}, err
		}
		return Response{Value: Pair{valueOf(out.Item)}}, nil
	case Put:
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: holding(mine, r.Value)})
		return Response{}, err
	case Swap:
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: name, Item: holding(mine, r.Value),
			ConditionExpression: condition(r.Expect), ExpressionAttributeValues: operands(r.Expect),
		})
		return Response{}, err
	case Add:
		out, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: name, Key: mine, UpdateExpression: aws.String("ADD n :e"), ExpressionAttributeValues: operands(1),
			ReturnValues: types.ReturnValueAllNew,
		})
		if err != nil {
			return Response{}, err
		}
		return Response{Value: Pair{valueOf(out.Attributes)}}, nil
	case Remove:
		out, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: mine, ReturnValues: types.ReturnValueAllOld})
		if err != nil {
			return Response{}, err
		}
		return Response{Value: Pair{valueOf(out.Attributes)}}, nil
	case GetBoth:
		return sendGetBoth(ctx, client, r.Pair)
	case Query, QueryIndex:
		return sendQuery(ctx, client, r)
	default:
		in := &dynamodb.TransactWriteItemsInput{TransactItems: actions(r)}
		if r.Token != "" {
			in.ClientRequestToken = &r.Token
		}
		_, err := client.TransactWriteItems(ctx, in)
		return Response{}, err
	}
}

func sendGetBoth(ctx context.Context, client *dynamodb.Client, p int) (Response, error) {
	get := func(register int) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String(Table), Key: key(p, register)}}
	}
	out, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get(0), get(1)}})
	if err != nil {
		return Response{}, err
	}
	return Response{Value: Pair{valueOf(out.Responses[0].Item), valueOf(out.Responses[1].Item)}}, nil
}

func sendQuery(ctx context.Context, client *dynamodb.Client, r Request) (Response, error) {
	in := &dynamodb.QueryInput{
		TableName: aws.String(Table), KeyConditionExpression: aws.String("pair = :p"), ExpressionAttributeValues: item{":p": number(r.Pair)},
	}
	if r.Kind == QueryIndex {
		in.IndexName = aws.String(index)
	} else {
		in.ConsistentRead = aws.Bool(true)
	}
	out, err := client.Query(ctx, in)
	if err != nil {
		return Response{}, err
	}
	a := Response{Value: Pair{Absent, Absent}}
	for _, it := range out.Items {
		register := intOf(it[registerName])
		if a.Value[register] != Absent {
			return Response{}, fmt.Errorf("%w: %v", ErrTwice, out.Items)
		}
		a.Value[register] = valueOf(it)
	}
	return a, nil
}

// actions are the actions of SwapBoth or Move.
func actions(r Request) []types.TransactWriteItem {
	name := aws.String(Table)
	mine, other := key(r.Pair, r.Register), key(r.Pair, 1-r.Register)
	if r.Kind == SwapBoth {
		return []types.TransactWriteItem{
			{Put: &types.Put{TableName: name, Item: holding(other, r.Value)}},
			{Put: &types.Put{
				TableName: name, Item: holding(mine, r.Value),
				ConditionExpression: condition(r.Expect), ExpressionAttributeValues: operands(r.Expect),
			}},
		}
	}
	return []types.TransactWriteItem{
		{ConditionCheck: &types.ConditionCheck{
			TableName: name, Key: mine, ConditionExpression: condition(r.Expect), ExpressionAttributeValues: operands(r.Expect),
		}},
		{Update: &types.Update{TableName: name, Key: other, UpdateExpression: aws.String("ADD n :e"), ExpressionAttributeValues: operands(1)}},
	}
}

type item = map[string]types.AttributeValue

func key(pair, register int) item {
	return item{pairName: number(pair), registerName: number(register)}
}

func holding(key item, n int) item {
	return item{pairName: key[pairName], registerName: key[registerName], valueName: number(n)}
}

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

// valueOf is the register in an item.
func valueOf(it item) int {
	if it[valueName] == nil {
		return Absent
	}
	return intOf(it[valueName])
}

// intOf is a number that this package has written.
func intOf(v types.AttributeValue) int {
	n, err := strconv.Atoi(v.(*types.AttributeValueMemberN).Value)
	if err != nil {
		panic(err)
	}
	return n
}

func condition(expect int) *string {
	if expect == Absent {
		return aws.String("attribute_not_exists(pair)")
	}
	return aws.String("n = :e")
}

func operands(n int) item {
	if n == Absent {
		return nil
	}
	return item{":e": number(n)}
}
