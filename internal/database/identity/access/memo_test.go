package access

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// TestMemo decides the requests of testdata/needs.txt for random principals in different circumstances, as Authorize does, which remembers,
// and by the policies' statements alone: both say the same, before and after the table gets a policy of its own.
func TestMemo(t *testing.T) {
	const principals, trials = 60, 20_000
	notes := openNotes(t)
	text, err := os.ReadFile("testdata/needs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var calls []*call
	for line := range strings.Lines(string(text)) {
		operation, document, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && line[0] != '\t' && line[0] != '#' && operation != "BatchExecuteStatement" { // which refuses in its input
			calls = append(calls, notes.call(t, operation, document, nil))
		}
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var all []*policy.Principal
	var shown []string
	for range principals {
		who, text := randomPrincipal(t, random)
		all, shown = append(all, who), append(shown, text)
	}
	circumstances := make([]*http.Request, 2)
	for i, agent := range []string{"good", "bad"} {
		circumstances[i] = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://db.example/", nil)
		circumstances[i].Header.Set("User-Agent", agent)
	}
	compare := func() (remembered map[string]int) {
		remembered = map[string]int{}
		for range trials {
			i, c := random.IntN(principals), *calls[random.IntN(len(calls))]
			c.http = circumstances[random.IntN(2)]
			if q, single := c.question(all[i]); single && notes.access.allowed.has(q) {
				remembered[c.operation]++
			}
			got := fmt.Sprint(notes.access.Authorize(t.Context(), all[i], c.http, testRegion, api.Operation{Name: c.operation}, c.in))
			if want := fmt.Sprint(c.evaluate(t.Context(), all[i])); got != want {
				t.Fatalf("seed %d: %s\n%s %+v\n%s\n got %s\nwant %s", seed, shown[i], c.operation, c.in, c.http.UserAgent(), got, want)
			}
		}
		return remembered
	}
	before := compare()
	for _, operation := range []string{"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"} {
		if before[operation] == 0 {
			t.Errorf("seed %d: nothing of %s was remembered", seed, operation)
		}
	}
	if len(before) != 6 {
		t.Errorf("seed %d: remembered are %v", seed, before)
	}
	const deny = `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":["dynamodb:GetItem","dynamodb:Scan"],"Resource":"*"}}`
	if _, err := notes.engine.PutResourcePolicy(t.Context(), &api.PutResourcePolicyInput{
		ResourceArn: new(prefix + "table/Notes"), Policy: new(deny),
	}); err != nil {
		t.Fatal(err)
	}
	if after := compare(); after["GetItem"] > 0 || after["PutItem"] == 0 {
		t.Errorf("seed %d: after the policy, remembered are %v", seed, after)
	}
}

// randomPrincipal is the root, or a user or session with a few statements, of this account or another.
func randomPrincipal(t *testing.T, random *rand.Rand) (who *policy.Principal, shown string) {
	t.Helper()
	statements := []string{
		`{"Effect": "Allow", "Action": "*", "Resource": "*"}`,
		`{"Effect": "Allow", "Action": ["s3:*", "DynamoDB:*"], "Resource": ["*"]}`,
		`{"Effect": "Allow", "Action": "dynamodb:Get*", "Resource": "*"}`,
		`{"Effect": "Allow", "NotAction": "dynamodb:Get*", "Resource": "*"}`,
		`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:dynamodb:*:*:table/Notes"}`,
		`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:dynamodb:*:*:table/Notes/index/*"}`,
		`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:dynamodb:*:*:table/${aws:username}"}`,
		`{"Effect": "Allow", "Action": "*", "NotResource": "arn:aws:dynamodb:*:*:table/Notes"}`,
		`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"Null": {"dynamodb:Select": "true"}}}`,
		`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"StringEquals": {"aws:UserAgent": "good"}}}`,
		`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "ann"}}}`,
		`{"Effect": "Deny", "Action": "dynamodb:Query", "Resource": "*"}`,
		`{"Effect": "Deny", "Action": "dynamodb:*", "Resource": "*", "Condition": {"StringEquals": {"aws:UserAgent": "bad"}}}`,
		`{"Effect": "Deny", "Action": "dynamodb:*Item", "Resource": "*", "Condition": {"StringEquals": {"aws:username": "Notes"}}}`,
	}
	document := func() *policy.Policy {
		var picked []string
		for range 1 + random.IntN(2) {
			picked = append(picked, statements[random.IntN(len(statements))])
		}
		text := `{"Version": "2012-10-17", "Statement": [` + strings.Join(picked, ", ") + `]}`
		shown += text + "\n"
		p, err := policy.Parse(text, policy.Identity)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	name := []string{"ann", "Notes"}[random.IntN(2)]
	who = &policy.Principal{ARN: "arn:aws:iam::" + testAccount + ":user/" + name, Account: testAccount, Username: name, Root: random.IntN(8) == 0}
	if random.IntN(8) == 0 {
		who.Account = "111122223333"
	}
	who.Identity = []*policy.Policy{document()}
	if random.IntN(4) == 0 {
		who.Boundary = document()
	}
	if random.IntN(4) == 0 {
		who.Session = []*policy.Policy{document()}
	}
	return who, fmt.Sprintf("%+v\n%s", who, shown)
}
