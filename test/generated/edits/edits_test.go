package edits_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/test/generated/edits"
)

var begin = time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)

const tableName = "edits-test"

func open(t *testing.T) (*edits.DB, *dynamodb.Client) {
	t.Helper()
	client := monotabletest.New(t).Client()
	config := edits.Config{Table: tableName, CursorKey: bytes.Repeat([]byte("k"), 32), Clock: func() time.Time { return begin }}
	for _, in := range edits.CreateTables(config) {
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	db, err := edits.New(client, config)
	if err != nil {
		t.Fatal(err)
	}
	return db, client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fails(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// lamp is a product with all that one can have.
func lamp(t *testing.T, db *edits.DB) {
	t.Helper()
	_, err := db.Open(t.Context(), edits.OpenInput{Shop: "s-1"})
	must(t, err)
	_, err = db.Offer(t.Context(), edits.OfferInput{
		Product: "p-1", Shop: "s-1", Code: "lamp", Name: "Lamp", Status: edits.StatusDraft, Price: 900,
		Brand: aws.String("acme"), Note: aws.String("new"), Offer: aws.Int64(700), EndsAt: aws.Time(begin.Add(time.Hour)),
		Origin: edits.Address{Street: "Av. Arequipa 1", City: aws.String("Lima")},
	})
	must(t, err)
}

// attributes are the names of an item's attributes, as it is stored.
func attributes(t *testing.T, client *dynamodb.Client, pk, sk string) map[string]bool {
	t.Helper()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(tableName), Key: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk},
	}})
	must(t, err)
	names := map[string]bool{}
	for name := range out.Item {
		names[name] = true
	}
	return names
}

// TestRemove: what is removed is gone of the item and its copy, with the index keys and counters that follow.
func TestRemove(t *testing.T) {
	db, client := open(t)
	lamp(t, db)
	ctx := t.Context()

	must(t, ended(db.EndOffer(ctx, edits.EndOfferInput{Product: "p-1"})))
	_, err := db.EndOffer(ctx, edits.EndOfferInput{Product: "p-1"})
	fails(t, "a second end", err, edits.ErrNotOffered)
	shop, err := db.ShopByID(ctx, edits.ShopByIDInput{Shop: "s-1"})
	must(t, err)
	same(t, "the counters", shop, edits.Shop{Shop: "s-1", Products: 1})
	ending, err := db.EndingOf(ctx, edits.EndingOfInput{Shop: "s-1"}, table.PageOptions{})
	must(t, err)
	same(t, "what ends", len(ending.Items), 0)

	_, err = db.Unbrand(ctx, edits.UnbrandInput{Product: "p-1"})
	must(t, err)
	product, err := db.ProductByID(ctx, edits.ProductByIDInput{Product: "p-1"})
	must(t, err)
	same(t, "the product", product, edits.Product{
		Product: "p-1", Shop: "s-1", Code: "lamp", Name: "Lamp", Status: edits.StatusDraft, Price: 900,
		Origin: edits.Address{Street: "Av. Arequipa 1"},
	})
	for _, key := range [][2]string{{"PRODUCT#p-1", "PRODUCT"}, {"SHOP#s-1", "PRODUCT#draft#p-1"}} {
		for _, name := range []string{"GSI1PK", "GSI1SK", "brand", "note", "offer", "endsAt"} {
			if attributes(t, client, key[0], key[1])[name] {
				t.Errorf("%s has %s", key[0], name)
			}
		}
	}
}

func ended(_ edits.EndOfferResult, err error) error { return err }

