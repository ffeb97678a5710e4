package table_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/monotabletest"
)

// designed is a design with one table, given as text, with its runtime.
type designed struct {
	tb      testing.TB
	program *lower.Program
	client  *dynamodb.Client
	db      *table.DB
}

const designedTable = `
design: 1
name: Test
tables: { Data: { key: { pk: PK, sk: SK }, ttl_attr: until, indexes: { ByOther: { pk: OtherPK, sk: OtherSK, project: keys } } } }
`

// runDesign creates the table of a design with entities, reads and writes.
func runDesign(tb testing.TB, text string) *designed {
	tb.Helper()
	d, err := design.Parse("test.design.yaml", []byte(designedTable+text))
	if err != nil {
		tb.Fatal(err)
	}
	r := &designed{tb: tb, client: monotabletest.New(tb).Client()}
	if r.program, err = lower.Lower(d); err != nil {
		tb.Fatal(err)
	}
	schema := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
	}
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("Data"), BillingMode: types.BillingModePayPerRequest, KeySchema: schema("PK", "SK"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("ByOther"), KeySchema: schema("OtherPK", "OtherSK"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}
	for _, name := range []string{"PK", "SK", "OtherPK", "OtherSK"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: typeS})
	}
	if _, err := r.client.CreateTable(tb.Context(), in); err != nil {
		tb.Fatal(err)
	}
	at := time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)
	if r.db, err = table.Open(r.client, table.Config{Clock: func() time.Time { return at }}, r.program.Tables...); err != nil {
		tb.Fatal(err)
	}
	return r
}

// write runs a write, which must return the wanted error.
func (r *designed) write(name string, v table.Values, want error) {
	r.tb.Helper()
	if _, err := r.db.Write(r.tb.Context(), r.program.Write(name).Run, table.Input{Values: v}); !errors.Is(err, want) {
		r.tb.Errorf("%s: %v; want %v", name, err, want)
	}
}

