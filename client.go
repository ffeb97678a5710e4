package monotable

import (
	"bytes"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// endpoint is never looked up: the requests stay in the process. Handler accepts every name below localhost.
const endpoint = "http://monotable.localhost"

// Client returns a client of the AWS SDK that calls the database without a socket. Each of options may
// change the SDK's own options (retries, middleware, …); region, endpoint, credentials and transport are
// set already.
func (db *DB) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.AnonymousCredentials{},
		HTTPClient:   inProcess{db.server.Owner()},
	}, options...)
}

// inProcess is an HTTP client whose only server is a handler in this process.
type inProcess struct {
	handler http.Handler
}

// Do serves the request on the caller's goroutine; the SDK's contract for the body applies.
func (p inProcess) Do(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	answer := recorder{header: make(http.Header, 8), status: http.StatusOK}
	p.handler.ServeHTTP(&answer, request)
	if err := request.Body.Close(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status:        http.StatusText(answer.status),
		StatusCode:    answer.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        answer.header,
		Body:          io.NopCloser(bytes.NewReader(answer.body)),
		ContentLength: int64(len(answer.body)),
		Request:       request,
	}, nil
}

// recorder keeps an answer in memory.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write copies, for the handler may reuse its buffer.
func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}
