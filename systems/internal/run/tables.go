package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/system"
)

// tableWait is how long a new table may take.
const tableWait = 5 * time.Minute

// EnsureTables makes the tables that are missing and waits until all can be used. A table that is there must have the
// same keys, indexes and stream; its TTL is switched on where it is off.
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
		// Another process may be making it: whoever comes second compares.
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
	if err := compareTable(t.Create, described.Table); err != nil {
		return err
	}
	return ensureTTL(ctx, client, t)
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

// compareTable tells in what a table is not the one that is wanted.
func compareTable(want *dynamodb.CreateTableInput, is *types.TableDescription) error {
	var faults []error
	differ := func(what, is, want string) {
		if is != want {
			faults = append(faults, fmt.Errorf("%s is %s, want %s", what, is, want))
		}
	}
	differ("key", keyText(is.KeySchema, is.AttributeDefinitions), keyText(want.KeySchema, want.AttributeDefinitions))
	have := map[string]string{}
	for _, index := range is.GlobalSecondaryIndexes {
		have[*index.IndexName] = keyText(index.KeySchema, is.AttributeDefinitions)
	}
	for _, index := range is.LocalSecondaryIndexes {
		have[*index.IndexName] = keyText(index.KeySchema, is.AttributeDefinitions)
	}
	wanted := map[string]string{}
	for _, index := range want.GlobalSecondaryIndexes {
		wanted[*index.IndexName] = keyText(index.KeySchema, want.AttributeDefinitions)
	}
	for _, index := range want.LocalSecondaryIndexes {
		wanted[*index.IndexName] = keyText(index.KeySchema, want.AttributeDefinitions)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		differ("index "+name, orNone(have[name]), wanted[name])
	}
	differ("stream", streamText(is.StreamSpecification), streamText(want.StreamSpecification))
	if len(faults) > 0 {
		return fmt.Errorf("is there, and is another: %w (move its data, or use another --data or --stage)", errors.Join(faults...))
	}
	return nil
}

// keyText is a key as "pk S, sk S".
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
