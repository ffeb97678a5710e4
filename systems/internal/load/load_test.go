package load_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/systems/internal/load"
)

// shop keeps orders that can be paid once.
type shop struct {
	mu   sync.Mutex
	paid map[string]bool
	all  []load.Request
}

func (s *shop) send(_ context.Context, r load.Request) (load.Answer, error) {
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
		return load.Answer{Status: http.StatusCreated, Body: fmt.Appendf(nil, `{"order":{"id":%q,"lines":[{"n":%s}]}}`, id, id)}, nil
	}
	id := strings.TrimPrefix(r.Path, "/orders/")
	if paid, ok := s.paid[id]; !ok || paid {
		return load.Answer{Status: http.StatusConflict, Body: []byte("paid")}, nil
	}
	s.paid[id] = true
	return load.Answer{Status: http.StatusOK, Body: []byte(`{}`)}, nil
}

var (
	order = load.Call{
		Method: http.MethodPost, Path: "/orders", Header: map[string]string{"Idempotency-Key": "k-{n}"},
		Body: `{"of":"{user}","again":"{n}"}`, Keep: map[string]string{"id": "order/id", "line": "order/lines/0/n"},
	}
	pay = load.Call{Method: http.MethodPut, Path: "/orders/{id}", As: "till", Groups: []string{"staff"}}
)

// TestRun: each paying has an order of its own, whose making is not counted.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{paid: map[string]bool{}}
		var told []load.Result
		plan := load.Plan{Routes: []load.Route{{Call: pay, Before: []load.Call{order}}}}
		results, err := load.Run(t.Context(), plan, s.send, load.Options{
			Connections: 2, Duration: 90 * time.Millisecond, Told: func(r load.Result) { told = append(told, r) },
		})
		if err != nil {
			t.Fatal(err)
		}
		// Nine milliseconds for a round of each: ten rounds by two connections, each paying two milliseconds long.
		if r := results[0]; len(results) != 1 || r.Route != "PUT /orders/{id}" || r.Answers[200] != 20 || len(r.Answers) != 1 ||
			r.PerSecond != 1000 || r.P50 != 2*time.Millisecond || r.P99 != 2*time.Millisecond || r.Refusal != "" {
			t.Errorf("measured %+v", results)
		}
		if len(told) != 1 || told[0].Route != results[0].Route {
			t.Errorf("told %+v", told)
		}
		s.requests(t)
	})
}

// requests looks at what the shop was sent.
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

// TestRefused: what is measured may be refused, what prepares may not.
func TestRefused(t *testing.T) {
	s := &shop{paid: map[string]bool{}}
	run := func(plan load.Plan) ([]load.Result, error) {
		return load.Run(t.Context(), plan, s.send, load.Options{})
	}
	results, err := run(load.Plan{Setup: []load.Call{order}, Routes: []load.Route{{Call: pay}, {Call: pay}}})
	if err != nil || len(results) != 2 || results[0].Answers[200] != 1 || results[1].Answers[409] != 1 || results[1].Refusal != "paid" {
		t.Errorf("measured %+v, %v", results, err)
	}
	unkept := order
	unkept.Keep = map[string]string{"id": "order/lines/1"}
	for want, plan := range map[string]load.Plan{
		"PUT /orders/{id}, which prepares: 409 paid": {Setup: []load.Call{order, pay, pay}},
		"no call before has kept id":                 {Routes: []load.Route{{Call: pay}}},
		"nothing at order/lines/1":                   {Setup: []load.Call{unkept}},
	} {
		if _, err := run(plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if n := strings.TrimPrefix(s.all[0].Header["Idempotency-Key"], "k-"); len(n) != len("1700000000000000") {
		t.Errorf("{n} is %s, want 16 digits", n)
	}
	broken := errors.New("no connection")
	_, err = load.Run(t.Context(), load.Plan{Routes: []load.Route{{Call: order}}}, func(context.Context, load.Request) (load.Answer, error) {
		return load.Answer{}, broken
	}, load.Options{Connections: 3})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "POST /orders") {
		t.Errorf("error %v", err)
	}
}
