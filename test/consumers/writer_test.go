package consumers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	tableName     = "items"
	itemsOfWriter = 100
	batchItems    = 25

	// The pause of a writer between two requests: of one or two items initially, of batches later, when all
	// writers together must exceed the 1000 changes per second and shard that cause a split.
	calmInterval = 15 * time.Millisecond
	busyInterval = 30 * time.Millisecond
)

// writer writes increasing versions of its own items, one request after the other.
type writer struct {
	id     int
	client *dynamodb.Client
	random *rand.Rand

	version      int
	sent         map[string]map[int]bool
	acknowledged map[string][]int
	lost         int // requests without a response
}

func newWriter(id int, seed uint64) *writer {
	return &writer{
		id: id, random: rand.New(rand.NewPCG(seed, uint64(id+1))),
		sent: map[string]map[int]bool{}, acknowledged: map[string][]int{},
	}
}

// write writes until ctx ends. A request without a response, for example because the server was killed, may
// have been executed; the writer does not retry it.
func (w *writer) write(ctx context.Context, busy bool) {
	interval := calmInterval
	if busy {
		interval = busyInterval
	}
	pace := time.NewTicker(interval)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
		// A started request is completed, because otherwise its outcome would be unknown without need.
		w.request(context.WithoutCancel(ctx), busy)
	}
}

func (w *writer) request(ctx context.Context, busy bool) {
	w.version++
	n, send := 1, w.put
	if busy {
		n, send = batchItems, w.batch
	} else {
		switch w.random.IntN(3) {
		case 0:
			send = w.update
		case 1:
			n, send = 2, w.transact
		}
	}
	items := make([]string, n)
	first := w.random.IntN(itemsOfWriter)
	for i := range items {
		items[i] = fmt.Sprintf("w%d#%d", w.id, (first+i)%itemsOfWriter)
		if w.sent[items[i]] == nil {
			w.sent[items[i]] = map[int]bool{}
		}
		w.sent[items[i]][w.version] = true
	}
	if err := send(ctx, items); err != nil {
		w.lost++
		return
	}
	for _, item := range items {
		w.acknowledged[item] = append(w.acknowledged[item], w.version)
	}
}

func (w *writer) put(ctx context.Context, items []string) error {
	_, err := w.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: w.item(items[0])})
	return err
}

func (w *writer) update(ctx context.Context, items []string) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(tableName), Key: key(items[0]), UpdateExpression: aws.String("SET version = :v"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": w.number()},
	})
	return err
}

func (w *writer) transact(ctx context.Context, items []string) error {
	in := &dynamodb.TransactWriteItemsInput{}
	for _, item := range items {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(tableName), Item: w.item(item)}})
	}
	_, err := w.client.TransactWriteItems(ctx, in)
	return err
}

func (w *writer) batch(ctx context.Context, items []string) error {
	var requests []types.WriteRequest
	for _, item := range items {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: w.item(item)}})
	}
	_, err := w.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{tableName: requests}})
	return err
}

func (w *writer) item(name string) map[string]types.AttributeValue {
	it := key(name)
	it["version"] = w.number()
	return it
}

func (w *writer) number() types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(w.version)}
}

func key(name string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"item": &types.AttributeValueMemberS{Value: name}}
}
