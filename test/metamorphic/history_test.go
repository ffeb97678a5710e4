package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The key space is small on purpose, so that operations touch the same items.
const (
	partitionKeys = 4
	sortKeys      = 6
	owners        = 3
)

// operation is one step of a history. Its result as text must not depend on the variant.
type operation struct {
	text string
	run  func(ctx context.Context, s *subject) string
	// index means that the operation reads an index, so that a variant without indexes skips it.
	index bool
}

// newHistory draws n operations.
func newHistory(r *rand.Rand, n int) []operation {
	history := make([]operation, n)
	for i := range history {
		history[i] = newOperation(r, i)
	}
	return history
}

func newOperation(r *rand.Rand, step int) operation {
	switch weight := r.IntN(100); {
	case weight < 25:
		return newPut(r, step)
	case weight < 45:
		return newUpdate(r, step)
	case weight < 55:
		return newDelete(r)
	case weight < 62:
		return newGet(r)
	case weight < 69:
		return newBatchWrite(r, step)
	case weight < 78:
		return newTransaction(r, step)
	case weight < 86:
		return newQuery(r)
	case weight < 93:
		return newIndexQuery(r)
	default:
		return newScan(r)
	}
}

type attributes = map[string]types.AttributeValue

func randomKey(r *rand.Rand) attributes {
	return attributes{
		"pk": &types.AttributeValueMemberS{Value: "p" + strconv.Itoa(r.IntN(partitionKeys))},
		"sk": &types.AttributeValueMemberN{Value: strconv.Itoa(r.IntN(sortKeys) - 2)},
	}
}

// randomItem is an item that may or may not be in the indexes.
func randomItem(r *rand.Rand, step int) attributes {
	it := randomKey(r)
	it["step"] = &types.AttributeValueMemberN{Value: strconv.Itoa(step)}
	if r.IntN(3) > 0 {
		it["owner"] = &types.AttributeValueMemberS{Value: "o" + strconv.Itoa(r.IntN(owners))}
	}
	if r.IntN(3) > 0 {
		it["rank"] = &types.AttributeValueMemberN{Value: strconv.Itoa(r.IntN(5))}
	}
	if r.IntN(4) == 0 {
		it["tags"] = &types.AttributeValueMemberSS{Value: []string{"a", "b", strconv.Itoa(step)}}
	}
	if r.IntN(8) == 0 {
		it["blob"] = &types.AttributeValueMemberB{Value: []byte(strings.Repeat("z", r.IntN(3000)))}
	}
	return it
}

func newPut(r *rand.Rand, step int) operation {
	in := &dynamodb.PutItemInput{Item: randomItem(r, step), ReturnValues: types.ReturnValueAllOld}
	if r.IntN(3) == 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(pk) OR rank < :r")
		in.ExpressionAttributeValues = attributes{":r": &types.AttributeValueMemberN{Value: "3"}}
	}
	return operation{
		text: "put " + show(in.Item) + " if " + aws.ToString(in.ConditionExpression),
		run: func(ctx context.Context, s *subject) string {
			call := *in
			call.TableName = &s.table
			out, err := s.client.PutItem(ctx, &call)
			if err != nil {
				return failure(err)
			}
			return "old " + show(out.Attributes)
		},
	}
}

