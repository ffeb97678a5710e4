package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/monotable/monotable"
)

// getsAtScale is how many reads are timed at each size of the table.
const getsAtScale = 200_000

// measureScale loads one table in process, first with a hundredth of the items, then with all, and prints
// what a get, a whole scan and a restart cost at each size: a get at most twice as much, the others no more
// per item.
func measureScale(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("bench scale", flag.ExitOnError)
	items := flags.Int("items", 10_000_000, "items in the end; measured at a hundredth of them, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-scale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &scale{dir: filepath.Join(dir, "data")}
	if err := s.open(); err != nil {
		return err
	}
	if _, err := s.call("CreateTable", scaleTable); err != nil {
		return err
	}
	var sizes []scaleFigures
	for _, n := range []int{*items / 100, *items} {
		if err := s.loadUpTo(n); err != nil {
			return err
		}
		figures, err := s.measure()
		if err != nil {
			return err
		}
		sizes = append(sizes, figures)
		fmt.Fprintf(w, "%9d items: get %.2f µs, scan %.2f µs/item, restart %v\n",
			n, micros(figures.get), micros(figures.scanPerItem), figures.restart.Round(time.Millisecond))
	}
	fmt.Fprintf(w, "a get costs %.2f × as much, a scanned item %.2f ×, a restart %.2f ×\n",
		ratio(sizes[1].get, sizes[0].get), ratio(sizes[1].scanPerItem, sizes[0].scanPerItem), ratio(sizes[1].restart, sizes[0].restart))
	return s.db.Close()
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

const scaleTable = `{"TableName":"bench","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]}`

// scale is a database in this process that grows.
type scale struct {
	dir   string
	db    *monotable.DB
	items int
}

type scaleFigures struct {
	get, scanPerItem, restart time.Duration
}

func (s *scale) open() (err error) {
	s.db, err = monotable.Open(s.dir, &monotable.Options{Durability: monotable.DurabilityNone})
	return err
}

func (s *scale) loadUpTo(n int) error {
	begin := time.Now()
	for s.items < n {
		var puts []string
		for ; s.items < n && len(puts) < 25; s.items++ {
			puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"PK":{"S":"item#%0*d"},"n":{"N":"%d"},"text":{"S":%q}}}}`,
				digits, s.items, s.items, strings.Repeat("z", 100)))
		}
		if _, err := s.call("BatchWriteItem", `{"RequestItems":{"bench":[`+strings.Join(puts, ",")+`]}}`); err != nil {
			return err
		}
		if s.items%1_000_000 == 0 {
			progress("%d items after %.0f s", s.items, time.Since(begin).Seconds())
		}
	}
	return nil
}

func (s *scale) measure() (f scaleFigures, err error) {
	begin := time.Now()
	if err := errors.Join(s.db.Close(), s.open()); err != nil {
		return f, err
	}
	f.restart = time.Since(begin)
	random := rand.New(rand.NewPCG(1, uint64(s.items)))
	get := func() error {
		_, err := s.call("GetItem", fmt.Sprintf(`{"TableName":"bench","Key":{"PK":{"S":"item#%0*d"}}}`, digits, random.IntN(s.items)))
		return err
	}
	for range getsAtScale / 10 { // warm up
		if err := get(); err != nil {
			return f, err
		}
	}
	begin = time.Now()
	for range getsAtScale {
		if err := get(); err != nil {
			return f, err
		}
	}
	f.get = time.Since(begin) / getsAtScale
	begin = time.Now()
	err = s.scan()
	f.scanPerItem = time.Since(begin) / time.Duration(s.items)
	return f, err
}

// scan counts the whole table, page by page.
func (s *scale) scan() error {
	start := ""
	for {
		answer, err := s.call("Scan", `{"TableName":"bench","Select":"COUNT"`+start+`}`)
		if err != nil {
			return err
		}
		_, key, more := bytes.Cut(answer, []byte(`"LastEvaluatedKey":`))
		if !more {
			return nil
		}
		end := bytes.Index(key, []byte(`}}`)) + len(`}}`)
		start = `,"ExclusiveStartKey":` + string(key[:end])
	}
}

func (s *scale) call(operation, body string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(body)) //nolint:noctx // no one to cancel it
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	answer := httptest.NewRecorder()
	s.db.Handler().ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s", operation, answer.Code, answer.Body)
	}
	return answer.Body.Bytes(), nil
}
