package traffic_test

import (
	"bytes"
	"context"
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

// TestPatternsFit: each request that package table sends for a pattern of a design fits that pattern.
func TestPatternsFit(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../../systems/*/*.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../../../test/generated/designs/*.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(files, more) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d, err := design.Load(file)
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
