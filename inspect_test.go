package monotable_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
)

// inspect calls an operation of the server's own, signed.
func (g *guarded) inspect(c aws.CredentialsProvider, operation, input string, out any) string {
	g.Helper()
	r, err := http.NewRequestWithContext(g.Context(), http.MethodPost, g.url, strings.NewReader(input))
	if err != nil {
		g.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "Monotable_20261127."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	if c != nil {
		key, err := c.Retrieve(g.Context())
		if err != nil {
			g.Fatal(err)
		}
		sum := sha256.Sum256([]byte(input))
		if err := v4.NewSigner().SignHTTP(g.Context(), key, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", g.now()); err != nil {
			g.Fatal(err)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		g.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		g.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		var fault struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(body, &fault); err != nil || response.StatusCode >= http.StatusInternalServerError {
			g.Fatalf("%d %s", response.StatusCode, body)
		}
		return fault.Type + ": " + fault.Message
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(out); err != nil {
		g.Fatal(err)
	}
	return ""
}

// TestDescribeServer: slow requests are listed with their waits, the store describes its levels, and policies apply.
func TestDescribeServer(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{SlowRequest: time.Nanosecond})
	g.manage(monotable.IAMRequest{
		Action: "policy create", Name: "look", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"monotable:Describe*","Resource":"*"}}`,
	})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "tables", Document: allowTables})
	if _, err := g.db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	}); err != nil {
		t.Fatal(err)
	}
	_, err := g.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	var server struct {
		SlowTotal    int
		SlowRequests []struct {
			ID, Operation  string
			Tables         []string
			Took, SyncWait float64
		}
		Storage struct {
			Levels          []any
			FileSystemBytes int64
		}
		Servers []any
	}
	ana := g.user("ana", "look")
	g.want("described", g.inspect(ana, "DescribeServer", `{}`, &server), "")
	put := server.SlowRequests[0]
	if server.SlowTotal != 2 || put.Operation != "PutItem" || put.ID == "" || put.Tables[0] != "things" || put.SyncWait <= 0 || put.Took < put.SyncWait {
		t.Errorf("slow requests: %+v", server)
	}
	if len(server.Storage.Levels) != 7 || server.Storage.FileSystemBytes == 0 || len(server.Servers) != 0 {
		t.Errorf("storage: %+v", server)
	}
	g.want("not allowed", g.inspect(g.user("eva", "tables"), "DescribeServer", `{}`, nil),
		"AccessDeniedException: User: arn:aws:iam::000000000000:user/eva is not authorized to perform: monotable:DescribeServer on resource: *")
	g.want("nobody", g.inspect(nil, "DescribeServer", `{}`, nil), missing)
	g.want("unknown", g.inspect(ana, "Reboot", `{}`, nil), "UnknownOperationException: The operation Reboot is not supported.")
	g.want("misspelt", g.inspect(ana, "DescribeServer", `{"Tabel":1}`, nil), `ValidationException: The request body cannot be read: json: unknown field "Tabel"`)
}

// TestPast: the history of an item is found by its key and its images are complete, and a table is compared with its state at
// a second: in pages, with added, removed, changed and reverted items.
func TestPast(t *testing.T) {
	clock := &stoppedClock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	g := openGuarded(t, t.TempDir(), monotable.Options{Now: clock.now})
	db := g.db.Client()
	type item = map[string]types.AttributeValue
	put := func(pk, v string) {
		t.Helper()
		clock.advance(time.Second)
		if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: item{"pk": &types.AttributeValueMemberS{Value: pk}, "v": &types.AttributeValueMemberN{Value: v}}}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(pk string) {
		t.Helper()
		clock.advance(time.Second)
		if _, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("things"), Key: item{"pk": &types.AttributeValueMemberS{Value: pk}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	}); err != nil {
		t.Fatal(err)
	}
	g.manage(monotable.IAMRequest{
		Action: "policy create", Name: "past", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"monotable:*","Resource":"arn:aws:dynamodb:*:*:table/things"}}`,
	})
	ana := g.user("ana", "past")
	type changes struct {
		Changes []struct {
			Existed, Exists bool
			Old, New        map[string]map[string]string
		}
		Since  float64
		Before string
	}
	var history changes
	g.want("no log", g.inspect(ana, "ListItemChanges", `{"TableName":"things","Key":{"pk":{"S":"a"}}}`, &history), "")
	if history.Since != 0 || len(history.Changes) != 0 {
		t.Errorf("without a log: %+v", history)
	}
	put("a", "0")
	if _, err := db.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String("things"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}); err != nil {
		t.Fatal(err)
	}
	for _, pk := range []string{"b", "gone", "back", "same"} {
		put(pk, "1")
	}
	clock.advance(time.Hour)
	then := clock.now().Unix()
	clock.advance(24 * time.Hour)
	put("a", "1")
	put("a", "2")
	remove("gone")
	put("new", "1")
	put("back", "2")
	put("back", "1")
	remove("b")
	put("b", "7")
	clock.advance(time.Hour)

	var old []string
	for before := ""; ; {
		var page changes
		g.want("history", g.inspect(ana, "ListItemChanges", `{"TableName":"things","Key":{"pk":{"S":"a"}},"Limit":1,"Before":"`+before+`"}`, &page), "")
		for _, c := range page.Changes {
			old = append(old, c.Old["v"]["N"])
		}
		if before = page.Before; before == "" {
			break
		}
	}
	if got := strings.Join(old, " "); got != "1 0" {
		t.Errorf("the images before the changes of a are %q, want those of the log, newest first", got)
	}

	compare := func(all bool, limit int) map[string]string {
		found := map[string]string{}
		for after := ""; ; {
			var page struct {
				Items []struct{ Then, Now, Same map[string]map[string]string }
				After string
			}
			input, _ := json.Marshal(map[string]any{"TableName": "things", "At": then, "All": all, "Limit": limit, "After": after})
			g.want("compare", g.inspect(ana, "CompareTable", string(input), &page), "")
			for _, x := range page.Items {
				key := x.Then["pk"]["S"] + "|" + x.Now["pk"]["S"] + "|" + x.Same["pk"]["S"]
				if _, twice := found[key]; twice {
					t.Errorf("%s occurs twice", key)
				}
				found[key] = x.Then["v"]["N"] + "|" + x.Now["v"]["N"] + "|" + x.Same["v"]["N"]
			}
			if after = page.After; after == "" {
				return found
			}
		}
	}
	want := map[string]string{"a|a|": "0|2|", "gone||": "1||", "|new|": "|1|", "b|b|": "1|7|"}
	for _, limit := range []int{1, 2, 1000} {
		if diff := cmp.Diff(want, compare(false, limit)); diff != "" {
			t.Errorf("differences in pages of %d: %s", limit, diff)
		}
	}
	want["||back"], want["||same"] = "||1", "||1"
	for _, limit := range []int{1, 3, 1000} {
		if diff := cmp.Diff(want, compare(true, limit)); diff != "" {
			t.Errorf("all in pages of %d: %s", limit, diff)
		}
	}
	for input, code := range map[string]string{
		`{"TableName":"things","At":1}`:                      "InvalidRestoreTimeException",
		`{"TableName":"things","At":-1}`:                     "ValidationException",
		`{"TableName":"things","At":99999999999999}`:         "ValidationException",
		`{"TableName":"things","At":1772366500,"After":"x"}`: "ValidationException",
		`{"TableName":"things","At":1772366500,"Limit":0}`:   "ValidationException",
		`{"TableName":"nothing","At":1772366500}`:            "AccessDeniedException",
		`{}`: "ValidationException",
	} {
		if got := g.inspect(ana, "CompareTable", input, nil); !strings.HasPrefix(got, code) {
			t.Errorf("%s: %s, want %s", input, got, code)
		}
	}
	for input, code := range map[string]string{
		`{"TableName":"things"}`:                                               "ValidationException",
		`{"TableName":"things","Key":{"pk":{"N":"1"}}}`:                        "ValidationException",
		`{"TableName":"things","Key":{"pk":7}}`:                                "SerializationException",
		`{"TableName":"things","Key":{"pk":{"S":"a"}},"Before":"x"}`:           "ValidationException",
		`{"TableName":"things","Key":{"pk":{"S":"a"}},"Limit":1000}`:           "ValidationException",
		`{"TableName":"others","Key":{"pk":{"S":"a"}}}`:                        "AccessDeniedException",
		`{"TableName":"things","Key":{"pk":{"S":"a"}},"Before":"` + "1" + `"}`: "",
	} {
		if got := g.inspect(ana, "ListItemChanges", input, &changes{}); !strings.HasPrefix(got, code) {
			t.Errorf("%s: %s, want %s", input, got, code)
		}
	}
}

