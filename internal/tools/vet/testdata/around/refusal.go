package around

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/internal/tools/vet/testdata/arounddb"
)

type writer interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

func as(ctx context.Context, w writer) string {
	_, err := w.TransactWriteItems(ctx, nil)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) { // want ST515
		return "taken"
	}
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		return "taken"
	}
	if _, is := errors.AsType[*types.ConditionalCheckFailedException](err); is { // want ST515
		return "taken"
	}
	if _, is := err.(*types.ConditionalCheckFailedException); is { //nolint:errorlint // want ST515
		return "taken"
	}
	if errors.As(err, &failed) { //monotable:allow The code of another's library.
		return "taken"
	}
	return ""
}

func codes(ctx context.Context, c *dynamodb.Client) bool {
	_, err := c.ExecuteTransaction(ctx, nil)
	var coded smithy.APIError
	if errors.As(err, &coded) && coded.ErrorCode() == "ConditionalCheckFailedException" { // want ST515
		return true
	}
	if other, is := errors.AsType[smithy.APIError](err); is {
		switch other.ErrorCode() {
		case "TransactionCanceledException":
			return true
		case "ConditionalCheckFailedException": // want ST515
			return true
		}
	}
	return false
}

// The error of a single write, or of either, can be what it is compared with.
func either(ctx context.Context, c *dynamodb.Client, one bool) (taken bool) {
	_, err := c.PutItem(ctx, nil)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return true
	}
	_, err = c.TransactWriteItems(ctx, nil)
	if one {
		_, err = c.PutItem(ctx, nil)
	}
	return errors.As(err, &failed)
}

func again(ctx context.Context, c *dynamodb.Client) (err error) {
	for range 3 {
		if _, err = c.TransactWriteItems(ctx, nil); err == nil {
			break
		}
	}
	func() {
		var failed *types.ConditionalCheckFailedException
		if inner := arounddb.PlaceOrder(); errors.As(inner, &failed) { // want ST515
			panic(inner)
		}
	}()
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) { // want ST515
		return nil
	}
	return err
}
