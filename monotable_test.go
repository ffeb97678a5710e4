package monotable_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
)

// TestOptionsFaults: all invalid options are reported together.
func TestOptionsFaults(t *testing.T) {
	_, err := monotable.OpenMemory(&monotable.Options{AccountID: "42", Durability: 7, GSIDelay: -1})
	if err == nil {
		t.Fatal("opened with bad options")
	}
	for _, want := range []string{"AccountID", "Durability", "GSIDelay"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %s: %v", want, err)
		}
	}
	for want, o := range map[string]monotable.Options{
		`AccountID "12345678901x": want 12 digits`:         {AccountID: "12345678901x"},
		`Region "Frankfurt/1": want a name like us-east-1`: {Region: "Frankfurt/1"},
		`Region "": want a name like us-east-1`:            {Regions: []string{""}},
	} {
		db, err := monotable.OpenMemory(&o)
		if err == nil {
			_ = db.Close()
		}
		if err == nil || err.Error() != "monotable: "+want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestOpenEncryptedWithoutKey: a new directory is not called encrypted.
func TestOpenEncryptedWithoutKey(t *testing.T) {
	_, err := monotable.Open(t.TempDir(), &monotable.Options{Encrypt: true})
	if err == nil || errors.Is(err, monotable.ErrMasterKey) || !strings.HasSuffix(err.Error(), "an encrypted directory needs a master key") {
		t.Errorf("error %v", err)
	}
}

// TestOpenWithSmallBuffers: any positive sizes will do.
func TestOpenWithSmallBuffers(t *testing.T) {
	db, err := monotable.Open(t.TempDir(), &monotable.Options{CacheSize: 1, MemTableSize: 1, WriteMemory: 1, RequestMemory: 1})
	if err != nil {
		t.Fatal(err)
	}
	createOrders(t.Context(), db.Client())
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpenTwice: the directory may be open in this process, so the error does not say that another one has it.
func TestOpenTwice(t *testing.T) {
	dir := t.TempDir()
	db, err := monotable.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := monotable.Open(dir, nil); !errors.Is(err, monotable.ErrLocked) || strings.Contains(err.Error(), "another process") {
		t.Errorf("error %v", err)
	}
}

// TestClientErrors: the SDK sees the errors of the API as its own types.
func TestClientErrors(t *testing.T) {
	client := monotabletest.New(t).Client()
	_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("nowhere"),
		Key:       map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
	})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("got %v, want a ResourceNotFoundException", err)
	}
}

// TestClientContext: a request whose context has ended is not sent.
func TestClientContext(t *testing.T) {
	client := monotabletest.New(t).Client()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.ListTables(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestOptionsInARNs: Region and account are those of the options.
func TestOptionsInARNs(t *testing.T) {
	client := monotabletest.NewWith(t, &monotable.Options{Region: "sa-east-1", AccountID: "123456789012"}).Client()
	createOrders(t.Context(), client)
	response, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *response.Table.TableArn, "arn:aws:dynamodb:sa-east-1:123456789012:table/orders"; got != want {
		t.Errorf("ARN %q, want %q", got, want)
	}
}

// TestOpenRejectsForeignDirectories: a directory that contains something else is left unchanged.
func TestOpenRejectsForeignDirectories(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(note, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := monotable.Open(dir, nil); err == nil {
		t.Error("opened a directory that contains other files")
		_ = db.Close()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the directory was changed: %v", entries)
	}
}

// TestRelativePaths: files are where the options said when the database was opened, also if the process goes elsewhere.
func TestRelativePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	db := monotabletest.NewWith(t, &monotable.Options{KinesisDir: "kinesis", Audit: &monotable.Audit{File: "audit.jsonl", MaxSize: 1}})
	if err := os.Mkdir("elsewhere", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir("elsewhere")
	ctx, client := t.Context(), db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	createOrders(ctx, client)
	_, err := client.EnableKinesisStreamingDestination(ctx, &dynamodb.EnableKinesisStreamingDestinationInput{
		TableName: aws.String("orders"), StreamArn: aws.String("arn:aws:kinesis:us-east-1:000000000000:stream/changes"),
	})
	if err != nil {
		t.Fatal(err)
	}
	putOrder(t, db, "1")
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 0 {
		t.Errorf("the new working directory has %v, %v", files, err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "audit.jsonl.*")); err != nil || len(files) == 0 {
		t.Errorf("the audit log was not rotated: %v, %v", files, err)
	}
}

// TestCallsAfterClose: calls of in-process clients fail at once, without the SDK's retries.
func TestCallsAfterClose(t *testing.T) {
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var attempts int
	count := func(s *middleware.Stack) error {
		return s.Finalize.Add(middleware.FinalizeMiddlewareFunc("count", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			attempts++
			return next.HandleFinalize(ctx, in)
		}), middleware.After)
	}
	if _, err := db.Client(dynamodb.WithAPIOptions(count)).ListTables(t.Context(), nil); !errors.Is(err, monotable.ErrClosed) || attempts != 1 {
		t.Errorf("tables: %v after %d attempts, want ErrClosed after one", err, attempts)
	}
	attempts = 0
	if _, err := db.StreamsClient(dynamodbstreams.WithAPIOptions(count)).ListStreams(t.Context(), nil); !errors.Is(err, monotable.ErrClosed) || attempts != 1 {
		t.Errorf("streams: %v after %d attempts, want ErrClosed after one", err, attempts)
	}
}