// TestWarnings: exactly what falls behind is reported.
func TestWarnings(t *testing.T) {
	clock := &stoppedClock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	g := openGuarded(t, t.TempDir(), monotable.Options{Now: clock.now})
	g.manage(monotable.IAMRequest{
		Action: "policy create", Name: "look", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"monotable:ListWarnings","Resource":"*"}}`,
	})
	ana := g.user("ana", "look")
	var found struct {
		Warnings []struct {
			TableName, Kind string
			Amount          float64
		}
	}
	if _, err := g.db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly},
	}); err != nil {
		t.Fatal(err)
	}
	g.want("quiet", g.inspect(ana, "ListWarnings", `{}`, &found), "")
	if len(found.Warnings) != 0 {
		t.Errorf("an unused table: %+v", found)
	}
	streams := g.db.StreamsClient()
	stream, err := streams.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
	if err != nil {
		t.Fatal(err)
	}
	about, err := streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: stream.Streams[0].StreamArn})
	if err != nil {
		t.Fatal(err)
	}
	iterator, err := streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: stream.Streams[0].StreamArn, ShardId: about.StreamDescription.Shards[0].ShardId, ShardIteratorType: "TRIM_HORIZON",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pk := range []string{"a", "b", "c"} {
		clock.advance(time.Second)
		if _, err := g.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator.ShardIterator, Limit: aws.Int32(1)}); err != nil {
		t.Fatal(err)
	}
	clock.advance(3 * time.Hour)
	g.want("behind", g.inspect(ana, "ListWarnings", `{}`, &found), "")
	if w := found.Warnings; len(w) != 1 || w[0].TableName != "things" || w[0].Kind != "StreamBehind" || w[0].Amount < 3*60*60 {
		t.Errorf("a reader that has stopped: %+v", found)
	}
}

// TestListRequests: the requests on a table are recorded from the first call on, with their input and units; the action is on
// the table.
func TestListRequests(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	db := g.db.Client()
	for _, name := range []string{"things", "others"} {
		if _, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	g.manage(monotable.IAMRequest{
		Action: "policy create", Name: "requests", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"monotable:ListRequests","Resource":"arn:aws:dynamodb:*:*:table/things"}}`,
	})
	ana := g.user("ana", "requests")
	var page struct {
		Requests []struct {
			Operation, Error      string
			Took                  float64
			ReadUnits, WriteUnits float64
			Input                 map[string]any
		}
		After string
		Total int
	}
	call := func(input, want string) {
		t.Helper()
		page.Requests, page.After, page.Total = nil, "", 0
		g.want(input, g.inspect(ana, "ListRequests", input, &page), want)
	}
	call(`{"TableName":"things"}`, "")
	if page.Total != 0 || page.After != "0" {
		t.Errorf("before it was watched: %+v", page)
	}
	put := func(table string, it map[string]types.AttributeValue) {
		_, _ = db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: it})
	}
	put("things", map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}})
	put("others", map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}})
	put("things", map[string]types.AttributeValue{"p": &types.AttributeValueMemberS{Value: "a"}})
	if _, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("things")}); err != nil {
		t.Fatal(err)
	}
	call(`{"TableName":"things","After":"0"}`, "")
	if len(page.Requests) != 3 || page.Total != 3 || page.After != "3" {
		t.Fatalf("requests: %+v", page)
	}
	done, failed, scan := page.Requests[0], page.Requests[1], page.Requests[2]
	if done.Operation != "PutItem" || done.WriteUnits != 1 || done.Took <= 0 || done.Input["TableName"] != "things" || done.Error != "" ||
		failed.Error != "ValidationException" || failed.WriteUnits != 0 || scan.Operation != "Scan" || scan.ReadUnits != 0.5 {
		t.Errorf("requests: %+v", page)
	}
	call(`{"TableName":"things","After":"x"}`, `ValidationException: After "x" is not from an earlier response.`)
	call(`{}`, "ValidationException: TableName is required.")
	call(`{"TableName":"others"}`,
		"AccessDeniedException: User: arn:aws:iam::000000000000:user/ana is not authorized to perform: monotable:ListRequests on resource: arn:aws:dynamodb:us-east-1:000000000000:table/others")
}
