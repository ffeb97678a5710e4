package provision_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// blog has everything that makes code touch more than a pattern names: copies, entries, a marker, counters, records of
// requests, hydration, shards, a person, literals with special characters of policies, and keys that start with a field.
const blog = `design: 1
name: Blog
tenant: userId
person: userId
tables:
  blog:
    key: { pk: PK, sk: SK }
    type_attr: type
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK, project: keys }
  bare:
    key: { pk: id }
entities:
  User:
    table: blog
    key: { pk: "USER#{userId}", sk: PROFILE }
    unique: { Email: { pk: "EMAIL#{email|lower}", sk: UNIQUE } }
    fields: { userId: id, email: email, name: text }
  Post:
    table: blog
    key: { pk: "POST#{postId}", sk: POST }
    copies: { byUser: { pk: "USER#{userId}", sk: "POST#{postId}", fields: [title] } }
    index: { GSI1: { pk: "DAY#{day}#{postId|shard(4)}", sk: "{postId}" } }
    counters: { likes: Like }
    fields: { userId: id, postId: ulid, title: text, day: date, likes: int }
    personal: { userId: delete }
  Like:
    table: blog
    key: { pk: "POST#{postId}", sk: "LIKE#{userId}" }
    fields: { postId: ulid, userId: id }
    personal: { userId: delete }
  Request:
    table: blog
    key: { pk: "USER#{userId}#KEY", sk: "{requestKey}" }
    fields: { userId: id, requestKey: text, request: text, postId: ulid }
  Note:
    table: bare
    key: { pk: "{noteId}" }
    fields: { noteId: id, text: text }
  Odd:
    table: bare
    key: { pk: "*?$[{noteId}]" }
    fields: { noteId: id, text: text? }
reads:
  UserByID: { one: User, by: [userId] }
  UserByEmail: { one: User, by: [email] }
  PostsOfDay: { many: Post, by: [day], returns: [title] }
  PostsOfUser: { many: Post, by: [userId] }
  NoteByID: { one: Note, by: [noteId] }
  Notes: { scan: Note }
collections:
  Whole: { of: [Post, Like], by: [postId] }
writes:
  Register: { do: [{ create: User }] }
  ChangeEmail: { do: [{ update: User, set: { email: ":email" } }] }
  Rename: { do: [{ update: User, set: { name: ":name" } }] }
  Publish: { idempotent: { with: Request, request: [title] }, do: [{ create: Post }] }
  Retitle: { idempotent: { with: Request, request: [title] }, do: [{ update: Post, set: { title: ":title" } }] }
  Patch: { do: [{ update: Odd, patch: [text] }] }
  LikePost: { do: [{ check: Post, when: "title <> ''" }, { create: Like }] }
  Unlike: { do: [{ delete: Like }] }
  Import: { lines: {}, batch: true, do: [{ each: lines, put: Note }] }
`

// policies formats the policies of the blog, one line per statement.
func policies(t *testing.T, functions map[string][]string) string {
	t.Helper()
	d, err := design.Parse("blog.design.yaml", []byte(blog))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := provision.WriteIAM(&text, d, provision.IAM{Specs: provision.Specs(d, nil), Variable: "${me}", Functions: functions}); err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Statement []struct {
			Action    []string
			Resource  string
			Condition map[string]map[string]any
		}
	}
	if err := json.Unmarshal(text.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for name, p := range all {
		for i, s := range p.Statement {
			resource := strings.TrimPrefix(s.Resource, "arn:aws:dynamodb:*:*:table/")
			line := fmt.Sprintf("%s %d: %s on %s", name, i+1, strings.ReplaceAll(strings.Join(s.Action, " "), "dynamodb:", ""), resource)
			if s.Condition != nil {
				line += fmt.Sprintf(" of %v", s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"])
				if s.Condition["Null"]["dynamodb:LeadingKeys"] != "false" {
					t.Errorf("%s: the key may be absent", name)
				}
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// TestPolicies tests that each pattern's policy allows what its code does, where it does it, and nothing else.
func TestPolicies(t *testing.T) {
	golden(t, "iam.txt", policies(t, nil))
}

// TestFunctionPolicies tests that functions get the union of their patterns' permissions, with each action on a resource in
// one statement.
func TestFunctionPolicies(t *testing.T) {
	for _, c := range []struct {
		name     string
		patterns []string
		want     string
	}{
		{"nothing", nil, "\n"},
		{"what one key covers", []string{"PostsOfUser", "UserByID", "Rename"}, `f 1: BatchGetItem GetItem Query UpdateItem on blog of [USER#${me}]
`},
		{"several keys", []string{"UserByID", "LikePost"}, `f 1: PutItem UpdateItem on blog of [POST#*]
f 2: BatchGetItem GetItem on blog of [USER#${me}]
`},
		{"no key beside keys", []string{"NoteByID", "Patch", "Import"}, `f 1: BatchGetItem BatchWriteItem GetItem on bare
f 2: UpdateItem on bare of [${*}${?}${$}[*]]
`},
		{"writes that are made alone", []string{"Publish", "Patch"}, `f 1: UpdateItem on bare of [${*}${?}${$}[*]]
f 2: PutItem on blog of [POST#* USER#${me} USER#${me}#KEY]
`},
		{"writes that are composed", []string{"Publish + Patch"}, `f 1: ConditionCheckItem UpdateItem on bare of [${*}${?}${$}[*]]
f 2: PutItem on blog of [POST#* USER#${me} USER#${me}#KEY]
f 3: BatchGetItem GetItem on blog of [USER#${me}#KEY]
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, policies(t, map[string][]string{"f": c.patterns})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestUnknownPattern tests that a function with a pattern that the design does not have is an error.
func TestUnknownPattern(t *testing.T) {
	d, err := design.Parse("blog.design.yaml", []byte(blog))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"Nothing", "Rename+Nothing", ""} {
		err := provision.WriteIAM(new(bytes.Buffer), d, provision.IAM{Specs: provision.Specs(d, nil), Functions: map[string][]string{"f": {pattern}}})
		if err == nil || !strings.Contains(err.Error(), "function f: the design has no pattern") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
