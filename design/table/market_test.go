package table_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
)

// market is a small handwritten design. Users have orders, which are found
//
//	by their id            key        ORDER#{orderId} / ORDER
//	of a user, by time     byUser     USER#{userId} / ORDER#{createdAt}#{orderId}    a copy
//	open ones, by time     Open       OPEN#{region} / {createdAt}#{orderId}         sparse, keys only
//	all, by time           Feed       FEED#{orderId|shard(4)} / {createdAt}#{orderId}
//	all, by total          Spread     {orderId|shard(12)|pad(2)} / total           a number
//	of a region            Region     region / status, total, orderId               four attributes, a number among them
//	by what they weigh     Weight     status / weight                              a number
//	by a digest            Digest     region / digest                              bytes
//
// and products, which are found by their name (folded, and as it is) and by their price. A user's email is unique.
type market struct {
	table                *table.Table
	user, order, product *table.Entity
}

const (
	typeS = types.ScalarAttributeTypeS
	typeN = types.ScalarAttributeTypeN
	typeB = types.ScalarAttributeTypeB
)

func newMarket() market {
	m := market{table: &table.Table{Name: "Market", Physical: "market-{stage}", PK: attribute("PK", typeS), SK: attribute("SK", typeS), TypeAttr: "type"}}
	kind := func(k string) table.Type { return table.Type{Kind: table.Kind(k)} }
	field := func(name, k string) table.Field { return table.Field{Name: name, Path: []string{name}, Type: kind(k)} }
	m.user = &table.Entity{
		Name: "User", Table: m.table, TypeValue: "USER",
		Fields:  []table.Field{field("userId", "id"), field("email", "email"), field("name", "text")},
		Key:     inTable("USER#{userId}", "PROFILE"),
		Markers: []table.Marker{{Name: "Email", Key: inTable("EMAIL#{email|lower}", "UNIQUE")}},
	}
	status := table.Field{Name: "status", Path: []string{"status"}, Type: table.Type{Kind: "enum", Enum: []string{"open", "paid", "sent"}}}
	note := table.Field{Name: "note", Path: []string{"data", "note"}, Type: kind("text"), Optional: true}
	open := &table.Condition{
		Expression: "#s = :open", Names: map[string]string{"#s": "status"}, Constants: map[string]types.AttributeValue{":open": text("open")},
	}
	feed := table.Entry{Index: "Feed", PK: keys("FeedPK:S", "FEED#{orderId|shard(4)}"), SK: keys("FeedSK:S", "{createdAt}#{orderId}")}
	m.order = &table.Entity{
		Name: "Order", Table: m.table, TypeValue: "ORDER",
		Fields: []table.Field{
			field("orderId", "id"), field("userId", "id"), field("createdAt", "time"), status, field("total", "money"),
			field("region", "text"), field("weight", "decimal"), field("digest", "bytes"), note,
		},
		Key: inTable("ORDER#{orderId}", "ORDER"),
		Entries: []table.Entry{
			{Index: "Open", PK: keys("OpenPK:S", "OPEN#{region}"), SK: keys("OpenSK:S", "{createdAt}#{orderId}"), Where: open},
			feed,
			{Index: "Region", PK: plain("region:S"), SK: plain("status:S", "total:N", "orderId:S")},
			{Index: "Spread", PK: keys("SpreadPK:S", "{orderId|shard(12)|pad(2)}"), SK: plain("total:N")},
			{Index: "Weight", PK: plain("status:S"), SK: plain("weight:N")},
			{Index: "Digest", PK: plain("region:S"), SK: plain("digest:B")},
		},
		Copies: []table.Copy{{
			Name: "byUser", Key: inTable("USER#{userId}", "ORDER#{createdAt}#{orderId}"), Fields: []string{"orderId", "userId", "createdAt", "total", "status"},
		}},
	}
	m.product = &table.Entity{
		Name: "Product", Table: m.table, TypeValue: "PRODUCT",
		Fields: []table.Field{field("productId", "id"), field("name", "text"), field("price", "int"), field("category", "text")},
		Key:    inTable("PRODUCT#{productId}", "PRODUCT"),
		Entries: []table.Entry{
			{Index: "Name", PK: keys("NamePK:S", "CATALOG"), SK: keys("NameSK:S", "{name|fold}#{productId}")},
			{Index: "Label", PK: keys("LabelPK:S", "LABELS"), SK: keys("LabelSK:S", "L{name}")},
			{Index: "Price", PK: keys("PricePK:S", "CATEGORY#{category}"), SK: keys("PriceSK:S", "{price|desc(6)}#{productId}")},
		},
	}
	return m
}

