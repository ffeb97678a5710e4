// Package system is the contract between a system and the program that runs it: its own process, the demo with all systems, or a
// Lambda function.
//
// # Model
//
// A System describes what is known without a database: name, tables, responses to declared errors, examples. Open returns a
// Service: the system over the generated data access of an open database, with operations to register, workers to run and streams
// to consume. A system reads no flags and opens no sockets.
//
// # Invariants
//
//	S1  Name is lower case, the first path segment, and unique among the systems of a process.
//	S2  A stream's handler tolerates redelivered records, even after later records of the same items: the records of a failed
//	    batch arrive when it is redriven. Handlers of one table do not depend on each other's order.
//	S3  Workers return when their context ends, and leave nothing unfinished that a restart would not complete.
//	S4  A schedule may run in several processes at the same time, and again at any time.
package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/load"
	"github.com/monotable/monotable/systems/internal/personal"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/words"
)

// System describes a system.
type System struct {
	// Name is the first path segment: "appcore".
	Name string
	// Title and About (one sentence) are for people; Version is the API's version.
	Title, About, Version string
	// AdminGroup is the token group with additional permissions, or "" if there is none. A user pool can serve several systems,
	// so the group's name begins with the system's.
	AdminGroup string
	// Tables are the tables of a stage.
	Tables func(stage string) []Table
	// Rules are the responses to the errors that the design declares.
	Rules problem.Rules
	// Words translate the system's messages; nil leaves them in English.
	Words *words.Catalogue
	// Open opens the system over a database.
	Open func(context.Context, Deps) (*Service, error)
	// Examples are requests to start with. The first one is on the demo's page, so it must work on an empty database.
	Examples []Example
	// Load is the system's load plan.
	Load load.Plan
}

// Table is a table, including what CreateTable does not cover.
type Table struct {
	Create *dynamodb.CreateTableInput
	// TTL is the attribute with the expiry time, or "" if there is none.
	TTL string
	// Decode is the generated package's decoder of stored items; nil accepts any items.
	Decode func(table.Item) (any, table.Place, error)
}

// Deps are a system's dependencies.
type Deps struct {
	// DynamoDB reads and writes items.
	DynamoDB table.Client
	// Stage is part of the names of tables that depend on it.
	Stage string
	// CursorKey seals cursors.
	CursorKey []byte
	// Observe counts the calls of access patterns.
	Observe func(context.Context, table.Call)
	// Clock is never nil.
	Clock func() time.Time
	// Issuer signs the system's tokens for its own log-in; nil if a user pool signs them.
	Issuer *auth.Issuer
	Logger *slog.Logger
	// PublicURL is the address at which others reach the system's pages, with its prefix and without a trailing slash, or "" if
	// it is not set.
	PublicURL string
	// Dir is the process's directory for files, beside its database, or "" if it has none.
	Dir string
	// Getenv returns the system's own settings.
	Getenv func(string) string
}

// Service is an open system.
type Service struct {
	// Register adds the operations to the API.
	Register func(huma.API)
	// Admit is called for every caller with a valid token. It rejects what the system has revoked, and returns the user's current
	// groups. nil admits everyone.
	Admit func(context.Context, auth.Principal) (auth.Principal, error)
	// Personal is the personal data that users can export and erase, or nil if there is none.
	Personal *personal.Data
	// Acts is the audit log of requests by staff, who are in AdminGroup, or nil if there is none.
	Acts *api.Acts
	// Pages are handlers besides the API, by pattern without the system's prefix: "GET /play/".
	Pages map[string]http.Handler
	// Page configures the system's page in web/apps, if there is one.
	Page Page
	// Front replaces the system's page at its root, GET / and /assets/; that page moves to /studio/. nil keeps it at the root.
	Front http.Handler
	// Workers run for as long as the process serves. Lambda has none.
	Workers []Worker
	// Streams are consumed by workers in a process, and by functions on Lambda.
	Streams []Stream
	// Schedules are run by workers in a process, and by functions at intervals on Lambda.
	Schedules []Schedule
	// Sample generates and loads sample data.
	Sample seed.Sample
	// Close releases the resources that Open has acquired. It may be nil.
	Close func() error
}

// Page configures a system's page.
type Page struct {
	// Pictures are the other origins from which the page shows images.
	Pictures []string
	// Uploads are the other origins to which the page sends files.
	Uploads []string
	// Data is passed to the page as JSON, unless it is nil.
	Data any
}

// Worker runs in the background.
type Worker struct {
	Name string
	// Run returns when ctx ends. If it returns earlier, it is restarted after a wait.
	Run func(ctx context.Context) error
}

// Schedule is run repeatedly.
type Schedule struct {
	// Name is unique among the system's schedules.
	Name string
	// Every is the time from one start to the next: a whole number of minutes, as in EventBridge.
	Every time.Duration
	// Run does the work that is due.
	Run func(ctx context.Context) error
}

// Stream is a consumer of a table's stream.
type Stream struct {
	// Name is unique among the system's consumers; it identifies the checkpoints.
	Name string
	// Table is the physical name.
	Table string
	// EveryProcess is for in-memory state for connected clients: each process consumes the stream on its own, from the process's
	// start, without checkpoints. Otherwise processes share the checkpoints and one of them consumes the stream; when it ends, or
	// is silent for eight seconds, another takes over. (AWS allows two concurrent readers of a shard; more slow each other down.)
	EveryProcess bool
	// Begun is called whenever the consumer has started: it receives everything written from then on. It must not block. It may
	// be nil.
	Begun  func()
	Handle consumer.Handler
}

// Example is a request.
type Example = api.Example

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Validate reports everything that is missing.
func (s System) Validate() error {
	var faults []error
	want := func(ok bool, what string) {
		if !ok {
			faults = append(faults, fmt.Errorf("system %q: %s", s.Name, what))
		}
	}
	want(nameForm.MatchString(s.Name), "Name must be lower-case letters and digits")
	want(s.Title != "", "no Title")
	want(s.AdminGroup == "" || strings.HasPrefix(s.AdminGroup, s.Name+"-"), "AdminGroup must begin with the system's name and -")
	want(s.Tables != nil, "no Tables")
	want(s.Open != nil, "no Open")
	for _, r := range s.Rules {
		want(r.Err != nil && r.Code != "", "a rule needs Err and Code")
	}
	for _, e := range s.Examples {
		want(e.Method != "" && len(e.Path) > 0 && e.Path[0] == '/', "an example needs Method and a Path from / on")
	}
	return errors.Join(faults...)
}
