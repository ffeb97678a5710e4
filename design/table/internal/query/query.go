// Package query plans reads. A Source defines the partitions, order and bounds of a read or collection; a Question is a
// read with validated input, which decides whether an item matches. The package sends no requests: package table sends
// them, merges the partitions and filters the results with the Question.
//
// Bounds may include items that do not match, but never exclude items that do: the Question drops the former.
//
// A Source and a Question belong to one call of a pattern and are not safe for concurrent use.
package query

import (
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Request is the Query for all partitions, without the values of the partition key. It is nil if the bounds exclude
// everything.
func (s *Source) Request(table *string, in schema.Input) (*dynamodb.QueryInput, error) {
	q := &dynamodb.QueryInput{
		TableName:                 table,
		ScanIndexForward:          aws.Bool(!s.Reverse),
		ConsistentRead:            aws.Bool(s.consistent),
		ExpressionAttributeNames:  map[string]string{},
		ExpressionAttributeValues: schema.Item{},
	}
	if s.index != "" {
		q.IndexName = aws.String(s.index)
	}
	var terms []string
	for i, a := range s.pk {
		alias := "#p" + strconv.Itoa(i)
		q.ExpressionAttributeNames[alias] = a.Name
		terms = append(terms, alias+" = "+partitionPlaceholder(i))
	}
	room := schema.MaxSortKeyBytes
	for i, c := range s.SK {
		b, nothing, err := s.bound(c, in, room)
		if err != nil || bool(nothing) {
			return nil, err
		}
		if text, ok := schema.KeyText(b.equal); ok {
			room = max(room-len(text), 1)
		}
		if term := b.term(i, q.ExpressionAttributeValues); term != "" {
			q.ExpressionAttributeNames["#s"+strconv.Itoa(i)] = c.Name
			terms = append(terms, term)
		}
	}
	if !s.Scan {
		q.KeyConditionExpression = aws.String(strings.Join(terms, " AND "))
	}
	return q, nil
}

// partitionPlaceholder is the placeholder for attribute i of the partition key.
func partitionPlaceholder(i int) string { return ":p" + strconv.Itoa(i) }

// RequestOf is a copy of the request for a partition.
func (s *Source) RequestOf(q *dynamodb.QueryInput, partition schema.Item) dynamodb.QueryInput {
	one := *q
	one.ExpressionAttributeValues = maps.Clone(q.ExpressionAttributeValues)
	for i, a := range s.pk {
		one.ExpressionAttributeValues[partitionPlaceholder(i)] = partition[a.Name]
	}
	return one
}

// term is the bound of sort key attribute i as an expression, whose values it adds; "" if there is no bound.
func (b bound) term(i int, values schema.Item) string {
	n := strconv.Itoa(i)
	name, first, second := "#s"+n, ":s"+n, ":t"+n
	set := func(placeholder string, v types.AttributeValue) string {
		values[placeholder] = v
		return placeholder
	}
	switch {
	case b.equal != nil:
		return name + " = " + set(first, b.equal)
	case b.prefix != nil:
		return "begins_with(" + name + ", " + set(first, b.prefix) + ")"
	case b.lower != nil && b.upper != nil:
		return name + " BETWEEN " + set(first, b.lower) + " AND " + set(second, b.upper)
	case b.lower != nil:
		return name + " >= " + set(first, b.lower)
	case b.upper != nil:
		return name + " <= " + set(first, b.upper)
	default:
		return ""
	}
}