func attribute(name string, t types.ScalarAttributeType) table.Attribute {
	return table.Attribute{Name: name, Type: t}
}

// template parses a template in the design's notation.
func template(s string) table.Template {
	if s == "" {
		return nil
	}
	t, err := design.ParseTemplate(s)
	if err != nil {
		panic(err)
	}
	var out table.Template
	for _, p := range t.Parts {
		part := table.Part{Literal: p.Literal, Field: p.Field}
		for _, f := range p.Funcs {
			part.Funcs = append(part.Funcs, table.Func{Name: f.Name, Arg: f.Arg})
		}
		out = append(out, part)
	}
	return out
}

// keys are key attributes: pairs of "name:type" and template.
func keys(pairs ...string) []table.KeyAttribute {
	var out []table.KeyAttribute
	for pair := range slices.Chunk(pairs, 2) {
		name, t, _ := strings.Cut(pair[0], ":")
		out = append(out, table.KeyAttribute{Attribute: attribute(name, types.ScalarAttributeType(t)), Template: template(pair[1])})
	}
	return out
}

// plain are key attributes that contain plain fields.
func plain(names ...string) []table.KeyAttribute {
	var out []table.KeyAttribute
	for _, name := range names {
		field, _, _ := strings.Cut(name, ":")
		key := keys(name, "{"+field+"}")[0]
		key.Field = field
		out = append(out, key)
	}
	return out
}

func inTable(pk, sk string) []table.KeyAttribute { return keys("PK:S", pk, "SK:S", sk) }

// sortBy is a condition on a sort key attribute: known is a template, next is a part of one, or "".
func sortBy(attribute string, how table.Comparison, known, next string, goesOn bool) table.SortCondition {
	c := table.SortCondition{Attribute: keys(attribute, known)[0].Attribute, Comparison: how, Known: template(known), Open: goesOn}
	if next != "" {
		c.Next = template(next)[0]
	}
	return c
}

func sorted(names ...string) []table.Attribute {
	var out []table.Attribute
	for _, name := range names {
		out = append(out, keys(name, "x")[0].Attribute)
	}
	return out
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

func bytesOf(s string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(s)} }

// given is an input of strings: alternating names and values.
func given(pairs ...string) table.Input {
	v := table.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		v[pair[0]] = text(pair[1])
	}
	return table.Input{Values: v}
}

// anOrder is an order whose fields are derived from its number.
func anOrder(n int) table.Values {
	return table.Values{
		"orderId": text(fmt.Sprintf("o-%03d", n)), "userId": text("u-" + strconv.Itoa(n%3)), "total": number(n * 7 % 22),
		"createdAt": text(fmt.Sprintf("2024-01-%02dT10:00:00.000Z", 1+n*5%28)), "status": text([]string{"open", "paid", "sent"}[n/3%3]),
		"region": text([]string{"north", "south"}[n%2]), "weight": &types.AttributeValueMemberN{Value: strconv.Itoa(n*11%29-9) + ".5"},
		"digest": bytesOf(string([]byte{byte(n * 37), byte(n)})), "note": text("note " + strconv.Itoa(n%4)),
	}
}

// firstOrders are the first n orders.
func firstOrders(n int) []table.Values {
	var out []table.Values
	for i := range n {
		out = append(out, anOrder(i))
	}
	return out
}

// store is a database with the market's table, and the writes of the tests.
type store struct {
	market
	tb     testing.TB
	client *dynamodb.Client
	db     *table.DB
}

