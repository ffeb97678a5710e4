package consumer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// MarshalRecord returns a record as one line of DynamoDB's own JSON.
func MarshalRecord(r types.Record) ([]byte, error) {
	out, err := newRecord(r)
	if err != nil {
		return nil, err
	}
	if r.UserIdentity != nil {
		out.UserIdentity = struct {
			PrincipalID *string `json:"PrincipalId,omitempty"`
			Type        *string `json:"Type,omitempty"`
		}{r.UserIdentity.PrincipalId, r.UserIdentity.Type}
	}
	return marshal(out)
}

// MarshalEvent returns a batch as the [event] that AWS Lambda passes to a function.
//
// [event]: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
func MarshalEvent(b Batch) ([]byte, error) {
	event := struct {
		Records []*record `json:"Records"`
	}{make([]*record, len(b.Records))}
	for i, r := range b.Records {
		out, err := newRecord(r)
		if err != nil {
			return nil, err
		}
		if r.UserIdentity != nil {
			out.UserIdentity = struct {
				PrincipalID *string `json:"principalId,omitempty"`
				Type        *string `json:"type,omitempty"`
			}{r.UserIdentity.PrincipalId, r.UserIdentity.Type}
		}
		out.EventSourceARN = b.Stream
		event.Records[i] = out
	}
	return marshal(event)
}

// record is the JSON form of a record. The API and Lambda only differ in the names of the identity's members, and Lambda
// adds the stream.
type record struct {
	EventID        *string             `json:"eventID,omitempty"`
	EventName      types.OperationType `json:"eventName,omitempty"`
	EventVersion   *string             `json:"eventVersion,omitempty"`
	EventSource    *string             `json:"eventSource,omitempty"`
	Region         *string             `json:"awsRegion,omitempty"`
	Dynamodb       *streamRecord       `json:"dynamodb,omitempty"`
	UserIdentity   any                 `json:"userIdentity,omitempty"`
	EventSourceARN string              `json:"eventSourceARN,omitempty"`
}

type streamRecord struct {
	Created        json.Number          `json:"ApproximateCreationDateTime,omitempty"`
	Keys           map[string]any       `json:"Keys,omitempty"`
	NewImage       map[string]any       `json:"NewImage,omitempty"`
	OldImage       map[string]any       `json:"OldImage,omitempty"`
	SequenceNumber *string              `json:"SequenceNumber,omitempty"`
	SizeBytes      *int64               `json:"SizeBytes,omitempty"`
	StreamViewType types.StreamViewType `json:"StreamViewType,omitempty"`
}

func newRecord(r types.Record) (*record, error) {
	out := &record{EventID: r.EventID, EventName: r.EventName, EventVersion: r.EventVersion, EventSource: r.EventSource, Region: r.AwsRegion}
	if r.Dynamodb == nil {
		return out, nil
	}
	d := r.Dynamodb
	s := &streamRecord{SequenceNumber: d.SequenceNumber, SizeBytes: d.SizeBytes, StreamViewType: d.StreamViewType}
	if d.ApproximateCreationDateTime != nil {
		s.Created = epochSeconds(*d.ApproximateCreationDateTime)
	}
	var err error
	for _, image := range []struct {
		to   *map[string]any
		from map[string]types.AttributeValue
	}{{&s.Keys, d.Keys}, {&s.NewImage, d.NewImage}, {&s.OldImage, d.OldImage}} {
		if *image.to, err = attributes(image.from); err != nil {
			return nil, fmt.Errorf("consumer: record %s: %w", aws.ToString(r.EventID), err)
		}
	}
	out.Dynamodb = s
	return out, nil
}

// epochSeconds is a time in AWS's JSON: seconds, with a fraction if there is one.
func epochSeconds(t time.Time) json.Number {
	if ms := t.UnixMilli() % 1000; ms != 0 {
		return json.Number(fmt.Sprintf("%d.%03d", t.Unix(), ms))
	}
	return json.Number(fmt.Sprint(t.Unix()))
}

func attributes(from map[string]types.AttributeValue) (map[string]any, error) {
	if from == nil {
		return nil, nil //nolint:nilnil // a missing image
	}
	out := make(map[string]any, len(from))
	for name, v := range from {
		value, err := attributeValue(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

// attributeValue is a value in DynamoDB JSON: {"S": "…"} and so on.
func attributeValue(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]string{"S": v.Value}, nil
	case *types.AttributeValueMemberN:
		return map[string]string{"N": v.Value}, nil
	case *types.AttributeValueMemberB:
		return map[string][]byte{"B": v.Value}, nil
	case *types.AttributeValueMemberBOOL:
		return map[string]bool{"BOOL": v.Value}, nil
	case *types.AttributeValueMemberNULL:
		return map[string]bool{"NULL": v.Value}, nil
	case *types.AttributeValueMemberSS:
		return map[string][]string{"SS": v.Value}, nil
	case *types.AttributeValueMemberNS:
		return map[string][]string{"NS": v.Value}, nil
	case *types.AttributeValueMemberBS:
		return map[string][][]byte{"BS": v.Value}, nil
	case *types.AttributeValueMemberM:
		m, err := attributes(v.Value)
		if m == nil {
			m = map[string]any{}
		}
		return map[string]any{"M": m}, err
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, element := range v.Value {
			var err error
			if list[i], err = attributeValue(element); err != nil {
				return nil, err
			}
		}
		return map[string]any{"L": list}, nil
	default:
		return nil, fmt.Errorf("value of unknown type %T", v)
	}
}

func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
