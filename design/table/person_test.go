package table_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// blog has every kind of a person's items: the person's own with a unique value, items in their partition, dependents of their
// items, items counted on other people's items, items kept without a name, and items of others that refer to them.
const blog = `
person: userId
types: { Place: { fields: { city: { type: text, attr: c }, zip: "text?" } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    unique: { Email: { pk: "EMAIL#{email}", sk: UNIQUE } }
    fields: { userId: id, email: text, home: "Place?", tags: "set<text>?" }
  Credential: { key: { pk: "USER#{userId}", sk: CREDENTIAL }, fields: { userId: id, hash: secret } }
  Order:
    key: { pk: "ORDER#{orderId}", sk: ORDER }
    copies: { byUser: { pk: "USER#{userId}", sk: "ORDER#{orderId}", fields: all } }
    fields: { orderId: id, userId: id, total: int, remark: "text?" }
    personal: { userId: { keep: "The books.", set: { userId: newID() }, remove: [remark] } }
  Line: { key: { pk: "ORDER#{orderId}", sk: "LINE#{n}" }, fields: { orderId: id, n: int } }
  Post:
    key: { pk: "POST#{postId}", sk: POST }
    copies: { byAuthor: { pk: "USER#{userId}", sk: "POST#{postId}", fields: all } }
    counters: { likes: Like }
    fields: { postId: id, userId: id, likes: int }
    personal: { userId: delete }
  Body: { key: { pk: "POST#{postId}", sk: BODY }, fields: { postId: id, body: text } }
  Like:
    key: { pk: "POST#{postId}#LIKES", sk: "{userId}" }
    index: { ByOther: { pk: "LIKES#{userId}", sk: "{postId}" } }
    fields: { postId: id, userId: id }
    personal: { userId: delete }
  Note:
    key: { pk: "USER#{userId}", sk: "NOTE#{noteId}" }
    index: { ByOther: { pk: "ACTOR#{actorId}", sk: "{noteId}" } }
    fields: { userId: id, noteId: id, actorId: id }
    personal: { actorId: { keep: "It is another's.", set: { actorId: "'gone'" } } }
  Draft: { key: { pk: "USER#{userId}", sk: "DRAFT#{n|pad(3)}" }, fields: { userId: id, n: int } }
  Attempt:
    key: { pk: "ATTEMPT#{attemptId}", sk: ATTEMPT }
    fields: { attemptId: id, userId: id, until: ttl }
    ttl: { attr: until, after: 1h }
    personal: { userId: expires }
writes:
  Register: { do: [{ create: User }, { create: Credential }] }
  Buy: { do: [{ create: Order }, { create: Line }] }
  Publish: { do: [{ create: Post }, { create: Body }] }
  Like: { do: [{ create: Like }] }
  Notify: { do: [{ create: Note }] }
  Jot: { do: [{ create: Draft }] }
  Try: { do: [{ create: Attempt }] }
`

// fillBlog creates two people with the same kinds of items, also on each other's posts.
func fillBlog(r *designed) {
	r.tb.Helper()
	for _, u := range []string{"ana", "bob"} {
		r.write("Register", table.Values{
			"userId": text(u), "email": text(u + "@x"), "hash": text("h"), "home": &types.AttributeValueMemberM{Value: table.Item{"c": text("Lima")}},
			"tags": &types.AttributeValueMemberSS{Value: []string{"b", "a"}},
		}, nil)
		for _, o := range []string{"1", "2"} {
			r.write("Buy", table.Values{"userId": text(u), "orderId": text(u + o), "total": number(5), "remark": text("for " + u), "n": number(1)}, nil)
		}
		r.write("Publish", table.Values{"userId": text(u), "postId": text("of-" + u), "body": text("…")}, nil)
		r.write("Jot", table.Values{"userId": text(u), "n": number(1)}, nil)
		r.write("Try", table.Values{"userId": text(u), "attemptId": text("by-" + u)}, nil)
	}
	for _, u := range []string{"ana", "bob"} {
		for _, p := range []string{"ana", "bob"} {
			r.write("Like", table.Values{"userId": text(u), "postId": text("of-" + p)}, nil)
			r.write("Notify", table.Values{"userId": text(p), "noteId": text("by-" + u), "actorId": text(u)}, nil)
		}
	}
}

