package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// dynamoDBEvent is the part of Lambda's event that handle reads.
type dynamoDBEvent struct {
	Records []struct {
		EventName string `json:"eventName"`
		DynamoDB  struct {
			Keys     map[string]json.RawMessage
			NewImage map[string]json.RawMessage
		} `json:"dynamodb"`
	}
}

// handle is written like a Lambda function: it receives an event and returns nil when it has processed all of its records.
// If it fails, the same records are delivered again, so it must tolerate records that it has already seen.
func handle(_ context.Context, event []byte) error {
	var e dynamoDBEvent
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	for _, r := range e.Records {
		key, err := json.Marshal(r.DynamoDB.Keys)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(os.Stdout, "%s %s\n", r.EventName, key); err != nil {
			return err
		}
	}
	return nil
}
