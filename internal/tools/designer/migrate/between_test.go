package migrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/migrate"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// tap intercepts the requests of a migration.
type tap func(operation, body string, send func() (*http.Response, error)) (*http.Response, error)

// Do sends a request, as an HTTP client for the SDK.
func (f tap) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return f(operation, string(body), func() (*http.Response, error) { return http.DefaultClient.Do(r) })
}

// shop is a table of the old design with orders, and a migration of it.
type shop struct {
	*application
	client *dynamodb.Client
	url    string
	plan   *migrate.Plan
	old    *program
	said   []string
}

func newShop(t *testing.T, name string) *shop {
	t.Helper()
	server := httptest.NewServer(monotabletest.New(t).Handler())
	t.Cleanup(server.Close)
	s := &shop{client: clientOf(server.URL), url: server.URL, plan: planned(t, name), application: &application{t: t}}
	before := edited(t, base, migrations()[name].start...)
	if err := provision.Apply(t.Context(), s.client, provision.Specs(before, nil), func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	s.old = programOf(t, s.client, before)
	fill(t, s.application, s.old)
	return s
}

// migration is a migration whose requests go through a tap.
func (s *shop) migration(f tap) *migrate.Migration {
	s.t.Helper()
	options := s.client.Options()
	options.HTTPClient = f
	options.Retryer = aws.NopRetryer{}
	m, err := migrate.Open(s.plan, migrate.Target{
		Client: dynamodb.New(options), Segments: 2, TakeOver: true, Logf: func(format string, args ...any) { s.said = append(s.said, fmt.Sprintf(format, args...)) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func through(_, _ string, send func() (*http.Response, error)) (*http.Response, error) { return send() }

// TestConcurrentWritesAreNotLost tests that no write of the application between the migration's read and write of an item is lost, nothing
// deleted comes back, and no second pass is needed.
func TestConcurrentWritesAreNotLost(t *testing.T) {
	id := regexp.MustCompile(`w\d-\d{4}`)
	for name := range migrations() {
		for _, write := range []string{"Move", "Renumber", "Drop"} {
			t.Run(name+"/"+write, func(t *testing.T) {
				t.Parallel()
				s := newShop(t, name)
				if s.plan.DualWrites == nil {
					t.Skip("nothing is written while programs of both designs are in use")
				}
				dual := programOf(t, s.client, s.plan.DualWrites)
				if _, err := s.migration(through).Run(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				met := map[string]bool{}
				m := s.migration(func(operation, body string, send func() (*http.Response, error)) (*http.Response, error) {
					order := id.FindString(body)
					mu.Lock()
					defer mu.Unlock()
					if writes := operation == "TransactWriteItems" || operation == "UpdateItem"; writes && order != "" && !met[order] {
						met[order] = true
						s.change(dual, write, order)
					}
					return send()
				})
				if _, err := m.Run(t.Context(), migrate.DualWrites); err != nil {
					t.Fatal(err)
				}
				if len(met) < loaded {
					t.Errorf("%d orders were written in between", len(met))
				}
				if n := len(slices.DeleteFunc(s.said, func(line string) bool { return !strings.HasPrefix(line, "pass") })); n != 1 {
					t.Errorf("it took %d passes: %v", n, s.said)
				}
				for _, model := range s.models {
					for _, v := range model {
						if err := s.compare(dual, v); err != nil {
							t.Error(err)
						}
					}
				}
				conforms(t, s.client, s.plan.DualWrites)
			})
		}
	}
}

// change makes the application write to an order.
func (s *shop) change(p *program, write, order string) {
	writer, _ := strconv.Atoi(order[1:2])
	v := s.models[writer][order]
	if v == nil {
		return
	}
	in := map[string]types.AttributeValue{"orderId": v["orderId"], "userId": v["userId"], "to": text("s-" + order)}
	if write == "Drop" {
		delete(in, "to")
	}
	if err := p.write(s.t.Context(), write, in); err != nil {
		s.t.Errorf("%s of %s: %v", write, order, err)
		return
	}
	switch write {
	case "Drop":
		delete(s.models[writer], order)
	case "Move":
		v["status"], v["total"] = in["to"], &types.AttributeValueMemberN{Value: "1"}
	default:
		v["number"] = in["to"]
	}
}

var errCut = errors.New("the line is cut")

// TestResumesAfterLostConnection tests that a migration whose connection is cut after any request, before or after the database has executed
// it, resumes where it was.
func TestResumesAfterLostConnection(t *testing.T) {
	for name := range migrations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test's values
			s := newShop(t, name)
			cuts := 0
			finally := func(do func(*migrate.Migration) error) {
				for {
					left, lose := 4+random.IntN(60), random.IntN(2) == 0
					var mu sync.Mutex
					m := s.migration(func(_, _ string, send func() (*http.Response, error)) (*http.Response, error) {
						mu.Lock()
						left--
						now := left
						mu.Unlock()
						if now > 0 {
							return send()
						}
						if now == 0 && lose { // executed, but the response is lost
							if r, err := send(); err == nil {
								_ = r.Body.Close()
							}
						}
						return nil, errCut
					})
					err := do(m)
					if err == nil {
						return
					}
					if !errors.Is(err, errCut) {
						t.Fatal(err)
					}
					cuts++
				}
			}
			run := func(deployed migrate.Milestone) {
				finally(func(m *migrate.Migration) error {
					_, err := m.Run(t.Context(), deployed)
					return err
				})
			}
			run("")
			if s.plan.DualWrites != nil {
				run(migrate.DualWrites)
			}
			if s.plan.NewReads != nil {
				run(migrate.NewReads)
			}
			finally(func(m *migrate.Migration) error {
				_, err := m.Finish(t.Context())
				return err
			})
			conforms(t, s.client, edited(t, base, slices.Concat(migrations()[name].start, migrations()[name].edits)...))
			t.Logf("cut %d times", cuts)
		})
	}
}

// TestReclaimedMarkerStays tests that the migration does not delete a marker that has been deleted and put by another order since it was
// found to be obsolete.
func TestReclaimedMarkerStays(t *testing.T) {
	s := newShop(t, "markers")
	dual := programOf(t, s.client, s.plan.DualWrites)
	if _, err := s.migration(through).Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	place := func(id string) {
		v := orderOf(0, 0)
		delete(v, "total")
		v["orderId"], v["userId"], v["number"] = text(id), text("u-"+id), text("claimed")
		if err := dual.write(t.Context(), "Place", v); err != nil {
			t.Error(err)
		}
	}
	place("gone")
	if err := s.old.write(t.Context(), "Drop", table.Values{"orderId": text("gone")}); err != nil { // it does not know the new marker
		t.Fatal(err)
	}
	var once sync.Once
	m := s.migration(func(operation, body string, send func() (*http.Response, error)) (*http.Response, error) {
		if operation == "TransactWriteItems" && strings.Contains(body, `"Delete"`) && strings.Contains(body, "N#claimed") {
			once.Do(func() {
				key := table.Item{"PK": text("N#claimed"), "SK": text("UNIQUE")}
				if _, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: key}); err != nil {
					t.Error(err)
				}
				place("another")
			})
		}
		return send()
	})
	if _, err := m.Run(t.Context(), migrate.DualWrites); err != nil {
		t.Fatal(err)
	}
	if n := len(slices.DeleteFunc(s.said, func(line string) bool { return !strings.HasPrefix(line, "pass") })); n != 1 {
		t.Errorf("it took %d passes: %v", n, s.said)
	}
	conforms(t, s.client, s.plan.DualWrites)
}
