package patterns_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/patterns"
)

// putLamp puts a product with everything optional.
func putLamp(t *testing.T, db *patterns.DB) {
	t.Helper()
	_, err := db.Open(t.Context(), patterns.OpenInput{Shop: "s-1"})
	must(t, err)
	_, err = db.Offer(t.Context(), patterns.OfferInput{
		Product: "p-1", Shop: "s-1", Code: "lamp", Name: "Lamp", Status: patterns.StatusDraft, Price: 900,
		Brand: aws.String("acme"), Note: aws.String("new"), Offer: aws.Int64(700), EndsAt: aws.Time(begin.Add(time.Hour)),
		Origin: patterns.Address{Street: "Av. Arequipa 1", City: aws.String("Lima")},
	})
	must(t, err)
}

// attributes are the names of a stored item's attributes.
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

// TestRemove tests that removed fields disappear from the item and its copy, and that index keys and counters follow.
func TestRemove(t *testing.T) {
	db, client := open(t)
	putLamp(t, db)
	ctx := t.Context()

	must(t, ended(db.EndOffer(ctx, patterns.EndOfferInput{Product: "p-1"})))
	_, err := db.EndOffer(ctx, patterns.EndOfferInput{Product: "p-1"})
	fails(t, "a second end", err, patterns.ErrNotOffered)
	shop, err := db.ShopByID(ctx, patterns.ShopByIDInput{Shop: "s-1"})
	must(t, err)
	same(t, "the counters", shop, patterns.Shop{Shop: "s-1", Products: 1})
	ending, err := db.EndingOf(ctx, patterns.EndingOfInput{Shop: "s-1"}, table.PageOptions{})
	must(t, err)
	same(t, "what ends", len(ending.Items), 0)

	_, err = db.Unbrand(ctx, patterns.UnbrandInput{Product: "p-1"})
	must(t, err)
	product, err := db.ProductByID(ctx, patterns.ProductByIDInput{Product: "p-1"})
	must(t, err)
	same(t, "the product", product, patterns.Product{
		Product: "p-1", Shop: "s-1", Code: "lamp", Name: "Lamp", Status: patterns.StatusDraft, Price: 900,
		Origin: patterns.Address{Street: "Av. Arequipa 1"},
	})
	for _, key := range [][2]string{{"PRODUCT#p-1", "PRODUCT"}, {"SHOP#s-1", "PRODUCT#draft#p-1"}} {
		for _, name := range []string{"GSI1PK", "GSI1SK", "brand", "note", "offer", "endsAt"} {
			if attributes(t, client, key[0], key[1])[name] {
				t.Errorf("%s has %s", key[0], name)
			}
		}
	}
}

func ended(_ patterns.EndOfferResult, err error) error { return err }

