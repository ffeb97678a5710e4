package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/monotabletest"
)

// TestPoll calls the function with Lambda's events, again where it failed, gives up the record it cannot deal with,
// and the next run continues after all of them.
func TestPoll(t *testing.T) {
	db := monotabletest.New(t)
	client := db.Client()
	put := func(id string) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("orders"), Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	createTable(t, client)
	for i := range 5 {
		put(fmt.Sprint(i))
	}
	put("last")
	var got []string
	tries := 0
	f := func(_ context.Context, event []byte) error {
		ids, err := idsOf(event)
		if err != nil {
			return err
		}
		if slices.Contains(ids, "3") {
			tries++
			return errors.New("cannot deal with 3")
		}
		got = append(got, ids...)
		return nil
	}
	run := func(want ...string) {
		t.Helper()
		got = nil
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		untilLast := func(ctx context.Context, event []byte) error {
			err := f(ctx, event)
			if slices.Contains(got, "last") {
				cancel()
			}
			return err
		}
		store := consumer.NewTable(client, "checkpoints", "test")
		if err := poll(ctx, client, db.StreamsClient(), "orders", store, untilLast, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	run("0", "1", "2", "4", "last")
	if tries < 5 {
		t.Errorf("tried %d times only", tries)
	}
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "last"}},
	}); err != nil {
		t.Fatal(err)
	}
	run("last")
}

// TestHandle takes an event as Lambda sends it.
func TestHandle(t *testing.T) {
	if err := handle(t.Context(), []byte(`{"Records":[{"eventID":"1","eventName":"INSERT","dynamodb":{"Keys":{"id":{"S":"a"}}}}]}`)); err != nil {
		t.Error(err)
	}
	if err := handle(t.Context(), []byte(`{`)); err == nil {
		t.Error("took half an event")
	}
}

func idsOf(event []byte) ([]string, error) {
	var e struct {
		Records []struct {
			DynamoDB struct {
				Keys map[string]struct{ S string }
			} `json:"dynamodb"`
			EventSourceARN string `json:"eventSourceARN"`
		}
	}
	err := json.Unmarshal(event, &e)
	var ids []string
	for _, r := range e.Records {
		if r.EventSourceARN == "" {
			err = errors.New("the event does not name the stream")
		}
		ids = append(ids, r.DynamoDB.Keys["id"].S)
	}
	return ids, err
}

func createTable(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}); err != nil {
		t.Fatal(err)
	}
}