// TestPatch: what is given is set, what is not stays, and all that is made of either follows.
func TestPatch(t *testing.T) {
	db, client := open(t)
	lamp(t, db)
	ctx := t.Context()
	_, err := db.Open(ctx, edits.OpenInput{Shop: "s-2"})
	must(t, err)

	_, err = db.Change(ctx, edits.ChangeInput{Product: "p-1"})
	must(t, err) // of nothing
	_, err = db.Change(ctx, edits.ChangeInput{Product: "p-2", Price: aws.Int64(1)})
	fails(t, "a change of nothing", err, edits.ErrProductNotFound)

	live := edits.StatusLive
	_, err = db.Change(ctx, edits.ChangeInput{
		Product: "p-1", Shop: aws.String("s-2"), Code: aws.String("desk-lamp"), Status: &live,
		Note: table.Removed[string](), Offer: table.SetTo[int64](650), EndsAt: table.Patch[time.Time]{},
	})
	must(t, err)
	product, err := db.ProductByCode(ctx, edits.ProductByCodeInput{Code: "desk-lamp"})
	must(t, err)
	same(t, "the product", product, edits.Product{
		Product: "p-1", Shop: "s-2", Code: "desk-lamp", Name: "Lamp", Status: edits.StatusLive, Price: 900,
		Brand: aws.String("acme"), Offer: aws.Int64(650), EndsAt: aws.Time(begin.Add(time.Hour)),
		Origin: edits.Address{Street: "Av. Arequipa 1", City: aws.String("Lima")},
	})
	_, err = db.ProductByCode(ctx, edits.ProductByCodeInput{Code: "lamp"})
	fails(t, "the old code", err, table.ErrNotFound)
	of, err := db.ProductsOfBrand(ctx, edits.ProductsOfBrandInput{Brand: "acme", Status: edits.StatusLive}, table.PageOptions{})
	must(t, err)
	same(t, "of the brand", len(of.Items), 1)
	for shop, want := range map[string]edits.Shop{"s-1": {Shop: "s-1"}, "s-2": {Shop: "s-2", Products: 1, Live: 1, Offered: 1, Worth: 650}} {
		got, err := db.ShopByID(ctx, edits.ShopByIDInput{Shop: shop})
		must(t, err)
		same(t, "the counters of "+shop, got, want)
	}
	same(t, "the old copy", len(attributes(t, client, "SHOP#s-1", "PRODUCT#draft#p-1")), 0)
	same(t, "the new copy", attributes(t, client, "SHOP#s-2", "PRODUCT#live#p-1")["note"], false)
}

// TestMembers: sets and lists are added to and taken from without being read.
func TestMembers(t *testing.T) {
	db, client := open(t)
	ctx := t.Context()
	_, err := db.Begin(ctx, edits.BeginInput{
		Cart: "c-1", Shop: "s-1", Parcels: []edits.Parcel{{Sku: "a", Quantity: 1}, {Sku: "b", Quantity: 2, Gift: aws.String("red")}}, Tags: []string{"new"},
	})
	must(t, err)
	_, err = db.Tag(ctx, edits.TagInput{Cart: "c-1", Tags: []string{"fast", "new"}, Sizes: []int64{3}, Hashes: [][]byte{{1}}})
	must(t, err)
	_, err = db.Untag(ctx, edits.UntagInput{Cart: "c-1", Tags: []string{"new", "old"}, Sizes: []int64{3}})
	must(t, err)
	_, err = db.Pack(ctx, edits.PackInput{Cart: "c-1", Parcels: []edits.Parcel{{Sku: "c", Quantity: 3}}, Log: []string{"packed"}})
	must(t, err)
	_, err = db.Recount(ctx, edits.RecountInput{Cart: "c-1", Quantity: 7, Gift: "blue"})
	must(t, err)
	_, err = db.More(ctx, edits.MoreInput{Cart: "c-1"})
	must(t, err)
	want := edits.Cart{
		Cart: "c-1", Shop: "s-1", Parcels: []edits.Parcel{{Sku: "a", Quantity: 8, Gift: aws.String("blue")}},
		Tags: []string{"fast"}, Hashes: [][]byte{{1}}, Log: []string{"packed"},
	}
	cart, err := db.CartByID(ctx, edits.CartByIDInput{Cart: "c-1"})
	must(t, err)
	same(t, "the cart", cart, want)
	if attributes(t, client, "CART#c-1", "CART")["sizes"] {
		t.Error("a set that has lost its last member is there")
	}
	page, err := db.CartsOf(ctx, edits.CartsOfInput{Shop: "s-1"}, table.PageOptions{})
	must(t, err)
	same(t, "the copies", len(page.Items), 1)
}

