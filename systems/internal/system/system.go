// Package system is the contract between a system and what runs it: a process of its own, the demo beside the others, a
// Lambda function.
//
// # Model
//
// A System is what is known without a database: name, tables, answers to declared errors, examples. Open gives a Service:
// the system over the generated data access of an open database, with operations to register, workers to run and streams
// to follow. A system reads no flags and opens no sockets.
//
// # Invariants
//
//	S1  Name is lower case, the path's first step, and unique among the systems of a process.
//	S2  A stream's handler bears the same records again, and after later ones of the same items: those of a batch that was
//	    given up come when it is redriven. Two handlers of one table do not depend on each other's order.
//	S3  Workers return when their context ends, and leave nothing half done that a restart would not finish.
//	S4  What a schedule runs may be run by several processes at once, and again at any time.
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

// System is what a system tells of itself.
type System struct {
	// Name is the path's first step: "appcore".
	Name string
	// Title and About are for people, About in a sentence; Version is the API's.
	Title, About, Version string
	// AdminGroup is the group of tokens that may do what others may not; "" where there is none. A user pool can serve several
	// systems, so the name of the group begins with the system's.
	AdminGroup string
	// Tables are the tables of a stage.
	Tables func(stage string) []Table
	// Rules are the answers to the errors that the design declares.
	Rules problem.Rules
	// Words translate what the system says to people; nil leaves it in English.
	Words *words.Catalogue
	// Open is the system over a database.
	Open func(context.Context, Deps) (*Service, error)
	// Examples are requests to begin with; the first one stands on the demo's page, so it must work on an empty database.
	Examples []Example
	// Load is how its routes are measured.
	Load load.Plan
}

// Table is a table with what CreateTable cannot say.
type Table struct {
	Create *dynamodb.CreateTableInput
	// TTL is the attribute that has the time of expiry; "" for none.
	TTL string
	// Decode is the generated package's: what a stored item is. nil takes any items.
	Decode func(table.Item) (any, table.Place, error)
}

// Deps are what a system works with.
type Deps struct {
	DynamoDB *dynamodb.Client
	// Stage stands in names of tables that have one.
	Stage string
	// CursorKey seals cursors.
	CursorKey []byte
	// Observe counts the calls of access patterns.
	Observe func(context.Context, table.Call)
	// Clock is never nil.
	Clock func() time.Time
	// Issuer signs the system's tokens for a log-in of its own; nil where a user pool does that.
	Issuer *auth.Issuer
	Logger *slog.Logger
	// PublicURL is where others reach the system's pages, with its prefix and without a slash at the end; "" where nobody has said.
	PublicURL string
	// Dir is where the process keeps files beside its database, "" where it keeps none.
	Dir string
	// Getenv has settings of the system's own.
	Getenv func(string) string
}

// Service is an open system.
type Service struct {
	// Register adds the operations to the API.
	Register func(huma.API)
	// Admit is asked who calls with a token that is valid: it refuses what the system has revoked, and gives the groups that
	// the user is in now. nil lets all pass.
	Admit func(context.Context, auth.Principal) (auth.Principal, error)
	// Personal are its users' data, which they may have copied and erased; nil for none.
	Personal *personal.Data
	// Acts keep what the staff, who are in AdminGroup, ask for; nil for none.
	Acts *api.Acts
	// Pages are what browsers see beside the API, by pattern without the system's prefix: "GET /play/".
	Pages map[string]http.Handler
	// Page is what the system's page of web/apps is told, where there is one.
	Page Page
	// Front is what the system shows at its root, GET / and /assets/, in place of the page of the build of its name, which is
	// at /studio/ then; nil is that page.
	Front http.Handler
	// Workers run as long as the process serves. Lambda has none.
	Workers []Worker
	// Streams are followed by workers here, and are what Lambda functions are called with.
	Streams []Stream
	// Schedules are run by workers here, and by functions that Lambda is called for at intervals.
	Schedules []Schedule
	// Sample makes and loads sample data.
	Sample seed.Sample
	// Close frees what Open has taken; nil is nothing.
	Close func() error
}

// Page is what a system says about its page.
type Page struct {
	// Pictures are the origins beside its own whose pictures it shows.
	Pictures []string
	// Uploads are the origins beside its own to which it sends files.
	Uploads []string
	// Data is what it is told of where it is, as JSON; nil is nothing.
	Data any
}

// Worker does something in the background.
type Worker struct {
	Name string
	// Run returns when ctx ends. When it returns before, it is run again after a rest.
	Run func(ctx context.Context) error
}

// Schedule is what is done again and again.
type Schedule struct {
	// Name tells the schedules of one system apart.
	Name string
	// Every is how long after one run begins the next one does; a whole number of minutes, as EventBridge counts.
	Every time.Duration
	// Run does what is due now.
	Run func(ctx context.Context) error
}

// Stream is a follower of a table's changes.
type Stream struct {
	// Name tells followers of one system apart; checkpoints are kept under it.
	Name string
	// Table is the physical name.
	Table string
	// EveryProcess is for what a process keeps in memory, for those who are connected to it: each process follows the stream
	// for itself, from when it begins to, without checkpoints. Otherwise processes share the checkpoints, and one of them
	// follows; when it ends, or is silent for eight seconds, another one does. (AWS lets two read a shard at once; more of them
	// hold each other up.)
	EveryProcess bool
	// Begun is told, in each run of the follower, that it has begun: what is written from then on reaches it. It must not
	// block; nil is not told.
	Begun  func()
	Handle consumer.Handler
}

// Example is a request.
type Example struct {
	Title, Method string
	// Path follows the system's prefix: "/transactions?limit=5".
	Path   string
	Header map[string]string
	Body   string
	// Groups are those that the token needs.
	Groups []string
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Validate tells all that is missing.
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