// TestPatch tests that passed fields are set, others stay, and everything derived from either follows.
func TestPatch(t *testing.T) {
	db, client := open(t)
	putLamp(t, db)
	ctx := t.Context()
	_, err := db.Open(ctx, patterns.OpenInput{Shop: "s-2"})
	must(t, err)

	_, err = db.Change(ctx, patterns.ChangeInput{Product: "p-1"})
	must(t, err) // changes nothing
	_, err = db.Change(ctx, patterns.ChangeInput{Product: "p-2", Price: aws.Int64(1)})
	fails(t, "a change of nothing", err, patterns.ErrProductNotFound)

	live := patterns.StatusLive
	_, err = db.Change(ctx, patterns.ChangeInput{
		Product: "p-1", Shop: aws.String("s-2"), Code: aws.String("desk-lamp"), Status: &live,
		Note: table.Removed[string](), Offer: table.SetTo[int64](650), EndsAt: table.Patch[time.Time]{},
	})
	must(t, err)
	product, err := db.ProductByCode(ctx, patterns.ProductByCodeInput{Code: "desk-lamp"})
	must(t, err)
	same(t, "the product", product, patterns.Product{
		Product: "p-1", Shop: "s-2", Code: "desk-lamp", Name: "Lamp", Status: patterns.StatusLive, Price: 900,
		Brand: aws.String("acme"), Offer: aws.Int64(650), EndsAt: aws.Time(begin.Add(time.Hour)),
		Origin: patterns.Address{Street: "Av. Arequipa 1", City: aws.String("Lima")},
	})
	_, err = db.ProductByCode(ctx, patterns.ProductByCodeInput{Code: "lamp"})
	fails(t, "the old code", err, table.ErrNotFound)
	of, err := db.ProductsOfBrand(ctx, patterns.ProductsOfBrandInput{Brand: "acme", Status: patterns.StatusLive}, table.PageOptions{})
	must(t, err)
	same(t, "of the brand", len(of.Items), 1)
	for shop, want := range map[string]patterns.Shop{"s-1": {Shop: "s-1"}, "s-2": {Shop: "s-2", Products: 1, Live: 1, Offered: 1, Worth: 650}} {
		got, err := db.ShopByID(ctx, patterns.ShopByIDInput{Shop: shop})
		must(t, err)
		same(t, "the counters of "+shop, got, want)
	}
	same(t, "the old copy", len(attributes(t, client, "SHOP#s-1", "PRODUCT#draft#p-1")), 0)
	same(t, "the new copy", attributes(t, client, "SHOP#s-2", "PRODUCT#live#p-1")["note"], false)
}

// TestMembers tests that sets and lists are changed without being read.
func TestMembers(t *testing.T) {
	db, client := open(t)
	ctx := t.Context()
	_, err := db.Begin(ctx, patterns.BeginInput{
		Cart: "c-1", Shop: "s-1", Parcels: []patterns.Parcel{{Sku: "a", Quantity: 1}, {Sku: "b", Quantity: 2, Gift: aws.String("red")}}, Tags: []string{"new"},
	})
	must(t, err)
	_, err = db.Tag(ctx, patterns.TagInput{Cart: "c-1", Tags: []string{"fast", "new"}, Sizes: []int64{3}, Hashes: [][]byte{{1}}})
	must(t, err)
	_, err = db.Untag(ctx, patterns.UntagInput{Cart: "c-1", Tags: []string{"new", "old"}, Sizes: []int64{3}})
	must(t, err)
	_, err = db.Pack(ctx, patterns.PackInput{Cart: "c-1", Parcels: []patterns.Parcel{{Sku: "c", Quantity: 3}}, Log: []string{"packed"}})
	must(t, err)
	_, err = db.Recount(ctx, patterns.RecountInput{Cart: "c-1", Quantity: 7, Gift: "blue"})
	must(t, err)
	_, err = db.More(ctx, patterns.MoreInput{Cart: "c-1"})
	must(t, err)
	want := patterns.Cart{
		Cart: "c-1", Shop: "s-1", Parcels: []patterns.Parcel{{Sku: "a", Quantity: 8, Gift: aws.String("blue")}},
		Tags: []string{"fast"}, Hashes: [][]byte{{1}}, Log: []string{"packed"},
	}
	cart, err := db.CartByID(ctx, patterns.CartByIDInput{Cart: "c-1"})
	must(t, err)
	same(t, "the cart", cart, want)
	if attributes(t, client, "CART#c-1", "CART")["sizes"] {
		t.Error("a set that has lost its last member is there")
	}
	page, err := db.CartsOf(ctx, patterns.CartsOfInput{Shop: "s-1"}, table.PageOptions{})
	must(t, err)
	same(t, "the copies", len(page.Items), 1)
}

