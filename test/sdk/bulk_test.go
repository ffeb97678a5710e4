package sdk

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestBulkOperations puts the items in an S3 server's objects into a table with the SDK for Go: with conditions, with invalid
// records, and canceled. It reads the reports from the server.
func TestBulkOperations(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	store := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	defer store.Close()
	server := serverproc.Start(t, serverproc.Build(t), "--memory", "--s3-endpoint", store.URL)
	b := &bulk{backups: &backups{t, client(server)}, objects: s3.New(s3.Options{
		BaseEndpoint: &store.URL, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})}
	for _, name := range []string{"source", "reports"} {
		_, err := b.objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name})
		b.must(err)
	}
	b.createTable()
	b.put("taken", "before")
	first := b.conditions()
	second := b.cancelled()
	b.listed(first, second)
	b.refusals(first)
}

// bulk has the clients of a test and its steps.
type bulk struct {
	*backups
	objects *s3.Client
}

// object writes an object of the bucket source.
func (b *bulk) object(key string, records ...string) {
	b.Helper()
	_, err := b.objects.PutObject(b.Context(), &s3.PutObjectInput{
		Bucket: new("source"), Key: &key, Body: strings.NewReader(strings.Join(records, "\n")),
	})
	b.must(err)
}

// start starts putting the items of the objects with a prefix.
func (b *bulk) start(prefix string, rate *int64) *types.BulkOperationDescription {
	b.Helper()
	out, err := b.client.StartBulkPutItems(b.Context(), b.request(prefix, rate)) // the SDK adds a ClientToken
	b.must(err)
	return out.BulkOperationDescription
}

func (b *bulk) request(prefix string, rate *int64) *dynamodb.StartBulkPutItemsInput {
	return &dynamodb.StartBulkPutItemsInput{
		TableName: new("Source"), MaxWriteRequestUnits: rate,
		InputS3Configuration: &types.InputS3Configuration{
			S3Bucket: new("source"), S3KeyPrefix: &prefix, InputFormat: types.BulkOperationInputFormatDynamodbJson,
		},
		OutputS3Configuration: &types.OutputS3Configuration{
			S3Bucket: new("reports"), S3KeyPrefix: &prefix,
			OutputType: []types.OutputTypeEnum{types.OutputTypeEnumError, types.OutputTypeEnumConditionCheckFailure},
		},
	}
}

func (b *bulk) describe(arn *string) *types.BulkOperationDescription {
	b.Helper()
	out, err := b.client.DescribeBulkOperation(b.Context(), &dynamodb.DescribeBulkOperationInput{BulkOperationArn: arn})
	b.must(err)
	return out.BulkOperationDescription
}

// over waits until a bulk operation has ended.
func (b *bulk) over(arn *string) *types.BulkOperationDescription {
	b.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if d := b.describe(arn); d.EndTime != nil {
			return d
		}
		if b.Context().Err() != nil {
			b.Fatal("the bulk operation does not end")
		}
	}
	return nil
}

// conditions puts items: one with a true condition, one with a false one; two records are invalid.
func (b *bulk) conditions() (arn string) {
	b.Helper()
	b.object("conditions/1.json", `{"Item":{"pk":{"S":"new"},"is":{"S":"put"}}}`,
		`{"Item":{"pk":{"S":"taken"},"is":{"S":"lost"}},"ConditionExpression":"attribute_not_exists(pk)"}`,
		`{"Item":{"no":{"S":"key"}}}`)
	b.object("conditions/2.json", `no JSON`,
		`{"Item":{"pk":{"S":"taken"},"is":{"S":"after"}},"ConditionExpression":"#v = :v","ExpressionAttributeNames":{"#v":"is"},"ExpressionAttributeValues":{":v":{"S":"before"}}}`)
	begun := b.start("conditions/", nil)
	if begun.BulkOperationStatus != types.BulkOperationStatusInProgress || begun.ClientToken == nil || begun.PerformanceTier != types.BulkOperationPerformanceTierStandard {
		b.Errorf("the operation begins as %+v", begun)
	}
	d := b.over(begun.BulkOperationArn)
	if d.BulkOperationStatus != types.BulkOperationStatusCompletedWithErrors || d.ProcessedItemCount != 5 || d.FailedItemCount != 2 ||
		aws.ToInt64(d.ProcessedInputBytes) != aws.ToInt64(d.TotalInputBytes) || d.FailureCode != nil {
		b.Errorf("the operation ends as %+v", d)
	}
	if u := d.BulkOperationUsage; len(u) != 1 || *u[0].Table.BulkPutBytes != int64(len("pk"+"new"+"is"+"put"+"pk"+"taken"+"is"+"after")) ||
		*u[0].GlobalSecondaryIndexes["byIs"].BulkPutBytes == 0 {
		b.Errorf("the usage is %+v", u)
	}
	b.wantItems("Source", map[string]string{"new": "put", "taken": "after"})
	reports := b.reports("conditions/")
	if e := reports["ERROR"]; len(e) != 2 || e[0].ErrorCode != "ValidationException" || e[0].S3Key != "conditions/1.json" || e[1].ErrorCode != "SerializationException" {
		b.Errorf("reported as errors: %+v", e)
	}
	if c := reports["CONDITION_CHECK_FAILURE"]; len(c) != 1 || c[0].Item["is"]["S"] != "lost" || c[0].ExistingItem["is"]["S"] != "before" {
		b.Errorf("reported as failed conditions: %+v", c)
	}
	return *d.BulkOperationArn
}

