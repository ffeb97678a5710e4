package table

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
	"github.com/monotable/monotable/monotabletest"
)

// shop is a handwritten design whose writes cover all kinds of consequences:
//
//	Region    its spent sums its customers' spent, and is in the key of an index
//	Customer  its email is unique; orders counts its orders, spent sums those that are not cancelled; a copy, which has spent
//	Order     a copy whose key has fields that are not the order's key, sparse indexes of item and copy, fields inside a map
//	Product   a sparse index
//	Cart      expires an hour after it was made; an index by the time when, and a copy
//	Seat      expires; its holder is unique
//	Request   the idempotency record
type shop struct {
	table                                                  *Table
	region, customer, order, product, cart, seat, requests *Entity
}

var (
	errNoCustomer    = fmt.Errorf("customer %w", ErrNotFound)
	errNoProduct     = fmt.Errorf("product %w", ErrNotFound)
	errCustomerIs    = fmt.Errorf("customer %w", ErrExists)
	errOrderIs       = fmt.Errorf("order %w", ErrExists)
	errEmailTaken    = fmt.Errorf("email: %w", ErrExists)
	errHolderTaken   = fmt.Errorf("holder: %w", ErrExists)
	errOutOfStock    = errors.New("out of stock")
	errPriceChanged  = errors.New("price changed")
	errRequestReused = fmt.Errorf("payment: %w", ErrReused)
)

func newShop() shop {
	s := shop{table: &Table{
		Name: "Shop", Physical: "shop", PK: Attribute{Name: "PK", Type: types.ScalarAttributeTypeS}, SK: Attribute{Name: "SK", Type: types.ScalarAttributeTypeS},
		TypeAttr: "entity", TTLAttr: "expiresAt",
	}}
	s.region = s.entity("Region", "REGION#{regionId}", "REGION", "regionId:id name:text spent:money+")
	s.region.Entries = []Entry{index("G1", "REGIONS", "{spent|pad(12)}#{regionId}")}

	s.customer = s.entity("Customer", "CUSTOMER#{customerId}", "PROFILE",
		"customerId:id regionId:id email:email name:text tier:text orders:int+ spent:money+ note:text?")
	s.customer.NotFound, s.customer.Exists = errNoCustomer, errCustomerIs
	s.customer.Markers = []Marker{{Name: "Email", Key: keyOfBoth("EMAIL#{email|lower}", "UNIQUE"), Taken: errEmailTaken}}
	s.customer.Entries = []Entry{index("G1", "TIER#{tier}", "{name|fold}")}
	gold := index("G2", "GOLD", "{spent|pad(12)}")
	gold.Where = cond("#tier = :gold", Item{":gold": AText("gold")})
	s.customer.Copies = []Copy{{
		Name: "byRegion", Key: keyOfBoth("REGION#{regionId}", "CUSTOMER#{name|fold}#{customerId}"), Fields: []string{"spent", "tier"}, Entries: []Entry{gold},
	}}
	s.customer.Counts = []Count{{Entity: s.region, Field: "spent", Sum: "spent"}}

	s.order = s.entity("Order", "ORDER#{orderId}", "ORDER",
		"orderId:id customerId:id status:text total:money street:text=address.street city:text?=address.city createdAt:time")
	s.order.Fields = append(s.order.Fields, Field{
		Name: "tags", Path: []string{"tags"}, Optional: true, Type: Type{Kind: schema.KindSet, Elem: &Type{Kind: schema.KindText}},
	})
	s.order.Exists = errOrderIs
	open := index("G2", "OPEN", "{total|pad(8)}#{orderId}")
	open.Where = cond("#status = :open", Item{":open": AText("open")})
	s.order.Entries = []Entry{index("G1", "STATUS#{status}", "{createdAt}#{orderId}"), index("G3", "CITY#{city|fold}", "{orderId}")}
	s.order.Copies = []Copy{{
		Name: "byCustomer", Key: keyOfBoth("CUSTOMER#{customerId}", "ORDER#{createdAt}#{orderId}"), Fields: []string{"status", "total", "city"}, Entries: []Entry{open},
	}}
	s.order.Counts = []Count{
		{Entity: s.customer, Field: "orders"},
		{Entity: s.customer, Field: "spent", Sum: "total", Where: cond("#status <> :c AND (#total > :least OR attribute_exists(#tags))", Item{
			":c": AText("cancelled"), ":least": ANumber("5"),
		})},
	}

	s.product = s.entity("Product", "PRODUCT#{productId}", "PRODUCT", "productId:id name:text price:int stock:int active:bool")
	s.product.NotFound = errNoProduct
	active := index("G1", "CATALOG", "{name|fold}#{productId}")
	active.Where = cond("#active = :yes", Item{":yes": ABool(true)})
	s.product.Entries = []Entry{active}

	s.cart = s.entity("Cart", "CUSTOMER#{customerId}", "CART#{productId}", "customerId:id productId:id quantity:int createdAt:time expiresAt:ttl")
	s.cart.TTL = &TTL{Field: "expiresAt", After: time.Hour}
	s.cart.Entries = []Entry{index("G1", "PRODUCT#{productId}", "{createdAt}#{customerId}")}
	s.cart.Copies = []Copy{{Name: "byProduct", Key: keyOfBoth("PRODUCT#{productId}", "CART#{customerId}"), Fields: []string{"quantity"}}}

	s.seat = s.entity("Seat", "SEAT#{seatId}", "SEAT", "seatId:id holder:slug expiresAt:ttl")
	s.seat.TTL = &TTL{Field: "expiresAt"}
	s.seat.Markers = []Marker{{Name: "Holder", Key: keyOfBoth("HOLDER#{holder}", "UNIQUE"), Taken: errHolderTaken}}

	s.requests = s.entity("Request", "CUSTOMER#{customerId}", "REQUEST#{requestKey}", "customerId:id requestKey:id orderId:id request:text at:time expiresAt:ttl")
	s.requests.TTL = &TTL{Field: "expiresAt", After: 24 * time.Hour}
	return s
}