// item is a stored item in short form, by its partition key: attributes in order, "" if there is none.
func (r *designed) item(pk string) string {
	r.tb.Helper()
	out, err := r.client.Query(r.tb.Context(), &dynamodb.QueryInput{
		TableName: aws.String("Data"), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: table.Item{":pk": text(pk)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		r.tb.Fatal(err)
	}
	var list []string
	for _, it := range out.Items {
		for _, name := range slices.Sorted(maps.Keys(it)) {
			switch v := it[name].(type) {
			case *types.AttributeValueMemberS:
				list = append(list, name+" "+v.Value)
			case *types.AttributeValueMemberN:
				list = append(list, name+" "+v.Value)
			default:
				list = append(list, name)
			}
		}
	}
	return strings.Join(list, ", ")
}

func (r *designed) wantItem(pk, want string) {
	r.tb.Helper()
	if got := r.item(pk); got != want {
		r.tb.Errorf("%s has %q, want %q", pk, got, want)
	}
}

// TestDeleteOfMissingItemKeepsMarkers tests that deleting a missing item does not release another item's marker.
func TestDeleteOfMissingItemKeepsMarkers(t *testing.T) {
	r := runDesign(t, `
entities:
  Member:
    key: { pk: "ORG#{orgId}", sk: "USER#{userId}" }
    unique: { User: { pk: "U#{userId}", sk: UNIQUE } }
    fields: { orgId: id, userId: id }
writes:
  Join: { do: [{ create: Member }] }
  Leave: { do: [{ delete: Member }] }
`)
	member := func(org string) table.Values { return table.Values{"orgId": text(org), "userId": text("u")} }
	r.write("Join", member("a"), nil)
	r.write("Leave", member("b"), nil)
	r.wantItem("U#u", "PK U#u, SK UNIQUE, orgId a, userId u")
	r.write("Join", member("c"), table.ErrExists)
	r.write("Leave", member("a"), nil)
	r.wantItem("U#u", "")
	r.write("Join", member("c"), nil)
}

// TestExpiredItemLosesItsMarker tests that an expired item loses its unique value to the next item that takes it, and does not get
// it back by extending its life.
func TestExpiredItemLosesItsMarker(t *testing.T) {
	r := runDesign(t, `
entities:
  Seat:
    key: { pk: "SEAT#{seatId}", sk: SEAT }
    unique: { Code: { pk: "CODE#{code}", sk: UNIQUE } }
    fields: { seatId: id, code: text, until: ttl }
    ttl: { attr: until }
writes:
  Take: { do: [{ create: Seat }] }
  Extend: { do: [{ update: Seat, set: { until: ":until" } }] }
`)
	seat := func(id, code string, until int) table.Values {
		return table.Values{"seatId": text(id), "code": text(code), "until": number(until)}
	}
	r.write("Take", seat("a", "x", 1000), nil)
	r.write("Take", seat("b", "x", 9000000000), nil)
	r.write("Extend", seat("a", "", 9000000001), table.ErrExists)
	r.wantItem("SEAT#a", "PK SEAT#a, SK SEAT, code x, seatId a, until 1000")
	r.wantItem("CODE#x", "PK CODE#x, SK UNIQUE, code x, seatId b, until 9000000000")
	r.write("Extend", seat("b", "", 9000000002), nil)
	r.wantItem("CODE#x", "PK CODE#x, SK UNIQUE, code x, seatId b, until 9000000002")
	r.write("Take", seat("c", "y", 1000), nil)
	r.write("Extend", seat("c", "", 9000000003), nil) // no other item has taken its code
	r.wantItem("CODE#y", "PK CODE#y, SK UNIQUE, code y, seatId c, until 9000000003")
}

// TestUpsertOfCounterItem tests that a write may create or change the item that counts what the write creates.
func TestUpsertOfCounterItem(t *testing.T) {
	r := runDesign(t, `
entities:
  User:
    key: { pk: "USER#{userId}", sk: USER }
    counters: { orders: Order, spent: { sum: Order.total, where: "total > 5" } }
    fields: { userId: id, name: text, orders: int, spent: int }
  Order: { key: { pk: "ORDER#{orderId}", sk: ORDER }, fields: { userId: id, orderId: id, total: int } }
writes:
  Place: { do: [{ upsert: User }, { create: Order }] }
`)
	place := func(order string, total int, name string) table.Values {
		return table.Values{"userId": text("u"), "name": text(name), "orderId": text(order), "total": number(total)}
	}
	r.write("Place", place("1", 5, "Ana"), nil)
	r.wantItem("USER#u", "PK USER#u, SK USER, name Ana, orders 1, spent 0, userId u")
	r.write("Place", place("2", 7, "Bea"), nil)
	r.wantItem("USER#u", "PK USER#u, SK USER, name Bea, orders 2, spent 7, userId u")
	r.write("Place", place("2", 7, "Cleo"), table.ErrExists)
	r.wantItem("USER#u", "PK USER#u, SK USER, name Bea, orders 2, spent 7, userId u")
}

// TestEmptySetInitializesNothing tests that an empty set initializes nothing, because DynamoDB has no empty sets.
func TestEmptySetInitializesNothing(t *testing.T) {
	r := runDesign(t, `
entities:
  Post: { key: { pk: "POST#{postId}", sk: POST }, fields: { postId: id, tags: set<text> } }
writes:
  Keep: { params: { first: set<text> }, do: [{ upsert: Post, init: { tags: ":first" } }] }
`)
	keep := func(tags ...string) table.Values {
		return table.Values{"postId": text("p"), "first": &types.AttributeValueMemberSS{Value: tags}}
	}
	r.write("Keep", keep(), nil)
	r.wantItem("POST#p", "PK POST#p, SK POST, postId p")
	r.write("Keep", keep("a"), nil)
	r.wantItem("POST#p", "PK POST#p, SK POST, postId p, tags")
	r.write("Keep", keep(), nil)
	r.wantItem("POST#p", "PK POST#p, SK POST, postId p, tags")
}

// TestOwnerIsCheckedBehindFunctions tests that a key that does not determine the owner never returns another owner's items, and that
// a given value finds no items of others with the same shard.
func TestOwnerIsCheckedBehindFunctions(t *testing.T) {
	r := runDesign(t, `
entities:
  Note:
    key: { pk: "NOTE#{userId|lower}", sk: "{noteId}" }
    index: { ByOther: { pk: "S#{userId|shard(1)}", sk: "{noteId}" } }
    fields: { userId: id, noteId: id }
  Doc: { key: { pk: "DOC#{userId|first(2)}", sk: "D#{docId}" }, fields: { userId: id, docId: id } }
  Folder: { key: { pk: "DOC#{userId|first(2)}", sk: "F#{folderId}" }, fields: { userId: id, folderId: id } }
reads:
  OwnNotes: { many: Note, by: [userId], owner: userId, via: key, page: 10 }
  OwnNote: { one: Note, by: [userId, noteId], owner: userId, via: key }
  OwnByShard: { many: Note, by: [userId], owner: userId, via: ByOther, page: 10 }
  ByShard: { many: Note, by: [userId], via: ByOther, page: 10 }
  OwnDocs: { many: Doc, by: [userId], owner: userId, page: 10 }
  Docs: { many: Doc, by: [userId], page: 10 }
collections:
  OwnAll: { of: [Doc, Folder], by: [userId], owner: userId }
writes:
  Write: { do: [{ create: Note }, { create: Doc }] }
`)
	for _, user := range []string{"Ana", "ana", "anton", "bob"} {
		r.write("Write", table.Values{"userId": text(user), "noteId": text("of-" + user), "docId": text("of-" + user)}, nil)
	}
	ana := table.Values{"userId": text("ana")}
	for _, name := range []string{"OwnNotes", "OwnByShard", "ByShard", "OwnDocs", "Docs"} {
		page, err := r.db.Page(t.Context(), r.program.Read(name).Run, table.Input{Values: ana}, table.PageOptions{})
		if err != nil || len(page.Items) != 1 || page.Items[0]["userId"].(*types.AttributeValueMemberS).Value != "ana" { //nolint:forcetypeassert // of an id
			t.Errorf("%s of ana: %d items, %v; want the one of ana", name, len(page.Items), err)
		}
	}
	all, err := r.db.Collect(t.Context(), r.program.Collection("OwnAll").Run, table.Input{Values: ana}, table.PageOptions{})
	if err != nil || len(all.Items) != 1 {
		t.Errorf("OwnAll of ana: %d items, %v; want 1", len(all.Items), err)
	}
	other := table.Values{"userId": text("ana"), "noteId": text("of-Ana")}
	if v, err := r.db.Get(t.Context(), r.program.Read("OwnNote").Run, table.Input{Values: other}); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("the note of Ana, asked for by ana: %v, %v; want %v", v, err, table.ErrNotFound)
	}
}

// TestAnotherSpellingOfTheKey tests that a write that names an item by another spelling of its key moves and removes its copy, whose
// key has the stored spelling.
func TestAnotherSpellingOfTheKey(t *testing.T) {
	r := runDesign(t, `
entities:
  Org:
    key: { pk: "ORG#{org|lower}", sk: ORG }
    copies: { byPlan: { pk: "PLAN#{plan}", sk: "{org}", fields: all } }
    index: { ByOther: { pk: "OTHER#{plan}", sk: "{org}" } }
    fields: { org: id, plan: text, size: int? }
writes:
  Found: { do: [{ create: Org }] }
  Switch: { do: [{ update: Org, set: { plan: ":plan" } }] }
  Grow: { do: [{ update: Org, set: { size: ":size" } }] }
  Save: { do: [{ upsert: Org, set: { plan: ":plan" } }] }
  Close: { do: [{ delete: Org }] }
`)
	r.write("Found", table.Values{"org": text("Acme"), "plan": text("a")}, nil)
	r.write("Switch", table.Values{"org": text("ACME"), "plan": text("b")}, nil)
	r.wantItem("ORG#acme", "OtherPK OTHER#b, OtherSK Acme, PK ORG#acme, SK ORG, org Acme, plan b")
	r.wantItem("PLAN#a", "")
	r.wantItem("PLAN#b", "PK PLAN#b, SK Acme, org Acme, plan b")
	r.write("Grow", table.Values{"org": text("acme"), "size": number(3)}, nil)
	r.wantItem("PLAN#b", "PK PLAN#b, SK Acme, org Acme, plan b, size 3")
	r.write("Save", table.Values{"org": text("AcmE"), "plan": text("b")}, nil) // stores the spelling that it is given
	r.wantItem("ORG#acme", "OtherPK OTHER#b, OtherSK AcmE, PK ORG#acme, SK ORG, org AcmE, plan b, size 3")
	r.wantItem("PLAN#b", "PK PLAN#b, SK AcmE, org AcmE, plan b, size 3")
	r.write("Save", table.Values{"org": text("ACME"), "plan": text("c")}, nil)
	r.wantItem("ORG#acme", "OtherPK OTHER#c, OtherSK ACME, PK ORG#acme, SK ORG, org ACME, plan c, size 3")
	r.wantItem("PLAN#b", "")
	r.write("Close", table.Values{"org": text("aCME")}, nil)
	r.wantItem("ORG#acme", "")
	r.wantItem("PLAN#c", "")
}

// TestKeyOfAnotherWrite tests that a request key used by another write is not a repetition, even if the inputs are equal.
func TestKeyOfAnotherWrite(t *testing.T) {
	r := runDesign(t, `
entities:
  Request: { key: { pk: "REQ#{requestKey}", sk: REQ }, fields: { requestKey: id, request: text } }
  Order: { key: { pk: "ORDER#{orderId}", sk: ORDER }, fields: { orderId: id, status: text } }
writes:
  Make: { do: [{ create: Order }] }
  Pay: { idempotent: { with: Request, request: orderId }, do: [{ update: Order, set: { status: "'paid'" } }] }
  Cancel: { idempotent: { with: Request, request: orderId }, do: [{ update: Order, set: { status: "'cancelled'" } }] }
`)
	in := table.Values{"orderId": text("o"), "requestKey": text("k"), "status": text("open")}
	r.write("Make", in, nil)
	r.write("Pay", in, nil)
	r.write("Cancel", in, table.ErrReused)
	r.write("Pay", in, nil) // a repetition
	r.wantItem("ORDER#o", "PK ORDER#o, SK ORDER, orderId o, status paid")
}

// unconfirmed is a database that executes the first transaction, and reports that it is still in progress.
type unconfirmed struct {
	table.Client
	met int
}

func (u *unconfirmed) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := u.Client.TransactWriteItems(ctx, in, o...)
	if u.met++; err == nil && u.met == 1 {
		return nil, &types.TransactionInProgressException{Message: aws.String("under way")}
	}
	return out, err
}

