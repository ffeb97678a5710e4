package appcore

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/monotable/monotable/systems/internal/load"
)

// loadTransactions is the number of transactions per connection: more than a page.
const loadTransactions = 30

// loadPlan measures every operation. A connection is a user with settled transactions, and so with notifications.
func loadPlan() load.Plan {
	create := load.Call{
		Method: http.MethodPost, Path: "/transactions", Header: map[string]string{"Idempotency-Key": "load-{n}"},
		Body: `{"amount":50000,"currency":"ARS"}`, Keep: map[string]string{"txId": "txId"},
	}
	profile := load.Call{Method: http.MethodPut, Path: "/me", Body: `{"email":"{user}@example.com","name":"{user} {n}"}`}
	settled := load.Call{
		Method: http.MethodGet, Path: "/notifications?limit=100", Await: true,
		Keep: map[string]string{"notifId": fmt.Sprintf("items/%d/notifId", loadTransactions-1)},
	}
	get := func(path string) load.Route { return load.Route{Call: load.Call{Method: http.MethodGet, Path: path}} }
	operate := func(method, path string) load.Route {
		return load.Route{Call: load.Call{Method: method, Path: path, Groups: []string{AdminGroup}}}
	}
	return load.Plan{
		Without: map[string]string{"watchOwn": "its answer does not end", "watchQueue": "its answer does not end"},
		Setup:   append(slices.Repeat([]load.Call{create}, loadTransactions), profile, settled),
		Routes: []load.Route{
			get("/me"),
			{Call: profile},
			get("/transactions"),
			get("/transactions/{txId}"),
			get("/transactions/global"),
			get("/notifications"),
			operate(http.MethodGet, "/queue/PENDING"), operate(http.MethodGet, "/queue/FAILED"), operate(http.MethodGet, "/acts?day=2026-02-11"),
			operate(http.MethodGet, "/queue/transactions/{txId}"), operate(http.MethodPost, "/queue/transactions/{txId}/replay"),
			{Call: load.Call{Method: http.MethodPatch, Path: "/notifications/{notifId}", Body: `{"read":true}`}},
			{Call: create},
		},
	}
}