// entity parses fields as "name:kind", with ? for an optional one, + for a counter, and =path for its path.
func (s shop) entity(name, pk, sk, fields string) *Entity {
	e := &Entity{Name: name, Table: s.table, TypeValue: strings.ToUpper(name), Key: keyOfBoth(pk, sk)}
	for text := range strings.FieldsSeq(fields) {
		name, kind, _ := strings.Cut(text, ":")
		kind, path, placed := strings.Cut(kind, "=")
		if !placed {
			path = name
		}
		e.Fields = append(e.Fields, Field{
			Name: name, Path: strings.Split(path, "."), Type: Type{Kind: Kind(strings.TrimRight(kind, "?+"))},
			Optional: strings.HasSuffix(kind, "?"), Counter: strings.HasSuffix(kind, "+"),
		})
	}
	return e
}

func keyOfBoth(pk, sk string) []KeyAttribute {
	return []KeyAttribute{TextKey("PK", pk), TextKey("SK", sk)}
}

func index(name, pk, sk string) Entry {
	return Entry{Index: name, PK: []KeyAttribute{TextKey(name+"PK", pk)}, SK: []KeyAttribute{TextKey(name+"SK", sk)}}
}

// cond is a condition whose aliases are the attributes with their names; placeholders that are not constants are inputs,
// :line_quantity the line's.
func cond(expression string, constants Item) *Condition {
	c := &Condition{Expression: expression, Names: map[string]string{}, Constants: constants}
	for _, reference := range regexp.MustCompile(`[#:]\w+`).FindAllString(expression, -1) {
		switch name := reference[1:]; {
		case reference[0] == '#':
			c.Names[reference] = name
		case constants[reference] == nil:
			c.Params = append(c.Params, ConditionParam{Placeholder: reference, Input: strings.Replace(name, "line_", "line.", 1)})
		}
	}
	return c
}

