package lambdahttp_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/lambdahttp"
	"github.com/monotable/monotable/systems/internal/system"
)

// seen is what a handler received.
type seen struct {
	Method, Path, Escaped, Query, Host, Remote, ID, URI string
	Secure                                              bool
	Header                                              http.Header
	Cookies                                             []string
	Body                                                string
}

// echo records the request and returns a constant response.
func echo(into *seen) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		*into = seen{
			Method: r.Method, Path: r.URL.Path, Escaped: r.URL.EscapedPath(), Query: r.URL.RawQuery, Host: r.Host, Remote: r.RemoteAddr,
			ID: r.Header.Get("X-Request-Id"), URI: r.RequestURI, Header: r.Header, Body: string(body),
			Secure: r.TLS != nil,
		}
		for _, c := range r.Cookies() {
			into.Cookies = append(into.Cookies, c.Name+"="+c.Value)
		}
		into.Header.Del("Cookie")
		into.Header.Del("X-Request-Id")
		w.WriteHeader(http.StatusNoContent)
	})
}

// TestRequests: the events are those in AWS's guide "Create AWS Lambda proxy integrations for HTTP APIs", format 2.0.
func TestRequests(t *testing.T) {
	t.Parallel()
	const about = `"requestContext":{"accountId":"123456789012","apiId":"api-id","domainName":"id.execute-api.us-east-1.amazonaws.com",` +
		`"domainPrefix":"id","http":{"method":"POST","path":"/my/path","protocol":"HTTP/1.1","sourceIp":"192.0.2.1","userAgent":"agent"},` +
		`"requestId":"JKJaXmPLvHcESHA=","routeKey":"$default","stage":"$default","time":"12/Mar/2020:19:03:58 +0000","timeEpoch":1583348638390}`
	for _, test := range []struct {
		name, event string
		want        seen
	}{
		{
			"all at once", `{"version":"2.0","routeKey":"$default","rawPath":"/my/path","rawQueryString":"parameter1=value1&parameter1=value2&parameter2=value",` +
				`"cookies":["cookie1=a","cookie2=b"],"headers":{"header1":"value1","header2":"value1,value2","content-type":"application/json"},` + about + `,"body":"{\"a\":1}","isBase64Encoded":false}`,
			seen{
				Path: "/my/path", Escaped: "/my/path", Query: "parameter1=value1&parameter1=value2&parameter2=value", Cookies: []string{"cookie1=a", "cookie2=b"},
				URI:    "/my/path?parameter1=value1&parameter1=value2&parameter2=value",
				Header: http.Header{"Header1": {"value1"}, "Header2": {"value1,value2"}, "Content-Type": {"application/json"}}, Body: `{"a":1}`,
			},
		},
		{
			"bytes", `{"version":"2.0","rawPath":"/","headers":{},` + about + `,"body":"//4AAQ==","isBase64Encoded":true}`,
			seen{Path: "/", Escaped: "/", URI: "/", Header: http.Header{}, Body: "\xff\xfe\x00\x01"},
		},
		{
			"a stage in the path", `{"version":"2.0","rawPath":"/prod/notes/1","headers":{},` + strings.Replace(about, `"stage":"$default"`, `"stage":"prod"`, 1) + `}`,
			seen{Path: "/notes/1", Escaped: "/notes/1", URI: "/notes/1", Header: http.Header{}},
		},
		{
			"over TLS", `{"version":"2.0","rawPath":"/","headers":{"x-forwarded-proto":"https"},` + about + `}`,
			seen{Path: "/", Escaped: "/", URI: "/", Header: http.Header{"X-Forwarded-Proto": {"https"}}, Secure: true},
		},
		{
			"a path like a stage", `{"version":"2.0","rawPath":"/production/1","headers":{},` + strings.Replace(about, `"stage":"$default"`, `"stage":"prod"`, 1) + `}`,
			seen{Path: "/production/1", Escaped: "/production/1", URI: "/production/1", Header: http.Header{}},
		},
		{
			"escapes", `{"version":"2.0","rawPath":"/notes/a%2Fb%20c","rawQueryString":"q=%C3%A1+b","headers":{},` + about + `}`,
			seen{Path: "/notes/a/b c", Escaped: "/notes/a%2Fb%20c", Query: "q=%C3%A1+b", URI: "/notes/a%2Fb%20c?q=%C3%A1+b", Header: http.Header{}},
		},
		{
			"a path that looks like a host", `{"version":"2.0","rawPath":"//evil.example/notes","headers":{"host":"evil.example"},` + about + `}`,
			seen{Path: "//evil.example/notes", Escaped: "//evil.example/notes", URI: "//evil.example/notes", Header: http.Header{}},
		},
		{
			"a plus, a percent sign and a question mark in the path", `{"version":"2.0","rawPath":"/notes/a+b%25%3F","headers":{"host":"id.execute-api.us-east-1.amazonaws.com"},` + about + `}`,
			seen{Path: "/notes/a+b%?", Escaped: "/notes/a+b%25%3F", URI: "/notes/a+b%25%3F", Header: http.Header{}},
		},
		{
			"no escapes where some belong", `{"version":"2.0","rawPath":"/notes/á b","headers":{},` + about + `}`,
			seen{Path: "/notes/á b", Escaped: "/notes/%C3%A1%20b", URI: "/notes/%C3%A1%20b", Header: http.Header{}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got seen
			response, err := lambdahttp.New(echo(&got), nil).Invoke(t.Context(), []byte(test.event))
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			want.Method, want.Host, want.Remote, want.ID = "POST", "id.execute-api.us-east-1.amazonaws.com", "192.0.2.1:0", "JKJaXmPLvHcESHA="
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(string(response), `"statusCode":204`) {
				t.Errorf("response %s", response)
			}
		})
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	const event = `{"version":"2.0","rawPath":"/","headers":{},"requestContext":{"http":{"method":"GET"}}}`
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    events.APIGatewayV2HTTPResponse
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) {}, events.APIGatewayV2HTTPResponse{StatusCode: 200}},
		{"text", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Add("Vary", "Origin")
			w.Header().Add("Vary", "Accept-Encoding")
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
			http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
			w.WriteHeader(http.StatusConflict)
			w.Header().Set("Too", "late")
			_, _ = io.WriteString(w, `{"code":"á"}`)
		}, events.APIGatewayV2HTTPResponse{
			StatusCode: 409, Headers: map[string]string{"Content-Type": "application/problem+json", "Vary": "Origin,Accept-Encoding"},
			Cookies: []string{"a=1", "b=2"}, Body: `{"code":"á"}`,
		}},
		{"bytes", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG"))
		}, events.APIGatewayV2HTTPResponse{
			StatusCode: 200, Headers: map[string]string{"Content-Type": "image/png"}, Body: base64.StdEncoding.EncodeToString([]byte("\x89PNG")), IsBase64Encoded: true,
		}},
		{"bytes that are called text", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte("\xff"))
		}, events.APIGatewayV2HTTPResponse{StatusCode: 200, Headers: map[string]string{"Content-Type": "text/plain"}, Body: "/w==", IsBase64Encoded: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := lambdahttp.New(test.handler, nil).Invoke(t.Context(), []byte(event))
			if err != nil {
				t.Fatal(err)
			}
			var got events.APIGatewayV2HTTPResponse
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHead: a response to HEAD has no body.
func TestHead(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })
	text, err := lambdahttp.New(h, nil).Invoke(t.Context(), []byte(`{"rawPath":"/","requestContext":{"http":{"method":"HEAD"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(text, &got); err != nil || got.StatusCode != http.StatusOK || got.Body != "" || got.IsBase64Encoded {
		t.Errorf("%s, %v, want 200 without a body", text, err)
	}
}

// TestCompressedResponse: a gzip body is base64-encoded.
func TestCompressedResponse(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte("hello"))
		_ = z.Close()
	})
	text, err := lambdahttp.New(h, nil).Invoke(t.Context(), []byte(`{"rawPath":"/","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(text, &got); err != nil || !got.IsBase64Encoded {
		t.Fatalf("%v, base64 %v", err, got.IsBase64Encoded)
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(got.Body)))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || string(plain) != "hello" {
		t.Errorf("%q, %v", plain, err)
	}
}

