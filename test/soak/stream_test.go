package soak

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// replayWait bounds the replay of the stream.
const replayWait = 10 * time.Minute

// replay reads the stream from its beginning. Each record of an item must start with what the previous one left, and
// in the end they must give the table: then none is missing or out of order.
func replay(t *testing.T, server *serverproc.Server, stream string) {
	t.Helper()
	var mu sync.Mutex
	created, records := map[string]string{}, 0
	reader, err := consumer.New(dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.Endpoint), Credentials: aws.AnonymousCredentials{},
	}), stream, func(_ context.Context, batch consumer.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range batch.Records {
			name := stringOf(r.Dynamodb.Keys, "pk") + "#" + stringOf(r.Dynamodb.Keys, "sk")
			if old := numberOf(r.Dynamodb.OldImage); old != created[name] {
				return fmt.Errorf("record %s of %s begins with version %q, and the one before it left %q",
					*r.Dynamodb.SequenceNumber, name, old, created[name])
			}
			created[name] = numberOf(r.Dynamodb.NewImage)
			if created[name] == "" {
				delete(created, name)
			}
			records++
		}
		return nil
	}, consumer.Options{MaxAttempts: 1, PollInterval: 10 * time.Millisecond, DiscoverInterval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), replayWait)
	defer cancel()
	if err := reader.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	items := 0
	for pages := dynamodb.NewScanPaginator(connect(server), &dynamodb.ScanInput{TableName: aws.String(streamed)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			items++
			version, err := versionOf(it)
			if name := nameOf(it); err != nil || created[name] != fmt.Sprint(version) {
				t.Errorf("item %s has version %d, %v; the stream makes it %q", name, version, err, created[name])
			}
		}
	}
	if items != len(created) {
		t.Errorf("the table has %d items, the stream makes %d", items, len(created))
	}
	t.Logf("%d records of the stream make the %d items of the table", records, items)
}

func stringOf(image map[string]streamtypes.AttributeValue, name string) string {
	s, _ := image[name].(*streamtypes.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// numberOf is the version in an image, "" if there is none.
func numberOf(image map[string]streamtypes.AttributeValue) string {
	n, _ := image["version"].(*streamtypes.AttributeValueMemberN)
	if n == nil {
		return ""
	}
	return n.Value
}
