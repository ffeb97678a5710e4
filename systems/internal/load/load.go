// Package load calls a system's routes again and again and measures each.
//
// # Model
//
//	Plan ─▶ Setup, by each connection once ─▶ each of Routes in turn: every connection repeats (Before …, Call) until the time is over
//
// Package loadgen runs the connections, in a closed loop or, with a rate, in an open one.
//
// A Plan is data of the system's own; a Send makes its requests, over a socket or however else. Each connection is a user
// and has a memory of its own: what Keep took of an answer, later calls of the connection have for {name}. So a route is
// measured on what exists and, where a call uses something up, Before makes that anew, outside of the measurement.
//
// # Invariants
//
//	L1  Only Calls of Routes are measured: neither Setup nor Before counts, in time or in number.
//	L2  {n} is a number that no other call of this run or of one before it has had.
//	L3  A refused Setup or Before ends the run with what one connection was answered; a refused Call is counted under its status.
//
// Run makes its own goroutines; a Send is called by all of them.
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

// Call is a request in which {name} stands for something else: in the path, in values of headers, in the body, in As.
//
//	{n}        a number of 16 digits, another one in each call, the same one throughout the call
//	{code}     the same number as ten capital letters and digits
//	{time}     the time in UTC, to a millisecond; a later one in each call of a connection
//	{user}     the sub of who makes the call
//	{address}  an address of the network, of another subscriber in each call: for X-Forwarded-For, where there is a bound on
//	           what comes from one address
//	{NAME}     what Keep of an earlier call of this connection took under NAME
type Call struct {
	Method string
	// Path follows the system's prefix, with the query: "/orders/{orderId}?limit=5".
	Path   string
	Header map[string]string
	Body   string
	// As tells users of one connection apart: "" is the connection's own user, "author" another one. "-" calls without a token.
	As string
	// Groups are those of the token.
	Groups []string
	// Keep takes values out of the answer, by name: "orderId": "order/id" is the member id of the member order; a number is
	// an element of an array, "" the whole answer.
	Keep map[string]string
	// Await makes a call that prepares again until Keep finds what it takes: what a worker makes in its own time.
	Await bool
	// Before are made before each measured call, by the same connection.
	Before []Call
}

// Plan is how a system is loaded.
type Plan struct {
	// Setup is made by each connection once. Routes are measured.
	Setup, Routes []Call
	// Without are operations that are not measured, by their ids, and why.
	Without map[string]string
}

// Request is a call as it is made.
type Request struct {
	Method, Path, Body string
	Header             map[string]string
	// User is the sub of the token, "" for a request without one.
	User   string
	Groups []string
}

// Answer is what came back.
type Answer struct {
	Status int
	Body   []byte
}

// Send makes a request. An error is for no answer at all.
type Send func(context.Context, Request) (Answer, error)

// Options of a run.
type Options struct {
	// Connections call at once; 1 at least.
	Connections int
	// Duration is how long a route is called. With 0 each connection calls it once.
	Duration time.Duration
	// Rate is how many calls a second are due, by all connections together; 0 is the closed loop.
	Rate float64
	// Told is told of each result as soon as it is there, by one goroutine; nil is not.
	Told func(Result)
}

// Result is what a route did.
type Result struct {
	// Route is the method and the path with its query, {name} as the plan says.
	Route string `json:"route"`
	// PerSecond are answers a second of all connections together, the time that Before takes left out.
	PerSecond float64       `json:"perSecond"`
	P50       time.Duration `json:"p50Nanoseconds"`
	P99       time.Duration `json:"p99Nanoseconds"`
	// Waited are how many calls of an open loop found no free connection when they were due. Their waiting is in the latencies.
	Waited int `json:"waited,omitempty"`
	// Answers are how many answers there were of each status.
	Answers map[int]int `json:"answers"`
	// Refusal is the body of the first answer of 400 or more; "" if there was none.
	Refusal string `json:"refusal,omitempty"`
}

// Run measures the routes of a plan in its order.
func Run(ctx context.Context, plan Plan, send Send, o Options) ([]Result, error) {
	// Microseconds: no later run begins before where this one ends.
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
		if o.Told != nil {
			o.Told(result)
		}
	}
	return results, nil
}