// all are the items of the table in short form, sorted, with generated IDs as ID.
func (r *designed) all() []string {
	r.tb.Helper()
	out, err := r.client.Scan(r.tb.Context(), &dynamodb.ScanInput{TableName: aws.String("Data"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		r.tb.Fatal(err)
	}
	var list []string
	for _, it := range out.Items {
		line, _ := json.Marshal(it)
		text := string(line)
		if v, ok := it["userId"].(*types.AttributeValueMemberS); ok && len(v.Value) > 10 {
			text = strings.ReplaceAll(text, v.Value, "ID")
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

func (r *designed) erase(db *table.DB, id string) (table.Erased, error) {
	return db.Erase(r.tb.Context(), r.program.Person, id)
}

// TestErase tests that nothing of the person remains except kept items, and everything else is as if they had never existed.
func TestErase(t *testing.T) {
	r := runDesign(t, blog)
	fillBlog(r)
	done, err := r.erase(r.db, "ana")
	if err != nil {
		t.Fatal(err)
	}
	want := table.Erased{
		Deleted: map[string]int{"User": 1, "Credential": 1, "Post": 1, "Body": 1, "Like": 3, "Note": 2, "Draft": 1},
		Changed: map[string]int{"Order": 2, "Note": 1}, Kept: map[string]int{"Line": 2},
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Error(diff)
	}
	for _, line := range r.all() {
		if strings.Contains(line, "ana") && !strings.Contains(line, "ATTEMPT#by-ana") && !strings.Contains(line, "ORDER#ana") &&
			!strings.Contains(line, "NOTE#by-ana") {
			t.Errorf("left: %s", line)
		}
	}
	r.wantItem("POST#of-bob", "PK POST#of-bob, SK BODY, body …, postId of-bob, PK POST#of-bob, SK POST, likes 1, postId of-bob, userId bob")
	r.wantItem("EMAIL#ana@x", "")
	left := r.all()
	if again, err := r.erase(r.db, "ana"); err != nil || len(again.Deleted)+len(again.Changed) != 0 {
		t.Errorf("again: %v, %v", again, err)
	}
	if diff := cmp.Diff(left, r.all()); diff != "" {
		t.Error(diff)
	}
	r.write("Register", table.Values{"userId": text("ana"), "email": text("ana@x"), "hash": text("h")}, nil) // the address is free
}

// failingClient is a client that allows a number of requests; the last one returns an error although it may be executed.
type failingClient struct {
	table.Client
	left int
	does bool // the last request is executed
}

var errKilled = errors.New("killed")

func failing[I, O any](ctx context.Context, c *failingClient, in I, o []func(*dynamodb.Options), do func(context.Context, I, ...func(*dynamodb.Options)) (O, error)) (O, error) {
	c.left--
	var none O
	switch {
	case c.left > 0:
		return do(ctx, in, o...)
	case c.left == 0 && c.does:
		_, _ = do(ctx, in, o...)
	}
	return none, errKilled
}

func (c *failingClient) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return failing(ctx, c, in, o, c.Client.Query)
}

func (c *failingClient) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return failing(ctx, c, in, o, c.Client.GetItem)
}

func (c *failingClient) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return failing(ctx, c, in, o, c.Client.BatchGetItem)
}

func (c *failingClient) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return failing(ctx, c, in, o, c.Client.UpdateItem)
}

func (c *failingClient) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return failing(ctx, c, in, o, c.Client.DeleteItem)
}

func (c *failingClient) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return failing(ctx, c, in, o, c.Client.BatchWriteItem)
}

func (c *failingClient) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return failing(ctx, c, in, o, c.Client.TransactWriteItems)
}

