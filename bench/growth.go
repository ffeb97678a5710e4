//go:build unix

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
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
)

// growItems is the final number of items in a table.
var growItems = 10_000_000

// The databases have the memory settings of a server on a machine with 24 GB: see internal/tools/cli/memory.go.
const (
	growCacheBytes = 2560 << 20
	growGCPercent  = 400
)

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
	defer debug.SetGCPercent(debug.SetGCPercent(growGCPercent))
	for _, measure := range []func(context.Context) ([]growth, error){growItemsOfTable, growTables, growIndexes, growCollection, measureWriterGrowth, compareWithSDK} {
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
	l := &local{dir: filepath.Join(dir, "data"), durability: durability, random: rand.New(rand.NewPCG(1, 2))}
	if err := l.open(); err != nil {
		return err
	}
	err = errors.Join(do(l), l.db.Close())
	l.db, l.metrics = nil, nil
	debug.FreeOSMemory() // or it is returned during the next measurement
	return err
}

// growRegions are the Regions of the databases; unsigned requests go to the first.
var growRegions = []string{"us-east-1", "us-east-2", "us-west-1", "us-west-2"}

// local is a database in this process.
type local struct {
	dir        string
	durability monotable.Durability
	db         *monotable.DB
	metrics    *prometheus.Registry // of db
	random     *rand.Rand           // of the requests
}

func (l *local) open() (err error) {
	l.db, err = monotable.Open(l.dir, &monotable.Options{
		Durability: l.durability, CacheSize: growCacheBytes, Region: growRegions[0], Regions: growRegions[1:],
	})
	if err != nil {
		return err
	}
	l.metrics = prometheus.NewRegistry()
	return l.metrics.Register(l.db.Collector())
}

// settle waits until the compactions that a load caused have ended.
func (l *local) settle() error {
	const quietLooks = 10
	last, quiet := 0.0, 0
	for look := time.NewTicker(100 * time.Millisecond); ; <-look.C {
		families, err := l.metrics.Gather()
		if err != nil {
			return err
		}
		var running, ended float64
		for _, family := range families {
			switch family.GetName() {
			case "monotable_compactions_running":
				running = family.GetMetric()[0].GetGauge().GetValue()
			case "monotable_compactions_total":
				ended = family.GetMetric()[0].GetCounter().GetValue()
			}
		}
		if quiet++; running > 0 || ended != last {
			last, quiet = ended, 0
		}
		if quiet == quietLooks {
			return nil
		}
	}
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
	return l.eachIn(times, operation, func(random *rand.Rand) (string, string) { return "", body(random) })
}

// typical is the median of five times of each, for reads: what disturbs the machine for a moment is left out.
func (l *local) typical(times int, operation string, body func(random *rand.Rand) string) (float64, error) {
	return l.typicalIn(times, operation, func(random *rand.Rand) (string, string) { return "", body(random) })
}

// typicalIn is typical with requests to Regions, see callIn.
func (l *local) typicalIn(times int, operation string, body func(random *rand.Rand) (region, text string)) (float64, error) {
	var all [5]float64
	for i := range all {
		var err error
		if all[i], err = l.eachIn(times/len(all), operation, body); err != nil {
			return 0, err
		}
	}
	slices.Sort(all[:])
	return all[len(all)/2], nil
}

// eachIn is each with requests to Regions, see callIn.
func (l *local) eachIn(times int, operation string, body func(random *rand.Rand) (region, text string)) (float64, error) {
	begin := time.Now()
	for i := range times + times/10 {
		if i == times/10 {
			begin = time.Now()
		}
		region, text := body(l.random)
		if _, err := l.callIn(region, operation, text); err != nil {
			return 0, err
		}
	}
	return micros(time.Since(begin)) / float64(times), nil
}

