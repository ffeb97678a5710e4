package traffic_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/traffic"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

var more = flag.Bool("more", false, "try the larger designs as well, which takes minutes")

// sent is a request that package table sent for a pattern.
type sent struct {
	pattern, operation string
	input              []byte
}

// recorder runs patterns and records their requests.
type recorder struct {
	*table.DB

	mu     sync.Mutex
	sent   []sent
	client interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

type patternKey struct{}

func asPattern(ctx context.Context, pattern string) context.Context {
	return context.WithValue(ctx, patternKey{}, pattern)
}

func (c *recorder) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if pattern, is := r.Context().Value(patternKey{}).(string); is {
		c.mu.Lock()
		c.sent = append(c.sent, sent{pattern, operation, body})
		c.mu.Unlock()
	}
	return c.client.Do(r)
}

func (c *recorder) Get(ctx context.Context, r *table.Read, in table.Input) (table.Values, error) {
	return c.DB.Get(asPattern(ctx, r.Pattern), r, in)
}

func (c *recorder) Batch(ctx context.Context, r *table.Read, in []table.Input) ([]table.Values, error) {
	return c.DB.Batch(asPattern(ctx, r.Pattern), r, in)
}

func (c *recorder) Page(ctx context.Context, r *table.Read, in table.Input, o table.PageOptions) (table.Page[table.Values], error) {
	return c.DB.Page(asPattern(ctx, r.Pattern), r, in, o)
}

func (c *recorder) List(ctx context.Context, r *table.Read, in table.Input) ([]table.Values, error) {
	return c.DB.List(asPattern(ctx, r.Pattern), r, in)
}

func (c *recorder) All(ctx context.Context, r *table.Read, in table.Input) iter.Seq2[table.Values, error] {
	return c.DB.All(asPattern(ctx, r.Pattern), r, in)
}

func (c *recorder) Collect(ctx context.Context, x *table.Collection, in table.Input, o table.PageOptions) (table.Page[table.Found], error) {
	return c.DB.Collect(asPattern(ctx, x.Pattern), x, in, o)
}

func (c *recorder) Write(ctx context.Context, w *table.Write, in table.Input) (table.Outcome, error) {
	return c.DB.Write(asPattern(ctx, w.Pattern), w, in)
}

func (c *recorder) Count(ctx context.Context, r *table.Read, in table.Input) (int, error) {
	return c.DB.Count(asPattern(ctx, r.Pattern), r, in)
}

