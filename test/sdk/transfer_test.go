package sdk

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestTransfers exports a table to an S3 server and imports it again with the SDK for Go and its waiters.
func TestTransfers(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	store := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	defer store.Close()
	objects := s3.New(s3.Options{
		BaseEndpoint: &store.URL, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	if _, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: new("exports")}); err != nil {
		t.Fatal(err)
	}
	binary, dir := serverproc.Build(t), t.TempDir()
	server := serverproc.Start(t, binary, "--data", dir, "--s3-endpoint", store.URL)
	b := &backups{t, client(server)}
	b.createTable()
	b.turnRecoveryOn()
	want := map[string]string{}
	for i := range 20 {
		want[fmt.Sprint(i)] = fmt.Sprintf("is %d", i)
		b.put(fmt.Sprint(i), want[fmt.Sprint(i)])
	}

	described, err := b.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: new("Source")})
	b.must(err)
	begun, err := b.client.ExportTableToPointInTime(t.Context(), &dynamodb.ExportTableToPointInTimeInput{
		TableArn: described.Table.TableArn, S3Bucket: new("exports"), S3Prefix: new("daily"), // the SDK adds a ClientToken
	})
	b.must(err)
	exported, err := dynamodb.NewExportCompletedWaiter(b.client, func(o *dynamodb.ExportCompletedWaiterOptions) { o.MinDelay = 10 * time.Millisecond }).
		WaitForOutput(t.Context(), &dynamodb.DescribeExportInput{ExportArn: begun.ExportDescription.ExportArn}, time.Minute)
	b.must(err)
	d := exported.ExportDescription
	if *d.ItemCount != int64(len(want)) || d.ClientToken == nil {
		t.Errorf("the export has %d items and the token %v", *d.ItemCount, d.ClientToken)
	}
	if _, err := objects.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: d.S3Bucket, Key: d.ExportManifest}); err != nil {
		t.Errorf("the manifest %s: %v", *d.ExportManifest, err)
	}

	data := strings.TrimSuffix(*d.ExportManifest, "manifest-summary.json") + "data/"
	importing, err := b.client.ImportTable(t.Context(), &dynamodb.ImportTableInput{
		InputFormat: types.InputFormatDynamodbJson, InputCompressionType: types.InputCompressionTypeGzip,
		S3BucketSource: &types.S3BucketSource{S3Bucket: d.S3Bucket, S3KeyPrefix: &data},
		TableCreationParameters: &types.TableCreationParameters{
			TableName: new("Imported"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: new("pk"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: new("pk"), KeyType: types.KeyTypeHash}},
		},
	})
	b.must(err)
	imported, err := dynamodb.NewImportCompletedWaiter(b.client, func(o *dynamodb.ImportCompletedWaiterOptions) { o.MinDelay = 10 * time.Millisecond }).
		WaitForOutput(t.Context(), &dynamodb.DescribeImportInput{ImportArn: importing.ImportTableDescription.ImportArn}, time.Minute)
	b.must(err)
	if n := imported.ImportTableDescription.ImportedItemCount; n != int64(len(want)) {
		t.Errorf("%d items were imported", n)
	}
	b.wantItems("Imported", want)
}