func newUpdate(r *rand.Rand, step int) operation {
	expressions := []string{
		"SET rank = if_not_exists(rank, :zero) + :one, step = :step",
		"ADD rank :one SET step = :step",
		"SET step = :step, #owner = :owner REMOVE blob",
		"REMOVE #owner, rank SET step = :step",
		"ADD tags :tags SET step = :step",
		"DELETE tags :tags",
	}
	in := &dynamodb.UpdateItemInput{
		Key:                       randomKey(r),
		UpdateExpression:          &expressions[r.IntN(len(expressions))],
		ExpressionAttributeValues: attributes{},
		ReturnValues:              types.ReturnValueAllNew,
	}
	values := attributes{
		":zero":  &types.AttributeValueMemberN{Value: "0"},
		":one":   &types.AttributeValueMemberN{Value: "1"},
		":step":  &types.AttributeValueMemberN{Value: strconv.Itoa(step)},
		":owner": &types.AttributeValueMemberS{Value: "o" + strconv.Itoa(r.IntN(owners))},
		":tags":  &types.AttributeValueMemberSS{Value: []string{"b", "c"}},
	}
	for name, value := range values {
		if strings.Contains(*in.UpdateExpression, name) {
			in.ExpressionAttributeValues[name] = value
		}
	}
	if strings.Contains(*in.UpdateExpression, "#owner") {
		in.ExpressionAttributeNames = map[string]string{"#owner": "owner"}
	}
	return operation{
		text: "update " + show(in.Key) + " " + *in.UpdateExpression + " " + show(in.ExpressionAttributeValues),
		run: func(ctx context.Context, s *subject) string {
			call := *in
			call.TableName = &s.table
			out, err := s.client.UpdateItem(ctx, &call)
			if err != nil {
				return failure(err)
			}
			return "new " + show(out.Attributes)
		},
	}
}

func newDelete(r *rand.Rand) operation {
	key := randomKey(r)
	return operation{
		text: "delete " + show(key),
		run: func(ctx context.Context, s *subject) string {
			out, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: &s.table, Key: key, ReturnValues: types.ReturnValueAllOld,
			})
			if err != nil {
				return failure(err)
			}
			return "old " + show(out.Attributes)
		},
	}
}

func newGet(r *rand.Rand) operation {
	key := randomKey(r)
	return operation{
		text: "get " + show(key),
		run: func(ctx context.Context, s *subject) string {
			out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: key})
			if err != nil {
				return failure(err)
			}
			return show(out.Item)
		},
	}
}

func newBatchWrite(r *rand.Rand, step int) operation {
	var requests []types.WriteRequest
	var texts []string
	seen := map[string]bool{}
	for range 1 + r.IntN(6) {
		it := randomItem(r, step)
		key := attributes{"pk": it["pk"], "sk": it["sk"]}
		if seen[show(key)] && r.IntN(10) > 0 { // sometimes a duplicate, which is rejected
			continue
		}
		seen[show(key)] = true
		if r.IntN(4) == 0 {
			requests = append(requests, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
			texts = append(texts, "delete "+show(key))
			continue
		}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		texts = append(texts, "put "+show(it))
	}
	return operation{
		text: "batch write " + strings.Join(texts, "; "),
		run: func(ctx context.Context, s *subject) string {
			out, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{s.table: requests},
			})
			if err != nil {
				return failure(err)
			}
			return fmt.Sprintf("unprocessed %d", len(out.UnprocessedItems))
		},
	}
}

func newTransaction(r *rand.Rand, step int) operation {
	it, updated, checked := randomItem(r, step), randomKey(r), randomKey(r)
	one := attributes{":one": &types.AttributeValueMemberN{Value: "1"}}
	return operation{
		text: "transact put " + show(it) + "; update " + show(updated) + " ADD rank 1; check " + show(checked) + " exists",
		run: func(ctx context.Context, s *subject) string {
			_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: &s.table, Item: it}},
				{Update: &types.Update{
					TableName: &s.table, Key: updated, UpdateExpression: aws.String("ADD rank :one"), ExpressionAttributeValues: one,
				}},
				{ConditionCheck: &types.ConditionCheck{
					TableName: &s.table, Key: checked, ConditionExpression: aws.String("attribute_exists(pk)"),
				}},
			}})
			if err != nil {
				return failure(err)
			}
			return "done"
		},
	}
}

func newQuery(r *rand.Rand) operation {
	in := dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :p AND sk BETWEEN :lo AND :hi"),
		ExpressionAttributeValues: attributes{
			":p":  randomKey(r)["pk"],
			":lo": &types.AttributeValueMemberN{Value: strconv.Itoa(r.IntN(3) - 2)},
			":hi": &types.AttributeValueMemberN{Value: strconv.Itoa(r.IntN(4))},
		},
		ScanIndexForward: aws.Bool(r.IntN(2) == 0),
	}
	return queryOperation(r, in, false)
}

