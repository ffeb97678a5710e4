package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/monotable/monotable/web/webtest"
)

func start(t *testing.T) (address string, s *site) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "npm", "run", "--silent", "build")
	build.Dir = "page"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the page's script: %v (test/setup installs what it needs)\n%s", err, out)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r) }))
	address = "http://" + server.Listener.Addr().String()
	var err error
	if s, err = open(t.Context(), address, "page"); err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return address, s
}

// notes are the texts of a person's items in the table.
func notes(t *testing.T, s *site, owner string) (texts []string) {
	t.Helper()
	page, err := s.db.Client().Query(t.Context(), &dynamodb.QueryInput{
		TableName: new("Notes"), KeyConditionExpression: new("#o = :o"), ExpressionAttributeNames: map[string]string{"#o": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":o": &types.AttributeValueMemberS{Value: owner}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Items {
		texts = append(texts, item["text"].(*types.AttributeValueMemberS).Value)
	}
	return texts
}

// TestPage has a browser keep a note of ann's, and try bob's.
func TestPage(t *testing.T) {
	address, s := start(t)
	for _, reader := range []struct {
		size webtest.Option
		note string // another one each: the page is to show it because it was kept now
	}{{webtest.Phone, "Buy bread"}, {webtest.Desk, "Call the plumber"}} {
		p := webtest.Open(t, address, reader.size, webtest.Expect("400 (Bad Request)"))
		p.Type("#log-in input", "ann")
		p.Click("#log-in button")
		p.UntilText("Water the plants")
		p.Type("#write input", reader.note)
		p.Click("#write button")
		p.UntilText(reader.note)
		p.Click("#other button[value=read]")
		p.UntilText("is not authorized to perform: dynamodb:Query on resource: arn:aws:dynamodb:us-east-1:000000000000:table/Notes")
		p.Accessible()
		p.Width()
		p.Shot("own-partition")
		p.Click("#other button[value=delete]")
		p.UntilText("is not authorized to perform: dynamodb:DeleteItem")
	}
	if got := notes(t, s, "ann"); len(got) != 3 {
		t.Errorf("ann has %q", got)
	}
	if got := notes(t, s, "bob"); len(got) != 1 {
		t.Errorf("bob has %q", got)
	}
}

// TestForgedToken: a token of another issuer, or of another name than it was signed for, gives no credentials.
func TestForgedToken(t *testing.T) {
	address, _ := start(t)
	other, err := newIssuer(address + "/issuer")
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/token", strings.NewReader("name=bob"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	other.ServeHTTP(w, r)
	client := sts.New(sts.Options{BaseEndpoint: &address, Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
	_, err = client.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: new("arn:aws:iam::000000000000:role/note-taker"), RoleSessionName: new("bob"), WebIdentityToken: new(w.Body.String()),
	})
	if err == nil || !strings.Contains(err.Error(), "InvalidIdentityToken") {
		t.Errorf("a key that the provider does not have: %v", err)
	}
}
