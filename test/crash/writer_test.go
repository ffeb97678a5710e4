package crash

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	tableName     = "ledger"
	itemsOfWriter = 20
)

type attributes = map[string]types.AttributeValue

// writer changes its own items with every kind of write until a request fails.
type writer struct {
	id      int
	client  *dynamodb.Client
	random  *rand.Rand
	ledger  *ledger
	version int
}

// run writes until the server is gone, counting each acknowledged request.
func (w *writer) run(ctx context.Context, answers *countdown) {
	for {
		changes, atomically, call := w.next()
		if err := call(ctx); err != nil {
			w.ledger.lose(changes, atomically)
			return
		}
		w.ledger.acknowledge(changes)
		answers.add()
	}
}

// next draws a request and says what it changes.
func (w *writer) next() (changes map[string]int, atomically bool, call func(context.Context) error) {
	switch w.random.IntN(5) {
	case 0:
		return w.put()
	case 1:
		return w.update()
	case 2:
		return w.remove()
	case 3:
		return w.batch()
	default:
		return w.transact()
	}
}

func (w *writer) nextVersion() int {
	w.version++
	return w.version
}

func (w *writer) name() string {
	return fmt.Sprintf("w%d#%02d", w.id, w.random.IntN(itemsOfWriter))
}

// names draws n different items.
func (w *writer) names(n int) []string {
	drawn := map[string]bool{}
	for len(drawn) < n {
		drawn[w.name()] = true
	}
	return slices.Sorted(maps.Keys(drawn))
}

func (w *writer) put() (map[string]int, bool, func(context.Context) error) {
	name, version := w.name(), w.nextVersion()
	return map[string]int{name: version}, true, func(ctx context.Context) error {
		_, err := w.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: item(name, version)})
		return err
	}
}

func (w *writer) update() (map[string]int, bool, func(context.Context) error) {
	name, version := w.name(), w.nextVersion()
	return map[string]int{name: version}, true, func(ctx context.Context) error {
		_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(tableName), Key: key(name),
			UpdateExpression:          aws.String("SET version = :v, parity = :p, expires = :e"),
			ExpressionAttributeValues: attributes{":v": number(version), ":p": parity(version), ":e": expires(version)},
		})
		return err
	}
}

func (w *writer) remove() (map[string]int, bool, func(context.Context) error) {
	name := w.name()
	return map[string]int{name: removed}, true, func(ctx context.Context) error {
		_, err := w.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(tableName), Key: key(name)})
		return err
	}
}

// batch puts and deletes; each of its requests stands alone.
func (w *writer) batch() (map[string]int, bool, func(context.Context) error) {
	changes := map[string]int{}
	var requests []types.WriteRequest
	for i, name := range w.names(5) {
		if i == 0 {
			changes[name] = removed
			requests = append(requests, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key(name)}})
			continue
		}
		changes[name] = w.nextVersion()
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(name, changes[name])}})
	}
	return changes, false, func(ctx context.Context) error {
		out, err := w.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{tableName: requests},
		})
		if err == nil && len(out.UnprocessedItems) > 0 {
			err = fmt.Errorf("unprocessed: %v", out.UnprocessedItems)
		}
		return err
	}
}

// transact puts two items and deletes one, or does nothing.
func (w *writer) transact() (map[string]int, bool, func(context.Context) error) {
	names, version := w.names(3), w.nextVersion()
	changes := map[string]int{names[0]: version, names[1]: version, names[2]: removed}
	table := aws.String(tableName)
	return changes, true, func(ctx context.Context) error {
		_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: table, Item: item(names[0], version)}},
			{Put: &types.Put{TableName: table, Item: item(names[1], version)}},
			{Delete: &types.Delete{TableName: table, Key: key(names[2])}},
		}})
		return err
	}
}

// key spreads a writer's items over partitions and sort keys.
func key(name string) attributes {
	partition, sort, _ := strings.Cut(name, "#")
	return attributes{
		"pk": &types.AttributeValueMemberS{Value: partition}, "sk": &types.AttributeValueMemberS{Value: sort},
	}
}

// item stands in both indexes and, far from now, in the index of expiries.
func item(name string, version int) attributes {
	it := key(name)
	it["version"], it["parity"], it["expires"] = number(version), parity(version), expires(version)
	it["filler"] = &types.AttributeValueMemberS{Value: strings.Repeat("f", version%700)}
	return it
}

func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

func parity(version int) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: []string{"even", "odd"}[version%2]}
}

// expires is in the year 2100 and later: no item of this test expires.
func expires(version int) types.AttributeValue {
	return number(4_102_444_800 + version)
}
