// Package load calls a system's routes repeatedly and measures each.
//
// # Model
//
//	Plan ─▶ Setup, by each connection once ─▶ each of Routes in turn: every connection repeats (Before …, Call) until the time is over
//
// Package loadgen runs the connections, in a closed loop or, with a rate, in an open one.
//
// A Plan is data provided by the system; a Send sends its requests, over a socket or otherwise. Each connection is a user with
// its own memory: values kept from a response replace {name} in the connection's later calls. So a route is measured on existing
// data and, if a call consumes something, Before recreates it outside of the measurement.
//
// # Invariants
//
//	L1  Only Calls of Routes are measured: neither Setup nor Before counts, in time or number.
//	L2  {n} is unique, in this run and all earlier ones.
//	L3  A rejected Setup or Before ends the run with the response; a rejected Call is counted under its status.
//
// Run starts its own goroutines; all of them call Send.
package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/loadgen"
)

// Call is a request with placeholders {name} in the path, in header values, in the body, and in As.
//
//	{n}        a number of 16 digits, different in each call, the same throughout the call
//	{code}     the same number as ten capital letters and digits
//	{time}     the time in UTC, to a millisecond; later in each call of a connection
//	{user}     the caller's sub
//	{address}  a network address, of a different subscriber in each call: for X-Forwarded-For, where requests
//	           per address are limited
//	{NAME}     the value that Keep of an earlier call of this connection stored under NAME
type Call struct {
	Method string
	// Path is relative to the system's prefix, and includes the query: "/orders/{orderId}?limit=5".
	Path   string
	Header map[string]string
	Body   string
	// As selects a user of the connection: "" is its own user, "author" another one. "-" calls without a token.
	As string
	// Groups are the groups in the token.
	Groups []string
	// Keep stores values of the response by name: "orderId": "order/id" stores the member id of the member order. A number is an
	// array index, and "" is the whole response.
	Keep map[string]string
	// Await repeats a preparing call until Keep finds its values, which a worker creates asynchronously.
	Await bool
	// Before are calls that the same connection makes before each measured call.
	Before []Call
}

// Plan describes how to load a system.
type Plan struct {
	// Setup is made once by each connection. Routes are measured.
	Setup, Routes []Call
	// Without lists operations that are not measured, by id, with the reason.
	Without map[string]string
}

// Request is a call with its placeholders replaced.
type Request struct {
	Method, Path, Body string
	Header             map[string]string
	// User is the sub of the token, or "" for a request without a token.
	User   string
	Groups []string
}

// Response is a response.
type Response struct {
	Status int
	Body   []byte
}

// Send sends a request. An error means that there was no response.
type Send func(context.Context, Request) (Response, error)

// Options of a run.
type Options struct {
	// Connections is the number of concurrent callers, at least 1.
	Connections int
	// Duration is how long a route is called; 0 means once per connection.
	Duration time.Duration
	// Rate is how many calls per second are due over all connections; 0 means a closed loop.
	Rate float64
	// OnResult receives each result as soon as it is available, from one goroutine. It may be nil.
	OnResult func(Result)
}

// Result is the measurement of a route.
type Result struct {
	// Route is the method and the path with its query, with the plan's placeholders.
	Route string `json:"route"`
	// PerSecond is the throughput of all connections together, without the time for Before.
	PerSecond float64       `json:"perSecond"`
	P50       time.Duration `json:"p50Nanoseconds"`
	P99       time.Duration `json:"p99Nanoseconds"`
	// Waited is how many calls of an open loop found no free connection when they were due. The latencies include their waiting
	// time.
	Waited int `json:"waited,omitempty"`
	// Responses counts responses by status.
	Responses map[int]int `json:"responses"`
	// Refusal is the body of the first response with a status of 400 or above, or "" if there was none.
	Refusal string `json:"refusal,omitempty"`
}

// Run measures a plan's routes in order.
func Run(ctx context.Context, plan Plan, send Send, o Options) ([]Result, error) {
	// In microseconds, so that a later run begins above the number at which this one ends.
	var numbers atomic.Int64
	numbers.Store(time.Now().UnixMicro())
	connections := make([]*connection, max(1, o.Connections))
	for i := range connections {
		connections[i] = &connection{send: send, numbers: &numbers, user: "load-" + strconv.Itoa(i), kept: map[string]string{}}
	}
	err := loadgen.Each(connections, func(_ int, c *connection) error { return c.prepareAll(ctx, plan.Setup) })
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, route := range plan.Routes {
		result, err := measure(ctx, connections, route, o)
		if err != nil {
			return results, err
		}
		results = append(results, result)
		if o.OnResult != nil {
			o.OnResult(result)
		}
	}
	return results, nil
}

// measure calls a route on all connections until the time is over.
func measure(ctx context.Context, connections []*connection, route Call, o Options) (Result, error) {
	callers := make([]*caller, len(connections))
	for i, c := range connections {
		callers[i] = &caller{connection: c, route: route, responses: map[int]int{}}
	}
	out := Result{Route: route.Method + " " + route.Path, Responses: map[int]int{}}
	done, err := loadgen.Run(ctx, callers, loadgen.Options{Duration: o.Duration, Rate: o.Rate})
	if err != nil {
		return out, fmt.Errorf("%s: %w", out.Route, err)
	}
	for _, c := range callers {
		for status, n := range c.responses {
			out.Responses[status] += n
		}
		out.Refusal = cmp.Or(out.Refusal, c.refusal)
	}
	out.P50, out.P99, out.Waited = done.Percentile(50), done.Percentile(99), done.Waited //nolint:mnd // as the names say
	if o.Rate > 0 && o.Duration > 0 {
		out.PerSecond = float64(done.Requests) / done.Elapsed.Seconds()
	} else { // without the time for Before
		out.PerSecond = float64(done.Requests) * float64(len(connections)) / done.Busy.Seconds()
	}
	return out, nil
}

