// Package browser opens an attacker's pages in Chromium and checks that they can neither read nor change a database that
// the browser's machine can reach.
package browser

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
)

const (
	// browserWait is far longer than the pages take, even on a busy machine.
	browserWait = time.Minute
	// rebound is an attacker's host name that the browser resolves to this machine.
	rebound = "page.attacker.example"
	secret  = "$argon2id$v=19$secret"
)

// attack is the script of the attacker's pages: it tries to read an item and to delete the table, and returns what it saw.
const attack = `(async (url) => {
	const call = async (mode, type, operation, input) => {
		try {
			const headers = {"Content-Type": type, "X-Amz-Target": "DynamoDB_20120810." + operation};
			const response = await fetch(url, {method: "POST", mode, headers, body: JSON.stringify(input)});
			return response.status + " " + await response.text();
		} catch (e) {
			return String(e);
		}
	};
	const key = {TableName: "users", Key: {pk: {S: "admin"}}};
	return {
		read: await call("cors", "application/x-amz-json-1.0", "GetItem", key),
		simple: await call("no-cors", "text/plain", "DeleteTable", {TableName: "users"}),
		remove: await call("cors", "application/json", "DeleteItem", key),
	};
})`

// outcome is the script's result.
type outcome struct{ Read, Simple, Remove string }

// users opens a database with a table that holds a secret.
func users(t *testing.T, o *monotable.Options) *monotable.DB {
	t.Helper()
	db := monotabletest.NewWith(t, o)
	_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("users"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "admin"}, "password_hash": &types.AttributeValueMemberS{Value: secret},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// holdsSecret reports whether the secret is still in the table.
func holdsSecret(t *testing.T, db *monotable.DB) bool {
	t.Helper()
	got, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("users"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "admin"}},
	})
	return err == nil && len(got.Item) > 0
}

// open opens a tab for the duration of the test, in which the attacker's name resolves to this machine.
func open(t *testing.T) context.Context {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // not available to root
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserWait)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}

// run opens a page and runs the attack in it against a URL.
func run(t *testing.T, page, url string) outcome {
	t.Helper()
	argument, err := json.Marshal(url)
	if err != nil {
		t.Fatal(err)
	}
	ctx := open(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[outcome](attack+"("+string(argument)+")", chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// attacker serves a page with another origin than the database's.
func attacker(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>a page</title>"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestPageOfAnotherOrigin tests that the page cannot use the database, but can if its origin is allowed, which shows that
// the attack would work.
func TestPageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	page := attacker(t)
	for name, c := range map[string]struct {
		origins []string
		stolen  bool
	}{
		"not allowed": {nil, false},
		"allowed":     {[]string{page}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := users(t, &monotable.Options{CORSOrigins: c.origins})
			s := httptest.NewServer(db.Handler())
			defer s.Close()
			got := run(t, page, s.URL)
			if stolen := strings.Contains(got.Read, secret); stolen != c.stolen {
				t.Errorf("the page reads the secret: %t, want %t: %+v", stolen, c.stolen, got)
			}
			if removed := !holdsSecret(t, db); removed != c.stolen {
				t.Errorf("the page removes the item: %t, want %t: %+v", removed, c.stolen, got)
			}
		})
	}
}

// TestReboundName tests that a page whose own host name points to this machine shares the database's origin, and still
// cannot use it.
func TestReboundName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hosts  []string
		stolen bool
	}{
		"not allowed": {nil, false},
		"allowed":     {[]string{rebound}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := users(t, &monotable.Options{AllowedHosts: c.hosts})
			s := httptest.NewServer(db.Handler())
			defer s.Close()
			_, port, err := net.SplitHostPort(s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			url := "http://" + net.JoinHostPort(rebound, port) + "/"
			got := run(t, url, url)
			if stolen := strings.Contains(got.Read, secret); stolen != c.stolen {
				t.Errorf("the page reads the secret: %t, want %t: %+v", stolen, c.stolen, got)
			}
			if removed := !holdsSecret(t, db); removed != c.stolen {
				t.Errorf("the page removes the item: %t, want %t: %+v", removed, c.stolen, got)
			}
			if !c.stolen && (!strings.HasPrefix(got.Read, "403 ") || !strings.Contains(got.Read, "--allowed-host "+rebound)) {
				t.Errorf("the response does not name the flag: %s", got.Read)
			}
		})
	}
}
