package catfecito_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// trail returns a subject's history, newest first, one line per entry.
func trail(tb testing.TB, v *apitest.Server, subject, id string) []string {
	tb.Helper()
	var lines []string
	for _, e := range walk[catfecito.Entry](tb, v, staff(request("", http.MethodGet, "/audit/"+subject+"/"+id, nil)), 3) {
		line := fmt.Sprint(e.Change, " ", e.Item)
		for _, f := range e.Fields {
			line += fmt.Sprint(" ", f.Field, ":")
			if f.Before != nil {
				line += *f.Before
			}
			line += "→"
			if f.After != nil {
				line += *f.After
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// TestChangesAreRecordedOnce: a change is recorded with its old and new values, over each transport, and only once even if records are
// redelivered.
func TestChangesAreRecordedOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, catfecito.System(catFecito()), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		p := stock(t, v, "Taza", "20.00", 5)
		v.Deliver(t)
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{
			"categoryId": "cafes", "name": "Taza", "description": "De barro", "price": "25.00", "imageUrl": "https://example.com/1.jpg",
		})), http.StatusOK)
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{
			"categoryId": "cafes", "name": "Taza", "description": "De barro", "price": "25.00",
		})), http.StatusOK)
		o := buy(t, v, ana, "k", p.ProductID, 2)
		must[catfecito.Order](t, v, staff(keyed("", "/orders/"+o.OrderID+"/pay", "k", nil)), http.StatusOK)
		who := must[catfecito.User](t, v, keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"}), http.StatusCreated)
		must[catfecito.User](t, v, staff(request("", http.MethodPut, "/users/"+who.UserID+"/role", object{"role": "admin"})), http.StatusOK)
		entries := 0
		for round := range 3 {
			v.Deliver(t)
			s := scan(t, v)
			if round > 0 && len(s.trail) != entries {
				t.Errorf("redelivered records have created %d entries of %d", len(s.trail), entries)
			}
			entries = len(s.trail)
		}
		same(t, "product", trail(t, v, "PRODUCT", p.ProductID), []string{
			"MODIFY Product stock:5→3",
			"MODIFY Product imageUrl:https://example.com/1.jpg→",
			"MODIFY Product description:→De barro price:20.00→25.00 imageUrl:→https://example.com/1.jpg",
			"INSERT Product categoryId:→cafes name:→Taza description:→ price:→20.00 stock:→5 isActive:→true",
		})
		same(t, "order, when it was paid", trail(t, v, "ORDER", o.OrderID)[:1], []string{"MODIFY Order status:pending→paid"})
		if created := trail(t, v, "ORDER", o.OrderID)[1:]; len(created) != 2 {
			t.Errorf("an order of one line was created by %q", created)
		}
		same(t, "category", trail(t, v, "CATEGORY", "cafes"), []string{"INSERT Category name:→Cafés description:→"})
		changes := trail(t, v, "USER", who.UserID)
		same(t, "user", changes[:1], []string{"MODIFY User role:customer→admin"})
		if all := strings.Join(changes, "\n"); len(changes) != 3 || !strings.Contains(all, "INSERT Credential updatedAt:") || strings.Contains(all, "argon2") || strings.Contains(all, "café") {
			t.Errorf("the user's trail is %q", changes)
		}
	})
}

// TestHistoryItemsAreNotRecorded: the history's own items also appear in the stream, but create no entries.
func TestHistoryItemsAreNotRecorded(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	put(t, v, ana, p.ProductID, 1) // carts and request records create no entries either
	v.Deliver(t)
	if n := len(scan(t, v).trail); n != 2 {
		t.Errorf("a category and a product have %d entries, want 2", n)
	}
	v.Deliver(t)
	if n := len(scan(t, v).trail); n != 2 {
		t.Errorf("the entries' own records have created %d entries of 2", n)
	}
}

// TestTrailWorker consumes the stream as a process does.
func TestTrailWorker(t *testing.T) {
	t.Parallel()
	v := open(t)
	v.Work(t)
	p := stock(t, v, "Taza", "20.00", 5)
	for i := range 3 {
		must[catfecito.Pieces](t, v, staff(keyed("", "/products/"+p.ProductID+"/restocks", fmt.Sprint(i), object{"quantity": 1})), http.StatusCreated)
		apitest.Eventually(t, "tell of a change", func() bool { return len(trail(t, v, "PRODUCT", p.ProductID)) == i+2 })
	}
	if newest := trail(t, v, "PRODUCT", p.ProductID)[0]; newest != "MODIFY Product stock:7→8" {
		t.Errorf("the newest entry is %q", newest)
	}
}