// TestEraseAfterKill tests that an erasure that stops at any request, before or after its execution, is completed by the next.
func TestEraseAfterKill(t *testing.T) {
	whole := runDesign(t, blog)
	fillBlog(whole)
	if _, err := whole.erase(whole.db, "ana"); err != nil {
		t.Fatal(err)
	}
	want := whole.all()
	for _, does := range []bool{false, true} {
		for n, killed := 1, true; killed; n++ {
			t.Run(fmt.Sprintf("%d/%t", n, does), func(t *testing.T) {
				r := runDesign(t, blog)
				fillBlog(r)
				db, err := table.Open(&failingClient{Client: r.client, left: n, does: does}, table.Config{Sequential: true}, r.program.Tables...)
				if err != nil {
					t.Fatal(err)
				}
				_, err = r.erase(db, "ana")
				if killed = errors.Is(err, errKilled); !killed && err != nil {
					t.Fatal(err)
				}
				if _, err := r.erase(r.db, "ana"); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, r.all()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestEraseWhileWriting tests that a person who keeps writing is erased up to the last write acknowledged before the call,
// with an error that says they are still writing.
func TestEraseWhileWriting(t *testing.T) {
	r := runDesign(t, blog)
	fillBlog(r)
	n := 100
	writing := &hookedClient{Client: r.client, before: func() {
		n++
		r.write("Jot", table.Values{"userId": text("ana"), "n": number(n)}, nil)
	}}
	db, err := table.Open(writing, table.Config{Sequential: true}, r.program.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.erase(db, "ana"); !errors.Is(err, table.ErrStillWritten) {
		t.Errorf("got %v", err)
	}
	if _, err := r.erase(r.db, "ana"); err != nil {
		t.Fatal(err)
	}
	r.wantItem("USER#ana", "")
}

// hookedClient is a client that calls a function before each Query.
type hookedClient struct {
	table.Client
	before func()
}

func (c *hookedClient) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.before()
	return c.Client.Query(ctx, in, o...)
}

func exported(t *testing.T, r *designed, db *table.DB, id string, after table.Cursor) (out []string, resume []table.Cursor) {
	t.Helper()
	for item, err := range db.Export(t.Context(), r.program.Person, id, after) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		out, resume = append(out, string(line)), append(resume, item.Resume)
	}
	return out, resume
}

// TestExport tests that the person's own items and their dependents are exported, by the design's names and without secrets,
// but not what others did with them.
func TestExport(t *testing.T) {
	r := runDesign(t, blog)
	fillBlog(r)
	got, _ := exported(t, r, r.db, "ana", "")
	want := []string{
		`{"entity":"Credential","item":{"userId":"ana"}}`,
		`{"entity":"Order","item":{"orderId":"ana1","userId":"ana","total":5,"remark":"for ana"}}`,
		`{"entity":"Line","item":{"orderId":"ana1","n":1}}`,
		`{"entity":"Order","item":{"orderId":"ana2","userId":"ana","total":5,"remark":"for ana"}}`,
		`{"entity":"Line","item":{"orderId":"ana2","n":1}}`,
		`{"entity":"Post","item":{"postId":"of-ana","userId":"ana","likes":2}}`,
		`{"entity":"Body","item":{"postId":"of-ana","body":"…"}}`,
		`{"entity":"Like","item":{"postId":"of-ana","userId":"ana"}}`,
		`{"entity":"Like","item":{"postId":"of-bob","userId":"ana"}}`,
		`{"entity":"Note","item":{"userId":"ana","noteId":"by-ana","actorId":"ana"}}`,
		`{"entity":"Note","item":{"userId":"ana","noteId":"by-bob","actorId":"bob"}}`,
		`{"entity":"Draft","item":{"userId":"ana","n":1}}`,
		`{"entity":"User","item":{"userId":"ana","email":"ana@x","home":{"city":"Lima"},"tags":["a","b"]}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestExportResumes tests that with a cursor key, an export resumes from the page of any item.
func TestExportResumes(t *testing.T) {
	r := runDesign(t, blog)
	fillBlog(r)
	for n := range 250 {
		r.write("Jot", table.Values{"userId": text("bob"), "n": number(n + 100)}, nil)
	}
	db, err := table.Open(r.client, table.Config{CursorKey: []byte(strings.Repeat("k", 32))}, r.program.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	all, resume := exported(t, r, db, "bob", "")
	if plain, _ := exported(t, r, r.db, "bob", ""); !slices.Equal(all, plain) {
		t.Errorf("%d items with cursors, %d without", len(all), len(plain))
	}
	pages := slices.Compact(slices.Clone(resume))
	if len(pages) < 8 {
		t.Errorf("%d pages", len(pages))
	}
	for _, after := range pages {
		first := slices.Index(resume, after)
		if rest, _ := exported(t, r, db, "bob", after); !slices.Equal(rest, all[first:]) {
			t.Errorf("after item %d: %d items, want %d", first, len(rest), len(all)-first)
		}
	}
	for _, bad := range []table.Cursor{"x", "99.", "-1.", "1.x"} {
		for _, err := range db.Export(t.Context(), r.program.Person, "bob", bad) {
			if !errors.Is(err, table.ErrCursor) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
}