func newIndexQuery(r *rand.Rand) operation {
	in := dynamodb.QueryInput{
		IndexName:                aws.String("byOwner"),
		KeyConditionExpression:   aws.String("#owner = :o AND rank >= :lo"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: attributes{
			":o":  &types.AttributeValueMemberS{Value: "o" + strconv.Itoa(r.IntN(owners))},
			":lo": &types.AttributeValueMemberN{Value: strconv.Itoa(r.IntN(3))},
		},
		ScanIndexForward: aws.Bool(r.IntN(2) == 0),
	}
	if r.IntN(2) == 0 {
		in.IndexName = aws.String("byRank")
		in.KeyConditionExpression = aws.String("pk = :p AND rank >= :lo")
		in.ExpressionAttributeNames = nil
		delete(in.ExpressionAttributeValues, ":o")
		in.ExpressionAttributeValues[":p"] = randomKey(r)["pk"]
	}
	return queryOperation(r, in, true)
}

func queryOperation(r *rand.Rand, in dynamodb.QueryInput, index bool) operation {
	if r.IntN(3) == 0 {
		in.FilterExpression = aws.String("attribute_exists(tags)")
	}
	return operation{
		index: index,
		text: fmt.Sprintf("query %s %s %s filter %s forward %v", aws.ToString(in.IndexName), *in.KeyConditionExpression,
			show(in.ExpressionAttributeValues), aws.ToString(in.FilterExpression), *in.ScanIndexForward),
		run: func(ctx context.Context, s *subject) string {
			call := in
			call.TableName, call.Limit = &s.table, s.limit()
			var items []string
			for {
				page, err := s.client.Query(ctx, &call)
				if err != nil {
					return failure(err)
				}
				for _, it := range page.Items {
					items = append(items, show(it))
				}
				if page.LastEvaluatedKey == nil {
					return strings.Join(items, "\n")
				}
				call.ExclusiveStartKey = page.LastEvaluatedKey
			}
		},
	}
}

func newScan(r *rand.Rand) operation {
	segments := int32(1 + r.IntN(4))
	return operation{
		text: fmt.Sprintf("scan in %d segments", segments),
		run: func(ctx context.Context, s *subject) string {
			var items []string
			for segment := range segments {
				in := &dynamodb.ScanInput{TableName: &s.table, Segment: aws.Int32(segment), TotalSegments: aws.Int32(segments), Limit: s.limit()}
				for {
					page, err := s.client.Scan(ctx, in)
					if err != nil {
						return failure(err)
					}
					for _, it := range page.Items {
						items = append(items, show(it))
					}
					if page.LastEvaluatedKey == nil {
						break
					}
					in.ExclusiveStartKey = page.LastEvaluatedKey
				}
			}
			return strings.Join(items, "\n")
		},
	}
}

// failure is the part of an error on which all variants must agree: everything except the request ID.
func failure(err error) string {
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		var codes []string
		for _, reason := range cancelled.CancellationReasons {
			codes = append(codes, aws.ToString(reason.Code))
		}
		return "cancelled " + strings.Join(codes, ", ")
	}
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorCode() + ": " + known.ErrorMessage()
	}
	return "unexpected: " + err.Error()
}

// show formats an item so that equal items have equal texts: names and set members are sorted.
func show(it attributes) string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(it)) {
		fields = append(fields, name+"="+showValue(it[name]))
	}
	return "{" + strings.Join(fields, " ") + "}"
}

func showValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("%d bytes", len(v.Value))
	case *types.AttributeValueMemberSS:
		return fmt.Sprint(slices.Sorted(slices.Values(v.Value)))
	default:
		return fmt.Sprintf("%#v", v)
	}
}