func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for event, want := range map[string]string{
		`{}`:       "neither a request",
		`nonsense`: "event",
		`{"version":"1.0","httpMethod":"GET","path":"/"}`:                                              "neither a request",
		`{"rawPath":"/","requestContext":{"http":{"method":"GET"}}}`:                                   "gave up",
		`{"rawPath":"/","requestContext":{"http":{"method":"G T"}}}`:                                   "request",
		`{"rawPath":"/","body":"!","isBase64Encoded":true,"requestContext":{"http":{"method":"GET"}}}`: "body",
		`{"schedule":"other"}`: `no schedule "other"`,
		`{"Records":[{"eventSourceARN":"arn:aws:dynamodb:us-east-1:1:table/other/stream/1","dynamodb":{}}]}`: `no worker follows table "other"`,
	} {
		if response, err := lambdahttp.New(panics, nil).Invoke(t.Context(), []byte(event)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want an error with %q", event, response, err, want)
		}
	}
}

const notesARN = "arn:aws:dynamodb:us-east-1:000000000000:table/notes-dev/stream/2026-11-21T12:00:00.000"

// TestRecords: a handler cannot tell Lambda's records from those of a consumer.
func TestRecords(t *testing.T) {
	t.Parallel()
	sent := consumer.Batch{Stream: notesARN, Records: []types.Record{{
		AwsRegion: aws.String("us-east-1"), EventID: aws.String("e1"), EventName: types.OperationTypeModify,
		EventSource: aws.String("aws:dynamodb"), EventVersion: aws.String("1.1"),
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: aws.Time(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)),
			SequenceNumber:              aws.String("111"), SizeBytes: aws.Int64(59), StreamViewType: types.StreamViewTypeNewAndOldImages,
			Keys: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "USER#1"}},
			NewImage: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "USER#1"}, "n": &types.AttributeValueMemberN{Value: "12345678901234567890.5"},
				"b": &types.AttributeValueMemberB{Value: []byte{0, 255}}, "t": &types.AttributeValueMemberBOOL{Value: true},
				"null": &types.AttributeValueMemberNULL{Value: true}, "ss": &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
				"ns": &types.AttributeValueMemberNS{Value: []string{"1", "2.5"}}, "bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
				"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"x": &types.AttributeValueMemberS{Value: ""}}},
				"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberN{Value: "1"}, &types.AttributeValueMemberL{Value: []types.AttributeValue{}}}},
			},
		},
	}, {
		AwsRegion: aws.String("us-east-1"), EventID: aws.String("e2"), EventName: types.OperationTypeRemove,
		EventSource: aws.String("aws:dynamodb"), EventVersion: aws.String("1.1"),
		UserIdentity: &types.Identity{Type: aws.String("Service"), PrincipalId: aws.String("dynamodb.amazonaws.com")},
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: aws.Time(time.Date(2026, 11, 21, 12, 0, 1, 0, time.UTC)),
			SequenceNumber:              aws.String("222"), SizeBytes: aws.Int64(7), StreamViewType: types.StreamViewTypeNewAndOldImages,
			Keys:     map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "USER#1"}},
			OldImage: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "USER#1"}},
		},
	}}}
	payload, err := consumer.MarshalEvent(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got []consumer.Batch
	take := func(_ context.Context, b consumer.Batch) error {
		got = append(got, b)
		return nil
	}
	h := lambdahttp.New(nil, []system.Stream{
		{Name: "one", Table: "notes-dev", Handle: take}, {Name: "elsewhere", Table: "others", Handle: take}, {Name: "two", Table: "notes-dev", Handle: take},
	})
	if _, err := h.Invoke(t.Context(), payload); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]consumer.Batch{sent, sent}, got, cmpopts.IgnoreUnexported(
		types.Record{}, types.StreamRecord{}, types.Identity{},
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberNULL{}, types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{},
		types.AttributeValueMemberM{}, types.AttributeValueMemberL{},
	)); diff != "" {
		t.Error(diff)
	}
	fails := errors.New("not now")
	h = lambdahttp.New(nil, []system.Stream{{Name: "one", Table: "notes-dev", Handle: func(context.Context, consumer.Batch) error { return fails }}})
	if _, err := h.Invoke(t.Context(), payload); !errors.Is(err, fails) {
		t.Errorf("%v, want the handler's error, so that Lambda sends the batch again", err)
	}
	// Handlers that notify connected clients are not called in a function, which has no connections.
	h = lambdahttp.New(nil, []system.Stream{
		{Name: "one", Table: "notes-dev", Handle: take},
		{Name: "publish", Table: "notes-dev", EveryProcess: true, Handle: func(context.Context, consumer.Batch) error { return fails }},
	})
	if _, err := h.Invoke(t.Context(), payload); err != nil {
		t.Errorf("a stream that every process follows for itself: %v", err)
	}
	if _, err := h.Invoke(t.Context(), []byte(`{"Records":[]}`)); err != nil {
		t.Errorf("no records: %v", err)
	}
}

// TestSchedules: an event runs the schedule that it names; a failure is reported to Lambda.
func TestSchedules(t *testing.T) {
	t.Parallel()
	var runs []string
	fails := errors.New("fails")
	h := lambdahttp.New(nil, nil,
		system.Schedule{Name: "one", Run: func(context.Context) error { runs = append(runs, "one"); return nil }},
		system.Schedule{Name: "two", Run: func(context.Context) error { return fails }},
	)
	if _, err := h.Invoke(t.Context(), []byte(`{"schedule":"one"}`)); err != nil || len(runs) != 1 {
		t.Errorf("one: %v, it ran %d times", err, len(runs))
	}
	if _, err := h.Invoke(t.Context(), []byte(`{"schedule":"two"}`)); !errors.Is(err, fails) {
		t.Errorf("two: %v", err)
	}
}
