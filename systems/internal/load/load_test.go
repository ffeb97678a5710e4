package load_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/systems/internal/load"
)

// shop has orders that can be paid once.
type shop struct {
	mu   sync.Mutex
	paid map[string]bool
	all  []load.Request
}

func (s *shop) send(_ context.Context, r load.Request) (load.Response, error) {
	switch r.Method + " " + strings.TrimRight(r.Path, "0123456789") {
	case "POST /orders":
		<-time.After(7 * time.Millisecond)
	case "PUT /orders/":
		<-time.After(2 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
	if r.Method == http.MethodPost {
		id := fmt.Sprint(len(s.all))
		s.paid[id] = false
		return load.Response{Status: http.StatusCreated, Body: fmt.Appendf(nil, `{"order":{"id":%q,"lines":[{"n":%s}]}}`, id, id)}, nil
	}
	id := strings.TrimPrefix(r.Path, "/orders/")
	if paid, ok := s.paid[id]; !ok || paid {
		return load.Response{Status: http.StatusConflict, Body: []byte("paid")}, nil
	}
	s.paid[id] = true
	return load.Response{Status: http.StatusOK, Body: []byte(`{}`)}, nil
}

var (
	order = load.Call{
		Method: http.MethodPost, Path: "/orders", Header: map[string]string{"Idempotency-Key": "k-{n}"},
		Body: `{"of":"{user}","again":"{n}"}`, Keep: map[string]string{"id": "order/id", "line": "order/lines/0/n"},
	}
	pay = load.Call{Method: http.MethodPut, Path: "/orders/{id}", As: "till", Groups: []string{"staff"}}
)

// TestRun: each payment has its own order, whose creation is not counted.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{paid: map[string]bool{}}
		var received []load.Result
		plan := load.Plan{Routes: []load.Call{pay.After(order)}}
		results, err := load.Run(t.Context(), plan, s.send, load.Options{
			Connections: 2, Duration: 90 * time.Millisecond, OnResult: func(r load.Result) { received = append(received, r) },
		})
		if err != nil {
			t.Fatal(err)
		}
		// Both connections pay for two of every nine milliseconds, starting immediately: eleven times each.
		if r := results[0]; len(results) != 1 || r.Route != "PUT /orders/{id}" || r.Responses[200] != 22 || len(r.Responses) != 1 ||
			math.Round(r.PerSecond) != 1000 || r.P50.Round(10*time.Microsecond) != 2*time.Millisecond || r.P99.Round(10*time.Microsecond) != 2*time.Millisecond || r.Refusal != "" {
			t.Errorf("measured %+v", results)
		}
		if len(received) != 1 || received[0].Route != results[0].Route {
			t.Errorf("received %+v", received)
		}
		s.requests(t)
	})
}

// requests checks what the shop has received.
func (s *shop) requests(t *testing.T) {
	t.Helper()
	keys := map[string]bool{}
	for _, r := range s.all {
		key := r.Header["Idempotency-Key"]
		switch {
		case r.Method == http.MethodPut:
			if !strings.HasPrefix(r.User, "load-") || !strings.HasSuffix(r.User, "-till") || !slices.Equal(r.Groups, []string{"staff"}) {
				t.Errorf("paid as %s of %v", r.User, r.Groups)
			}
		case keys[key] || r.Body != `{"of":"`+r.User+`","again":"`+strings.TrimPrefix(key, "k-")+`"}`:
			t.Errorf("ordered %s with key %q, once before: %v", r.Body, key, keys[key])
		}
		keys[key] = true
	}
}