// TestMapKeys tests that map entries named by the caller are counted, set and removed, whatever characters the names have.
func TestMapKeys(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	_, err := db.Publish(ctx, patterns.PublishInput{Post: "p", Shop: "s-1", Settings: map[string]string{"mood": "fine"}})
	must(t, err)
	for _, kind := range []string{"like", "a.b", "like", "size"} {
		_, err = db.React(ctx, patterns.ReactInput{Post: "p", Kind: kind, Other: "other"})
		must(t, err)
	}
	_, err = db.Configure(ctx, patterns.ConfigureInput{Post: "p", Setting: "a.b[0] #:é", Value: "dark", Place: "home", Address: patterns.Address{Street: "Here 1"}})
	must(t, err)
	_, err = db.Unreact(ctx, patterns.UnreactInput{Post: "p", Kind: "size"})
	must(t, err)
	post, err := db.PostByID(ctx, patterns.PostByIDInput{Post: "p"})
	must(t, err)
	same(t, "the post", post, patterns.Post{
		Post: "p", Shop: "s-1", Reactions: map[string]int64{"like": 2, "a.b": 1, "other": -4},
		Settings: map[string]string{"a.b[0] #:é": "dark"}, Places: map[string]patterns.Address{"home": {Street: "Here 1"}},
	})
	page, err := db.PostsOf(ctx, patterns.PostsOfInput{Shop: "s-1"}, table.PageOptions{})
	must(t, err)
	same(t, "the copy", page.Items[0].Reactions, post.Reactions)
	for _, in := range []patterns.ReactInput{{Post: "p", Other: "x"}, {Post: "p", Kind: "x", Other: "x"}} {
		_, err = db.React(ctx, in)
		if _, wrong := errors.AsType[*table.ValueError](err); !wrong {
			t.Errorf("%v: %v", in, err)
		}
	}
	_, err = db.Configure(ctx, patterns.ConfigureInput{Post: "p", Setting: "[0]", Place: "home"})
	if _, wrong := errors.AsType[*table.ValueError](err); !wrong {
		t.Errorf("a place in a list: %v", err)
	}
	_, err = db.React(ctx, patterns.ReactInput{Post: "none", Kind: "x", Other: "y"})
	fails(t, "a reaction to nothing", err, patterns.ErrPostNotFound)
}

// TestNames tests that steps on two items of one entity have their names in results and errors.
func TestNames(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	for _, visitor := range []string{"a", "b"} {
		_, err := db.Visit(ctx, patterns.VisitInput{Visitor: visitor})
		must(t, err)
	}
	result, err := db.Swap(ctx, patterns.SwapInput{From: "a", To: "b"})
	must(t, err)
	if result.Giver != nil && result.Giver.Visits != 0 || result.Taker != nil && result.Taker.Visits != 2 {
		t.Errorf("%+v", result)
	}
	_, err = db.Swap(ctx, patterns.SwapInput{From: "a", To: "b"})
	fails(t, "a swap of nothing", err, patterns.ErrNothingLeft)
	if refusal, refused := errors.AsType[*table.Refusal](err); !refused || refusal.Name != "giver" || refusal.Error() != "Swap, giver: patterns: nothing left" {
		t.Errorf("the refusal: %v", err)
	}
}

