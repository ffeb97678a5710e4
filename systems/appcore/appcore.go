// Package appcore is AppCore: users create transactions, which are settled in the background, and are notified.
//
// # Model
//
//	POST /transactions ──▶ Transaction (PENDING) and its copy, once for each Idempotency-Key
//	                            │ the table's stream
//	                            ▼
//	                        Settlement ── Rule ──▶ Transaction (COMPLETED or FAILED) and its copy, and a Notification
//	                            ▲
//
//	                        Sweep: transactions still pending after five minutes, from an index of pending transactions only
//
// appcore.design.yaml declares what is stored and how it is accessed. Package appcoredb is generated from it and is the only code
// that accesses the data. The API is the table in routes.go, with its request types; responses.go has the response types. Domain
// functions (transactions.go, notifications.go, settlement.go, sweep.go, operate.go) take the caller and a request as values, and
// do not depend on HTTP.
//
// # Invariants
//
//	A1  No user sees another user's data, except operators. The list of all users' latest transactions omits the owners.
//	A2  An idempotency key creates one transaction, however often and concurrently it is sent.
//	A3  A transaction is settled once and notifies once, however often its record is delivered, and whichever process settles it.
//	A4  A transaction and its copy are equal.
//	A5  No transaction stays pending for longer than a day: one that the rule cannot decide by then fails.
//
// The package is safe for concurrent use.
package appcore

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	"github.com/monotable/monotable/systems/internal/personal"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/words"
)

//go:generate go run ../../cmd/monotable generate appcore.design.yaml -o appcoredb
//go:generate go test -run TestTemplate -update .

// Name is the system's name.
const Name = "appcore"

// AdminGroup is the token group of the system's operators.
const AdminGroup = "appcore-admin"

// settleMaxVariable is the environment variable for the largest amount that is approved.
const settleMaxVariable = "APPCORE_SETTLE_MAX"

//go:embed words
var wordsFiles embed.FS

// Options are the replaceable parts of a deployment.
type Options struct {
	// Rule decides transactions; nil means UpTo with APPCORE_SETTLE_MAX, or with DefaultSettleMax if that is not set.
	Rule Rule
}

// service is the running system.
type service struct {
	db     *appcoredb.DB
	now    func() time.Time
	rule   Rule
	logger *slog.Logger
	// hub notifies this process's connections of changes.
	hub *live.Hub[topic]
}

// System is AppCore.
func System(o Options) system.System {
	return system.System{
		Name: Name, Title: "AppCore", Version: "1.0.0", AdminGroup: AdminGroup,
		About:  "Transactions that take effect exactly once and are settled in the background, with notifications.",
		Tables: func(string) []system.Table { return tables() },
		Rules: problem.Rules{
			{Err: errAnothers, Status: http.StatusForbidden, Code: problem.CodeForbidden},
			{Err: appcoredb.ErrNotificationExpired, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: noNotification},
		},
		Words: words.Must(wordsFiles),
		Open:  func(_ context.Context, d system.Deps) (*system.Service, error) { return open(o, d) },
		Examples: []system.Example{
			{
				Title: "Create a transaction", Method: http.MethodPost, Path: "/transactions",
				Header: map[string]string{"Idempotency-Key": "first"}, Body: `{"amount":50000,"currency":"ARS"}`,
			},
			{Title: "Your transactions, newest first", Method: http.MethodGet, Path: "/transactions?limit=5"},
			{Title: "Your notifications, newest first", Method: http.MethodGet, Path: "/notifications?limit=5"},
			{Title: "The ten most recent transactions", Method: http.MethodGet, Path: "/transactions/global"},
			{Title: "Say who you are", Method: http.MethodPut, Path: "/me", Body: `{"email":"ana.garcia@mail.com","name":"Ana García"}`},
		},
		Load: loadPlan(),
	}
}

func tables() []system.Table {
	return system.Tables(appcoredb.CreateTables(appcoredb.Config{}), appcoredb.TimeToLive(appcoredb.Config{}), appcoredb.Decode)
}

func open(o Options, d system.Deps) (*system.Service, error) {
	db, err := appcoredb.New(d.DynamoDB, appcoredb.Config{CursorKey: d.CursorKey, Caller: auth.CursorOwner, Clock: d.Clock, Observe: d.Observe})
	if err != nil {
		return nil, err
	}
	rule := o.Rule
	if rule == nil {
		if rule, err = configuredRule(d.Getenv); err != nil {
			return nil, err
		}
	}
	s := &service{db: db, now: d.Clock, rule: rule, logger: d.Logger, hub: live.New[topic](d.Logger)}
	return &system.Service{
		Register: s.routes,
		Personal: &personal.Data{DB: db, Kept: appcoredb.PersonKept(), Refuse: personal.Check{Of: s.unsettled, Errors: []error{errUnsettled}}},
		Acts:     api.KeepActs(db.Op.KeepAct, db.Tx),
		Streams: []system.Stream{
			{Name: "settlement", Table: *tables()[0].Create.TableName, Handle: s.settleBatch},
			{Name: "publish", Table: *tables()[0].Create.TableName, EveryProcess: true, Begun: s.hub.Begun, Handle: s.hub.WhileFollowed(s.notify)},
		},
		Schedules: []system.Schedule{{Name: "sweep", Every: sweepEvery, Run: s.sweep}},
		Sample:    seed.Sample{Records: sample, Load: db.Load},
	}, nil
}

func configuredRule(getenv func(string) string) (Rule, error) {
	text := getenv(settleMaxVariable)
	if text == "" {
		return UpTo(DefaultSettleMax), nil
	}
	most, err := strconv.ParseInt(text, 10, 64)
	if err != nil || most < 0 {
		return nil, fmt.Errorf("%s=%q: want a whole number of the currency's smallest unit", settleMaxVariable, text)
	}
	return UpTo(most), nil
}
