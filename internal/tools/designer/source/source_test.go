package source_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/monotabletest"
)

// ids reads a source and returns the texts of the attribute id, sorted.
func ids(t *testing.T, items func(yield func(source.Item, error) bool)) []string {
	t.Helper()
	var out []string
	for item, err := range items {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item["id"].(*types.AttributeValueMemberS).Value)
	}
	slices.Sort(out)
	return out
}

// numbers are the IDs of the items in a range, sorted like the result of ids.
func numbers(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("i%04d", i))
	}
	return out
}

// filled returns a client with a table of n items of about 400 bytes.
func filled(t *testing.T, n int) *dynamodb.Client {
	t.Helper()
	client := monotabletest.New(t).Client()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String("things"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: source.Item{
			"id": &types.AttributeValueMemberS{Value: fmt.Sprintf("i%04d", i)}, "fill": &types.AttributeValueMemberS{Value: strings.Repeat("x", 4000)},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return client
}

// TestTable tests that with several segments of several pages every item is returned once, in each iteration.
func TestTable(t *testing.T) {
	const n = 900 // 3.6 MB; a page has 1 MB
	client := filled(t, n)
	for _, segments := range []int{1, 3} {
		s, err := source.OpenTable(t.Context(), client, "things", segments)
		if err != nil {
			t.Fatal(err)
		}
		if s.TTLAttr != "expires" {
			t.Errorf("items expire by %q, want expires", s.TTLAttr)
		}
		for range 2 {
			if diff := cmp.Diff(numbers(0, n), ids(t, s.Items(t.Context()))); diff != "" {
				t.Errorf("%d segments:\n%s", segments, diff)
			}
		}
		sample := ids(t, s.Sample(t.Context(), 60))
		if len(sample) < 50 || len(sample) > 60 || len(slices.Compact(sample)) != len(sample) {
			t.Errorf("a sample of 60 in %d segments has %d items, or contains one of them twice", segments, len(sample))
		}
	}
}

// TestStop tests that a reader can stop early, and that a canceled context is an error.
func TestStop(t *testing.T) {
	s, err := source.OpenTable(t.Context(), filled(t, 600), "things", 2)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range s.Items(t.Context()) {
		if n++; err != nil || n == 5 {
			break
		}
	}
	if n != 5 {
		t.Errorf("%d items before the end, want 5", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range s.Items(ctx) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v, want that the context is done", last)
	}
}

func TestOpenTable(t *testing.T) {
	client := filled(t, 0)
	if _, err := source.OpenTable(t.Context(), client, "nowhere", 1); err == nil || !strings.Contains(err.Error(), "table nowhere does not exist") {
		t.Errorf("a missing table: %v", err)
	}
	if _, err := source.OpenTable(t.Context(), client, "things", 0); err == nil {
		t.Error("a Scan of no segments was accepted")
	}
}

// line is a line of an export with one item.
func line(i int) string {
	return fmt.Sprintf(`{"Item":{"id":{"S":"i%04d"},"n":{"N":"%d"}}}`+"\n", i, i)
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// write writes files into a new directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The manifests from the developer guide's page on the output of exports.
const (
	summary = `{"version":"2020-06-30","exportArn":"arn:aws:dynamodb:us-east-1:123456789012:table/ProductCatalog/export/01693685827463-2d8752fd",
"startTime":"2023-09-02T20:17:07.471Z","endTime":"2023-09-02T20:20:36.190Z","tableArn":"arn:aws:dynamodb:us-east-1:123456789012:table/ProductCatalog",
"tableId":"12345a12-abcd-123a-ab12-1234abc12345","exportTime":"2023-09-02T20:17:07.471Z","s3Bucket":"ddb-productcatalog","s3Prefix":null,
"s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,"manifestFilesS3Key":"AWSDynamoDB/01693685827463-2d8752fd/manifest-files.json",
"billedSizeBytes":0,"itemCount":3,"outputFormat":"DYNAMODB_JSON"}`
	manifest = `{"itemCount":2,"md5Checksum":"sQMSpEILNgoQmarvDFonGQ==","etag":"af83d6f217c19b8b0fff8023d8ca4716-1","dataFileS3Key":"AWSDynamoDB/01693685827463-2d8752fd/data/asdl123dasas.json.gz"}
{"itemCount":1,"md5Checksum":"…","etag":"…","dataFileS3Key":"AWSDynamoDB/01693685827463-2d8752fd/data/b.json.gz"}
{"itemCount":0,"md5Checksum":"…","etag":"…","dataFileS3Key":"AWSDynamoDB/01693685827463-2d8752fd/data/empty.json.gz"}
`
)

func exported(t *testing.T, change map[string]string) string {
	t.Helper()
	const id = "AWSDynamoDB/01693685827463-2d8752fd/"
	files := map[string]string{
		id + "manifest-summary.json": summary, id + "manifest-files.json": manifest, id + "manifest-files.checksum": "x", id + "_started": "",
		id + "data/asdl123dasas.json.gz": packed(t, line(0)+line(1)), id + "data/b.json.gz": packed(t, line(2)), id + "data/empty.json.gz": "",
		id + "data/of-another-export.json.gz": packed(t, line(9)),
	}
	for name, text := range change {
		if files[id+name] = text; text == "-" {
			delete(files, id+name)
		}
	}
	return write(t, files)
}

func TestExport(t *testing.T) {
	dir := exported(t, nil)
	for _, at := range []string{dir, filepath.Join(dir, "AWSDynamoDB", "01693685827463-2d8752fd")} {
		s, err := source.OpenExport(at)
		if err != nil {
			t.Fatal(err)
		}
		if s.Table != "ProductCatalog" || s.Count() != 3 {
			t.Errorf("it is of table %q with %d items, want ProductCatalog with 3", s.Table, s.Count())
		}
		for range 2 {
			if diff := cmp.Diff(numbers(0, 3), ids(t, s.Items(t.Context()))); diff != "" {
				t.Error(diff)
			}
		}
		if got := ids(t, s.Sample(t.Context(), 2)); !slices.Equal(got, []string{"i0000", "i0002"}) {
			t.Errorf("a sample of 2 has %v, want one of each file", got)
		}
	}
}

// TestPlain tests files without a manifest, compressed or not, as exports and "aws dynamodb scan" write them.
func TestPlain(t *testing.T) {
	dir := write(t, map[string]string{
		"a.json": line(0) + "\n" + line(1), "b.json.gz": packed(t, line(2)), "sub/c.json": `{"Items": [{"id": {"S": "i0003"}}, {"id": {"S": "i0004"}}], "Count": 2}`,
		"notes.txt": "none",
	})
	s, err := source.OpenExport(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(numbers(0, 5), ids(t, s.Items(t.Context()))); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsOfExports(t *testing.T) {
	for name, c := range map[string]struct {
		dir  string
		want string
	}{
		"no directory":        {filepath.Join(t.TempDir(), "nowhere"), "does not exist"},
		"empty":               {t.TempDir(), "contains neither"},
		"Ion":                 {exported(t, map[string]string{"manifest-summary.json": strings.Replace(summary, "DYNAMODB_JSON", "ION", 1)}), "export the table as DYNAMODB_JSON"},
		"incremental":         {exported(t, map[string]string{"manifest-summary.json": strings.Replace(summary, `"itemCount"`, `"exportType":"INCREMENTAL_EXPORT","itemCount"`, 1)}), "make a full export"},
		"no list of files":    {exported(t, map[string]string{"manifest-files.json": "-"}), "incomplete"},
		"a file is missing":   {exported(t, map[string]string{"data/b.json.gz": "-"}), "incomplete"},
		"a file is cut":       {exported(t, map[string]string{"data/asdl123dasas.json.gz": packed(t, line(0)+line(1))[:40]}), "unexpected EOF"},
		"a file has less":     {exported(t, map[string]string{"data/asdl123dasas.json.gz": packed(t, line(0))}), "contains 1 items, but the manifest says 2"},
		"a value of no type":  {write(t, map[string]string{"a.json": line(0) + `{"Item": {"id": {}}}`}), "a.json, after 1 item: attribute id: a value has exactly one type"},
		"a value of two":      {write(t, map[string]string{"a.json": `{"Item": {"l": {"L": [{"S": "a", "N": "1"}]}}}`}), "attribute l: [0]: a value has exactly one type"},
		"a change":            {write(t, map[string]string{"a.json": `{"Keys": {"id": {"S": "a"}}, "NewImage": {}}`}), "incremental"},
		"something else":      {write(t, map[string]string{"a.json": `{"name": "x"}`}), "this is not a line of an export"},
		"no JSON":             {write(t, map[string]string{"a.json": "PK,SK"}), "after 0 items"},
		"two exports in here": {write(t, map[string]string{"a/manifest-summary.json": summary, "b/manifest-summary.json": summary}), "contains 2 exports"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := source.OpenExport(c.dir)
			if err == nil {
				for _, fault := range s.Items(t.Context()) {
					err = fault
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestParseItem reads each type in the notation of the API reference's page on AttributeValue.
func TestParseItem(t *testing.T) {
	got, err := source.ParseItem([]byte(`{"s": {"S": "Hello"}, "n": {"N": "123.45"}, "bare": {"N": 7}, "b": {"B": "dGhpcyB0ZXh0IGlzIGJhc2U2NC1lbmNvZGVk"}, "e": {"B": ""},
"bool": {"BOOL": true}, "null": {"NULL": true}, "ss": {"SS": ["Giraffe", "Hippo"]}, "ns": {"NS": ["42.2", "-19"]}, "bs": {"BS": ["U3Vubnk="]},
"l": {"L": [{"S": "Cookies"}, {"N": "3.14159"}]}, "m": {"M": {"Name": {"S": "Joe"}, "none": {"L": []}, "empty": {"M": {}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := source.Item{
		"s": &types.AttributeValueMemberS{Value: "Hello"}, "n": &types.AttributeValueMemberN{Value: "123.45"}, "bare": &types.AttributeValueMemberN{Value: "7"},
		"b": &types.AttributeValueMemberB{Value: []byte("this text is base64-encoded")}, "e": &types.AttributeValueMemberB{Value: []byte{}},
		"bool": &types.AttributeValueMemberBOOL{Value: true}, "null": &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"Giraffe", "Hippo"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"42.2", "-19"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("Sunny")}},
		"l":  &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "Cookies"}, &types.AttributeValueMemberN{Value: "3.14159"}}},
		"m": &types.AttributeValueMemberM{Value: source.Item{
			"Name": &types.AttributeValueMemberS{Value: "Joe"}, "none": &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			"empty": &types.AttributeValueMemberM{Value: source.Item{}},
		}},
	}
	for name := range want {
		if !reflect.DeepEqual(want[name], got[name]) {
			t.Errorf("%s is %#v, want %#v", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d attributes, want %d", len(got), len(want))
	}
}
