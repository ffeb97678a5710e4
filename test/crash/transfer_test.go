package crash

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

const (
	transferObjects = 4
	transferRecords = 3_000 // in each object; one in a hundred is invalid
	transferItems   = transferObjects * transferRecords * 99 / 100
	transferErrors  = transferObjects * transferRecords / 100
)

// TestKillTransfers kills the server while it imports a table, puts the same items into another one, and then exports the first.
// Each of these resumes after every kill. At the end, each item is there and has been counted and reported once: the puts are
// conditional on the item being missing, so a repeated put would be reported.
func TestKillTransfers(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	binary, dir, buckets := serverproc.Build(t), t.TempDir(), t.TempDir()
	writeTransferObjects(t, filepath.Join(buckets, "source"))
	x := &killedTransfers{t: t, random: random, start: func() *serverproc.Server {
		return serverproc.Start(t, binary, "--data", dir, "--s3-dir", buckets, "--log-level", "error")
	}, verify: func() { verify(t, binary, dir) }}
	x.restart()

	_, err := x.client.ImportTable(t.Context(), &dynamodb.ImportTableInput{
		InputFormat: types.InputFormatDynamodbJson, S3BucketSource: &types.S3BucketSource{S3Bucket: new("source")},
		TableCreationParameters: &types.TableCreationParameters{
			TableName: new("imported"), BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: transferKey, KeySchema: transferSchema,
		},
	})
	x.must(err)
	_, err = x.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: new("put"), BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: transferKey, KeySchema: transferSchema,
	})
	x.must(err)
	bulk, err := x.client.StartBulkPutItems(t.Context(), &dynamodb.StartBulkPutItemsInput{
		TableName:             new("put"),
		InputS3Configuration:  &types.InputS3Configuration{S3Bucket: new("source"), InputFormat: types.BulkOperationInputFormatDynamodbJson},
		OutputS3Configuration: &types.OutputS3Configuration{S3Bucket: new("reports"), OutputType: types.OutputTypeEnumError.Values()},
	})
	x.must(err)
	x.killUntil(func() bool {
		imports, err := x.client.ListImports(t.Context(), &dynamodb.ListImportsInput{})
		x.must(err)
		put, err := x.client.DescribeBulkOperation(t.Context(), &dynamodb.DescribeBulkOperationInput{BulkOperationArn: bulk.BulkOperationDescription.BulkOperationArn})
		x.must(err)
		t.Logf("put %d records", put.BulkOperationDescription.ProcessedItemCount)
		return imports.ImportSummaryList[0].ImportStatus != types.ImportStatusInProgress && put.BulkOperationDescription.EndTime != nil
	})
	x.wantImported()
	put, err := x.client.DescribeBulkOperation(t.Context(), &dynamodb.DescribeBulkOperationInput{BulkOperationArn: bulk.BulkOperationDescription.BulkOperationArn})
	x.must(err)
	if d := put.BulkOperationDescription; d.BulkOperationStatus != types.BulkOperationStatusCompletedWithErrors ||
		d.ProcessedItemCount != transferItems+transferErrors || d.FailedItemCount != transferErrors {
		t.Errorf("the bulk operation is %s, with %d of %d records failed", d.BulkOperationStatus, d.FailedItemCount, d.ProcessedItemCount)
	}
	if n := linesOf(t, filepath.Join(buckets, "reports", "AWSDynamoDB/*/CONDITION_CHECK_FAILURE/*")); len(n) != 0 {
		t.Errorf("%d puts were made twice", len(n))
	}
	if n := linesOf(t, filepath.Join(buckets, "reports", "AWSDynamoDB/*/ERROR/*")); len(n) != transferErrors {
		t.Errorf("%d different errors are reported, want %d", len(n), transferErrors)
	}
	x.wantItems("imported")
	x.wantItems("put")

	exported := x.export()
	if n := linesOf(t, filepath.Join(buckets, "exports", "AWSDynamoDB/*/data/*")); len(n) != transferItems || *exported.ItemCount != transferItems {
		t.Errorf("%d different items are exported, and counted %d, want %d", len(n), *exported.ItemCount, transferItems)
	}
	x.server.Stop(t)
	x.verify()
}

