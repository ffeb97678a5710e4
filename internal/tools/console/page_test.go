package console_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

type (
	item = map[string]types.AttributeValue
	s    = types.AttributeValueMemberS
	n    = types.AttributeValueMemberN
	m    = types.AttributeValueMemberM
	l    = types.AttributeValueMemberL
)

func text(v string) *s   { return &s{Value: v} }
func number(v string) *n { return &n{Value: v} }

// served serves the console beside a database.
func served(t *testing.T, db *monotable.DB, change ...func(*console.Options)) string {
	t.Helper()
	o := console.Options{
		Endpoint: "http://monotable.localhost/", Region: "us-east-1", Client: inprocess.Client{Handler: db.Handler()},
		Credentials: credentials.NewStaticCredentialsProvider("monotable", "monotable", ""),
	}
	for _, f := range change {
		f(&o)
	}
	server := httptest.NewServer(console.New(o).Beside(db.Handler()))
	t.Cleanup(server.Close)
	return server.URL
}

// shop is a table of a single-table design with customers, their orders and their lines, and an index.
func shop(t *testing.T, db *monotable.DB) {
	t.Helper()
	key := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sk), KeyType: types.KeyTypeRange}}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"PK", "SK", "GSI1PK", "GSI1SK"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("shop"), BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: attributes, KeySchema: key("PK", "SK"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("GSI1"), KeySchema: key("GSI1PK", "GSI1SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}},
		StreamSpecification:    &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
	put := func(i item) {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("shop"), Item: i}); err != nil {
			t.Fatal(err)
		}
	}
	for c := range 6 {
		user := fmt.Sprintf("USER#u-%02d", c)
		put(item{
			"PK": text(user), "SK": text("PROFILE"), "name": text([]string{"Ana Ruiz", "João Silva", "Lea Okafor", "Max Weber", "Noor Haddad", "Wei Zhang"}[c]), "vip": &types.AttributeValueMemberBOOL{Value: c%2 == 0},
			"address": &m{Value: item{"city": text("Oaxaca"), "zip": text("68000"), "geo": &l{Value: []types.AttributeValue{number("17.0732"), number("-96.7266")}}}},
			"tags":    &types.AttributeValueMemberSS{Value: []string{"early", "mobile"}}, "joined": number("1764000000"),
		})
		for o := range 4 {
			order := fmt.Sprintf("ORDER#2026-11-%02d", 10+3*o+c)
			put(item{
				"PK": text(user), "SK": text(order), "total": number(fmt.Sprintf("%d.50", 120+37*o+c)), "status": text([]string{"paid", "sent", "open", "paid"}[o]),
				"GSI1PK": text("STATUS#" + []string{"paid", "sent", "open", "paid"}[o]), "GSI1SK": text(order),
			})
			for line := range 2 {
				put(item{"PK": text(user), "SK": text(fmt.Sprintf("%s#LINE#%d", order, line+1)), "sku": text(fmt.Sprintf("bean-%d", 250*(line+1))), "quantity": number("2"), "photo": &types.AttributeValueMemberB{Value: []byte{0, 1, 2, 0xff}}})
			}
		}
	}
}

// TestRead: a table is found, scanned, queried, filtered, looked at in each view and item by item, in each window and theme.
func TestRead(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db)
	for name, with := range map[string][]webtest.Option{
		"desk": {}, "dark": {webtest.Dark}, "phone": {webtest.Phone, webtest.Language("es-MX")}, "tablet": {webtest.Tablet, webtest.Dark, webtest.Language("pt-BR")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/", with...) // a browser is sent to the console
			p.UntilText("shop")
			p.UntilText("ACTIVE")
			look(p, "console-tables")
			p.Button("shop")
			p.Wait(".data-grid tbody tr")
			look(p, "console-scan")
			p.Eval(`location.hash = "#/tables/shop?" + new URLSearchParams({pk: "USER#u-01", op: "begins_with", sk: "ORDER#", order: "desc", limit: "10"})`)
			p.Until(`document.querySelector(".data-grid tbody tr td:nth-child(2)").textContent === "ORDER#2026-11-20#LINE#2"`)
			look(p, "console-query")
			p.Eval(`location.hash += "&view=collection"`)
			p.Wait(".partition")
			look(p, "console-collection")
			p.Eval(`location.hash += "&item=" + encodeURIComponent(JSON.stringify({PK: {S: "USER#u-01"}, SK: {S: "PROFILE"}}))`)
			p.UntilText("-96.7266")
			look(p, "console-item")
			p.Press("\u001b")
			p.Until(`document.querySelector("dialog[open]") === null`)
		})
	}
}

func look(p *webtest.Page, name string) {
	p.Accessible()
	p.Width()
	p.Shot(name)
}

// TestPages: a scan goes on and back, a filter says what was read for it, and an empty answer says why.
func TestPages(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?limit=50")
	p.UntilText("50 items")
	first := p.Text(".data-grid tbody tr td")
	p.Button("Next")
	p.UntilText("Page 2")
	p.UntilText("28 items")
	p.Until(`[...document.querySelectorAll("button")].find((b) => b.textContent === "Next").disabled`)
	p.Button("Previous")
	p.UntilText("Page 1")
	if again := p.Text(".data-grid tbody tr td"); again != first {
		t.Errorf("back on page 1 the first item is %q, it was %q", again, first)
	}
	p.Eval(`location.hash = "#/tables/shop?limit=100&filters=" + encodeURIComponent(JSON.stringify([["total", "between", "N", "200", "235.5"], ["status", "=", "S", "paid"]]))`)
	p.UntilText("5 items")
	p.UntilText("78 read")
	look(p, "console-filter")
	p.Eval(`location.hash = "#/tables/shop?pk=user"`)
	p.UntilText("No item has such keys")
	look(p, "console-none")
}

// TestForm: the form asks by the keyboard alone, and what it asks is the address.
func TestForm(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?index=GSI1&view=json")
	p.Button("Query")
	p.Type("input[name=pk]", "STATUS#open\r")
	p.UntilText("6 items")
	p.Until(`location.hash.includes("pk=STATUS%23open") && location.hash.includes("index=GSI1") && location.hash.includes("view=json")`)
	p.Button("Copy as code")
	p.Wait("dialog[open]")
	p.Button("Go")
	if code := p.Text("dialog[open] code"); !strings.Contains(code, `&types.AttributeValueMemberS{Value: "STATUS#open"}`) {
		t.Errorf("Go: %s", code)
	}
	look(p, "console-code")
}
