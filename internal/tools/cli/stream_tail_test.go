package cli

import (
	"bufio"
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/monotabletest"
)

// TestTailFollows prints changes as they happen, and ends successfully when it is interrupted.
func TestTailFollows(t *testing.T) {
	db := monotabletest.New(t)
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	client := db.Client()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	status := make(chan int, 1)
	var complaints strings.Builder
	go func() {
		status <- Run(ctx, []string{"stream", "tail", "things", "--from", "trim-horizon", "--endpoint", server.URL}, Environment{
			Program: "monotable", Getenv: func(string) string { return "" }, Stdout: writer, Stderr: &complaints,
		})
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	for _, pk := range []string{"a", "b", "c"} {
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("things"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}},
		}); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), "  INSERT  pk="+pk) {
			t.Fatalf("printed %q", lines.Text())
		}
	}
	cancel()
	if s := <-status; s != 0 || complaints.String() != "" {
		t.Errorf("ended with status %d: %s", s, complaints.String())
	}
}

// TestChangeLine tests the output for each view type of a stream.
func TestChangeLine(t *testing.T) {
	s := func(text string) streamtypes.AttributeValue { return &streamtypes.AttributeValueMemberS{Value: text} }
	n := func(text string) streamtypes.AttributeValue { return &streamtypes.AttributeValueMemberN{Value: text} }
	m := func(v map[string]streamtypes.AttributeValue) streamtypes.AttributeValue {
		return &streamtypes.AttributeValueMemberM{Value: v}
	}
	type image = map[string]streamtypes.AttributeValue
	key := image{"pk": n("7")}
	item := func(more image) image {
		more["pk"] = n("7")
		return more
	}
	line := changeLine([]streamtypes.KeySchemaElement{{AttributeName: aws.String("pk")}})
	for _, c := range []struct {
		event    streamtypes.OperationType
		ttl      bool
		old, new image
		want     string
	}{
		{"INSERT", false, nil, nil, "INSERT  pk=7"},
		{"INSERT", false, nil, item(image{"a": s("word"), "b": s("two words"), "c": s("12"), "d": s(""), "e": s("null")}), `INSERT  pk=7  a=word b="two words" c="12" d="" e="null"`},
		{"MODIFY", false, item(image{"a": n("1")}), item(image{"a": s("1")}), `MODIFY  pk=7  a: 1 → "1"`},
		{"MODIFY", false, nil, item(image{"a": n("2")}), "MODIFY  pk=7  a=2"},
		{"MODIFY", false, item(image{"a": n("1")}), nil, "MODIFY  pk=7  was a=1"},
		{"MODIFY", false, item(image{"m": m(image{"x": n("1"), "y": n("2")})}), item(image{"m": m(image{"x": n("3"), "z": n("4")})}), "MODIFY  pk=7  m.x: 1 → 3, -m.y, +m.z=4"},
		{"MODIFY", false, item(image{"m": m(image{})}), item(image{"m": &streamtypes.AttributeValueMemberL{Value: []streamtypes.AttributeValue{n("1"), s("a")}}}), "MODIFY  pk=7  m: {} → [1, a]"},
		{"MODIFY", false, item(image{"b": s(strings.Repeat("x", 100))}), item(image{"b": s(strings.Repeat("x", 99) + "y")}), "MODIFY  pk=7  b: " + strings.Repeat("x", 59) + "… → " + strings.Repeat("x", 59) + "…"},
		{"MODIFY", false, item(image{"b": &streamtypes.AttributeValueMemberB{Value: []byte("hi")}}), item(image{"b": s("base64:aGk=")}), `MODIFY  pk=7  b: base64:aGk= → "base64:aGk="`},
		{"REMOVE", true, item(image{"a": &streamtypes.AttributeValueMemberNULL{Value: true}}), nil, "REMOVE (TTL)  pk=7  was a=null"},
	} {
		r := streamtypes.Record{EventName: c.event, Dynamodb: &streamtypes.StreamRecord{Keys: key, OldImage: c.old, NewImage: c.new}}
		if c.ttl {
			r.UserIdentity = &streamtypes.Identity{}
		}
		got, err := line(r)
		if _, text, _ := strings.Cut(string(got), "Z  "); err != nil || text != c.want {
			t.Errorf("got  %s, %v\nwant %s", text, err, c.want)
		}
	}
}
