package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
)

// growItems is the final number of items in a table.
var growItems = 10_000_000

// growth compares the cost of something at a large scale with its cost at a small one.
type growth struct {
	What  string  `json:"what"`
	Small float64 `json:"small"`
	Large float64 `json:"large"`
	Unit  string  `json:"unit"`
	// Limit is the maximum ratio of Large to Small.
	Limit float64 `json:"limit"`
}

func (g growth) String() string {
	verdict := "holds "
	if g.Large > g.Limit*g.Small {
		verdict = "MISSED"
	}
	return fmt.Sprintf("growth %s  %s: %.3g → %.3g %s, %.2f ×; at most %.3g ×", verdict, g.What, g.Small, g.Large, g.Unit, g.Large/g.Small, g.Limit)
}

// measureGrowth measures, in this process, costs that should not grow with scale.
func measureGrowth(ctx context.Context, r *benchRun) error {
	for _, measure := range []func(context.Context) ([]growth, error){growItemsOfTable, growTables, growCollection, measureWriterGrowth, compareWithSDK} {
		lines, err := measure(ctx)
		if err != nil {
			return err
		}
		for _, line := range lines {
			progress("%s", line)
		}
		r.results.Growth = append(r.results.Growth, lines...)
	}
	return nil
}

// inDirectory opens a database in a new directory for do.
func inDirectory(durability monotable.Durability, do func(*local) error) error {
	dir, err := os.MkdirTemp("", "bench-growth-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l := &local{dir: filepath.Join(dir, "data"), durability: durability}
	if err := l.open(); err != nil {
		return err
	}
	return errors.Join(do(l), l.db.Close())
}

// local is a database in this process.
type local struct {
	dir        string
	durability monotable.Durability
	db         *monotable.DB
}

func (l *local) open() (err error) {
	l.db, err = monotable.Open(l.dir, &monotable.Options{Durability: l.durability})
	return err
}

// reopen is the duration of a restart.
func (l *local) reopen() (time.Duration, error) {
	if err := l.db.Close(); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := l.open()
	return time.Since(begin), err
}

// each is the average time of a request, in µs, after a warm-up.
func (l *local) each(times int, operation string, body func(random *rand.Rand) string) (float64, error) {
	random := rand.New(rand.NewPCG(1, uint64(times)))
	begin := time.Now()
	for i := range times + times/10 {
		if i == times/10 {
			begin = time.Now()
		}
		if _, err := l.call(operation, body(random)); err != nil {
			return 0, err
		}
	}
	return micros(time.Since(begin)) / float64(times), nil
}

// fill puts items with these bodies.
func (l *local) fill(from, to int, table string, item func(n int) string) error {
	begin := time.Now()
	for n := from; n < to; {
		var puts []string
		for ; n < to && len(puts) < batchMax; n++ {
			puts = append(puts, `{"PutRequest":{"Item":`+item(n)+`}}`)
		}
		if _, err := l.call("BatchWriteItem", `{"RequestItems":{"`+table+`":[`+strings.Join(puts, ",")+`]}}`); err != nil {
			return err
		}
		if n%1_000_000 == 0 {
			progress("%d items after %.0f s", n, time.Since(begin).Seconds())
		}
	}
	return nil
}

const growTable = `{"TableName":"%s","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]}`

// growItemsOfTable: a get costs at most 1.5 times as much with a hundred times the items; scans and restarts are linear.
func growItemsOfTable(context.Context) (lines []growth, err error) {
	const gets = 200_000
	type costs struct{ get, scan, restart float64 }
	var sizes []costs
	err = inDirectory(monotable.DurabilityNone, func(l *local) error {
		if _, err := l.call("CreateTable", fmt.Sprintf(growTable, "bench")); err != nil {
			return err
		}
		loaded := 0
		for _, n := range []int{growItems / 100, growItems} {
			err := l.fill(loaded, n, "bench", func(n int) string {
				return fmt.Sprintf(`{"PK":{"S":"item#%0*d"},"n":{"N":"%d"},"text":{"S":%q}}`, digits, n, n, strings.Repeat("z", 100))
			})
			if err != nil {
				return err
			}
			loaded = n
			restart, err := l.reopen()
			if err != nil {
				return err
			}
			get, err := l.each(gets, "GetItem", func(random *rand.Rand) string {
				return fmt.Sprintf(`{"TableName":"bench","Key":{"PK":{"S":"item#%0*d"}}}`, digits, random.IntN(loaded))
			})
			if err != nil {
				return err
			}
			begin := time.Now()
			if err := l.scan(); err != nil {
				return err
			}
			sizes = append(sizes, costs{get, micros(time.Since(begin)) / float64(n), millis(restart)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	named := fmt.Sprintf("with %s items, from %s", amount(growItems), amount(growItems/100))
	return []growth{
		{"a get " + named, sizes[0].get, sizes[1].get, "µs", 1.5},
		{"a scanned item " + named, sizes[0].scan, sizes[1].scan, "µs", 2},
		{"a restart " + named, sizes[0].restart, sizes[1].restart, "ms", 100},
	}, nil
}

func amount(n int) string { return figure(float64(n)) }

// tablesMost is the quota of an account in a Region, which monotable enforces as AWS does.
const tablesMost = 2500

// growTables: 2,500 tables do not make creating one, or a get, slower than with 100; a restart is linear.
func growTables(context.Context) (lines []growth, err error) {
	type costs struct{ create, get, restart float64 }
	var sizes []costs
	counts := []int{100, min(tablesMost, growItems/100)}
	err = inDirectory(monotable.DurabilityNone, func(l *local) error {
		created := 0
		for _, n := range counts {
			begin, first := time.Now(), created
			for ; created < n; created++ {
				if _, err := l.call("CreateTable", fmt.Sprintf(growTable, fmt.Sprintf("table-%05d", created))); err != nil {
					return err
				}
			}
			create := micros(time.Since(begin)) / float64(n-first)
			restart, err := l.reopen()
			if err != nil {
				return err
			}
			get, err := l.each(20_000, "GetItem", func(random *rand.Rand) string {
				return fmt.Sprintf(`{"TableName":"table-%05d","Key":{"PK":{"S":"a"}}}`, random.IntN(created))
			})
			if err != nil {
				return err
			}
			sizes = append(sizes, costs{create, get, millis(restart)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	named := fmt.Sprintf("with %s tables, from %s", amount(counts[1]), amount(counts[0]))
	return []growth{
		{"creating a table " + named, sizes[0].create, sizes[1].create, "µs", 2},
		{"a get " + named, sizes[0].get, sizes[1].get, "µs", 1.5},
		{"a restart " + named, sizes[0].restart, sizes[1].restart, "ms", float64(counts[1] / counts[0])},
	}, nil
}

const collectionTable = `{"TableName":"bench","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
"LocalSecondaryIndexes":[{"IndexName":"byN","KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`

// growCollection: in an item collection of a million items, reads and writes cost about the same as in one of ten thousand.
func growCollection(context.Context) (lines []growth, err error) {
	type costs struct{ put, query, index float64 }
	var sizes []costs
	counts := []int{growItems / 1000, growItems / 10}
	element := func(n int) string {
		return fmt.Sprintf(`{"PK":{"S":"one"},"SK":{"S":"%0*d"},"n":{"N":"%d"},"text":{"S":%q}}`, digits, n, n, strings.Repeat("z", 100))
	}
	err = inDirectory(monotable.DurabilityNone, func(l *local) error {
		if _, err := l.call("CreateTable", collectionTable); err != nil {
			return err
		}
		loaded := 0
		for _, n := range counts {
			if err := l.fill(loaded, n, "bench", element); err != nil {
				return err
			}
			loaded = n
			put, err1 := l.each(5_000, "PutItem", func(random *rand.Rand) string {
				return `{"TableName":"bench","Item":` + element(random.IntN(loaded)) + `}`
			})
			query, err2 := l.each(5_000, "Query", func(random *rand.Rand) string {
				return fmt.Sprintf(`{"TableName":"bench","Limit":20,"KeyConditionExpression":"PK = :p AND SK >= :s","ExpressionAttributeValues":{":p":{"S":"one"},":s":{"S":"%0*d"}}}`, digits, random.IntN(loaded))
			})
			index, err3 := l.each(5_000, "Query", func(random *rand.Rand) string {
				return fmt.Sprintf(`{"TableName":"bench","IndexName":"byN","Limit":20,"KeyConditionExpression":"PK = :p AND n >= :s","ExpressionAttributeValues":{":p":{"S":"one"},":s":{"N":"%d"}}}`, random.IntN(loaded))
			})
			if err := errors.Join(err1, err2, err3); err != nil {
				return err
			}
			sizes = append(sizes, costs{put, query, index})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	named := fmt.Sprintf("in an item collection of %s, from %s", amount(counts[1]), amount(counts[0]))
	return []growth{
		{"a put " + named, sizes[0].put, sizes[1].put, "µs", 2},
		{"a query of 20 items " + named, sizes[0].query, sizes[1].query, "µs", 2},
		{"a query of 20 items through a local index " + named, sizes[0].index, sizes[1].index, "µs", 2},
	}, nil
}

// measureWriterGrowth: a thousand writers of one item together achieve as many updates as ten do. On one core it needs the second
// processor that a server adds while it writes: with one, each fsync holds it, and a thousand writers take three times as long.
func measureWriterGrowth(context.Context) (lines []growth, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	const updates = 20_000
	const update = `{"TableName":"bench","Key":{"PK":{"S":"hot"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`
	var costs []float64
	counts := []int{10, 1000}
	err = inDirectory(monotable.DurabilitySync, func(l *local) error {
		if _, err := l.call("CreateTable", fmt.Sprintf(growTable, "bench")); err != nil {
			return err
		}
		for _, writers := range counts {
			faults := make([]error, writers)
			var all sync.WaitGroup
			begin := time.Now()
			for i := range writers {
				all.Go(func() {
					for range updates / writers {
						if _, err := l.call("UpdateItem", update); err != nil {
							faults[i] = err
							return
						}
					}
				})
			}
			all.Wait()
			if err := errors.Join(faults...); err != nil {
				return err
			}
			costs = append(costs, micros(time.Since(begin))/updates)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []growth{{fmt.Sprintf("an update of one item by %s writers at once, from %s, durable", amount(counts[1]), amount(counts[0])), costs[0], costs[1], "µs", 1.5}}, nil
}

// compareWithSDK: a GetItem through the SDK's client without a socket, and the database's share of it.
func compareWithSDK(ctx context.Context) (lines []growth, err error) {
	const gets = 20_000
	err = inDirectory(monotable.DurabilityNone, func(l *local) error {
		if _, err := l.call("CreateTable", fmt.Sprintf(growTable, "bench")); err != nil {
			return err
		}
		if err := l.fill(0, itemsMin, "bench", func(n int) string {
			return fmt.Sprintf(`{"PK":{"S":"%d"},"text":{"S":%q}}`, n, strings.Repeat("z", 1000))
		}); err != nil {
			return err
		}
		own, err := l.each(gets, "GetItem", func(random *rand.Rand) string {
			return fmt.Sprintf(`{"TableName":"bench","Key":{"PK":{"S":"%d"}}}`, random.IntN(itemsMin))
		})
		if err != nil {
			return err
		}
		client, name := l.db.Client(), "bench"
		begin := time.Now()
		for i := range gets {
			key := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: fmt.Sprint(i % itemsMin)}}
			if _, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &name, Key: key}); err != nil {
				return err
			}
		}
		lines = []growth{{"a get through the SDK's client in this process, from the handler alone", own, micros(time.Since(begin)) / gets, "µs", 10}}
		return nil
	})
	return lines, err
}

// scan counts the whole table, page by page.
func (l *local) scan() error {
	start := ""
	for {
		response, err := l.call("Scan", `{"TableName":"bench","Select":"COUNT"`+start+`}`)
		if err != nil {
			return err
		}
		_, key, more := bytes.Cut(response, []byte(`"LastEvaluatedKey":`))
		if !more {
			return nil
		}
		end := bytes.Index(key, []byte(`}}`)) + len(`}}`)
		start = `,"ExclusiveStartKey":` + string(key[:end])
	}
}

func (l *local) call(operation, body string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(body)) //nolint:noctx // no one to cancel it
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	response := httptest.NewRecorder()
	l.db.Handler().ServeHTTP(response, request)
	if response.Code != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s", operation, response.Code, response.Body)
	}
	return response.Body.Bytes(), nil
}
