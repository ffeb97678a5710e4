package portfolio_test

import (
	"maps"
	"net/http"
	"reflect"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/portfolio"
)

// TestSample: a sample is consistent, reproducible, and equal to what the worker would create. Its last block is incomplete.
func TestSample(t *testing.T) {
	t.Parallel()
	const whole = 26
	v := apitest.Open(t, portfolio.System())
	sample := v.Host.Service(portfolio.Name).Sample
	var before stored
	for i, rest := range []int{0, 0, 4, 15, 33} {
		items := 50*whole + rest
		stored, err := seed.Run(t.Context(), sample, seed.Options{Items: items, Seed: 7})
		if err != nil || stored != items {
			t.Fatalf("stored %d of %d: %v", stored, items, err)
		}
		s := scan(t, v)
		if i == 1 && !reflect.DeepEqual(s, before) {
			t.Error("the second time it is another sample")
		}
		before = s
		if users, categories := len(s.users), len(s.categories); users != whole+min(rest, 1) || categories != 10 {
			t.Errorf("%d records have %d users and %d categories", items, users, categories)
		}
		if comments, likes := len(s.comments), s.likeCount(); comments != 8*whole+pairs(rest, 6, 22) || likes != 12*whole+pairs(rest, 22, 46) {
			t.Errorf("%d records have %d comments and %d likes", items, comments, likes)
		}
		for id := range s.contents { // of a post beyond the end
			if _, ok := s.posts[id]; !ok {
				delete(s.contents, id)
			}
		}
		s.sound(t)
	}
	const covers = 9
	if len(before.images) != covers {
		t.Errorf("%d posts have a cover, want %d", len(before.images), covers)
	}
	for id := range before.images {
		if w := raw(t, v, http.MethodGet, "images/"+id+"/small", nil); w.Status != http.StatusOK || w.Header.Get("Content-Type") != "image/jpeg" {
			t.Errorf("the cover %s: %d %v", id, w.Status, w.Header)
		}
	}
	if own := call[page[portfolio.Notification]](t, v, get("/notifications?limit=100", ana)); len(own.Items) != 20 {
		t.Errorf("%s has %d notifications, want 20", ana, len(own.Items))
	}
	v.Deliver(t)
	after := scan(t, v)
	if added := len(after.notifications) - len(before.notifications); added != 1 { // for the last like, which has none in the sample
		t.Errorf("the worker has created %d more notifications, want 1", added)
	}
	for id, n := range before.notifications {
		if after.notifications[id] != n {
			t.Errorf("%+v became %+v", n, after.notifications[id])
		}
	}
}

// TestExamples: the demo page's examples work on an empty table and with sample data, in either order.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, sampled := range [][]bool{{false, true, false}, {true, false}} {
		v := apitest.Open(t, portfolio.System())
		for _, load := range sampled {
			if load {
				if _, err := seed.Run(t.Context(), v.Host.Service(portfolio.Name).Sample, seed.Options{Items: 1000, Seed: 1}); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range portfolio.System().Examples {
				r := apitest.Request{Method: e.Method, Path: e.Path, Header: maps.Clone(e.Header), As: ana, Groups: e.Groups}
				if e.Body != "" {
					r.Body = e.Body
				}
				if response := v.Do(t, r); response.Status >= http.StatusBadRequest {
					t.Errorf("%s, with samples %v: %d %s", e.Title, sampled, response.Status, response.Body)
				}
			}
			scan(t, v).sound(t)
		}
	}
}

// pairs returns the number of a block's comments, or likes, among a number of records, each followed by its notification.
func pairs(records, from, to int) int { return max(min(records, to)-from+1, 0) / 2 }

func (s stored) likeCount() (n int) {
	for _, users := range s.likes {
		n += len(users)
	}
	return n
}
