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

// Main runs the tests of a system so that each of its requests to the database is signed by the function that would make it on AWS,
// which may do what the template lets it, and nothing else: an operation's function, a stream's follower, a schedule. What the database
// refuses fails the test. The tests' own requests are the owner's, as is the making of tables. When all tests have run, Main fails for
// each statement of a policy that nothing has needed. It is for TestMain.
//
// In a process that Processes has started it is the system, as its own binary would be; s is nil where no test calls Processes.
//
// The template is asked with a Server that has no routes.
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

// whole reports whether all tests have been run.
func whole() bool {
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		if flag.Lookup("test."+name).Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}

// deployed is how the system that is tested is deployed; nil where its functions may do everything.
var deployed *deployment //nolint:gochecknoglobals // TestMain has no other way to the tests

// deployment are the roles of a system's functions.
type deployment struct {
	template func(*Server) sam.Template

	once  sync.Once
	roles sam.Roles
	users []byte // a file, as monotable serve --iam takes it

	mu      sync.Mutex
	reached map[string][]sam.Access // by function, in all tests
}

// file writes the users that functions are, and returns where; "" where they may do everything.
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

// follows reports whether a function follows a stream.
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

// note keeps what a function does.
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

// usersOf is a file with a user for each role.
func usersOf(roles sam.Roles) ([]byte, error) {
	type key struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	type user struct {
		Name       string   `json:"name"`
		AccessKeys []key    `json:"accessKeys"`
		Policies   []string `json:"policies,omitempty"` // as texts, which are read in a fifth of the time
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

// userName is the name of the user that a function is, and the id of its access key.
func userName(function string) string { return strings.ReplaceAll(function, " ", "-") }

// Retrieve is the access key of the function that a context belongs to; none is the owner's.
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

// function is what a request's context belongs to: an operation by its operationId, a page by sam.OfPages, "stream NAME" for a follower, "redrive NAME" for
// one that processes again what was given up, "schedule NAME"; "" for the test itself, and for what every process has beside the API.
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

// functionKey is where the context of what is no operation has its function.
type functionKey struct{}

const redriving = "redrive "

// named is a system whose followers and schedules say in their context which function they are.
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
				continue // it runs in no function
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

// refuse keeps an error of the database if it refuses what a function may not do, and returns it.
func (v *Server) refuse(err error) error {
	if answered, ok := errors.AsType[smithy.APIError](err); ok && answered.ErrorCode() != "AccessDeniedException" {
		return err
	} else if ok {
		err = errors.New(answered.ErrorMessage())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.refused, err.Error()) {
		v.refused = append(v.refused, err.Error())
	}
	return err
}

// allowed fails the test where the database refused something. Of a table that the test has taken away nobody may do anything.
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
