package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/design/table"
)

// exchange is a request of a pattern with its response, both in DynamoDB's JSON as sent.
type exchange struct {
	Operation string `json:"operation"`
	Input     string `json:"input"`
	// Status is 0 if nothing was sent.
	Status       int     `json:"status,omitempty"`
	Output       string  `json:"output,omitempty"`
	Milliseconds float64 `json:"milliseconds,omitempty"`
}

// recorder is the HTTP client of an SDK client: it sends requests to the endpoint, records the exchanges, and enforces
// Options.ReadOnly.
type recorder struct {
	client   Doer
	from     *http.Request // the page's request
	readOnly bool
	// keep records the exchanges. preview stops before the first request, or with previewWrites before the first write.
	keep, preview, previewWrites bool

	mu        sync.Mutex
	exchanges []*exchange
}

// errPreview ends the run of a pattern whose request is only to be shown.
var errPreview = errors.New("only the request was asked for")

// sdk returns a client of the endpoint that sends the requests of a page's request, through a recorder.
func (c *Console) sdk(from *http.Request, who aws.Credentials, r *recorder) *dynamodb.Client {
	o := &c.options
	r.client, r.from, r.readOnly = o.Client, from, o.ReadOnly
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &o.Endpoint, Region: o.Region, HTTPClient: r, Retryer: aws.NopRetryer{},
		Credentials: credentials.StaticCredentialsProvider{Value: who},
	})
}

// readings are the read operations used by patterns and to find designs.
var readings = map[string]bool{"GetItem": true, "BatchGetItem": true, "Query": true, "Scan": true, "TransactGetItems": true, "DescribeTable": true}

func (r *recorder) Do(q *http.Request) (*http.Response, error) {
	operation := strings.TrimPrefix(q.Header.Get("X-Amz-Target"), ofDynamoDB.target)
	if r.readOnly && !readings[operation] && !r.preview {
		return nil, &refusal{"ReadOnly", fmt.Sprintf("The console is read-only: it does not call %s.", operation)}
	}
	// If the endpoint is in this process, its policies see the address and TLS state of the page's request.
	q.RemoteAddr, q.TLS = r.from.RemoteAddr, r.from.TLS
	q.Header.Set("User-Agent", userAgent)
	if !r.keep {
		return r.client.Do(q)
	}
	input, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	q.Body = io.NopCloser(bytes.NewReader(input))
	e := &exchange{Operation: operation, Input: string(input)}
	r.mu.Lock()
	r.exchanges = append(r.exchanges, e)
	r.mu.Unlock()
	if r.preview && (!r.previewWrites || !readings[operation]) {
		return nil, errPreview
	}
	begun := time.Now()
	response, err := r.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	output, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(output))
	r.mu.Lock()
	e.Status, e.Output, e.Milliseconds = response.StatusCode, string(output), float64(time.Since(begun).Microseconds())/1000 //nolint:mnd // of a millisecond
	r.mu.Unlock()
	return response, nil
}

// observe records the duration of a call.
func (r *recorder) observe(call *table.Call) func(context.Context, table.Call) {
	return func(_ context.Context, c table.Call) {
		r.mu.Lock()
		defer r.mu.Unlock()
		*call = c
	}
}

// endpointFault is an error of the endpoint, with its code.
func endpointFault(err error) error {
	if said, is := errors.AsType[smithy.APIError](err); is {
		return &refusal{said.ErrorCode(), said.ErrorMessage()}
	}
	return err
}
