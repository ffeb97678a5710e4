package table

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Scanner is implemented by clients that can scan, such as *dynamodb.Client.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// response is the response to a request of a reading.
type response struct {
	items    []Item
	next     Item
	consumed *types.ConsumedCapacity
}

// send sends a lane's request: a Query, or a Scan of a segment.
func (r *reading) send(ctx context.Context, l *lane, q *dynamodb.QueryInput) (response, error) {
	if !r.source.Scan {
		out, err := r.db.client.Query(ctx, q)
		if err != nil {
			return response{}, err
		}
		return response{out.Items, out.LastEvaluatedKey, out.ConsumedCapacity}, nil
	}
	client, able := r.db.client.(Scanner)
	if !able {
		return response{}, errors.New("the client that Open was given has no method Scan")
	}
	in := &dynamodb.ScanInput{
		TableName: q.TableName, IndexName: q.IndexName, ConsistentRead: q.ConsistentRead, FilterExpression: q.FilterExpression,
		ExclusiveStartKey: q.ExclusiveStartKey, Limit: q.Limit, ReturnConsumedCapacity: q.ReturnConsumedCapacity,
	}
	if len(q.ExpressionAttributeNames) > 0 {
		in.ExpressionAttributeNames = q.ExpressionAttributeNames
	}
	if len(q.ExpressionAttributeValues) > 0 {
		in.ExpressionAttributeValues = q.ExpressionAttributeValues
	}
	if len(r.lanes) > 1 {
		in.Segment, in.TotalSegments = aws.Int32(int32(l.number)), aws.Int32(int32(len(r.lanes))) //nolint:gosec // few
	}
	out, err := client.Scan(ctx, in)
	if err != nil {
		return response{}, err
	}
	return response{out.Items, out.LastEvaluatedKey, out.ConsumedCapacity}, nil
}