// TestBatch tests that many lines are put and deleted without a transaction, and that two on one item are rejected before.
func TestBatch(t *testing.T) {
	db, client := open(t)
	ctx := t.Context()
	var in patterns.ReplaceInput
	for i := range 60 {
		old := fmt.Sprintf("old-%d", i)
		_, err := db.Visit(ctx, patterns.VisitInput{Visitor: old})
		must(t, err)
		in.Lines = append(in.Lines, patterns.ReplaceLine{Visitor: fmt.Sprintf("new-%d", i), Other: old})
	}
	result, err := db.Replace(ctx, in)
	must(t, err)
	same(t, "the results", len(result.Visitor), 60)
	same(t, "the last", result.Visitor[59], patterns.Visitor{Visitor: "new-59", Seen: begin})
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

// TestComments tests that a reference to items of several entities identifies the one that its write is about, and that two
// writes that check the same item cannot share a transaction. Without a key there are no cursors.
func TestComments(t *testing.T) {
	db, _ := open(t, func(c *patterns.Config) { c.CursorKey = nil })
	putLamp(t, db)
	ctx := t.Context()
	const first, second = "01HV6X3Z5Q8Y9W2T4R6P8N0M1P", "01HV6X3Z5Q8Y9W2T4R6P8N0M1Q"
	_, err := db.Publish(ctx, patterns.PublishInput{Post: "p", Shop: "s-1"})
	must(t, err)
	about := func(target, comment string) patterns.CommentOnPostInput {
		return patterns.CommentOnPostInput{Target: target, Comment: comment, Writer: "v", Text: "x"}
	}
	fails(t, "a comment of nobody", db.Tx(ctx, db.Op.CommentOnPost(about("p", first))), patterns.ErrNoSuchVisitor)
	_, err = db.Visit(ctx, patterns.VisitInput{Visitor: "v"})
	must(t, err)
	fails(t, "two that check one visitor", db.Tx(ctx, db.Op.CommentOnPost(about("p", first)), db.Op.CommentOnPost(about("q", second))), table.ErrOverlap)
	_, err = db.CommentOnPost(ctx, about("p-1", first))
	fails(t, "a comment on a product as on a post", err, patterns.ErrPostNotFound)
	_, err = db.CommentOnPost(ctx, about("p", second))
	must(t, err)
	for target, want := range map[string][]patterns.Comment{"p": {{Target: "p", Comment: second, Writer: "v", Text: "x"}}, "p-1": nil} {
		page, err := db.CommentsOn(ctx, patterns.CommentsOnInput{Target: target}, table.PageOptions{})
		must(t, err)
		same(t, "the comments on "+target, len(page.Items), len(want))
		for i, c := range page.Items {
			same(t, "a comment", c, want[i])
		}
	}
}

// TestEntries tests that a write that changes the state moves the item between entries of the index, or out of it, and that a
// change of a key field of an entry that it does not have changes nothing.
func TestEntries(t *testing.T) {
	ctx := t.Context()
	db, _ := open(t)
	expect := func(step string, openA, openB, finished int) {
		t.Helper()
		for team, want := range map[string]int{"a": openA, "b": openB} {
			p, err := db.OpenOf(ctx, patterns.OpenOfInput{Team: team}, table.PageOptions{})
			if err != nil || len(p.Items) != want {
				t.Errorf("%s: %d open of %s, %v; want %d", step, len(p.Items), team, err, want)
			}
		}
		p, err := db.DoneIn(ctx, patterns.DoneInInput{DoneAt: begin}, table.PageOptions{})
		if err != nil || len(p.Items) != finished {
			t.Errorf("%s: %d done, %v; want %d", step, len(p.Items), err, finished)
		}
	}
	done := func(_ any, err error) {
		t.Helper()
		must(t, err)
	}
	for _, id := range []string{"1", "2"} {
		done(db.Raise(ctx, patterns.RaiseInput{Ticket: id, Team: "a"}))
	}
	expect("opened", 2, 0, 0)
	done(db.Hand(ctx, patterns.HandInput{Ticket: "1", Team: "b"}))
	expect("handed", 1, 1, 0)
	done(db.Finish(ctx, patterns.FinishInput{Ticket: "1"}))
	expect("finished", 1, 0, 1)
	_, err := db.Finish(ctx, patterns.FinishInput{Ticket: "1"})
	fails(t, "finished twice", err, patterns.ErrNotOpen)
	done(db.Hand(ctx, patterns.HandInput{Ticket: "1", Team: "a"}))
	expect("handed when done", 1, 0, 1)
	done(db.Mark(ctx, patterns.MarkInput{Ticket: "1", To: patterns.StateOpen}))
	expect("opened again", 2, 0, 0)
	done(db.Mark(ctx, patterns.MarkInput{Ticket: "1", To: patterns.StateDone})) // it was executed before
	expect("done again", 1, 0, 1)
	done(db.Mark(ctx, patterns.MarkInput{Ticket: "1", To: patterns.StateSpam}))
	done(db.Mark(ctx, patterns.MarkInput{Ticket: "2", To: patterns.StateDone})) // it never was
	expect("in neither", 0, 0, 0)
}
