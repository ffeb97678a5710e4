package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/system"
)

// tableWait limits how long creating a table may take.
const tableWait = 5 * time.Minute

// EnsureTables creates missing tables and waits until all are active. An existing table must have the same keys, indexes and
// stream, and readable items; its TTL is enabled if it is off.
func EnsureTables(ctx context.Context, client *dynamodb.Client, tables []system.Table) error {
	for _, t := range tables {
		if err := ensureTable(ctx, client, t); err != nil {
			return fmt.Errorf("table %s: %w", aws.ToString(t.Create.TableName), err)
		}
	}
	return nil
}

func ensureTable(ctx context.Context, client *dynamodb.Client, t system.Table) error {
	name := t.Create.TableName
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: name})
	var missing *types.ResourceNotFoundException
	var taken *types.ResourceInUseException
	switch {
	case err == nil:
	case errors.As(err, &missing):
		// Another process may be creating it; the table is compared afterwards.
		if _, err := client.CreateTable(ctx, t.Create); err != nil && !errors.As(err, &taken) {
			return err
		}
	default:
		return err
	}
	if described == nil || described.Table.TableStatus != types.TableStatusActive {
		waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = 20*time.Millisecond, 2*time.Second
		})
		if described, err = waiter.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: name}, tableWait); err != nil {
			return err
		}
	}
	items, err := compareItems(ctx, client, t)
	if err != nil {
		return err
	}
	if faults := slices.Concat(compareTable(t.Create, described.Table), items); len(faults) > 0 {
		return &otherDesignError{faults}
	}
	return ensureTTL(ctx, client, t)
}

// otherDesignError is for a table that was created for another design, usually an earlier version of the system.
type otherDesignError struct{ faults []string }

func (e *otherDesignError) Error() string {
	return "it was created by a program with another design:\n  " + strings.Join(e.faults, "\n  ") +
		"\nTake it to the design of this program with \"monotable migrate\", as docs/migrations.md says (A system that is stopped meanwhile), " +
		"start the program that made it, or use another --data or --stage."
}

// looked is how many items of a table are checked.
const looked = 1000

// compareItems checks a sample of items. If no item of a kind can be read, they were stored by a program with another design. A
// single unreadable item is damaged, and its readers report it.
func compareItems(ctx context.Context, client *dynamodb.Client, t system.Table) (faults []string, err error) {
	if t.Decode == nil {
		return nil, nil
	}
	type kind struct {
		entity string // in lower case: Go has ID where a design may have Id
		at     table.Place
	}
	readable, unreadable := map[kind]bool{}, map[kind]string{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: t.Create.TableName, Limit: aws.Int32(looked)})
	for seen := 0; seen < looked && pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			x, at, err := t.Decode(item)
			if fault, is := errors.AsType[*table.DecodeError](err); is {
				unreadable[kind{strings.ToLower(fault.Entity), at}] = fault.Error()
			} else if x != nil {
				readable[kind{strings.ToLower(reflect.TypeOf(x).Name()), at}] = true
			}
		}
		seen += len(page.Items)
	}
	for k, why := range unreadable {
		if !readable[k] {
			faults = append(faults, why)
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults), nil // index copies lack what their item lacks
}

func ensureTTL(ctx context.Context, client *dynamodb.Client, t system.Table) error {
	if t.TTL == "" {
		return nil
	}
	described, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: t.Create.TableName})
	if err != nil {
		return err
	}
	ttl := described.TimeToLiveDescription
	if ttl != nil && (ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled || ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		if attribute := aws.ToString(ttl.AttributeName); attribute != t.TTL {
			return fmt.Errorf("expires by attribute %s, want %s: change its TTL", attribute, t.TTL)
		}
		return nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: t.Create.TableName, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: aws.Bool(true)},
	})
	return err
}

// compareTable reports how a table differs from the expected one.
func compareTable(want *dynamodb.CreateTableInput, is *types.TableDescription) (faults []string) {
	differ := func(what, is, want string) {
		if is != want {
			faults = append(faults, fmt.Sprintf("%s is %s, want %s", what, is, want))
		}
	}
	differ("key", keyText(is.KeySchema, is.AttributeDefinitions), keyText(want.KeySchema, want.AttributeDefinitions))
	have := map[string]index{}
	for _, x := range is.GlobalSecondaryIndexes {
		have[*x.IndexName] = index{keyText(x.KeySchema, is.AttributeDefinitions), x.Projection}
	}
	for _, x := range is.LocalSecondaryIndexes {
		have[*x.IndexName] = index{keyText(x.KeySchema, is.AttributeDefinitions), x.Projection}
	}
	wanted := map[string]index{}
	for _, x := range want.GlobalSecondaryIndexes {
		wanted[*x.IndexName] = index{keyText(x.KeySchema, want.AttributeDefinitions), x.Projection}
	}
	for _, x := range want.LocalSecondaryIndexes {
		wanted[*x.IndexName] = index{keyText(x.KeySchema, want.AttributeDefinitions), x.Projection}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		differ("index "+name, orNone(have[name].key), wanted[name].key)
		if missing := have[name].missingAttributes(wanted[name]); have[name].key != "" && missing != "" {
			faults = append(faults, fmt.Sprintf("index %s does not project %s", name, missing))
		}
	}
	differ("stream", streamText(is.StreamSpecification), streamText(want.StreamSpecification))
	return faults
}

// index describes an index's entries: their key and projection.
type index struct {
	key        string
	projection *types.Projection
}

// missingAttributes returns the attributes that the wanted index projects and this one does not, or "" if there are none.
func (x index) missingAttributes(wanted index) string {
	if x.projection == nil || wanted.projection == nil || x.projection.ProjectionType == types.ProjectionTypeAll {
		return ""
	}
	if wanted.projection.ProjectionType == types.ProjectionTypeAll {
		return "all attributes"
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(wanted.projection.NonKeyAttributes), func(name string) bool {
		return slices.Contains(x.projection.NonKeyAttributes, name)
	}), ", ")
}

// keyText formats a key as "pk S, sk S".
func keyText(schema []types.KeySchemaElement, definitions []types.AttributeDefinition) string {
	kinds := map[string]types.ScalarAttributeType{}
	for _, d := range definitions {
		kinds[*d.AttributeName] = d.AttributeType
	}
	var parts []string
	for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, k := range schema {
			if k.KeyType == kind {
				parts = append(parts, *k.AttributeName+" "+string(kinds[*k.AttributeName]))
			}
		}
	}
	return strings.Join(parts, ", ")
}

func streamText(s *types.StreamSpecification) string {
	if s == nil || !aws.ToBool(s.StreamEnabled) {
		return "none"
	}
	return string(s.StreamViewType)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
