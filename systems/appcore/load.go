package appcore

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/systems/internal/load"
)

// loadTransactions is the number of transactions per connection, which exceeds a page.
const loadTransactions = 30

// loadPlan measures every operation. A connection is a user with settled transactions and therefore notifications.
func loadPlan() load.Plan {
	create := load.Create("/transactions", `{"amount":50000,"currency":"ARS"}`).Keeping("txId", "txId")
	profile := load.Put("/me", `{"email":"{user}@example.com","name":"{user} {n}"}`)
	settled := load.Get("/notifications?limit=100").Keeping("notifId", fmt.Sprintf("items/%d/notifId", loadTransactions-1))
	settled.Await = true
	return load.Plan{
		Without: map[string]string{"watchOwn": "its response does not end", "watchQueue": "its response does not end"},
		Setup:   append(slices.Repeat([]load.Call{create}, loadTransactions), profile, settled),
		Routes: []load.Call{
			load.Get("/me"), profile,
			load.Get("/transactions"), load.Get("/transactions/{txId}"), load.Get("/transactions/global"), load.Get("/notifications"),
			load.Get("/queue/PENDING").In(AdminGroup), load.Get("/queue/FAILED").In(AdminGroup), load.Get("/queue/COMPLETED").In(AdminGroup), load.Get("/acts?day=2026-02-11").In(AdminGroup),
			load.Get("/queue/transactions/{txId}").In(AdminGroup), load.Post("/queue/transactions/{txId}/replay", "").In(AdminGroup),
			load.Patch("/notifications/{notifId}", `{"read":true}`), create,
		},
	}
}