// measure calls a route on all connections until the time is over.
func measure(ctx context.Context, connections []*connection, route Call, o Options) (Result, error) {
	callers := make([]*caller, len(connections))
	for i, c := range connections {
		callers[i] = &caller{connection: c, route: route, answers: map[int]int{}}
	}
	out := Result{Route: route.Method + " " + route.Path, Answers: map[int]int{}}
	done, err := loadgen.Run(ctx, callers, loadgen.Options{Duration: o.Duration, Rate: o.Rate})
	if err != nil {
		return out, fmt.Errorf("%s: %w", out.Route, err)
	}
	for _, c := range callers {
		for status, n := range c.answers {
			out.Answers[status] += n
		}
		out.Refusal = cmp.Or(out.Refusal, c.refusal)
	}
	out.P50, out.P99, out.Waited = done.Percentile(50), done.Percentile(99), done.Waited //nolint:mnd // as the names say
	if o.Rate > 0 && o.Duration > 0 {
		out.PerSecond = float64(done.Requests) / done.Elapsed.Seconds()
	} else { // the time that Before takes is left out
		out.PerSecond = float64(done.Requests) * float64(len(connections)) / done.Busy.Seconds()
	}
	return out, nil
}

// caller calls one route on a connection.
type caller struct {
	*connection
	route   Call
	answers map[int]int
	refusal string
}

// Prepare makes the calls that the measured one needs.
func (c *caller) Prepare(ctx context.Context) error { return c.prepareAll(ctx, c.route.Before) }

// Send makes the measured call.
func (c *caller) Send(ctx context.Context) error {
	answer, err := c.call(ctx, c.route)
	if err != nil {
		return err
	}
	c.answers[answer.Status]++
	if answer.Status >= http.StatusBadRequest && c.refusal == "" {
		c.refusal = string(bytes.TrimSpace(answer.Body))
	}
	return nil
}

// connection is a user with a memory; one goroutine at a time uses it.
type connection struct {
	send    Send
	numbers *atomic.Int64
	user    string
	kept    map[string]string
	told    time.Time // the {time} of the call before
}

const (
	// awaitPause is between two calls that await the same, awaitMax how long a worker may take.
	awaitPause = 10 * time.Millisecond
	awaitMax   = 30 * time.Second
)

// errNothing is for an answer that has not what Keep takes.
var errNothing = errors.New("the answer has nothing")

// prepareAll makes calls that others need.
func (c *connection) prepareAll(ctx context.Context, calls []Call) error {
	for _, call := range calls {
		if err := c.prepare(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes a call that others need.
func (c *connection) prepare(ctx context.Context, call Call) error {
	for begin := time.Now(); ; {
		answer, err := c.call(ctx, call)
		if err == nil && answer.Status >= http.StatusBadRequest {
			err = fmt.Errorf("%s %s, which prepares: %d %s", call.Method, call.Path, answer.Status, bytes.TrimSpace(answer.Body))
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

// call makes a call, and keeps what it takes of the answer.
func (c *connection) call(ctx context.Context, call Call) (Answer, error) {
	request, err := c.request(call)
	if err != nil {
		return Answer{}, err
	}
	answer, err := c.send(ctx, request)
	if err != nil {
		return Answer{}, fmt.Errorf("%s %s: %w", request.Method, request.Path, err)
	}
	if answer.Status >= http.StatusBadRequest {
		return answer, nil
	}
	for name, at := range call.Keep {
		if c.kept[name], err = find(answer.Body, at); err != nil {
			return answer, fmt.Errorf("%s %s: keep %s: %w", request.Method, request.Path, name, err)
		}
	}
	return answer, nil
}

// request is a call with its names filled in.
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
	c.told = later(c.told, time.Now())
	var faults []error
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(found string) string {
			switch name := found[1 : len(found)-1]; name {
			case "n":
				return n
			case "code":
				return strings.ToUpper(strconv.FormatInt(number, 36)) //nolint:mnd // all letters and digits
			case "time":
				return c.told.Format(timeForm)
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

// timeForm writes a {time}.
const timeForm = "2006-01-02T15:04:05.000Z"

// later is the time now to a millisecond, and at least a millisecond after another.
func later(than, now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := than.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// addressOf is an address in a network of 64 bits of its own, of those that are for examples (RFC 3849).
func addressOf(number int64) string {
	return fmt.Sprintf("2001:db8:%x:%x::1", uint16(number>>16), uint16(number)) //nolint:gosec // the low bits of a number
}

// placeholder is no JSON: a member's name has quotes.
var placeholder = regexp.MustCompile(`\{[A-Za-z]\w*\}`)

// find is the value at a path of an answer: a text as it is, anything else as JSON.
func find(body []byte, path string) (string, error) {
	var at any
	if err := json.Unmarshal(body, &at); err != nil {
		return "", fmt.Errorf("the answer is no JSON: %w", err)
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
