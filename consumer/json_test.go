package consumer_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/consumer"
)

// expired is a removal by the time to live, with an attribute of every type.
func expired() types.Record {
	return types.Record{
		AwsRegion: aws.String("us-west-2"), EventID: aws.String("1"), EventName: types.OperationTypeRemove,
		EventSource: aws.String("aws:dynamodb"), EventVersion: aws.String("1.1"),
		UserIdentity: &types.Identity{PrincipalId: aws.String("dynamodb.amazonaws.com"), Type: aws.String("Service")},
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: aws.Time(time.Unix(1479499740, 0)),
			SequenceNumber:              aws.String("4421584500000000017450439091"), SizeBytes: aws.Int64(26), StreamViewType: types.StreamViewTypeNewAndOldImages,
			Keys: map[string]types.AttributeValue{"Id": &types.AttributeValueMemberN{Value: "101"}},
			OldImage: map[string]types.AttributeValue{
				"Id":   &types.AttributeValueMemberN{Value: "101"},
				"s":    &types.AttributeValueMemberS{Value: "<a & b>"},
				"b":    &types.AttributeValueMemberB{Value: []byte("monotable")},
				"bool": &types.AttributeValueMemberBOOL{Value: false},
				"null": &types.AttributeValueMemberNULL{Value: true},
				"ss":   &types.AttributeValueMemberSS{Value: []string{"x"}},
				"ns":   &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
				"bs":   &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
				"l":    &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberM{}}},
				"none": &types.AttributeValueMemberL{},
			},
		},
	}
}

// The parts of a record that the API and Lambda write alike, as AWS documents DynamoDB JSON.
const expiredBody = `"awsRegion":"us-west-2","eventID":"1","eventName":"REMOVE","eventSource":"aws:dynamodb","eventVersion":"1.1",
 "dynamodb":{"ApproximateCreationDateTime":1479499740,"SequenceNumber":"4421584500000000017450439091","SizeBytes":26,
  "StreamViewType":"NEW_AND_OLD_IMAGES","Keys":{"Id":{"N":"101"}},
  "OldImage":{"Id":{"N":"101"},"s":{"S":"<a & b>"},"b":{"B":"bW9ub3RhYmxl"},"bool":{"BOOL":false},"null":{"NULL":true},
   "ss":{"SS":["x"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AQ=="]},"l":{"L":[{"M":{}}]},"none":{"L":[]}}}`

func TestMarshalRecord(t *testing.T) {
	got, err := consumer.MarshalRecord(expired())
	if err != nil {
		t.Fatal(err)
	}
	compareJSON(t, got, `{`+expiredBody+`,"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}}`)
}

func TestMarshalEvent(t *testing.T) {
	got, err := consumer.MarshalEvent(consumer.Batch{Stream: streamARN, Records: []types.Record{expired()}})
	if err != nil {
		t.Fatal(err)
	}
	compareJSON(t, got, `{"Records":[{`+expiredBody+`,"eventSourceARN":"`+streamARN+`",
	 "userIdentity":{"principalId":"dynamodb.amazonaws.com","type":"Service"}}]}`)
}

func compareJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