// TestTransactionInProgress tests that a transaction with an unknown outcome is not retried.
func TestTransactionInProgress(t *testing.T) {
	r := runDesign(t, `
entities:
  From: { key: { pk: "FROM#{from}", sk: A }, fields: { from: id, amount: int } }
  To: { key: { pk: "TO#{to}", sk: A }, fields: { to: id, amount: int } }
writes:
  Open: { do: [{ create: From }, { create: To }] }
  Move: { params: { by: int }, do: [{ update: From, add: { amount: "-:by" } }, { update: To, add: { amount: ":by" } }] }
`)
	r.write("Open", table.Values{"from": text("a"), "to": text("b"), "amount": number(10)}, nil)
	db, err := table.Open(&unconfirmed{Client: r.client}, table.Config{}, r.program.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	in := table.Input{Values: table.Values{"from": text("a"), "to": text("b"), "by": number(3)}}
	_, err = db.Write(t.Context(), r.program.Write("Move").Run, in)
	if _, told := errors.AsType[*types.TransactionInProgressException](err); !told {
		t.Errorf("the write ended in %v, want the error that it is still in progress", err)
	}
	r.wantItem("FROM#a", "PK FROM#a, SK A, amount 7, from a")
	r.wantItem("TO#b", "PK TO#b, SK A, amount 13, to b")
}
