package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestRoles removes one statement after the other from the policies of a small system, and adds one. Without a needed statement
// some request is denied and fails its test with the database's message; an unneeded statement is named.
func TestRoles(t *testing.T) {
	if databasetest.Other() {
		t.Skip("policies are enforced by our own server only")
	}
	allow := func(action, keys string) sam.Statement {
		return sam.Statement{
			Effect: "Allow", Action: []string{"dynamodb:" + action}, Resource: "arn:aws:dynamodb:*:*:table/notes-test", Condition: &sam.Condition{
				Like: map[string][]string{"dynamodb:LeadingKeys": {keys}}, Null: map[string]string{"dynamodb:LeadingKeys": "false"},
			},
		}
	}
	policy := func(statements ...sam.Statement) sam.Policy {
		return sam.Policy{Version: "2012-10-17", Statement: statements}
	}
	const create, list = "createNote", "listNotes"
	for _, c := range []struct {
		name          string
		roles         sam.Roles
		refused, idle []string
	}{
		{"as it is", sam.Roles{create: policy(allow("PutItem", "USER#*")), list: policy(allow("Query", "USER#*"))}, nil, nil},
		{
			"one may not write",
			sam.Roles{create: policy(), list: policy(allow("Query", "USER#*"))},
			[]string{"user/createNote is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table/notes-test"},
			nil,
		},
		{
			"one may only what another needs",
			sam.Roles{create: policy(allow("PutItem", "USER#*")), list: policy(allow("PutItem", "USER#*"))},
			[]string{"user/listNotes is not authorized to perform: dynamodb:Query"},
			[]string{"listNotes: nothing that was asked needs its statement for [dynamodb:PutItem]"},
		},
		{
			"of other keys",
			sam.Roles{create: policy(allow("PutItem", "NOTE#*")), list: policy(allow("Query", "USER#*"))},
			[]string{"user/createNote is not authorized"},
			[]string{"createNote: nothing"},
		},
		{
			"more than is needed",
			sam.Roles{create: policy(allow("PutItem", "USER#*"), allow("DeleteItem", "USER#*")), list: policy(allow("Query", "USER#*"))},
			nil,
			[]string{"createNote: nothing that was asked needs its statement for [dynamodb:DeleteItem]"},
		},
		{"without a function", sam.Roles{create: policy(allow("PutItem", "USER#*"))}, []string{"listNotes has no function, but reaches the tables"}, nil},
	} {
		for _, transport := range []Transport{Socket, Lambda} {
			t.Run(c.name+"/"+string(transport), func(t *testing.T) {
				deploy(t, c.roles)
				test := failures{TB: t}
				t.Run("test", func(t *testing.T) {
					test.TB = t
					v := OpenVia(&test, systemtest.Notes(systemtest.Hooks{}), transport)
					v.Do(t, Request{Method: http.MethodPost, Path: "/notes", As: "u-1", Key: "n-1", Body: map[string]any{"text": "hello"}})
					v.Do(t, Request{Method: http.MethodGet, Path: "/notes", As: "u-1"})
				})
				same(t, "refused", test.list, c.refused)
				same(t, "idle", c.roles.Idle(deployed.reached), c.idle)
			})
		}
	}
}

// deploy sets the roles for the next system that a test opens.
func deploy(t *testing.T, roles sam.Roles) {
	t.Helper()
	d := &deployment{roles: roles, reached: map[string][]sam.Access{}}
	var err error
	if d.users, err = usersOf(roles); err != nil {
		t.Fatal(err)
	}
	d.once.Do(func() {})
	deployed = d
	t.Cleanup(func() { deployed = nil })
}

// failures records a test's errors.
type failures struct {
	testing.TB

	list []string
}

func (f *failures) Error(args ...any) { f.list = append(f.list, fmt.Sprint(args...)) }

// same compares messages with expected prefixes or parts.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