// TestUnreadableRecordsDoNotBlock: records that cannot be read, or whose change cannot be recorded, do not block others.
func TestUnreadableRecordsDoNotBlock(t *testing.T) {
	t.Parallel()
	v := open(t)
	var products []string
	for i := range 3 {
		products = append(products, stock(t, v, fmt.Sprint("Taza ", i), "20.00", 5).ProductID)
	}
	follower := v.Host.Service(catfecito.Name).Streams[0]
	batches := v.Batches(t, follower.Table)
	spoiled := 0
	for _, b := range batches {
		for i := range b.Records {
			image := b.Records[i].Dynamodb.NewImage
			switch {
			case strings.HasSuffix(text(image["PK"]), products[0]):
				image["price"] = &streams.AttributeValueMemberS{Value: "dear"}
				spoiled++
			case strings.HasSuffix(text(image["PK"]), products[1]):
				// It can be decoded, but does not fit into a key.
				b.Records[i].Dynamodb.SequenceNumber = aws.String("9#9")
				spoiled++
			}
		}
		b.Records = append([]streams.Record{{EventName: streams.OperationTypeInsert}}, b.Records...)
		if err := follower.Handle(t.Context(), b); err != nil {
			t.Errorf("a batch with an unrecordable change: %v", err)
		}
	}
	if spoiled != 2 {
		t.Fatalf("%d records were spoiled, want 2", spoiled)
	}
	for i, want := range []int{0, 0, 1} {
		if n := len(trail(t, v, "PRODUCT", products[i])); n != want {
			t.Errorf("product %d has %d entries, want %d", i, n, want)
		}
	}
}

// text returns a string value.
func text(value streams.AttributeValue) string {
	if s, ok := value.(*streams.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// TestLongestValuesAreRecorded: a change of values of maximum length is recorded.
func TestLongestValuesAreRecorded(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, strings.Repeat("ñ", 100), "999999999.99", 1_000_000)
	body := func(letter string) object {
		return object{
			"categoryId": "cafes", "name": strings.Repeat(letter, 100), "description": strings.Repeat(letter, 2000), "price": "999999999.98",
			"imageUrl": "https://example.com/" + strings.Repeat("u", 400) + letter,
		}
	}
	for _, letter := range []string{"ñ", "😀", "日"} {
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID, body(letter))), http.StatusOK)
	}
	v.Deliver(t)
	if n := len(trail(t, v, "PRODUCT", p.ProductID)); n != 4 {
		t.Errorf("%d entries, want 4", n)
	}
}

// TestExpiredEntries: an entry disappears after a year, even if DynamoDB has not yet deleted it.
func TestExpiredEntries(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	v.Deliver(t)
	v.Clock.Advance(365*24*time.Hour - time.Second)
	if n := len(trail(t, v, "PRODUCT", p.ProductID)); n != 1 {
		t.Errorf("%d entries within the year, want one", n)
	}
	v.Clock.Advance(time.Second)
	if n := len(trail(t, v, "PRODUCT", p.ProductID)); n != 0 {
		t.Errorf("%d entries after the year, want none", n)
	}
}

// TestTrailsBounds: long values are truncated between characters, and entries last a year.
func TestTrailsBounds(t *testing.T) {
	t.Parallel()
	v := open(t)
	text := strings.Repeat("ñandú ", 300)
	must[catfecito.Category](t, v, staff(request("", http.MethodPut, "/categories/cafes", object{"name": "Cafés", "description": text})), http.StatusOK)
	v.Deliver(t)
	s := scan(t, v)
	if len(s.trail) != 1 {
		t.Fatalf("%d entries, want one", len(s.trail))
	}
	e := s.trail[0]
	kept := *e.Fields[1].After
	if len(kept) > 310 || !strings.HasSuffix(kept, "…") || !strings.HasPrefix(text, strings.TrimSuffix(kept, "…")) || !utf8.ValidString(kept) {
		t.Errorf("of a long text %q is kept", kept)
	}
	if want := v.Clock.Now().Add(365 * 24 * time.Hour); !e.ExpiresAt.Equal(want) {
		t.Errorf("an entry expires at %v, want %v", e.ExpiresAt, want)
	}
}