// caller calls one route on a connection.
type caller struct {
	*connection
	route     Call
	responses map[int]int
	refusal   string
}

// Prepare makes the calls that the measured one needs.
func (c *caller) Prepare(ctx context.Context) error { return c.prepareAll(ctx, c.route.Before) }

// Send makes the measured call.
func (c *caller) Send(ctx context.Context) error {
	response, err := c.call(ctx, c.route)
	if err != nil {
		return err
	}
	c.responses[response.Status]++
	if response.Status >= http.StatusBadRequest && c.refusal == "" {
		c.refusal = string(bytes.TrimSpace(response.Body))
	}
	return nil
}

// connection is a user with its memory, used by one goroutine at a time.
type connection struct {
	send     Send
	numbers  *atomic.Int64
	user     string
	kept     map[string]string
	lastTime time.Time // the previous call's {time}
}

const (
	// awaitPause is the time between attempts of an awaiting call, awaitMax the maximum total time.
	awaitPause = 10 * time.Millisecond
	awaitMax   = 30 * time.Second
)

// errNothing is the error for a response without a value that Keep needs.
var errNothing = errors.New("the response has nothing")

// prepareAll makes calls on which others depend.
func (c *connection) prepareAll(ctx context.Context, calls []Call) error {
	for _, call := range calls {
		if err := c.prepare(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes a call on which others depend.
func (c *connection) prepare(ctx context.Context, call Call) error {
	for begin := time.Now(); ; {
		response, err := c.call(ctx, call)
		if err == nil && response.Status >= http.StatusBadRequest {
			err = fmt.Errorf("%s %s, which prepares: %d %s", call.Method, call.Path, response.Status, bytes.TrimSpace(response.Body))
		}
		if !call.Await || !errors.Is(err, errNothing) || time.Since(begin) > awaitMax {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(awaitPause):
		}
	}
}

// call makes a call and keeps values of the response.
func (c *connection) call(ctx context.Context, call Call) (Response, error) {
	request, err := c.request(call)
	if err != nil {
		return Response{}, err
	}
	response, err := c.send(ctx, request)
	if err != nil {
		return Response{}, fmt.Errorf("%s %s: %w", request.Method, request.Path, err)
	}
	if response.Status >= http.StatusBadRequest {
		return response, nil
	}
	for name, at := range call.Keep {
		if c.kept[name], err = find(response.Body, at); err != nil {
			return response, fmt.Errorf("%s %s: keep %s: %w", request.Method, request.Path, name, err)
		}
	}
	return response, nil
}

// request replaces a call's placeholders.
func (c *connection) request(call Call) (Request, error) {
	r := Request{Method: call.Method, Groups: call.Groups, Header: map[string]string{}}
	switch call.As {
	case "":
		r.User = c.user
	case "-":
	default:
		r.User = c.user + "-" + call.As
	}
	number := c.numbers.Add(1)
	n := strconv.FormatInt(number, 10)
	c.lastTime = later(c.lastTime, time.Now())
	var faults []error
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(found string) string {
			switch name := found[1 : len(found)-1]; name {
			case "n":
				return n
			case "code":
				return strings.ToUpper(strconv.FormatInt(number, 36)) //nolint:mnd // all letters and digits
			case "time":
				return c.lastTime.Format(timeForm)
			case "user":
				return r.User
			case "address":
				return addressOf(number)
			default:
				value, ok := c.kept[name]
				if !ok {
					faults = append(faults, fmt.Errorf("%s %s: no call before has kept %s", call.Method, call.Path, name))
				}
				return value
			}
		})
	}
	r.Path, r.Body = fill(call.Path), fill(call.Body)
	for name, value := range call.Header {
		r.Header[name] = fill(value)
	}
	return r, errors.Join(faults...)
}

// timeForm is the layout of {time}.
const timeForm = "2006-01-02T15:04:05.000Z"

// later returns the time in milliseconds, at least one millisecond after the previous one.
func later(than, now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := than.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// addressOf returns an address in its own /64 network of the documentation range (RFC 3849).
func addressOf(number int64) string {
	return fmt.Sprintf("2001:db8:%x:%x::1", uint16(number>>16), uint16(number)) //nolint:gosec // the low bits of a number
}

// placeholder cannot match JSON, in which member names have quotes.
var placeholder = regexp.MustCompile(`\{[A-Za-z]\w*\}`)

// find returns the value at a path in a response: a string unchanged, anything else as JSON.
func find(body []byte, path string) (string, error) {
	var at any
	if err := json.Unmarshal(body, &at); err != nil {
		return "", fmt.Errorf("the response is not JSON: %w", err)
	}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
		var next any
		switch of := at.(type) {
		case map[string]any:
			next = of[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(of) {
				next = of[i]
			}
		}
		if next == nil {
			return "", fmt.Errorf("%w at %s: %s", errNothing, path, body)
		}
		at = next
	}
	if text, ok := at.(string); ok {
		return text, nil
	}
	text, err := json.Marshal(at)
	return string(text), err
}
