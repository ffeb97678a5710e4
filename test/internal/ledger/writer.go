package ledger

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

// ItemsOfWriter is the maximum number of items of a writer: Partition, "#" and two digits each.
const ItemsOfWriter = 20

// Attributes are an item or a key.
type Attributes = map[string]types.AttributeValue

// Writer changes its own items with every kind of write.
type Writer struct {
	Client *dynamodb.Client
	Ledger *Ledger

	id      int
	random  *rand.Rand
	table   func(item string) string
	version int
}

// NewWriter returns writer id for a seed. table returns the table of an item.
func NewWriter(id int, seed uint64, table func(item string) string) *Writer {
	return &Writer{id: id, random: rand.New(rand.NewPCG(seed, uint64(id)+1)), table: table, Ledger: newLedger()}
}

// Owns reports whether an item is the writer's.
func (w *Writer) Owns(item string) bool { return strings.HasPrefix(item, w.Partition()+"#") }

// Partition is the partition key of the writer's items.
func (w *Writer) Partition() string { return "w" + strconv.Itoa(w.id) }

// Write makes one request that changes items, and records its outcome in the ledger.
func (w *Writer) Write(ctx context.Context) error {
	changes, atomically, call := w.next()
	if err := call(ctx); err != nil {
		w.Ledger.Unknown(changes, atomically)
		return err
	}
	w.Ledger.Acknowledge(changes)
	return nil
}

// next draws a request and the changes it makes.
func (w *Writer) next() (changes map[string]int, atomically bool, call func(context.Context) error) {
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

func (w *Writer) nextVersion() int {
	w.version++
	return w.version
}

func (w *Writer) name() string {
	return fmt.Sprintf("w%d#%02d", w.id, w.random.IntN(ItemsOfWriter))
}

// names draws n different items.
func (w *Writer) names(n int) []string {
	drawn := map[string]bool{}
	for len(drawn) < n {
		drawn[w.name()] = true
	}
	return slices.Sorted(maps.Keys(drawn))
}

func (w *Writer) put() (map[string]int, bool, func(context.Context) error) {
	name, version := w.name(), w.nextVersion()
	return map[string]int{name: version}, true, func(ctx context.Context) error {
		_, err := w.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: w.in(name), Item: Item(name, version)})
		return err
	}
}

func (w *Writer) update() (map[string]int, bool, func(context.Context) error) {
	name, version := w.name(), w.nextVersion()
	return map[string]int{name: version}, true, func(ctx context.Context) error {
		_, err := w.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: w.in(name), Key: Key(name),
			UpdateExpression:          aws.String("SET version = :v, parity = :p, expires = :e"),
			ExpressionAttributeValues: Attributes{":v": number(version), ":p": parity(version), ":e": expires(version)},
		})
		return err
	}
}

func (w *Writer) remove() (map[string]int, bool, func(context.Context) error) {
	name := w.name()
	return map[string]int{name: removed}, true, func(ctx context.Context) error {
		_, err := w.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: w.in(name), Key: Key(name)})
		return err
	}
}

// batch puts and deletes; its requests are independent.
func (w *Writer) batch() (map[string]int, bool, func(context.Context) error) {
	changes := map[string]int{}
	requests := map[string][]types.WriteRequest{}
	add := func(name string, r types.WriteRequest) { requests[w.table(name)] = append(requests[w.table(name)], r) }
	for i, name := range w.names(5) {
		if i == 0 {
			changes[name] = removed
			add(name, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: Key(name)}})
			continue
		}
		changes[name] = w.nextVersion()
		add(name, types.WriteRequest{PutRequest: &types.PutRequest{Item: Item(name, changes[name])}})
	}
	return changes, false, func(ctx context.Context) error {
		out, err := w.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: requests})
		if err == nil && len(out.UnprocessedItems) > 0 {
			err = fmt.Errorf("unprocessed: %v", out.UnprocessedItems)
		}
		return err
	}
}

// transact puts two items and deletes one, or does nothing.
func (w *Writer) transact() (map[string]int, bool, func(context.Context) error) {
	names, version := w.names(3), w.nextVersion()
	changes := map[string]int{names[0]: version, names[1]: version, names[2]: removed}
	return changes, true, func(ctx context.Context) error {
		_, err := w.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: w.in(names[0]), Item: Item(names[0], version)}},
			{Put: &types.Put{TableName: w.in(names[1]), Item: Item(names[1], version)}},
			{Delete: &types.Delete{TableName: w.in(names[2]), Key: Key(names[2])}},
		}})
		return err
	}
}

func (w *Writer) in(name string) *string { return aws.String(w.table(name)) }

// Key spreads a writer's items over partitions and sort keys.
func Key(name string) Attributes {
	partition, sort, _ := strings.Cut(name, "#")
	return Attributes{
		"pk": &types.AttributeValueMemberS{Value: partition}, "sk": &types.AttributeValueMemberS{Value: sort},
	}
}

// Item has attributes for indexes (parity, version) and an expiry time in the distant future.
func Item(name string, version int) Attributes {
	it := Key(name)
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

// expires is in the year 2100 or later, so that no item of this test expires.
func expires(version int) types.AttributeValue {
	return number(4_102_444_800 + version)
}