// fill puts items with these bodies.
func (l *local) fill(from, to int, item func(n int) string) error {
	begin := time.Now()
	for n := from; n < to; {
		var puts []string
		for ; n < to && len(puts) < batchMax; n++ {
			puts = append(puts, `{"PutRequest":{"Item":`+item(n)+`}}`)
		}
		if _, err := l.call("BatchWriteItem", `{"RequestItems":{"bench":[`+strings.Join(puts, ",")+`]}}`); err != nil {
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

// growItemsOfTable: a get costs at most 1.5 times as much with a hundred times the items; scans and restarts are linear. Restarts are
// measured right after the load, the rest when its compactions have ended, and gets when the cache is full.
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
			err := l.fill(loaded, n, func(n int) string {
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
			if err := l.settle(); err != nil {
				return err
			}
			key := func(random *rand.Rand) string {
				return fmt.Sprintf(`{"TableName":"bench","Key":{"PK":{"S":"item#%0*d"}}}`, digits, random.IntN(loaded))
			}
			_, err1 := l.each(loaded/10, "GetItem", key) // fills the cache
			get, err2 := l.typical(gets, "GetItem", key)
			if err := errors.Join(err1, err2); err != nil {
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

// growTables: 10,000 tables do not make creating one, or a get, slower than with 100; a restart is linear. They are in four Regions: an
// account has at most 2,500 tables in a Region, here as in AWS.
func growTables(context.Context) (lines []growth, err error) {
	type costs struct{ create, get, restart float64 }
	var sizes []costs
	counts := []int{100, min(10_000, growItems/100)}
	regionOf := func(table int) string { return growRegions[table%len(growRegions)] }
	err = inDirectory(monotable.DurabilityNone, func(l *local) error {
		created := 0
		for _, n := range counts {
			begin, first := time.Now(), created
			for ; created < n; created++ {
				if _, err := l.callIn(regionOf(created), "CreateTable", fmt.Sprintf(growTable, fmt.Sprintf("table-%05d", created))); err != nil {
					return err
				}
			}
			create := micros(time.Since(begin)) / float64(n-first)
			restart, err := l.reopen()
			if err != nil {
				return err
			}
			if err := l.settle(); err != nil {
				return err
			}
			get, err := l.typicalIn(200_000, "GetItem", func(random *rand.Rand) (string, string) {
				table := random.IntN(created)
				return regionOf(table), fmt.Sprintf(`{"TableName":"table-%05d","Key":{"PK":{"S":"a"}}}`, table)
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

// indexedTables each have indexesEach indexes with all attributes: 64 together.
const indexedTables, indexesEach = 4, 16

// growIndexes: a put into a table with n indexes writes n+1 entries, so it may cost n+1 times as much as one into a table without; a get
// costs the same.
func growIndexes(context.Context) (lines []growth, err error) {
	const items = 20_000
	measure := func(indexes int) (put, get float64, err error) {
		attributes, list := []string{`{"AttributeName":"PK","AttributeType":"S"}`}, []string(nil)
		for n := range indexes {
			attributes = append(attributes, fmt.Sprintf(`{"AttributeName":"k%d","AttributeType":"S"}`, n))
			list = append(list, fmt.Sprintf(`{"IndexName":"index-%d","KeySchema":[{"AttributeName":"k%[1]d","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}`, n))
		}
		table := `{"TableName":"table-%d","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}],"AttributeDefinitions":[` + strings.Join(attributes, ",") + `]`
		if indexes > 0 {
			table += `,"GlobalSecondaryIndexes":[` + strings.Join(list, ",") + `]`
		}
		err = inDirectory(monotable.DurabilityNone, func(l *local) error {
			for n := range indexedTables {
				if _, err := l.call("CreateTable", fmt.Sprintf(table, n)+`}`); err != nil {
					return err
				}
			}
			var err error
			put, err = l.each(items, "PutItem", func(random *rand.Rand) string {
				item := []string{fmt.Sprintf(`"PK":{"S":"%d"},"text":{"S":%q}`, random.IntN(items), strings.Repeat("z", 100))}
				for n := range indexesEach { // the same item in tables without indexes
					item = append(item, fmt.Sprintf(`"k%d":{"S":"%d"}`, n, random.IntN(items)))
				}
				return fmt.Sprintf(`{"TableName":"table-%d","Item":{%s}}`, random.IntN(indexedTables), strings.Join(item, ","))
			})
			if err != nil {
				return err
			}
			if err := l.settle(); err != nil {
				return err
			}
			get, err = l.typical(10*items, "GetItem", func(random *rand.Rand) string {
				return fmt.Sprintf(`{"TableName":"table-%d","Key":{"PK":{"S":"%d"}}}`, random.IntN(indexedTables), random.IntN(items))
			})
			return err
		})
		return put, get, err
	}
	put, get, err1 := measure(0)
	indexedPut, indexedGet, err2 := measure(indexesEach)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	named := fmt.Sprintf("in %d tables with %d indexes, from none", indexedTables, indexedTables*indexesEach)
	return []growth{
		{"a put " + named, put, indexedPut, "µs", indexesEach + 1},
		{"a get " + named, get, indexedGet, "µs", 1.5},
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
			if err := l.fill(loaded, n, element); err != nil {
				return err
			}
			loaded = n
			if err := l.settle(); err != nil {
				return err
			}
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
		if err := l.fill(0, itemsMin, func(n int) string {
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

func (l *local) call(operation, body string) ([]byte, error) { return l.callIn("", operation, body) }

// callIn sends a request to a Region; "" is the first one. Signatures are not checked.
func (l *local) callIn(region, operation, body string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(body)) //nolint:noctx // no one to cancel it
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	if region != "" {
		request.Header.Set("X-Amz-Date", signedAt)
		request.Header.Set("Authorization", strings.Replace(authorization, "us-east-1", region, 1)+unsigned)
	}
	response := httptest.NewRecorder()
	l.db.Handler().ServeHTTP(response, request)
	if response.Code != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s", operation, response.Code, response.Body)
	}
	return response.Body.Bytes(), nil
}