var (
	transferKey    = []types.AttributeDefinition{{AttributeName: new("pk"), AttributeType: types.ScalarAttributeTypeS}}
	transferSchema = []types.KeySchemaElement{{AttributeName: new("pk"), KeyType: types.KeyTypeHash}}
)

// writeTransferObjects writes the objects that are imported and put.
func writeTransferObjects(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for object := range transferObjects {
		var text bytes.Buffer
		for i := range transferRecords {
			if i%100 == 50 {
				text.WriteString("no item\n")
				continue
			}
			fmt.Fprintf(&text, `{"Item":{"pk":{"S":"item %d of object %d"},"data":{"S":"%s"}},"ConditionExpression":"attribute_not_exists(pk)"}`+"\n",
				i, object, strings.Repeat("x", 200))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", object)), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// killedTransfers is a server that is killed during transfers.
type killedTransfers struct {
	t      *testing.T
	random *rand.Rand
	start  func() *serverproc.Server
	verify func()
	server *serverproc.Server
	client *dynamodb.Client
}

func (x *killedTransfers) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *killedTransfers) restart() {
	x.server = x.start()
	x.client = connect(x.server)
}

// killUntil kills the server several times, or fewer if over reports that the work has finished; then it waits for the end of the
// work.
func (x *killedTransfers) killUntil(over func() bool) {
	x.t.Helper()
	for range *killsFlag {
		<-time.After(time.Duration(50+x.random.IntN(700)) * time.Millisecond)
		ended := over()
		x.server.Kill(x.t)
		x.verify()
		x.restart()
		if ended {
			break
		}
	}
	for look := time.NewTicker(50 * time.Millisecond); !over(); <-look.C {
	}
}

// export exports the imported table, and kills the server during the export.
func (x *killedTransfers) export() *types.ExportDescription {
	x.t.Helper()
	described, err := x.client.DescribeTable(x.t.Context(), &dynamodb.DescribeTableInput{TableName: new("imported")})
	x.must(err)
	_, err = x.client.UpdateContinuousBackups(x.t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName:                        new("imported"),
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: new(true)},
	})
	x.must(err)
	begun, err := x.client.ExportTableToPointInTime(x.t.Context(), &dynamodb.ExportTableToPointInTimeInput{
		TableArn: described.Table.TableArn, S3Bucket: new("exports"), ExportFormat: types.ExportFormatIon,
	})
	x.must(err)
	var d *types.ExportDescription
	x.server.Kill(x.t) // the export takes less than a second
	x.restart()
	x.killUntil(func() bool {
		out, err := x.client.DescribeExport(x.t.Context(), &dynamodb.DescribeExportInput{ExportArn: begun.ExportDescription.ExportArn})
		x.must(err)
		d = out.ExportDescription
		return d.ExportStatus != types.ExportStatusInProgress
	})
	return d
}

// wantImported checks the import's description.
func (x *killedTransfers) wantImported() {
	x.t.Helper()
	list, err := x.client.ListImports(x.t.Context(), &dynamodb.ListImportsInput{})
	x.must(err)
	out, err := x.client.DescribeImport(x.t.Context(), &dynamodb.DescribeImportInput{ImportArn: list.ImportSummaryList[0].ImportArn})
	x.must(err)
	if d := out.ImportTableDescription; d.ImportedItemCount != transferItems || d.ErrorCount != transferErrors || d.ProcessedItemCount != transferItems+transferErrors {
		x.t.Errorf("the import has %d items and %d errors of %d", d.ImportedItemCount, d.ErrorCount, d.ProcessedItemCount)
	}
}

// wantItems checks that a table has every item.
func (x *killedTransfers) wantItems(table string) {
	x.t.Helper()
	n := int32(0)
	pages := dynamodb.NewScanPaginator(x.client, &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount})
	for pages.HasMorePages() {
		page, err := pages.NextPage(x.t.Context())
		x.must(err)
		n += page.Count
	}
	if n != transferItems {
		x.t.Errorf("the table %s has %d items, want %d", table, n, transferItems)
	}
}

// linesOf returns the distinct lines of compressed files.
func linesOf(t *testing.T, pattern string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if all[line] {
				t.Errorf("%s has a line twice: %s", path, line)
			}
			all[line] = true
		}
	}
	return all
}
