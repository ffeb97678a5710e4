//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const createTable = `{"TableName":"bench","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},
{"AttributeName":"GSI1PK","AttributeType":"S"},{"AttributeName":"GSI1SK","AttributeType":"S"},
{"AttributeName":"GSI2PK","AttributeType":"S"},{"AttributeName":"GSI2SK","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
"GlobalSecondaryIndexes":[
{"IndexName":"GSI1","KeySchema":[{"AttributeName":"GSI1PK","KeyType":"HASH"},{"AttributeName":"GSI1SK","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
{"IndexName":"GSI2","KeySchema":[{"AttributeName":"GSI2PK","KeyType":"HASH"},{"AttributeName":"GSI2SK","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`

const loaders = 4

// load creates the table and fills it: items of 1 KB, then the partitions.
func load(ctx context.Context, s *server, items int) error {
	if s.echo {
		return nil
	}
	begin := time.Now()
	if err := call(ctx, s, "CreateTable", createTable); err != nil {
		return err
	}
	if err := awaitActive(ctx, s); err != nil {
		return err
	}
	if err := store(ctx, s, partItems()); err != nil {
		return err
	}
	err := store(ctx, s, items1K(0, items))
	progress("%s loaded with %d items in %.1f s", s.name, items+partitions*perPart, time.Since(begin).Seconds())
	return err
}

// store puts items in batches, several at a time.
func store(ctx context.Context, s *server, items iter.Seq[string]) error {
	batches := make(chan string, loaders)
	var wg sync.WaitGroup
	var failure atomic.Pointer[error]
	for range loaders {
		wg.Go(func() {
			for batch := range batches {
				if err := call(ctx, s, "BatchWriteItem", batch); err != nil {
					failure.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	var puts []string
	flush := func() {
		if len(puts) > 0 {
			batches <- `{"RequestItems":{"bench":[` + strings.Join(puts, ",") + `]}}`
			puts = puts[:0]
		}
	}
	for item := range items {
		puts = append(puts, `{"PutRequest":{"Item":`+item+`}}`)
		if len(puts) == batchMax {
			flush()
		}
		if failure.Load() != nil {
			break
		}
	}
	flush()
	close(batches)
	wg.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}

// batchMax is the maximum number of puts in a BatchWriteItem.
const batchMax = 25

// items1K returns the items of 1 KB with numbers in a range.
func items1K(from, to int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := from; i < to && yield(item(fmt.Sprintf("%0*d", digits, i))); i++ {
		}
	}
}

// partItems returns the items of the partitions.
func partItems() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < partitions*perPart && yield(partItem(i/perPart, i%perPart)); i++ {
		}
	}
}

func awaitActive(ctx context.Context, s *server) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for range 1000 {
		response, err := ask(ctx, s, "DescribeTable", `{"TableName":"bench"}`)
		if err == nil && bytes.Contains(response, []byte(`"TableStatus":"ACTIVE"`)) {
			return nil
		}
		<-poll.C
	}
	return errors.New("the table does not become ACTIVE")
}

func call(ctx context.Context, s *server, operation, body string) error {
	_, err := ask(ctx, s, operation, body)
	return err
}

func ask(ctx context.Context, s *server, operation, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	target, signature := "DynamoDB_20120810."+operation, []byte(unsigned)
	newSigner(s.addr, target).sign(signature, []byte(body))
	request.Header.Set("X-Amz-Target", target)
	request.Header.Set("X-Amz-Date", signedAt)
	request.Header.Set("Authorization", authorization+string(signature))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", operation, response.Status, text)
	}
	return text, err
}

// parseCounts parses "32,1".
func parseCounts(text string) ([]int, error) {
	var counts []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > partitions {
			return nil, fmt.Errorf("connections %q: want numbers from 1 to %d", text, partitions)
		}
		counts = append(counts, n)
	}
	return counts, nil
}