// TestMapKeys: what the caller names in a map is counted, set and removed, whatever characters it has.
func TestMapKeys(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	_, err := db.Publish(ctx, edits.PublishInput{Post: "p", Shop: "s-1", Settings: map[string]string{"mood": "fine"}})
	must(t, err)
	for _, kind := range []string{"like", "a.b", "like", "size"} {
		_, err = db.React(ctx, edits.ReactInput{Post: "p", Kind: kind, Other: "other"})
		must(t, err)
	}
	_, err = db.Configure(ctx, edits.ConfigureInput{Post: "p", Setting: "a.b[0] #:é", Value: "dark", Place: "home", Address: edits.Address{Street: "Here 1"}})
	must(t, err)
	_, err = db.Unreact(ctx, edits.UnreactInput{Post: "p", Kind: "size"})
	must(t, err)
	post, err := db.PostByID(ctx, edits.PostByIDInput{Post: "p"})
	must(t, err)
	same(t, "the post", post, edits.Post{
		Post: "p", Shop: "s-1", Reactions: map[string]int64{"like": 2, "a.b": 1, "other": -4},
		Settings: map[string]string{"a.b[0] #:é": "dark"}, Places: map[string]edits.Address{"home": {Street: "Here 1"}},
	})
	page, err := db.PostsOf(ctx, edits.PostsOfInput{Shop: "s-1"}, table.PageOptions{})
	must(t, err)
	same(t, "the copy", page.Items[0].Reactions, post.Reactions)
	for _, in := range []edits.ReactInput{{Post: "p", Other: "x"}, {Post: "p", Kind: "x", Other: "x"}} {
		_, err = db.React(ctx, in)
		if _, wrong := errors.AsType[*table.ValueError](err); !wrong {
			t.Errorf("%v: %v", in, err)
		}
	}
	_, err = db.Configure(ctx, edits.ConfigureInput{Post: "p", Setting: "[0]", Place: "home"})
	if _, wrong := errors.AsType[*table.ValueError](err); !wrong {
		t.Errorf("a place in a list: %v", err)
	}
	_, err = db.React(ctx, edits.ReactInput{Post: "none", Kind: "x", Other: "y"})
	fails(t, "a reaction to nothing", err, edits.ErrPostNotFound)
}

// TestNames: steps on two items of one entity have their names in results and errors.
func TestNames(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	for _, visitor := range []string{"a", "b"} {
		_, err := db.Visit(ctx, edits.VisitInput{Visitor: visitor})
		must(t, err)
	}
	result, err := db.Swap(ctx, edits.SwapInput{From: "a", To: "b"})
	must(t, err)
	if result.Giver != nil && result.Giver.Visits != 0 || result.Taker != nil && result.Taker.Visits != 2 {
		t.Errorf("%+v", result)
	}
	_, err = db.Swap(ctx, edits.SwapInput{From: "a", To: "b"})
	fails(t, "a swap of nothing", err, edits.ErrNothingLeft)
	if refusal, refused := errors.AsType[*table.Refusal](err); !refused || refusal.Name != "giver" || refusal.Error() != "Swap, giver: edits: nothing left" {
		t.Errorf("the refusal: %v", err)
	}
}

// TestBatch: many lines are put and deleted without a transaction, and two on one item are refused before.
func TestBatch(t *testing.T) {
	db, client := open(t)
	ctx := t.Context()
	var in edits.ReplaceInput
	for i := range 60 {
		old := fmt.Sprintf("old-%d", i)
		_, err := db.Visit(ctx, edits.VisitInput{Visitor: old})
		must(t, err)
		in.Lines = append(in.Lines, edits.ReplaceLine{Visitor: fmt.Sprintf("new-%d", i), Other: old})
	}
	result, err := db.Replace(ctx, in)
	must(t, err)
	same(t, "the results", len(result.Visitor), 60)
	same(t, "the last", result.Visitor[59], edits.Visitor{Visitor: "new-59", Seen: begin})
	count := func() int32 {
		out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(tableName)})
		must(t, err)
		return out.Count
	}
	same(t, "the items", count(), int32(60))
	in.Lines[7].Other = "new-8"
	_, err = db.Replace(ctx, in)
	fails(t, "two lines on one item", err, table.ErrLines)
	same(t, "the items", count(), int32(60))
}
