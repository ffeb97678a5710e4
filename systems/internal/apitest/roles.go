package apitest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
)

// Main runs a system's tests with production permissions. Each of the system's database requests is signed by the function that
// would send it on AWS (an operation's function, a stream consumer, a schedule), which may only do what the template allows. A
// request that the database denies fails the test. The tests' own requests, and the creation of tables, are sent as the owner.
// When all tests have run, Main fails for each policy statement that was never needed. Call it from TestMain.
//
// In a process started by Processes, Main runs the system like its own binary; s is nil if no test calls Processes.
//
// The template is created for a Server without routes.
func Main(m *testing.M, template func(*Server) sam.Template, s func() system.System) {
	if os.Getenv(processVariable) != "" {
		run.Main(s())
		return
	}
	deployed = &deployment{template: template, reached: map[string][]sam.Access{}}
	status := m.Run()
	if status == 0 && whole() {
		for _, idle := range deployed.roles.Idle(deployed.reached) {
			fmt.Fprintln(os.Stderr, "FAIL: "+idle)
			status = 1
		}
	}
	os.Exit(status)
}

// whole reports whether all tests have run.
func whole() bool {
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		if flag.Lookup("test."+name).Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}

// deployed is the deployment of the system under test, or nil if its functions may do everything.
var deployed *deployment //nolint:gochecknoglobals // TestMain has no other way to the tests

// deployment holds the roles of a system's functions.
type deployment struct {
	template func(*Server) sam.Template

	once  sync.Once
	roles sam.Roles
	users []byte // a file in the format of monotable serve --iam

	mu      sync.Mutex
	reached map[string][]sam.Access // by function, over all tests
}

// file writes the functions' users to a file and returns its path, or "" if the functions may do everything.
func (d *deployment) file(tb testing.TB) string {
	tb.Helper()
	if d == nil {
		return ""
	}
	d.once.Do(func() {
		d.roles = d.template(&Server{document: &document{}}).Roles(tb, stage)
		var err error
		if d.users, err = usersOf(d.roles); err != nil {
			tb.Fatal(err)
		}
	})
	name := filepath.Join(tb.TempDir(), "users.json")
	if err := os.WriteFile(name, d.users, 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// follows reports whether a function consumes a stream.
func (d *deployment) follows() bool {
	if d == nil {
		return true
	}
	for function := range d.roles {
		if strings.HasPrefix(function, "stream ") {
			return true
		}
	}
	return false
}

// note records an access by a function.
func (d *deployment) note(function string, a sam.Access) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.reached[function], a) {
		d.reached[function] = append(d.reached[function], a)
	}
}

const roleSecret = "a function's secret"

// usersOf returns a users file with one user per role.
func usersOf(roles sam.Roles) ([]byte, error) {
	type key struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	type user struct {
		Name       string   `json:"name"`
		AccessKeys []key    `json:"accessKeys"`
		Policies   []string `json:"policies,omitempty"` // as strings, which parse five times as fast
	}
	var users []user
	for _, function := range slices.Sorted(maps.Keys(roles)) {
		name := userName(function)
		u := user{Name: name, AccessKeys: []key{{name, roleSecret}}}
		if p := roles[function]; len(p.Statement) > 0 {
			text, err := json.Marshal(p)
			if err != nil {
				return nil, err
			}
			u.Policies = []string{string(text)}
		}
		users = append(users, u)
	}
	return json.Marshal(map[string]any{"users": users})
}

// userName returns a function's user name, which is also its access key id.
func userName(function string) string { return strings.ReplaceAll(function, " ", "-") }

// Retrieve returns the access key of the context's function, or the owner's if there is none.
func (v *Server) Retrieve(ctx context.Context) (aws.Credentials, error) {
	name := v.function(ctx)
	if deployed == nil || name == "" {
		return aws.Credentials{}, nil
	}
	if _, known := deployed.roles[name]; !known {
		return aws.Credentials{}, v.refuse(errors.New(name + " has no function, but reaches the tables"))
	}
	return aws.Credentials{AccessKeyID: userName(name), SecretAccessKey: roleSecret}, nil
}

// function returns the function that a request's context belongs to: an operation by its operationId, a page by sam.OfPages,
// "stream NAME" for a consumer, "redrive NAME" for the function that reprocesses its failed batches, or "schedule NAME". It is ""
// for the test itself, and for what every process does besides the API.
func (v *Server) function(ctx context.Context) string {
	if name, ok := ctx.Value(functionKey{}).(string); ok {
		return name
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	id := v.asked[api.RequestID(ctx)]
	if id == sam.OfPages {
		return id
	}
	if o := v.document.operations[id]; o == nil || o.process {
		return ""
	}
	return id
}

// functionKey is the context key of functions that are not operations.
type functionKey struct{}

const redriving = "redrive "

// named returns a system whose consumers and schedules add their function to their context.
func named(s system.System) system.System {
	open := s.Open
	s.Open = func(ctx context.Context, d system.Deps) (*system.Service, error) {
		service, err := open(ctx, d)
		if err != nil {
			return nil, err
		}
		for i := range service.Streams {
			of := &service.Streams[i]
			if of.EveryProcess {
				continue // belongs to no function
			}
			name, handle := "stream "+of.Name, of.Handle
			of.Handle = func(ctx context.Context, b consumer.Batch) error {
				if outer, ok := ctx.Value(functionKey{}).(string); !ok || !strings.HasPrefix(outer, redriving) {
					ctx = context.WithValue(ctx, functionKey{}, name)
				}
				return handle(ctx, b)
			}
		}
		for i := range service.Schedules {
			of := &service.Schedules[i]
			name, run := "schedule "+of.Name, of.Run
			of.Run = func(ctx context.Context) error { return run(context.WithValue(ctx, functionKey{}, name)) }
		}
		return service, nil
	}
	return s
}

// refuse records a permission error of the database and returns it.
func (v *Server) refuse(err error) error {
	if result, ok := errors.AsType[smithy.APIError](err); ok && result.ErrorCode() != "AccessDeniedException" {
		return err
	} else if ok {
		err = errors.New(result.ErrorMessage())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.refused, err.Error()) {
		v.refused = append(v.refused, err.Error())
	}
	return err
}

// allowed fails the test if the database has denied a request. It ignores requests to tables that the test has deleted.
func (v *Server) allowed(tb testing.TB) {
	tb.Helper()
	for _, t := range v.system.Tables(stage) {
		if _, err := v.Database.DynamoDB.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: t.Create.TableName}); err != nil {
			return
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, sentence := range v.refused {
		tb.Error(sentence)
	}
}
