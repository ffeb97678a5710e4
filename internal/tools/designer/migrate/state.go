package migrate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/tools/pacing"
)

// Milestone is what the application's owner has deployed; all earlier programs are gone.
type Milestone string

// The milestones, in order.
const (
	NothingDeployed Milestone = ""
	DualWrites      Milestone = "dual-writes" // the old design's programs that write both shapes
	NewReads        Milestone = "new-reads"   // the new design's programs that write both shapes
	NewOnly         Milestone = "new"         // the new design's own programs
)

// order is the position of a milestone; -1 for an unknown one.
func (m Milestone) order() int {
	for i, one := range []Milestone{NothingDeployed, DualWrites, NewReads, NewOnly} {
		if m == one {
			return i
		}
	}
	return -1
}

// State is the stored progress of a migration.
type State struct {
	Design   string            `json:"design"`
	Tables   map[string]string `json:"tables"`
	Fills    []string          `json:"fills,omitempty"`
	Makes    []string          `json:"makes,omitempty"`
	Deployed Milestone         `json:"deployed,omitempty"`
	// Prepared, Filled and Finished are set when tables and indexes, items, and the clean-up are done.
	Prepared bool `json:"prepared,omitempty"`
	Filled   bool `json:"filled,omitempty"`
	Finished bool `json:"finished,omitempty"`
	// Pass is the current walk.
	Pass *Pass `json:"pass,omitempty"`
	// ReadUnits and WriteUnits are the consumed units.
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
	// Written is the number of items written or deleted.
	Written int64 `json:"written"`
}

// Pass is a walk over the tables.
type Pass struct {
	Kind     string              `json:"kind"` // backfill or finish
	Number   int                 `json:"number"`
	Segments int                 `json:"segments"`
	Seen     int64               `json:"seen"`
	Written  int64               `json:"written"`
	Skipped  int64               `json:"skipped"` // items that could not be converted; verify says why
	Tables   map[string][]cursor `json:"tables"`
}

// cursor is the position of a segment.
type cursor struct {
	Done  bool                 `json:"done,omitempty"`
	After map[string][2]string `json:"after,omitempty"` // the key after which it continues: type and value by attribute
}

func keyToCursor(key map[string]types.AttributeValue) cursor {
	c := cursor{Done: len(key) == 0}
	for name, v := range key {
		if c.After == nil {
			c.After = map[string][2]string{}
		}
		s := scalar(v)
		c.After[name] = [2]string{s[:1], s[1:]}
		if s[0] == 'B' {
			c.After[name] = [2]string{"B", hex.EncodeToString([]byte(s[1:]))}
		}
	}
	return c
}

func (c cursor) key() (map[string]types.AttributeValue, error) {
	var out map[string]types.AttributeValue
	for name, v := range c.After {
		if out == nil {
			out = map[string]types.AttributeValue{}
		}
		switch v[0] {
		case "S":
			out[name] = &types.AttributeValueMemberS{Value: v[1]}
		case "N":
			out[name] = &types.AttributeValueMemberN{Value: v[1]}
		default:
			b, err := hex.DecodeString(v[1])
			if err != nil {
				return nil, fmt.Errorf("the migration's state has an invalid key: %w", err)
			}
			out[name] = &types.AttributeValueMemberB{Value: b}
		}
	}
	return out, nil
}

// Errors of the record.
var (
	// ErrLost means that another run has taken over the record.
	ErrLost = errors.New("another run has taken over this migration")
	// ErrHeld means that the migration is already running elsewhere.
	ErrHeld = errors.New("the migration is already running")
)

// leaseTime is how long a silent run keeps its record.
const leaseTime = 20 * time.Second

// record is a migration's item in the state table: its state, and who runs it.
type record struct {
	client *dynamodb.Client
	table  string
	id     string
	owner  string
	lease  time.Duration

	mu    sync.Mutex
	state State
}

const (
	recordKey   = "id"
	tablePrefix = "table/"
)

func (r *record) key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{recordKey: &types.AttributeValueMemberS{Value: id}}
}

// ensureTable creates the state table, unless it exists.
func (r *record) ensureTable(ctx context.Context) error {
	err := active(ctx, r.client, r.table)
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); !absent {
		return err
	}
	_, err = r.client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &r.table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(recordKey), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String(recordKey), KeyType: types.KeyTypeHash}},
	})
	if _, there := errors.AsType[*types.ResourceInUseException](err); err != nil && !there {
		return err
	}
	return active(ctx, r.client, r.table)
}

// load reads the state; false if the migration was never started.
func (r *record) load(ctx context.Context) (holder string, there bool, err error) {
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &r.table, Key: r.key(r.id), ConsistentRead: aws.Bool(true)})
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
		return "", false, nil
	}
	if err != nil || out.Item == nil {
		return "", false, err
	}
	return r.take(out.Item)
}