var physical = map[string]string{"Market": "market-test"} //nolint:gochecknoglobals // a constant

// cursorKey is a key of cursors.
func cursorKey(b byte) []byte { return slices.Repeat([]byte{b}, 32) }

func newStore(tb testing.TB) *store {
	tb.Helper()
	s := &store{market: newMarket(), tb: tb, client: monotabletest.New(tb).Client()}
	s.createTable()
	s.db = s.open(s.client, table.Config{CursorKey: cursorKey(1)})
	return s
}

// open opens the table with another client or configuration.
func (s *store) open(client table.Client, c table.Config) *table.DB {
	s.tb.Helper()
	c.Tables = physical
	db, err := table.Open(client, c, s.table)
	if err != nil {
		s.tb.Fatal(err)
	}
	return db
}

func (s *store) createTable() {
	s.tb.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(physical["Market"]), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
	}
	attributes := map[string]types.ScalarAttributeType{"PK": typeS, "SK": typeS}
	for _, e := range slices.Concat(s.order.Entries, s.product.Entries) {
		index := types.GlobalSecondaryIndex{IndexName: aws.String(e.Index), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}
		if e.Index == "Open" {
			index.Projection.ProjectionType = types.ProjectionTypeKeysOnly
		}
		for kind, key := range map[types.KeyType][]table.KeyAttribute{types.KeyTypeHash: e.PK, types.KeyTypeRange: e.SK} {
			for _, a := range key {
				attributes[a.Name] = a.Type
				index.KeySchema = append(index.KeySchema, types.KeySchemaElement{AttributeName: aws.String(a.Name), KeyType: kind})
			}
		}
		slices.SortStableFunc(index.KeySchema, func(a, b types.KeySchemaElement) int { return cmp.Compare(a.KeyType, b.KeyType) })
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, index)
	}
	for name, t := range attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: t})
	}
	if _, err := s.client.CreateTable(s.tb.Context(), in); err != nil {
		s.tb.Fatal(err)
	}
}

// put stores entities' values with their related items.
func (s *store) put(e *table.Entity, values ...table.Values) {
	s.tb.Helper()
	for _, v := range values {
		items, err := table.Items(e, v)
		if err != nil {
			s.tb.Fatal(err)
		}
		for _, it := range items {
			s.putItem(it)
		}
	}
}

func (s *store) putItem(it table.Item) {
	s.tb.Helper()
	if _, err := s.client.PutItem(s.tb.Context(), &dynamodb.PutItemInput{TableName: aws.String(physical["Market"]), Item: it}); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *store) deleteItem(pk, sk string) {
	s.tb.Helper()
	_, err := s.client.DeleteItem(s.tb.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(physical["Market"]), Key: table.Item{"PK": text(pk), "SK": text(sk)},
	})
	if err != nil {
		s.tb.Fatal(err)
	}
}

// ids are the values of a field, for messages and comparisons.
func ids(list []table.Values, field string) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, plainText(v[field]))
	}
	return out
}

func plainText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	default:
		return ""
	}
}

// matching are the values that satisfy a condition, sorted.
func matching(list []table.Values, keep func(table.Values) bool, order func(a, b table.Values) int) []table.Values {
	out := []table.Values{}
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, order)
	return out
}

// by orders values by the texts of fields.
func by(fields ...string) func(a, b table.Values) int {
	return func(a, b table.Values) int {
		for _, f := range fields {
			c := strings.Compare(plainText(a[f]), plainText(b[f]))
			if _, isNumber := a[f].(*types.AttributeValueMemberN); isNumber {
				x, _ := strconv.ParseFloat(plainText(a[f]), 64)
				y, _ := strconv.ParseFloat(plainText(b[f]), 64)
				c = cmp.Compare(x, y)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}

// descending reverses an order.
func descending(order func(a, b table.Values) int) func(a, b table.Values) int {
	return func(a, b table.Values) int { return order(b, a) }
}

// fieldIs is the condition that a field has a text.
func fieldIs(field, is string) func(table.Values) bool {
	return func(v table.Values) bool { return plainText(v[field]) == is }
}
