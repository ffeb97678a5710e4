package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/ledger"
)

// client is one user of the database: a writer that also reads its items.
type client struct {
	writer    *ledger.Writer
	random    *rand.Rand
	latencies []time.Duration
}

func newClient(id int, seed uint64) *client {
	return &client{
		writer: ledger.NewWriter(id, seed, tableOf),
		random: rand.New(rand.NewPCG(seed, uint64(id)+1<<32)),
	}
}

// request makes one request: half of them write, the others read, and some are conditional writes that must fail.
func (c *client) request(ctx context.Context) error {
	switch n := c.random.IntN(20); {
	case n < 10:
		return c.writer.Write(ctx)
	case n < 15:
		return c.get(ctx)
	case n < 19:
		return c.query(ctx)
	default:
		return c.failCondition(ctx)
	}
}

func (c *client) drawItem() string {
	return fmt.Sprintf("%s#%02d", c.writer.Partition(), c.random.IntN(ledger.ItemsOfWriter))
}

func (c *client) get(ctx context.Context) error {
	name := c.drawItem()
	out, err := c.writer.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(tableOf(name)), Key: ledger.Key(name), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return err
	}
	want, exists := c.writer.Ledger.Version(name)
	if exists != (out.Item != nil) {
		return fmt.Errorf("item %s is there: %v, want %v", name, out.Item != nil, exists)
	}
	if exists {
		if got, err := versionOf(out.Item); got != want || err != nil {
			return fmt.Errorf("item %s has version %d, %w; want %d", name, got, err, want)
		}
	}
	return nil
}

// query reads the client's items in one table.
func (c *client) query(ctx context.Context) error {
	table := tables[c.random.IntN(len(tables))]
	found, err := c.items(ctx, table)
	if err != nil {
		return err
	}
	for i := range ledger.ItemsOfWriter {
		name := fmt.Sprintf("%s#%02d", c.writer.Partition(), i)
		if tableOf(name) != table {
			continue
		}
		got, there := found[name]
		if want, exists := c.writer.Ledger.Version(name); there != exists || got != want {
			return fmt.Errorf("item %s has version %d (%v), want %d (%v)", name, got, there, want, exists)
		}
	}
	return nil
}

// items returns the versions of the client's items in a table.
func (c *client) items(ctx context.Context, table string) (map[string]int, error) {
	found := map[string]int{}
	pages := dynamodb.NewQueryPaginator(c.writer.Client, &dynamodb.QueryInput{
		TableName: &table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: ledger.Attributes{":p": &types.AttributeValueMemberS{Value: c.writer.Partition()}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			if found[nameOf(it)], err = versionOf(it); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// failCondition puts an item under a condition that does not hold. Later reads and the ledger show if it was put.
func (c *client) failCondition(ctx context.Context) error {
	name := c.drawItem()
	_, err := c.writer.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(tableOf(name)), Item: ledger.Item(name, 0), ConditionExpression: aws.String("attribute_exists(nothing)"),
	})
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return nil
	}
	return fmt.Errorf("a put whose condition does not hold: %w", err)
}

// settle compares all items of the client with its ledger.
func (c *client) settle(ctx context.Context) (faults []string, err error) {
	all := map[string]int{}
	for _, table := range tables {
		found, err := c.items(ctx, table)
		if err != nil {
			return nil, err
		}
		for name, version := range found {
			if tableOf(name) != table {
				faults = append(faults, fmt.Sprintf("item %s is in table %s", name, table))
			}
			all[name] = version
		}
	}
	return append(faults, c.writer.Ledger.Settle(all)...), nil
}

func nameOf(it ledger.Attributes) string {
	return it["pk"].(*types.AttributeValueMemberS).Value + "#" + it["sk"].(*types.AttributeValueMemberS).Value
}

func versionOf(it ledger.Attributes) (int, error) {
	return strconv.Atoi(it["version"].(*types.AttributeValueMemberN).Value)
}
