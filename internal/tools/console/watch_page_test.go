package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// readOne reads the first change of the shop's stream and stops.
func readOne(t *testing.T, db *monotable.DB) {
	t.Helper()
	client := db.StreamsClient()
	table, err := db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("shop")})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: table.Table.LatestStreamArn})
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range stream.StreamDescription.Shards {
		begin, err := client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: table.Table.LatestStreamArn, ShardId: shard.ShardId, ShardIteratorType: "TRIM_HORIZON",
		})
		if err == nil {
			_, err = client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: begin.ShardIterator, Limit: aws.Int32(1)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// throttled writes to a table of one WCU until requests are throttled, with key counting on.
func throttled(t *testing.T, db *monotable.DB) {
	t.Helper()
	small := aws.String("small")
	_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: small, ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
	})
	if err == nil {
		_, err = db.Client().UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{TableName: small, ContributorInsightsAction: types.ContributorInsightsActionEnable})
	}
	if err != nil {
		t.Fatal(err)
	}
	once := func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }
	const most = 1000 // five minutes of unused capacity are 300 units
	for range most {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: small, Item: item{"PK": text("POST#viral")}}, once); err != nil {
			return
		}
	}
	t.Fatal("nothing was throttled")
}

// TestWarningsList: warnings are listed above the tables, with links, in each window size and theme. The windows are tested one
// after the other, because the list covers the last five minutes.
func TestWarningsList(t *testing.T) {
	t.Parallel()
	db := monotabletest.NewWith(t, &monotable.Options{EnforceCapacity: true})
	throttled(t, db)
	address := served(t, db)
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			p := webtest.Open(t, address+"/_console/", with...)
			p.Until(`document.querySelectorAll(".warnings li").length === 2 && document.querySelector(".warnings").textContent.includes("POST#viral")`)
			if name == "desk" {
				p.UntilText("1 request was throttled in the last five minutes.")
				p.UntilText("The key POST#viral is hot: 1 request with it was throttled in the last minutes.")
			}
			look(p, "console-warnings")
			p.Click(`.warnings a[href="#/tables/small/metrics"]`)
			p.Until(`location.hash === "#/tables/small/metrics"`)
		})
	}
}

// TestStreamBehind: a stalled reader of a stream is reported.
func TestStreamBehind(t *testing.T) {
	t.Parallel()
	now := newClock(time.Now().Add(-2*time.Hour - time.Second))
	db := monotabletest.NewWith(t, &monotable.Options{Now: now.time})
	shop(t, db)
	readOne(t, db)
	now.advance(time.Second)
	change(t, db) // the reader has stopped
	now.advance(2 * time.Hour)
	p := webtest.Open(t, served(t, db)+"/_console/")
	p.UntilText("A reader of the stream is 2 hours behind.")
}

// members changes the list of servers in the response of DescribeServer. Stores of several servers are tested by test/cluster.
func members(api http.Handler) http.Handler {
	return altered(api, "DescribeServer", func(about map[string]any) {
		server := func(id string, left float64, more map[string]any) map[string]any {
			m := map[string]any{"ID": id, "Self": false, "Serves": left > 0, "Current": left > 0, "Until": 1764000000.0, "Leads": false, "Left": left}
			maps.Copy(m, more)
			return m
		}
		about["Servers"] = []any{
			server("db-1.example.com:8000", 4200, map[string]any{"Self": true, "Leads": true, "Term": 7, "LeadsUntil": 1764000000.0}),
			server("db-2.example.com:8000", 3100, map[string]any{"Current": false}), server("db-3.example.com:8000", -60000, nil),
		}
	})
}

// altered changes the responses to an operation.
func altered(api http.Handler, operation string, change func(response map[string]any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) {
			api.ServeHTTP(w, r)
			return
		}
		said := &recordedResponse{header: w.Header()}
		api.ServeHTTP(said, r)
		var response map[string]any
		if err := json.Unmarshal(said.Bytes(), &response); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		change(response)
		w.Header().Del("Content-Length")
		w.Header().Del("X-Amz-Crc32")
		_ = json.NewEncoder(w).Encode(response)
	})
}

// recordedResponse records a response.
type recordedResponse struct {
	bytes.Buffer
	header http.Header
}

func (a *recordedResponse) Header() http.Header { return a.header }
func (a *recordedResponse) WriteHeader(int)     {}

// TestMembers: the view shows the servers of a store, the leader, expired leases, and servers without the current tables, in each
// window size and theme.
func TestMembers(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	address := served(t, db, func(o *console.Options) { o.Client = inprocess.Client{Handler: members(db.Handler())} })
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/_console/#/server/members", with...)
			p.Until(`document.querySelectorAll(".table tbody tr").length === 3`)
			p.UntilText("db-3.example.com:8000")
			p.Until(`document.querySelectorAll(".table tbody tr")[2].querySelector(".badge.warning") !== null && document.querySelectorAll(".badge.success").length === 2`)
			look(p, "console-members-three")
		})
	}
}

// counting counts requests for metrics and the queries in them.
type counting struct {
	console.Doer

	mu       sync.Mutex
	requests int
	largest  int // the maximum number of queries in a request
}

func (c *counting) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetMetricData") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var in struct{ MetricDataQueries []json.RawMessage }
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.requests++
		c.largest = max(c.largest, len(in.MetricDataQueries))
		c.mu.Unlock()
	}
	return c.Doer.Do(r)
}

// TestManyMetrics: if there are more tables than one request may cover, their metrics are added up.
func TestManyMetrics(t *testing.T) {
	t.Parallel()
	const tables, most = 60, 500
	now := time.Now()
	db := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return now }})
	for n := range tables {
		name := aws.String(fmt.Sprintf("table-%02d", n))
		_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
		})
		if err == nil {
			_, err = db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: item{"PK": text("a")}})
		}
		if err == nil {
			_, err = db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: item{"PK": text("a")}})
		}
		if err == nil {
			_, err = db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: name})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	count := new(counting)
	address := served(t, db, func(o *console.Options) { count.Doer, o.Client = o.Client, count })
	p := webtest.Open(t, address+"/_console/#/server")
	for _, operation := range []string{"PutItem", "GetItem", "Scan"} {
		p.Until(fmt.Sprintf(`[...document.querySelectorAll("tr")].some((r) => r.textContent.startsWith(%q) && r.textContent.includes("%d"))`, operation, tables))
	}
	look(p, "console-many-metrics")
	count.mu.Lock()
	defer count.mu.Unlock()
	if count.requests < 2 || count.largest != most {
		t.Errorf("%d requests of up to %d queries, want several of up to %d", count.requests, count.largest, most)
	}
}