// TestPatternsFit tests that each request that package table sends for a pattern of a design fits that pattern.
func TestPatternsFit(t *testing.T) {
	t.Parallel()
	files := []string{"systems/appcore/appcore.design.yaml", "test/generated/designs/shop.design.yaml"}
	if *more {
		files = append(files, "systems/catfecito/catfecito.design.yaml", "systems/portfolio/portfolio.design.yaml", "systems/transporteapp/transporteapp.design.yaml", "systems/trinity/trinity.design.yaml")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d, err := design.Load(filepath.Join("../../../..", file))
			if err != nil {
				t.Fatal(err)
			}
			matcher := traffic.New(d)
			var recorders []*recorder
			var tables map[string]string
			tried, err := trial.New(d, trial.Options{Seed: 1, Items: 12, Open: func(_ context.Context, w trial.World) (trial.Runner, error) {
				c := new(recorder)
				options := w.Client.(interface{ SDK() *dynamodb.Client }).SDK().Options()
				c.client, options.HTTPClient = options.HTTPClient, c
				var err error
				c.DB, err = table.Open(dynamodb.New(options), w.Config, w.Program.Tables...)
				recorders, tables = append(recorders, c), w.Config.Tables
				return c, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range tried.Subjects() {
				if s.Kind != trial.EntitySubject && s.Kind != trial.PersonSubject {
					if _, err := tried.Try(t.Context(), s); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := tried.Close(); err != nil {
				t.Fatal(err)
			}
			requests, alone := 0, 0
			shown := map[string]bool{}
			for _, c := range recorders {
				for _, s := range c.sent {
					requests++
					m := matcher.Match(tables, s.operation, s.input)
					patterns, shape := m.Patterns, m.Shape
					fits := slices.Contains(patterns, s.pattern)
					if s.operation == "GetItem" || s.operation == "BatchGetItem" {
						fits = len(patterns) > 0 // what a pattern reads besides its main request can be the main request of another
					}
					if !fits && !shown[s.pattern+s.operation] {
						shown[s.pattern+s.operation] = true
						t.Errorf("%s: %s fits %v, %+v: %.1200s", s.pattern, s.operation, patterns, shape, s.input)
					}
					if len(patterns) == 1 {
						alone++
					}
				}
			}
			t.Logf("%d requests, %d fit one pattern only", requests, alone)
			if requests == 0 {
				t.Error("no requests were sent")
			}
		})
	}
}

// TestMatch tests that handwritten requests belong to the patterns for which they could have been sent, the closest first;
// others have a shape in which long values are cut.
func TestMatch(t *testing.T) {
	t.Parallel()
	d, err := design.Load("../../console/testdata/shop.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	matcher := traffic.New(d)
	for _, c := range []struct{ operation, input, want string }{
		{"GetItem", `{"TableName":"shop","Key":{"PK":{"S":"USER#u1"},"SK":{"S":"PROFILE"}}}`, "UserByID"},
		{"GetItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/shop","Key":{"PK":{"S":"USER#u1"},"SK":{"S":"PROFILE"}}}`, "UserByID"},
		{"GetItem", `{"TableName":"shop","Key":{"PK":{"S":"EMAIL#ana@x.org"},"SK":{"S":"UNIQUE"}}}`, "UserByEmail"},
		{"GetItem", `{"TableName":"other","Key":{"PK":{"S":"USER#u1"},"SK":{"S":"PROFILE"}}}`, "GetItem"},
		{"GetItem", `{"TableName":"shop","Key":{"PK":{"S":"USER#u1"},"SK":{"S":"SETTINGS"}}}`, `GetItem PK = "USER#u1" AND SK = "SETTINGS"`},
		{"GetItem", `{"TableName":"shop"`, "GetItem"},
		{"TransactGetItems", `{"TransactItems":[{}]}`, "TransactGetItems"},
		{"Query", query("", "PK = :a AND begins_with(SK, :b)", "USER#u1", "ORDER#", false), "OrdersOf"},
		{"Query", query("", "PK = :a AND begins_with(SK, :b)", "USER#u1", "ORDER#", true), `Query PK = "USER#u1" AND begins_with(SK, "ORDER#")`},
		{"Query", query("", "PK = :a AND begins_with(SK, :b)", "USER#u1", "INVOICE#", false), `Query PK = "USER#u1" AND begins_with(SK, "INVOICE#")`},
		{"Query", query("GSI1", "GSI1PK = :a AND GSI1SK > :b", "STATUS#open", "2026", true), "OrdersByStatus"},
		{"Query", query("GSI1", "GSI1SK > :b AND GSI1PK = :a", "STATUS#lost", "2026", true), `Query GSI1 GSI1PK = "STATUS#lost" AND GSI1SK > "2026"`},
		{"UpdateItem", pay("status", "paid"), "Pay"},
		{"UpdateItem", pay("status", "sent"), `UpdateItem PK = "USER#u1" AND SK = "ORDER#1"`},
		{"UpdateItem", pay("note", "paid"), `UpdateItem PK = "USER#u1" AND SK = "ORDER#1"`},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"shop","Key":{"PK":{"S":"USER#u1"},"SK":{"S":"ORDER#1"}},"ConditionExpression":"attribute_exists(PK) AND attribute_not_exists(PK)"}}]}`, "Pay"},
		{"PutItem", `{"TableName":"shop","Item":{"PK":{"S":"CART#1"},"SK":{"S":"` + strings.Repeat("é", 100) + `"}}}`, `PutItem PK = "CART#1" AND SK = "` + strings.Repeat("é", 20) + `…" (1)`},
		{"DeleteItem", `{"TableName":"shop","Key":{"PK":{"S":"CART#1"},"SK":{"S":"OPEN"}}}`, `DeleteItem PK = "CART#1" AND SK = "OPEN"`},
		{"Scan", `{"TableName":"shop"}`, "Scan"},
		{"ExecuteStatement", `{"Statement":"SELECT * FROM shop"}`, "ExecuteStatement SELECT * FROM shop"},
		{"SearchVectors", `{}`, "SearchVectors"},
	} {
		m := matcher.Match(nil, c.operation, []byte(c.input))
		got := strings.Join(m.Patterns, ", ")
		if s := m.Shape; s != nil {
			got = strings.Join(strings.Fields(s.Operation+" "+s.Index+" "+s.Keys), " ")
		}
		if m.UnknownItems > 0 {
			got += fmt.Sprintf(" (%d)", m.UnknownItems)
		}
		if got != c.want {
			t.Errorf("%s %s\nis %s,\nwant %s", c.operation, c.input, got, c.want)
		}
	}
}

func query(index, condition, a, b string, forward bool) string {
	if index != "" {
		index = fmt.Sprintf(`"IndexName":%q,`, index)
	}
	return fmt.Sprintf(`{"TableName":"shop",%s"KeyConditionExpression":%q,"ScanIndexForward":%t,"ExpressionAttributeValues":{":a":{"S":%q},":b":{"S":%q}}}`, index, condition, forward, a, b)
}

func pay(attribute, value string) string {
	return fmt.Sprintf(`{"TableName":"shop","Key":{"PK":{"S":"USER#u1"},"SK":{"S":"ORDER#1"}},"UpdateExpression":"SET #a = :a","ExpressionAttributeNames":{"#a":%q},"ExpressionAttributeValues":{":a":{"S":%q}}}`, attribute, value)
}