// TestOnlyMeasuredCallsMayBeRejected: a measured call may be rejected, a preparing one may not.
func TestOnlyMeasuredCallsMayBeRejected(t *testing.T) {
	s := &shop{paid: map[string]bool{}}
	run := func(plan load.Plan) ([]load.Result, error) {
		return load.Run(t.Context(), plan, s.send, load.Options{})
	}
	results, err := run(load.Plan{Setup: []load.Call{order}, Routes: []load.Call{pay, pay}})
	if err != nil || len(results) != 2 || results[0].Responses[200] != 1 || results[1].Responses[409] != 1 || results[1].Refusal != "paid" {
		t.Errorf("measured %+v, %v", results, err)
	}
	unkept := order
	unkept.Keep = map[string]string{"id": "order/lines/1"}
	for want, plan := range map[string]load.Plan{
		"PUT /orders/{id}, which prepares: 409 paid": {Setup: []load.Call{order, pay, pay}},
		"no call before has kept id":                 {Routes: []load.Call{pay}},
		"nothing at order/lines/1":                   {Setup: []load.Call{unkept}},
	} {
		if _, err := run(plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if n := strings.TrimPrefix(s.all[0].Header["Idempotency-Key"], "k-"); len(n) != len("1700000000000000") {
		t.Errorf("{n} is %s, want 16 digits", n)
	}
	addresses := map[string]bool{}
	call := load.Call{Method: http.MethodGet, Path: "/", Header: map[string]string{"X-Forwarded-For": "{address}"}}
	_, err = load.Run(t.Context(), load.Plan{Routes: []load.Call{call, call}}, func(_ context.Context, r load.Request) (load.Response, error) {
		address, err := netip.ParseAddr(r.Header["X-Forwarded-For"])
		addresses[netip.PrefixFrom(address, 64).Masked().String()] = true
		return load.Response{Status: http.StatusOK}, err
	}, load.Options{})
	if err != nil || len(addresses) != 2 {
		t.Errorf("calls were sent from %v (%v), want two networks", addresses, err)
	}
	broken := errors.New("no connection")
	_, err = load.Run(t.Context(), load.Plan{Routes: []load.Call{order}}, func(context.Context, load.Request) (load.Response, error) {
		return load.Response{}, broken
	}, load.Options{Connections: 3})
	if !errors.Is(err, broken) || strings.Count(err.Error(), "POST /orders: no connection") != 1 || !strings.Contains(err.Error(), "3 connections") {
		t.Errorf("error %v", err)
	}
}

// TestAwait: an awaiting call is repeated until its value exists, up to a limit.
func TestAwait(t *testing.T) {
	for _, test := range []struct {
		after time.Duration // when the worker has created it
		await bool
		fault string
	}{
		{95 * time.Millisecond, true, ""},
		{95 * time.Millisecond, false, "the response has nothing at items/0"},
		{time.Hour, true, "the response has nothing at items/0"},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			send := func(context.Context, load.Request) (load.Response, error) {
				if time.Since(begin) < test.after {
					return load.Response{Status: http.StatusOK, Body: []byte(`{"items":[]}`)}, nil
				}
				return load.Response{Status: http.StatusOK, Body: []byte(`{"items":["n-1"]}`)}, nil
			}
			list := load.Call{Method: http.MethodGet, Path: "/notes", Keep: map[string]string{"note": "items/0"}, Await: test.await}
			_, err := load.Run(t.Context(), load.Plan{Setup: []load.Call{list}}, send, load.Options{})
			if test.fault == "" && err != nil || test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)) {
				t.Errorf("created after %v, await %v: %v, want %q", test.after, test.await, err, test.fault)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("it has taken %v", took)
			}
		})
	}
}

// TestTime: each call of a connection has a later time, however many calls there are per millisecond.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 5
		call := load.Call{Method: http.MethodPost, Path: "/pings", Body: "{time}"}
		begun := time.Now().UTC()
		var received []string
		_, err := load.Run(t.Context(), load.Plan{Setup: slices.Repeat([]load.Call{call}, calls)}, func(_ context.Context, r load.Request) (load.Response, error) {
			received = append(received, r.Body)
			return load.Response{Status: http.StatusCreated}, nil
		}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range received {
			if want := begun.Add(time.Duration(i) * time.Millisecond).Format("2006-01-02T15:04:05.000Z"); text != want {
				t.Errorf("call %d at %s, want %s", i, text, want)
			}
		}
		if len(received) != calls {
			t.Errorf("%d calls, want %d", len(received), calls)
		}
	})
}

// TestOpenLoop: a server stalls for one second. In a closed loop few calls are affected. In an open loop all calls due in that
// second have waited, and as many calls are made as were due, whatever the server does.
func TestOpenLoop(t *testing.T) {
	plan := load.Plan{Routes: []load.Call{load.Get("/")}}
	run := func(t *testing.T, o load.Options) load.Result {
		t.Helper()
		begin := time.Now()
		turn := make(chan struct{}, 1) // the server handles one request at a time
		results, err := load.Run(t.Context(), plan, func(context.Context, load.Request) (load.Response, error) {
			turn <- struct{}{}
			defer func() { <-turn }()
			if now := time.Since(begin); now > time.Second && now < 2*time.Second {
				<-time.After(2*time.Second - now)
			}
			<-time.After(time.Millisecond)
			return load.Response{Status: http.StatusOK}, nil
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		return results[0]
	}
	synctest.Test(t, func(t *testing.T) {
		r := run(t, load.Options{Connections: 4, Duration: 10 * time.Second})
		if r.P99 > 10*time.Millisecond || r.Waited != 0 {
			t.Errorf("closed: %+v", r)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := run(t, load.Options{Connections: 4, Duration: 10 * time.Second, Rate: 100})
		if n := r.Responses[http.StatusOK]; n < 900 || n > 1100 || r.PerSecond < 90 || r.PerSecond > 110 {
			t.Errorf("%d calls of about a thousand, %.0f a second", n, r.PerSecond)
		}
		if r.P99 < 800*time.Millisecond || r.P50 > 10*time.Millisecond || r.Waited < 50 || r.Waited > 200 {
			t.Errorf("open: p50 %v, p99 %v, %d waited", r.P50, r.P99, r.Waited)
		}
	})
}

// TestOpenLoopPrepares: what a call consumes is created beforehand, and all calls are still made.
func TestOpenLoopPrepares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{paid: map[string]bool{}}
		results, err := load.Run(t.Context(), load.Plan{Routes: []load.Call{pay.After(order)}}, s.send, load.Options{Connections: 8, Duration: time.Second, Rate: 200})
		if err != nil {
			t.Fatal(err)
		}
		if r := results[0]; r.Responses[http.StatusOK] < 150 || len(r.Responses) != 1 || r.P50 > 20*time.Millisecond {
			t.Errorf("%+v", r)
		}
	})
}