func (r *record) take(item map[string]types.AttributeValue) (holder string, there bool, err error) {
	if s, is := item["state"].(*types.AttributeValueMemberS); is {
		if err := json.Unmarshal([]byte(s.Value), &r.state); err != nil {
			return "", false, fmt.Errorf("the state of the migration in %s: %w", r.table, err)
		}
		there = true
	}
	until, _ := item["until"].(*types.AttributeValueMemberN)
	who, _ := item["who"].(*types.AttributeValueMemberS)
	if until != nil && who != nil {
		if ms, err := strconv.ParseInt(until.Value, 10, 64); err == nil && time.UnixMilli(ms).After(time.Now()) {
			holder = who.Value
		}
	}
	return holder, there, nil
}

// acquire takes the lease, and claims the tables: two migrations of one table would undo each other's changes. A
// holder that is silent for the lease time loses it; takeOver does not wait for that.
func (r *record) acquire(ctx context.Context, begin State, takeOver bool) error {
	for name, physical := range begin.Tables {
		if err := r.claim(ctx, name, physical); err != nil {
			return err
		}
	}
	r.owner = rand.Text()
	host, _ := os.Hostname()
	now := time.Now()
	in := &dynamodb.UpdateItemInput{
		TableName: &r.table, Key: r.key(r.id), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:         aws.String("SET #owner = :owner, #until = :until, #who = :who, #state = if_not_exists(#state, :state)"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner", "#until": "until", "#who": "who", "#state": "state"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":owner": &types.AttributeValueMemberS{Value: r.owner}, ":until": millis(now.Add(r.lease)),
			":who": &types.AttributeValueMemberS{Value: host + ", process " + strconv.Itoa(os.Getpid())}, ":state": stateValue(&begin),
		},
	}
	if !takeOver {
		in.ConditionExpression = aws.String("attribute_not_exists(#until) OR #until < :now")
		in.ExpressionAttributeValues[":now"] = millis(now)
	}
	out, err := r.client.UpdateItem(ctx, in)
	if _, held := errors.AsType[*types.ConditionalCheckFailedException](err); held {
		holder, _, err := r.load(ctx)
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: on %s; wait until it ends or, if it has crashed, wait %s or use --take-over", ErrHeld, holder, r.lease)
	}
	if err != nil {
		return err
	}
	_, _, err = r.take(out.Attributes)
	return err
}

func (r *record) claim(ctx context.Context, name, physical string) error {
	_, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &r.table, Key: r.key(tablePrefix + physical),
		UpdateExpression:          aws.String("SET #m = :id"),
		ConditionExpression:       aws.String("attribute_not_exists(#m) OR #m = :id"),
		ExpressionAttributeNames:  map[string]string{"#m": "migration"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":id": &types.AttributeValueMemberS{Value: r.id}},
	})
	if _, taken := errors.AsType[*types.ConditionalCheckFailedException](err); taken {
		return fmt.Errorf("another migration of table %s (%s) is in progress, recorded in %s: finish it first", name, physical, r.table)
	}
	return err
}

// release releases the tables at the end.
func (r *record) release(ctx context.Context) error {
	for _, physical := range r.state.Tables {
		if _, err := r.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &r.table, Key: r.key(tablePrefix + physical)}); err != nil {
			return err
		}
	}
	return nil
}

func millis(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.UnixMilli(), 10)}
}

func stateValue(s *State) types.AttributeValue {
	data, _ := json.Marshal(s) // plain data always encodes
	return &types.AttributeValueMemberS{Value: string(data)}
}

// save changes the state and stores it, provided the lease is still held, and renews the lease.
func (r *record) save(ctx context.Context, change func(*State)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if change != nil {
		change(&r.state)
	}
	return r.store(ctx, time.Now().Add(r.lease))
}

// end releases the lease.
func (r *record) end(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store(ctx, time.UnixMilli(0))
}

func (r *record) store(ctx context.Context, until time.Time) error {
	_, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &r.table, Key: r.key(r.id),
		UpdateExpression:         aws.String("SET #state = :state, #until = :until"),
		ConditionExpression:      aws.String("#owner = :owner"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner", "#until": "until", "#state": "state"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":owner": &types.AttributeValueMemberS{Value: r.owner}, ":until": millis(until), ":state": stateValue(&r.state),
		},
	})
	if _, lost := errors.AsType[*types.ConditionalCheckFailedException](err); lost {
		return ErrLost
	}
	return err
}

// active waits until a table and its indexes are ACTIVE.
func active(ctx context.Context, client *dynamodb.Client, name string) error {
	for attempt := 0; ; attempt++ {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return err
		}
		ready := out.Table.TableStatus == types.TableStatusActive
		for _, x := range out.Table.GlobalSecondaryIndexes {
			ready = ready && x.IndexStatus == types.IndexStatusActive
		}
		if ready {
			return nil
		}
		if err := pacing.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}