// reported is a line of a report.
type reported struct {
	S3Key                   string
	ErrorCode, ErrorMessage string
	Item, ExistingItem      map[string]map[string]string
}

// reports reads the reports of the only bulk operation with a prefix, as named in its manifest.
func (b *bulk) reports(prefix string) map[string][]reported {
	b.Helper()
	all := map[string][]reported{}
	listed, err := b.objects.ListObjectsV2(b.Context(), &s3.ListObjectsV2Input{Bucket: new("reports"), Prefix: &prefix})
	b.must(err)
	for _, o := range listed.Contents {
		if !strings.HasSuffix(*o.Key, "/manifest-files.json") {
			continue
		}
		for line := range strings.Lines(b.read(*o.Key)) {
			var file struct {
				OutputType, DataFileS3Key string
				ItemCount                 int
			}
			b.must(json.Unmarshal([]byte(line), &file))
			for line := range strings.Lines(b.read(file.DataFileS3Key)) {
				var r reported
				b.must(json.Unmarshal([]byte(line), &r))
				all[file.OutputType] = append(all[file.OutputType], r)
			}
			if n := len(all[file.OutputType]); n != file.ItemCount {
				b.Errorf("%s has %d lines, the manifest says %d", file.DataFileS3Key, n, file.ItemCount)
			}
		}
	}
	return all
}

// read reads an object of the bucket reports.
func (b *bulk) read(key string) string {
	b.Helper()
	out, err := b.objects.GetObject(b.Context(), &s3.GetObjectInput{Bucket: new("reports"), Key: &key})
	b.must(err)
	defer out.Body.Close()
	body := io.Reader(out.Body)
	if strings.HasSuffix(key, ".gz") {
		body, err = gzip.NewReader(out.Body)
		b.must(err)
	}
	text, err := io.ReadAll(body)
	b.must(err)
	return string(text)
}

// cancelled starts a bulk operation that would take minutes at its rate limit, and cancels it.
func (b *bulk) cancelled() (arn string) {
	b.Helper()
	records := make([]string, 400)
	for i := range records {
		records[i] = fmt.Sprintf(`{"Item":{"pk":{"S":"large %d"},"is":{"S":"%s"}}}`, i, strings.Repeat("x", 300<<10))
	}
	b.object("slow/1.json", records...)
	begun := b.start("slow/", new(int64(1024)))
	out, err := b.client.CancelBulkOperation(b.Context(), &dynamodb.CancelBulkOperationInput{BulkOperationArn: begun.BulkOperationArn})
	b.must(err)
	if out.BulkOperationStatus != types.BulkOperationStatusCancelling || *out.BulkOperationArn != *begun.BulkOperationArn {
		b.Errorf("cancelled as %+v", out)
	}
	d := b.over(begun.BulkOperationArn)
	if d.BulkOperationStatus != types.BulkOperationStatusCancelled || d.FailureCode == nil || d.ProcessedItemCount == int64(len(records)) {
		b.Errorf("the operation ends as %s, %v after %d items", d.BulkOperationStatus, d.FailureCode, d.ProcessedItemCount)
	}
	return *begun.BulkOperationArn
}

// listed pages through the bulk operations, newest first.
func (b *bulk) listed(arns ...string) {
	b.Helper()
	slices.Reverse(arns)
	var got []string
	pages := dynamodb.NewListBulkOperationsPaginator(b.client, &dynamodb.ListBulkOperationsInput{MaxResults: new(int32(1))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(b.Context())
		b.must(err)
		for _, s := range page.BulkOperationsSummaryList {
			got = append(got, *s.BulkOperationArn)
		}
	}
	if !slices.Equal(got, arns) {
		b.Errorf("listed %q, want %q", got, arns)
	}
}

func (b *bulk) refusals(over string) {
	b.Helper()
	_, err := b.client.CancelBulkOperation(b.Context(), &dynamodb.CancelBulkOperationInput{BulkOperationArn: &over})
	if e, ok := errors.AsType[smithy.APIError](err); !ok || e.ErrorCode() != "ValidationException" {
		b.Errorf("what is over was cancelled: %v", err)
	}
	_, err = b.client.DescribeBulkOperation(b.Context(), &dynamodb.DescribeBulkOperationInput{BulkOperationArn: new(over + "0")})
	wantError[*types.ResourceNotFoundException](b.backups, err)
	in := b.request("conditions/", nil)
	in.TableName = new("Nowhere")
	_, err = b.client.StartBulkPutItems(b.Context(), in)
	wantError[*types.ResourceNotFoundException](b.backups, err)
	in = b.request("conditions/", nil)
	in.ClientToken = new("once")
	_, err = b.client.StartBulkPutItems(b.Context(), in)
	b.must(err)
	in.MaxWriteRequestUnits = new(int64(2048))
	_, err = b.client.StartBulkPutItems(b.Context(), in)
	wantError[*types.IdempotentParameterMismatchException](b.backups, err)
}
