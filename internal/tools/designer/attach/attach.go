// Package attach stores designs with their tables, in a table of the same database, so that everyone who can read the
// tables can look up their design. It works with any DynamoDB endpoint.
//
// # Model
//
//	table monotable-designs      table (partition key, the name of a table) · version (sort key, 1, 2, 3 …)
//	                             file, text, tables, at; none of these in a version that detaches
//
// The latest version counts. A design of several tables is attached to each of them.
//
// # Invariants
//
//	A1  Versions are immutable: attaching and detaching add a new one.
//	A2  A table without a design, a database without the table monotable-designs, and a caller who may not read it see no design.
//
// Processes may attach concurrently; of two that write the same version, one gets an error and must retry.
package attach

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/design"
)

// Table is the name of the table that holds attached designs.
const Table = "monotable-designs"

const (
	tableWait = 2 * time.Minute
	// textMax leaves room in an item of 400 KB.
	textMax = 390_000
)

// Client is the part of *dynamodb.Client that this package uses.
type Client interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Design is a version of the design of a table.
type Design struct {
	Table   string    `json:"table"`
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	// File is the original name of the file, whose extension gives the format; "" in a version that detaches.
	File string `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
	// Tables are the tables' real names by their names in the design.
	Tables map[string]string `json:"tables,omitempty"`
}

// Parse reads the design.
func (d *Design) Parse() (*design.Design, error) { return Parse(d.File, []byte(d.Text)) }

// Parse reads a design in the format given by its file's extension, as design.Load does.
func Parse(file string, text []byte) (*design.Design, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return design.ParseJSON(file, text)
	case ".md", ".markdown":
		return design.ParseMarkdown(file, text)
	default:
		return design.Parse(file, text)
	}
}

// Attach adds a version to each of the design's tables, and creates the table of designs if it does not exist.
func Attach(ctx context.Context, client Client, d Design) ([]Design, error) {
	if len(d.Text) > textMax {
		return nil, fmt.Errorf("%s has %d bytes, more than the maximum of %d for a DynamoDB item", d.File, len(d.Text), textMax)
	}
	if err := ensure(ctx, client); err != nil {
		return nil, err
	}
	var out []Design
	var names []string
	for _, name := range d.Tables {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		of := d
		of.Table = name
		if err := add(ctx, client, &of); err != nil {
			return out, err
		}
		out = append(out, of)
	}
	return out, nil
}

// ErrNone means that a table has no design.
var ErrNone = errors.New("no design is attached")

// Detach adds a version without a design.
func Detach(ctx context.Context, client Client, table string, at time.Time) (Design, error) {
	d := Design{Table: table, At: at}
	latest, err := Latest(ctx, client, table)
	if err == nil && latest == nil {
		err = fmt.Errorf("%w to %s", ErrNone, table)
	}
	if err != nil {
		return d, err
	}
	return d, add(ctx, client, &d)
}

// add writes d as the next version of its table.
func add(ctx context.Context, client Client, d *Design) error {
	last, err := last(ctx, client, d.Table)
	if err != nil {
		return err
	}
	d.Version = 1
	if last != nil {
		d.Version = last.Version + 1
	}
	item := map[string]types.AttributeValue{
		"table": &types.AttributeValueMemberS{Value: d.Table}, "version": &types.AttributeValueMemberN{Value: strconv.Itoa(d.Version)},
		"at": &types.AttributeValueMemberS{Value: d.At.UTC().Format(time.RFC3339)},
	}
	if d.File != "" {
		tables := map[string]types.AttributeValue{}
		for name, own := range d.Tables {
			tables[name] = &types.AttributeValueMemberS{Value: own}
		}
		item["file"] = &types.AttributeValueMemberS{Value: d.File}
		item["text"] = &types.AttributeValueMemberS{Value: d.Text}
		item["tables"] = &types.AttributeValueMemberM{Value: tables}
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(Table), Item: item, ConditionExpression: aws.String("attribute_not_exists(version)"),
	})
	if _, lost := errors.AsType[*types.ConditionalCheckFailedException](err); lost {
		return fmt.Errorf("the design of %s was changed concurrently: try again", d.Table)
	}
	return err
}

// Latest returns the design of a table; nil if it has none.
func Latest(ctx context.Context, client Client, table string) (*Design, error) {
	d, err := last(ctx, client, table)
	if d != nil && d.File == "" {
		return nil, err
	}
	return d, err
}

// last is the last version of a table's design, even if it detaches.
func last(ctx context.Context, client Client, table string) (*Design, error) {
	found, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String(Table), Limit: aws.Int32(1), ScanIndexForward: aws.Bool(false), ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("#table = :table"), ExpressionAttributeNames: map[string]string{"#table": "table"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":table": &types.AttributeValueMemberS{Value: table}},
	})
	if absent(err) || err == nil && len(found.Items) == 0 {
		return nil, nil //nolint:nilnil // no design is not an error
	}
	if err != nil {
		return nil, err
	}
	return designOf(found.Items[0])
}

// absent reports whether an error means that there are no designs that the caller may see.
func absent(err error) bool {
	if refused, is := errors.AsType[smithy.APIError](err); is {
		return slices.Contains([]string{"ResourceNotFoundException", "AccessDeniedException"}, refused.ErrorCode())
	}
	return false
}

// List returns the last versions of all tables' designs, except detached ones; with all set, every version.
func List(ctx context.Context, client Client, all bool) ([]Design, error) {
	var out []Design
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(Table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if absent(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			d, err := designOf(it)
			if err != nil {
				return nil, err
			}
			out = append(out, *d)
		}
	}
	slices.SortFunc(out, func(a, b Design) int {
		if a.Table != b.Table {
			return strings.Compare(a.Table, b.Table)
		}
		return b.Version - a.Version
	})
	if !all {
		out = slices.CompactFunc(out, func(a, b Design) bool { return a.Table == b.Table })
		out = slices.DeleteFunc(out, func(d Design) bool { return d.File == "" })
	}
	return out, nil
}

func designOf(it map[string]types.AttributeValue) (*Design, error) {
	text := func(name string) string {
		s, _ := it[name].(*types.AttributeValueMemberS)
		if s == nil {
			return ""
		}
		return s.Value
	}
	d := &Design{Table: text("table"), File: text("file"), Text: text("text"), Tables: map[string]string{}}
	version, _ := it["version"].(*types.AttributeValueMemberN)
	if version == nil {
		return nil, fmt.Errorf("the table %s has an item without a version", Table)
	}
	var err error
	if d.Version, err = strconv.Atoi(version.Value); err != nil {
		return nil, fmt.Errorf("the table %s has the version %s: want a whole number", Table, version.Value)
	}
	d.At, _ = time.Parse(time.RFC3339, text("at")) // zero if another program wrote it
	if tables, is := it["tables"].(*types.AttributeValueMemberM); is {
		for name, own := range tables.Value {
			if s, is := own.(*types.AttributeValueMemberS); is {
				d.Tables[name] = s.Value
			}
		}
	}
	return d, nil
}

// ensure creates the table of designs.
func ensure(ctx context.Context, client Client) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(Table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("table"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("version"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("table"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("version"), KeyType: types.KeyTypeRange}},
	})
	if _, there := errors.AsType[*types.ResourceInUseException](err); err != nil && !there {
		return fmt.Errorf("create table %s: %w", Table, err)
	}
	return dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second //nolint:mnd // a local database creates it at once
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(Table)}, tableWait)
}
