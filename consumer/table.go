package consumer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of a checkpoint table. Those of its key are strings.
const (
	consumerAttribute = "consumer" // partition key: the consumer's name
	shardAttribute    = "shard"    // sort key: stream ARN, "/", shard id
	sequenceAttribute = "sequence"
	sinceAttribute    = "since" // milliseconds since the epoch
	doneAttribute     = "done"
	ownerAttribute    = "owner" // the run that wrote the item
)

// tableWait is how long Create waits for a new table.
const tableWait = time.Minute

// Tables is the part of *dynamodb.Client that TableCheckpoints calls.
type Tables interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// TableCheckpoints stores checkpoints in a DynamoDB table, which consumers with different names can share. Its partition
// key is "consumer", its sort key "shard", both strings.
//
// The last consumer to load the checkpoints owns them: each write requires that only the writer has written the shard's
// checkpoint since it was loaded, and otherwise fails with ErrTakenOver. Two consumers with the same name, which is a
// mistake, therefore cannot undo each other's progress, although both may receive the same records before the older one
// notices.
type TableCheckpoints struct {
	tables Tables
	table  string
	name   string
	owner  string // of this run

	mu     sync.Mutex
	loaded map[string]string // the owner of a shard's checkpoint when it was loaded, by sort key
}

// NewTable returns the checkpoints of the named consumer in a table.
func NewTable(tables Tables, table, name string) *TableCheckpoints {
	return &TableCheckpoints{tables: tables, table: table, name: name, owner: rand.Text(), loaded: map[string]string{}}
}

// Create creates the table with on-demand billing unless it exists, and waits until it can be used.
func (t *TableCheckpoints) Create(ctx context.Context) error {
	text := types.ScalarAttributeTypeS
	_, err := t.tables.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &t.table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(consumerAttribute), AttributeType: text},
			{AttributeName: aws.String(shardAttribute), AttributeType: text},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(consumerAttribute), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(shardAttribute), KeyType: types.KeyTypeRange},
		},
	})
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return fmt.Errorf("consumer: create table %s: %w", t.table, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(t.tables)
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &t.table}, tableWait); err != nil {
		return fmt.Errorf("consumer: wait for table %s: %w", t.table, err)
	}
	return nil
}

// Load implements Checkpoints.
func (t *TableCheckpoints) Load(ctx context.Context, stream string) (map[string]Checkpoint, error) {
	found, owners := map[string]Checkpoint{}, map[string]string{}
	pages := dynamodb.NewQueryPaginator(t.tables, &dynamodb.QueryInput{
		TableName:                &t.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#consumer = :consumer AND begins_with(#shard, :stream)"),
		ExpressionAttributeNames: map[string]string{"#consumer": consumerAttribute, "#shard": shardAttribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":consumer": text(t.name), ":stream": text(sortKey(stream, "")),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("consumer: load checkpoints from table %s: %w", t.table, err)
		}
		for _, item := range page.Items {
			key := textOf(item[shardAttribute])
			owners[key] = textOf(item[ownerAttribute])
			if found[strings.TrimPrefix(key, sortKey(stream, ""))], err = checkpointOf(item); err != nil {
				return nil, fmt.Errorf("consumer: checkpoint %s in table %s: %w", key, t.table, err)
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.loaded, owners)
	return found, nil
}

// Save implements Checkpoints.
func (t *TableCheckpoints) Save(ctx context.Context, stream, shard string, c Checkpoint) error {
	item := t.key(stream, shard)
	item[ownerAttribute] = text(t.owner)
	item[sequenceAttribute] = text(c.Sequence)
	item[doneAttribute] = &types.AttributeValueMemberBOOL{Value: c.Done}
	if !c.Since.IsZero() {
		item[sinceAttribute] = &types.AttributeValueMemberN{Value: strconv.FormatInt(c.Since.UnixMilli(), 10)}
	}
	_, err := t.tables.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &t.table, Item: item,
		ConditionExpression: aws.String(ownedCondition), ExpressionAttributeNames: ownedNames(),
		ExpressionAttributeValues: t.ownedValues(stream, shard),
	})
	return t.checkpointError(shard, err)
}

// Delete implements Checkpoints.
func (t *TableCheckpoints) Delete(ctx context.Context, stream, shard string) error {
	_, err := t.tables.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.table, Key: t.key(stream, shard),
		ConditionExpression: aws.String(ownedCondition), ExpressionAttributeNames: ownedNames(),
		ExpressionAttributeValues: t.ownedValues(stream, shard),
	})
	return t.checkpointError(shard, err)
}

// ownedCondition holds if no one else has written a checkpoint since it was loaded, also for a write that is retried
// because its response was lost.
const ownedCondition = "attribute_not_exists(#owner) OR #owner IN (:before, :own)"

func ownedNames() map[string]string { return map[string]string{"#owner": ownerAttribute} }

func (t *TableCheckpoints) ownedValues(stream, shard string) map[string]types.AttributeValue {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := cmp.Or(t.loaded[sortKey(stream, shard)], t.owner)
	return map[string]types.AttributeValue{":before": text(before), ":own": text(t.owner)}
}

func (t *TableCheckpoints) checkpointError(shard string, err error) error {
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		return fmt.Errorf("%w: %s of consumer %q in table %s", ErrTakenOver, shard, t.name, t.table)
	}
	if err != nil {
		return fmt.Errorf("consumer: checkpoint of %s in table %s: %w", shard, t.table, err)
	}
	return nil
}

func (t *TableCheckpoints) key(stream, shard string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		consumerAttribute: text(t.name), shardAttribute: text(sortKey(stream, shard)),
	}
}

// sortKey sorts the shards of one stream together.
func sortKey(stream, shard string) string { return stream + "/" + shard }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func textOf(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func checkpointOf(item map[string]types.AttributeValue) (Checkpoint, error) {
	c := Checkpoint{Sequence: textOf(item[sequenceAttribute])}
	if done, ok := item[doneAttribute].(*types.AttributeValueMemberBOOL); ok {
		c.Done = done.Value
	}
	if since, ok := item[sinceAttribute].(*types.AttributeValueMemberN); ok {
		ms, err := strconv.ParseInt(since.Value, 10, 64)
		if err != nil {
			return Checkpoint{}, err
		}
		c.Since = time.UnixMilli(ms)
	}
	return c, nil
}
