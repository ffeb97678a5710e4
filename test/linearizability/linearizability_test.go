// Package linearizability lets clients of the AWS SDK work on a handful of items at once and asks whether what
// they were answered can have happened one operation after the other. A failure prints the seed and leaves a
// picture of the history among the test's artifacts (go test -artifacts); run it again with
//
//	go test ./test/linearizability -seed N
package linearizability

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
)

const (
	pairs   = 3
	clients = 8
	each    = 150 // operations of a client
	values  = 4   // few, so that conditions often hold
	patient = 2 * time.Minute
)

var seedFlag = flag.Uint64("seed", 0, "seed of the histories; 0 draws one")

func TestLinearizable(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	for name, open := range map[string]func(*monotable.Options) (*monotable.DB, error){
		"memory": monotable.OpenMemory,
		"disk":   func(o *monotable.Options) (*monotable.DB, error) { return monotable.Open(t.TempDir(), o) },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := open(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			history := record(t, db, seed)
			result, info := porcupine.CheckOperationsVerbose(model, history, patient)
			if result == porcupine.Ok {
				return
			}
			picture := filepath.Join(t.ArtifactDir(), "history.html")
			if err := porcupine.VisualizePath(model, info, picture); err != nil {
				t.Error(err)
			}
			t.Errorf("the history of seed %d is %v, see %s", seed, result, picture)
		})
	}
}

// record lets the clients work and returns what they did.
func record(t *testing.T, db *monotable.DB, seed uint64) []porcupine.Operation {
	t.Helper()
	client := dynamodb.New(db.Client().Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	createTable(t, client)
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var working sync.WaitGroup
	for id := range clients {
		random := rand.New(rand.NewPCG(seed, uint64(id)))
		working.Go(func() {
			for range each {
				r := randomRequest(random)
				call := time.Since(start)
				a, err := perform(t.Context(), client, r)
				end := time.Since(start)
				if err != nil {
					t.Errorf("%+v: %v", r, err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: id, Input: r, Call: int64(call), Output: a, Return: int64(end)})
				mu.Unlock()
			}
		})
	}
	working.Wait()
	return history
}

func randomRequest(random *rand.Rand) request {
	return request{
		pair:     random.IntN(pairs),
		register: random.IntN(2),
		kind:     kind(random.IntN(int(move) + 1)),
		value:    random.IntN(values),
		expect:   random.IntN(values+1) + absent,
	}
}

const table = "registers"

func createTable(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String(table),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// perform sends the request. A false condition and a conflict are answers.
func perform(ctx context.Context, client *dynamodb.Client, r request) (answer, error) {
	a, err := send(ctx, client, r)
	var failed *types.ConditionalCheckFailedException
	var conflict *types.TransactionConflictException
	var canceled *types.TransactionCanceledException
	switch {
	case errors.As(err, &failed):
		return answer{refused: true}, nil
	case errors.As(err, &conflict):
		return answer{conflict: true}, nil
	case errors.As(err, &canceled):
		return answerOf(canceled)
	default:
		return a, err
	}
}

func answerOf(canceled *types.TransactionCanceledException) (answer, error) {
	var a answer
	for _, reason := range canceled.CancellationReasons {
		switch *reason.Code {
		case "ConditionalCheckFailed":
			a.refused = true
		case "TransactionConflict":
			a.conflict = true
		}
	}
	if a.refused == a.conflict {
		return a, canceled
	}
	return a, nil
}

func send(ctx context.Context, client *dynamodb.Client, r request) (answer, error) {
	name := aws.String(table)
	mine, other := key(r.pair, r.register), key(r.pair, 1-r.register)
	switch r.kind {
	case get:
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: mine, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return answer{}, err
		}
		return answer{value: pair{valueOf(out.Item)}}, nil
	case put:
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: holding(mine, r.value)})
		return answer{}, err
	case swap:
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: name, Item: holding(mine, r.value),
			ConditionExpression: condition(r.expect), ExpressionAttributeValues: operands(r.expect),
		})
		return answer{}, err
	case add:
		out, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: name, Key: mine, UpdateExpression: aws.String("ADD n :e"), ExpressionAttributeValues: operands(1),
			ReturnValues: types.ReturnValueAllNew,
		})
		if err != nil {
			return answer{}, err
		}
		return answer{value: pair{valueOf(out.Attributes)}}, nil
	case remove:
		out, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: mine, ReturnValues: types.ReturnValueAllOld})
		if err != nil {
			return answer{}, err
		}
		return answer{value: pair{valueOf(out.Attributes)}}, nil
	case getBoth:
		return sendGetBoth(ctx, client, r.pair)
	default:
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions(r, mine, other)})
		return answer{}, err
	}
}

func sendGetBoth(ctx context.Context, client *dynamodb.Client, p int) (answer, error) {
	get := func(register int) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String(table), Key: key(p, register)}}
	}
	out, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get(0), get(1)}})
	if err != nil {
		return answer{}, err
	}
	return answer{value: pair{valueOf(out.Responses[0].Item), valueOf(out.Responses[1].Item)}}, nil
}

// actions are those of swapBoth or move.
func actions(r request, mine, other item) []types.TransactWriteItem {
	name := aws.String(table)
	if r.kind == swapBoth {
		return []types.TransactWriteItem{
			{Put: &types.Put{TableName: name, Item: holding(other, r.value)}},
			{Put: &types.Put{
				TableName: name, Item: holding(mine, r.value),
				ConditionExpression: condition(r.expect), ExpressionAttributeValues: operands(r.expect),
			}},
		}
	}
	return []types.TransactWriteItem{
		{ConditionCheck: &types.ConditionCheck{
			TableName: name, Key: mine, ConditionExpression: condition(r.expect), ExpressionAttributeValues: operands(r.expect),
		}},
		{Update: &types.Update{TableName: name, Key: other, UpdateExpression: aws.String("ADD n :e"), ExpressionAttributeValues: operands(1)}},
	}
}

type item = map[string]types.AttributeValue

func key(pair, register int) item {
	return item{"id": &types.AttributeValueMemberS{Value: fmt.Sprintf("%d.%d", pair, register)}}
}

func holding(key item, n int) item {
	return item{"id": key["id"], "n": number(n)}
}

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

// valueOf is the register in an item.
func valueOf(it item) int {
	v, ok := it["n"].(*types.AttributeValueMemberN)
	if !ok {
		return absent
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil {
		panic(err)
	}
	return n
}

func condition(expect int) *string {
	if expect == absent {
		return aws.String("attribute_not_exists(id)")
	}
	return aws.String("n = :e")
}

func operands(n int) item {
	if n == absent {
		return nil
	}
	return item{":e": number(n)}
}