// The terms of assignments.

func assign(path string, terms ...Term) Assignment {
	return Assignment{Path: strings.Split(path, "."), Value: terms}
}

func constantly(v types.AttributeValue) Term { return Term{Kind: ConstantTerm, Constant: v} }
func given(name string) Term                 { return Term{Kind: InputTerm, Name: name} }
func ofLine(name string) Term                { return Term{Kind: LineTerm, Name: name} }
func theField(path string) Term              { return Term{Kind: FieldTerm, Path: strings.Split(path, ".")} }

func minus(t Term) Term {
	t.Negative = true
	return t
}

func moneyParam(name string) Param { return Param{Name: name, Type: Type{Kind: schema.KindMoney}} }
func textParam(name string) Param  { return Param{Name: name, Type: Type{Kind: schema.KindText}} }

func optionalParam(p Param) Param {
	p.Optional = true
	return p
}

// store is a database with the shop's table.
type store struct {
	shop
	tb     testing.TB
	client *dynamodb.Client
	db     *DB
	clock  atomic.Int64 // in milliseconds
}

// noon is the start of the tests' clocks.
const noon = "2024-05-01T12:00:00.000Z"

func newStore(tb testing.TB) *store {
	tb.Helper()
	return newStoreOf(tb, monotabletest.New(tb))
}

func newStoreOf(tb testing.TB, database *monotable.DB) *store {
	tb.Helper()
	s := &store{shop: newShop(), tb: tb, client: database.Client()}
	_, err := s.client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String("shop"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, noon)
	if err != nil {
		tb.Fatal(err)
	}
	s.clock.Store(at.UnixMilli())
	s.db = s.open(s.client)
	return s
}

// open opens the table with another client.
func (s *store) open(client Client) *DB {
	s.tb.Helper()
	db, err := Open(client, Config{Clock: func() time.Time { return time.UnixMilli(s.clock.Load()) }}, s.table)
	if err != nil {
		s.tb.Fatal(err)
	}
	return db
}

func (s *store) pass(d time.Duration) { s.clock.Add(d.Milliseconds()) }

// now is the clock's time in stored form.
func (s *store) now() types.AttributeValue {
	return AText(time.UnixMilli(s.clock.Load()).UTC().Format("2006-01-02T15:04:05.000Z"))
}

// seconds is the clock's time as a ttl.
func (s *store) seconds(after time.Duration) types.AttributeValue {
	return ANumber(strconv.FormatInt(time.UnixMilli(s.clock.Load()).Add(after).Unix(), 10))
}

// load stores entities' values with their related items.
func (s *store) load(e *Entity, values ...Values) {
	s.tb.Helper()
	err := s.db.Load(context.Background(), func(yield func(Record) bool) {
		for _, v := range values {
			if !yield(Record{Entity: e, Values: v}) {
				return
			}
		}
	}, nil)
	if err != nil {
		s.tb.Fatal(err)
	}
}

// write runs a write that must succeed.
func (s *store) write(w *Write, in Input) Outcome {
	s.tb.Helper()
	out, err := s.db.Write(context.Background(), w, in)
	if err != nil {
		s.tb.Fatalf("%s: %v", w.Pattern, err)
	}
	return out
}

// item returns an item by its key, or nil if there is none.
func (s *store) item(pk, sk string) Item {
	s.tb.Helper()
	response, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("shop"), Key: Item{"PK": AText(pk), "SK": AText(sk)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	if len(response.Item) == 0 {
		return nil
	}
	return response.Item
}

// all is the whole table, by key.
func (s *store) all() map[string]Item {
	s.tb.Helper()
	out := map[string]Item{}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: aws.String("shop"), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			s.tb.Fatal(err)
		}
		for _, it := range page.Items {
			out[s.table.Identity(it)] = it
		}
	}
	return out
}

