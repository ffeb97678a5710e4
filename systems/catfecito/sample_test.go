package catfecito_test

import (
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/seed"
)

// TestSample: a sample is consistent at any size, reproducible, and usable immediately.
func TestSample(t *testing.T) {
	t.Parallel()
	const users, left = 20, 17
	v := open(t)
	sample := v.Host.Service(catfecito.Name).Sample
	size := 1000
	for round := range 3 { // the second run changes nothing, the third adds less than a whole user
		if round == 2 {
			size += left
		}
		stored, err := seed.Run(t.Context(), sample, seed.Options{Items: size, Seed: 7})
		if err != nil || stored != size {
			t.Fatalf("stored %d of %d: %v", stored, size, err)
		}
		s := scan(t, v)
		s.sound(t)
		if len(s.users) != users || len(s.credentials) != users || s.categories != 10 || len(s.products) != 190+size-1000 || len(s.truth) != 7*users || len(s.carts) != 3*users {
			t.Errorf("%d users, %d passwords, %d categories, %d products, %d orders, %d lines of carts", len(s.users), len(s.credentials), s.categories, len(s.products), len(s.truth), len(s.carts))
		}
		for id, lines := range s.lines {
			if len(lines) != 4 {
				t.Errorf("order %s has %d lines, want 4", id, len(lines))
			}
			for _, l := range lines {
				if p := s.products[l.ProductID]; p.Name != l.ProductName || p.Price != l.Price {
					t.Errorf("%+v is no line of %+v", l, p)
				}
			}
		}
	}
	own := must[page[catfecito.Order]](t, v, request(ana, http.MethodGet, "/orders", nil), http.StatusOK).Items
	if len(own) != 7 || own[0].Status != catfecitodb.OrderStatusPending {
		t.Errorf("%s has orders %+v; want 7, the last pending", ana, own)
	}
	c := cart(t, v, ana)
	if !c.Orderable {
		t.Errorf("the cart of %s cannot be ordered: %+v", ana, c)
	}
	must[catfecito.WholeOrder](t, v, keyed(ana, "/orders", "k", object{"total": c.Total}), http.StatusCreated)
	session := must[catfecito.Session](t, v, request("", http.MethodPost, "/login", object{"email": "u.123@example.com", "password": catfecito.SamplePassword}), http.StatusOK)
	if session.User.UserID != ana {
		t.Errorf("logged in as %+v, want %s", session.User, ana)
	}
	same(t, "search", search(t, v, "cafe oaxa"), []string{"Café Oaxaca Pluma"})
}