// record is an entity's values.
type record struct {
	of *Entity
	Values
}

// wantTable checks that the table contains exactly the items of the records.
func (s *store) wantTable(after string, records ...record) {
	s.tb.Helper()
	want := map[string]Item{}
	for _, r := range records {
		items, err := Items(r.of, r.Values)
		if err != nil {
			s.tb.Fatal(err)
		}
		for _, it := range items {
			want[s.table.Identity(it)] = it
		}
	}
	got := s.all()
	for id, it := range want {
		if !SameItem(got[id], it) {
			s.tb.Errorf("after %s there is\n%v; want\n%v", after, schema.Attributes(got[id]), schema.Attributes(it))
		}
		delete(got, id)
	}
	for _, it := range got {
		s.tb.Errorf("after %s there is still\n%v", after, schema.Attributes(it))
	}
	if s.tb.Failed() {
		s.tb.FailNow()
	}
}

// wantRefusal checks for the failure of a step, with line or -1, and its error.
func wantRefusal(t *testing.T, err error, step, line int, want error) *Refusal {
	t.Helper()
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok || !errors.Is(err, want) || refusal.Step != step || refusal.Line != line {
		t.Fatalf("the error is %v (%+v); want that of step %d, line %d: %v", err, refusal, step, line, want)
	}
	return refusal
}

// The shop's values.

func (s *store) aRegion(id string) Values {
	return Values{"regionId": AText(id), "name": AText("North " + id), "spent": ANumber("0")}
}

func (s *store) aCustomer(id, region string) Values {
	return Values{
		"customerId": AText(id), "regionId": AText(region), "email": AText(id + "@Example.com"), "name": AText("Ána " + id), "tier": AText("basic"),
		"orders": ANumber("0"), "spent": ANumber("0"),
	}
}

func (s *store) anOrder(id, customer string, total int) Values {
	return Values{
		"orderId": AText(id), "customerId": AText(customer), "status": AText("open"), "total": ANumber(strconv.Itoa(total)), "street": AText("Jr. Unión 1"),
		"createdAt": AText(noon),
	}
}

func (s *store) aProduct(id string, stock int) Values {
	return Values{
		"productId": AText(id), "name": AText("Café " + id), "price": ANumber("10"), "stock": ANumber(strconv.Itoa(stock)), "active": ABool(true),
	}
}

// counted are customers and regions with the counters that follow from the orders.
func counted(records []record) []record {
	out := slices.Clone(records)
	for i, c := range out {
		if c.of.Name == "Customer" {
			orders, spent := 0, 0
			for _, o := range records {
				if o.of.Name != "Order" || !schema.SameValue(o.Values["customerId"], c.Values["customerId"]) {
					continue
				}
				orders++
				total := whole(o.Values["total"])
				if !schema.SameValue(o.Values["status"], AText("cancelled")) && (total > 5 || o.Values["tags"] != nil) {
					spent += total
				}
			}
			out[i].Values = Omit(Extend(c.Values, "orders", ""), "orders")
			out[i].Values["orders"], out[i].Values["spent"] = ANumber(strconv.Itoa(orders)), ANumber(strconv.Itoa(spent))
		}
	}
	for i, r := range out {
		if r.of.Name == "Region" {
			spent := 0
			for _, c := range out {
				if c.of.Name == "Customer" && schema.SameValue(c.Values["regionId"], r.Values["regionId"]) {
					spent += whole(c.Values["spent"])
				}
			}
			out[i].Values = Omit(r.Values, "spent")
			out[i].Values["spent"] = ANumber(strconv.Itoa(spent))
		}
	}
	return out
}

func whole(v types.AttributeValue) int {
	d, _ := schema.DecimalOf(v)
	n, _ := d.Int64()
	return int(n)
}
