package console_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

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

// served serves the console together with a database.
func served(t *testing.T, db *monotable.DB, change ...func(*console.Options)) string {
	t.Helper()
	o := console.Options{
		Endpoint: "http://monotable.localhost/", Region: "us-east-1", Client: inprocess.Client{Handler: db.Handler()},
		Credentials: credentials.NewStaticCredentialsProvider("monotable", "monotable", ""),
	}
	for _, f := range change {
		f(&o)
	}
	server := httptest.NewServer(console.New(o).WithAPI(db.Handler()))
	t.Cleanup(server.Close)
	return server.URL
}

// shopTable creates the table of the shop.
func shopTable(t *testing.T, db *monotable.DB) {
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
}

// shop creates a single-table design with customers, their orders and order lines, and an index.
func shop(t *testing.T, db *monotable.DB) {
	t.Helper()
	shopTable(t, db)
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

// TestRead: a table is found, scanned, queried, filtered, and shown in each view and item by item, in each window size and theme.
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
			p := webtest.Open(t, address+"/", with...) // browsers are redirected to the console
			p.UntilText("shop")
			p.UntilText("ACTIVE")
			p.Wait(`.shell-nav a[aria-current="page"]`)
			look(p, "console-tables")
			p.Button("shop")
			p.Wait(".data-grid tbody tr")
			look(p, "console-scan")
			p.Eval(`location.hash = "#/tables/shop?" + new URLSearchParams({pk: "USER#u-01", op: "begins_with", sk: "ORDER#", order: "desc", limit: "10"})`)
			p.Until(`document.querySelector(".data-grid tbody tr td:nth-child(3)").textContent === "ORDER#2026-11-20#LINE#2"`)
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

// clock is the time of a database, which a test advances while the server reads it.
type clock struct{ nanos atomic.Int64 }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.nanos.Store(at.UnixNano())
	return c
}

func (c *clock) time() time.Time { return time.Unix(0, c.nanos.Load()) }

func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func look(p *webtest.Page, name string) {
	p.Accessible()
	p.Width()
	p.Shot(name)
}

// TestPages: a scan pages forward and back, a filtered scan shows how much was read, and an empty result says why.
func TestPages(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?limit=50")
	p.UntilText("50 items")
	first := p.Text(".data-grid tbody tr td.first")
	p.Button("Next")
	p.UntilText("Page 2")
	p.UntilText("28 items")
	p.Until(`[...document.querySelectorAll("button")].find((b) => b.textContent === "Next").disabled`)
	p.Button("Previous")
	p.UntilText("Page 1")
	if again := p.Text(".data-grid tbody tr td.first"); again != first {
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

// TestOperators: every operator of key conditions and filters, on every type that the form offers, finds what it should. The results of two
// successive queries differ in number.
func TestOperators(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?limit=100")
	finds := func(query url.Values, want string) {
		t.Helper()
		query.Set("limit", "100")
		p.Eval(fmt.Sprintf(`location.hash = "#/tables/shop?%s"`, query.Encode()))
		p.Until(fmt.Sprintf(`document.querySelector(".cost-text span").textContent === %q`, want))
	}
	for _, c := range []struct{ filters, want string }{
		{`[["status","=","S","paid"]]`, "12 items"},
		{`[["total","<","N","121"]]`, "1 item"},
		{`[["total","<=","N","121.5"]]`, "2 items"},
		{`[["total",">","N","235.5"]]`, "1 item"},
		{`[["total",">=","N","235.5"]]`, "2 items"},
		{`[["status","exists","S"],["status","<>","S","paid"]]`, "12 items"},
		{`[["total","between","N","200","235.5"]]`, "5 items"},
		{`[["status","in","S","open, sent"]]`, "12 items"},
		{`[["SK","begins_with","S","PROFILE"]]`, "6 items"},
		{`[["name","exists","S"],["name","not_contains","S","e"]]`, "3 items"},
		{`[["tags","contains","S","early"]]`, "6 items"},
		{`[["photo","exists","S"]]`, "48 items"},
		{`[["photo","not_exists","S"]]`, "30 items"},
		{`[["photo","type","S","B"]]`, "48 items"},
		{`[["vip","=","BOOL","true"]]`, "3 items"},
		{`[["photo","=","B","AAEC/w=="]]`, "48 items"},
		{`[["address.city","=","S","Oaxaca"]]`, "6 items"},
		{`[["photo","=","NULL"]]`, "0 items"},
		{`[["address.geo[0]","=","N","17.0732"]]`, "6 items"},
	} {
		finds(url.Values{"filters": {c.filters}}, c.want)
	}
	for _, c := range []struct{ op, sk, sk2, want string }{
		{"", "", "", "13 items"},
		{"=", "PROFILE", "", "1 item"},
		{"<", "ORDER#2026-11-14", "", "3 items"},
		{"<=", "ORDER#2026-11-14", "", "4 items"},
		{">", "ORDER#2026-11-20#LINE#1", "", "2 items"},
		{">=", "ORDER#2026-11-20#LINE#1", "", "3 items"},
		{"between", "ORDER#2026-11-14", "ORDER#2026-11-17", "4 items"},
		{"begins_with", "ORDER#2026-11-20", "", "3 items"},
	} {
		finds(url.Values{"pk": {"USER#u-01"}, "op": {c.op}, "sk": {c.sk}, "sk2": {c.sk2}}, c.want)
	}
}

// TestSeveralKeyAttributes: an index with several partition and sort keys is queried by all of the former, and by some of the latter.
func TestSeveralKeyAttributes(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	schema := func(hash, sort []string) (out []types.KeySchemaElement) {
		for _, name := range hash {
			out = append(out, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeHash})
		}
		for _, name := range sort {
			out = append(out, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeRange})
		}
		return out
	}
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("trips"), BillingMode: types.BillingModePayPerRequest, KeySchema: schema([]string{"id"}, nil),
		AttributeDefinitions: []types.AttributeDefinition{attribute("id", "S"), attribute("country", "S"), attribute("city", "S"), attribute("day", "S"), attribute("hour", "N")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-place"), KeySchema: schema([]string{"country", "city"}, []string{"day", "hour"}), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("trips"), Item: item{
			"id": text(fmt.Sprint(n)), "country": text("mx"), "city": text([]string{"Oaxaca", "Puebla"}[n/6]), "day": text([]string{"2026-11-27", "2026-11-28"}[n%2]), "hour": number(fmt.Sprint(8 + n/2)),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/trips?index=by-place&pk=mx")
	p.Type(`input[name="more.0"]`, "\r")
	p.UntilText("Give a value.")
	p.Type(`input[name="more.0"]`, "Oaxaca\r")
	p.UntilText("6 items")
	p.Type(`input[name="more.1"]`, "2026-11-28")
	choose(p, "hour", ">")
	p.Type("input[name=sk]", "8\r")
	p.UntilText("2 items")
	p.UntilText(`country = "mx" AND city = "Oaxaca" AND day = "2026-11-28" AND hour > 8`)
	look(p, "console-several-keys")
	p.Eval(`location.hash += "&view=collection"`)
	p.Until(`document.querySelector(".partition-head").textContent.includes("Oaxaca")`)
}

// TestColumns: the chosen columns are the same after the page is loaded again, and a column that cannot be sorted says why.
func TestColumns(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db)
	p := webtest.Open(t, address+"/_console/#/tables/shop?pk=USER%23u-01", webtest.Phone)
	p.Button("sku")
	p.UntilText("to sort by this attribute, make it the sort key of an index")
	p.Button("PK")
	p.UntilText("A query reads one partition in the order of the sort key")
	look(p, "console-no-order")
	p.Button("Columns")
	p.Until(`document.querySelector("dialog[open] input[value=sku]").click() === undefined`)
	look(p, "console-columns")
	p.Button("Done")
	p.Go(address + "/_console/?again#/tables/shop?pk=USER%23u-01")
	p.UntilText("13 of 14 columns")
	p.Until(`(() => { const heads = [...document.querySelectorAll(".data-grid th .sort")].map((e) => e.textContent); return heads.includes("quantity") && !heads.includes("sku"); })()`)
}

// TestLinks: a view's choices are in its address, and an address with nonsense is one without it.
func TestLinks(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(-time.Hour)
	db := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return now }})
	shop(t, db)
	if _, err := db.Client().UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String("shop"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Minute)
	address := served(t, db) + "/_console/"
	p := webtest.Open(t, address+"#/tables/shop/stream?from=oldest&without=MODIFY,REMOVE&text=u-03+order")
	p.Until(`document.querySelectorAll(".tail-record").length === 12`)
	p.Button("Created")
	p.Until(`document.querySelectorAll(".tail-record").length === 0 && location.hash.includes("without=INSERT%2CMODIFY%2CREMOVE")`)
	p.Eval(fmt.Sprintf("location.hash = %q", at("USER#u-01", "PROFILE")[len("/_console/"):]+"&tab=json"))
	p.Until(`document.querySelector("dialog[open] [role=tab][aria-selected=true]").textContent === "JSON"`)
	p.Button("Attributes")
	p.Until(`!location.hash.includes("tab=") && location.hash.includes("item=")`)
	p.Eval(`location.hash = "#/server?minutes=720"`)
	p.Until(`document.querySelector(".metrics-head select").value === "720"`)
	p.Eval(`location.hash = "#/tables/shop/past?at=yesterday"`)
	p.UntilText("Choose a second to compare with")
	p.Eval(`location.hash = "#/tables/shop?" + new URLSearchParams({item: '{"PK":1}', filters: "{", limit: "7", view: "none", op: "none"})`)
	p.UntilText("50 items")
	p.Until(`document.querySelector("dialog[open]") === null`)
}

// TestForm: the form can be submitted by keyboard alone, and the address reflects the query.
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
	code := p.Text("dialog[open] .code code")
	if !strings.Contains(code, `&types.AttributeValueMemberS{Value: "STATUS#open"}`) {
		t.Errorf("Go: %s", code)
	}
	compiles(t, code)
	look(p, "console-code")
}

// compiles fails the test unless a Go program compiles.
func compiles(t *testing.T, program string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, out, program)
	}
}

// stored returns an item of the table as DynamoDB's JSON; "" if it does not exist.
func stored(t *testing.T, db *monotable.DB, pk, sk string) item {
	t.Helper()
	got, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("shop"), Key: item{"PK": text(pk), "SK": text(sk)}})
	if err != nil {
		t.Fatal(err)
	}
	return got.Item
}

// at returns the address that shows an item next to its table.
func at(pk, sk string) string {
	return "/_console/#/tables/shop?" + url.Values{"item": {fmt.Sprintf(`{"PK":{"S":%q},"SK":{"S":%q}}`, pk, sk)}}.Encode()
}

// fill replaces the value of a field.
func fill(p *webtest.Page, label, value string) {
	p.Until(fmt.Sprintf(`(() => { const e = document.querySelector('[aria-label=%q]'); if (!e || e.disabled) return false; e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`, label, value))
}

// confirm presses a button of the confirmation dialog.
func confirm(p *webtest.Page, name string) {
	p.Until(fmt.Sprintf(`(() => { const b = [...document.querySelectorAll("dialog[open] dialog[open] button")].find((b) => b.textContent === %q); b.click(); return true; })()`, name))
}

// TestEdit: values of each type are changed, the difference is shown before it is written, and only the difference is written.
func TestEdit(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db)
	p := webtest.Open(t, address+at("USER#u-01", "PROFILE"))
	p.Button("Edit")
	fill(p, "Value of joined", "12345678901234567890123456789012345678")
	fill(p, "Value of address.city", "Mérida")
	p.Button("Add attribute")
	p.Eval(`(() => { const e = [...document.querySelectorAll(".node-name")].pop(); e.value = "points"; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	fill(p, "Type of points", "NS")
	fill(p, "Value of points[0]", "7,5")
	p.Button("Review changes")
	p.UntilText("This is not a number of up to 38 digits.")
	look(p, "console-edit")
	fill(p, "Value of points[0]", "7.5")
	for _, a := range []struct{ name, kind, at, value string }{{"raw", "B", "raw", "AAEC/w=="}, {"parts", "BS", "parts[0]", "AQ=="}, {"nothing", "NULL", "", ""}} {
		p.Button("Add attribute")
		p.Eval(fmt.Sprintf(`(() => { const e = [...document.querySelectorAll(".node-name")].pop(); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); })()`, a.name))
		fill(p, "Type of "+a.name, a.kind)
		if a.at != "" {
			fill(p, "Value of "+a.at, a.value)
		}
	}
	p.Button("Review changes")
	p.UntilText("Save these changes?")
	p.UntilText("address.city")
	look(p, "console-diff")
	p.Click(`dialog .editor ~ dialog .row > button`)
	p.Button("Go")
	compiles(t, p.Text("dialog[open] .code code"))
	p.Button("Done")
	// Another user's concurrent change of another attribute is kept.
	if _, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("shop"), Key: item{"PK": text("USER#u-01"), "SK": text("PROFILE")}, UpdateExpression: aws.String("SET seen = :t"), ExpressionAttributeValues: item{":t": text("today")},
	}); err != nil {
		t.Fatal(err)
	}
	p.Button("Save")
	p.UntilText("The item is saved.")
	got := stored(t, db, "USER#u-01", "PROFILE")
	want := item{
		"PK": text("USER#u-01"), "SK": text("PROFILE"), "name": text("João Silva"), "vip": &types.AttributeValueMemberBOOL{Value: false}, "seen": text("today"),
		"address": &m{Value: item{"city": text("Mérida"), "zip": text("68000"), "geo": &l{Value: []types.AttributeValue{number("17.0732"), number("-96.7266")}}}},
		"tags":    &types.AttributeValueMemberSS{Value: []string{"early", "mobile"}}, "joined": number("12345678901234567890123456789012345678"), "points": &types.AttributeValueMemberNS{Value: []string{"7.5"}},
		"raw": &types.AttributeValueMemberB{Value: []byte{0, 1, 2, 0xff}}, "parts": &types.AttributeValueMemberBS{Value: [][]byte{{1}}}, "nothing": &types.AttributeValueMemberNULL{Value: true},
	}
	if diff := cmp.Diff(want, got, values); diff != "" {
		t.Error(diff)
	}
}

// TestConflict: another user's change is not overwritten until it has been shown.
func TestConflict(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	change := func(name, value string) {
		if _, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String("shop"), Key: item{"PK": text("USER#u-02"), "SK": text("PROFILE")}, UpdateExpression: aws.String("SET #n = :v"),
			ExpressionAttributeNames: map[string]string{"#n": name}, ExpressionAttributeValues: item{":v": text(value)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	p := webtest.Open(t, served(t, db)+at("USER#u-02", "PROFILE"), webtest.Expect("400"))
	p.Button("Edit")
	fill(p, "Value of address.zip", "97000")
	p.Button("Review changes")
	p.UntilText("Save these changes?")
	change("name", "Lea O.")
	p.Button("Save")
	p.UntilText("Someone else has changed this item")
	p.UntilText("Lea O.")
	look(p, "console-conflict")
	if zip := stored(t, db, "USER#u-02", "PROFILE")["address"].(*m).Value["zip"].(*s).Value; zip != "68000" {
		t.Errorf("zip is %s: it was written over a change", zip)
	}
	p.Button("Apply my changes to the new version")
	p.UntilText("Save these changes?")
	p.Button("Save")
	p.UntilText("The item is saved.")
	got := stored(t, db, "USER#u-02", "PROFILE")
	if name, zip := got["name"].(*s).Value, got["address"].(*m).Value["zip"].(*s).Value; name != "Lea O." || zip != "97000" {
		t.Errorf("name %s, zip %s: want both changes", name, zip)
	}
	p.Button("Delete") // the condition is the item as read before the next change
	change("name", "Lea")
	confirm(p, "Delete")
	p.UntilText("Nothing was deleted")
	if stored(t, db, "USER#u-02", "PROFILE") == nil {
		t.Error("the item was deleted")
	}
}

// TestCreateItem: an item is created as a copy of another one, an existing key is not overwritten, and the item is deleted again.
func TestCreateItem(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+at("USER#u-03", "ORDER#2026-11-13"), webtest.Phone, webtest.Expect("400"))
	p.Button("Duplicate")
	p.Wait(".create .node")
	fill(p, "Value of status", "open")
	p.Button("Create item")
	p.UntilText("An item with this key already exists.")
	if status := stored(t, db, "USER#u-03", "ORDER#2026-11-13")["status"].(*s).Value; status != "paid" {
		t.Errorf("status is %s: it was written over", status)
	}
	look(p, "console-create-item")
	fill(p, "Value of SK", "ORDER#2027-01-01")
	p.Button("Create item")
	p.UntilText("The item is created.")
	if got := stored(t, db, "USER#u-03", "ORDER#2027-01-01"); got["status"].(*s).Value != "open" || got["total"].(*n).Value != "123.5" {
		t.Errorf("created: %v", got)
	}
	p.Button("Delete")
	confirm(p, "Delete")
	p.UntilText("The item is deleted.")
	if got := stored(t, db, "USER#u-03", "ORDER#2027-01-01"); got != nil {
		t.Errorf("deleted: %v", got)
	}
}

// TestTableLife: a table is created with an index, TTL and recovery, changed, and deleted by typing its name.
func TestTableLife(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	p := webtest.Open(t, served(t, db)+"/_console/")
	p.UntilText("There are no tables yet")
	look(p, "console-empty")
	p.Button("Create the first table")
	p.Type("input[name=name]", "orders")
	p.Button("Add index")
	p.Eval(`(() => { const e = [...document.querySelectorAll("label")].find((l) => l.textContent.startsWith("Attribute with the expiry")); const i = document.getElementById(e.htmlFor); i.value = "ends"; i.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	p.Eval(`[...document.querySelectorAll(".choice")].filter((c) => c.textContent.startsWith("Point-in-time")).forEach((c) => c.click())`)
	p.Type("input[name=tags]", "team=shop, stage=dev")
	look(p, "console-create-table")
	p.Button("Copy as code")
	p.Button("Go")
	compiles(t, p.Text("dialog[open] .code code"))
	p.Button("Done")
	p.Click("button[type=submit]")
	p.UntilText("orders is created.")
	p.UntilText("This table has no items yet")
	p.UntilText("PITR")
	look(p, "console-no-items")
	p.Button("Settings")
	p.UntilText("GSI1PK")
	p.Until(`[...document.querySelectorAll(".choice")].find((c) => c.textContent.startsWith("Deletion protection")).click() === undefined`)
	p.Until(`[...document.querySelectorAll("button")].find((b) => b.textContent === "Delete table").disabled`)
	p.UntilText("It is protected")
	look(p, "console-settings")
	described, err := db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	if d := described.Table; !*d.DeletionProtectionEnabled || d.BillingModeSummary.BillingMode != types.BillingModePayPerRequest || *d.GlobalSecondaryIndexes[0].KeySchema[1].AttributeName != "GSI1SK" {
		t.Errorf("created %+v", d)
	}
	p.Until(`[...document.querySelectorAll(".choice")].find((c) => c.textContent.startsWith("Deletion protection")).click() === undefined`)
	p.UntilText("With all its items and indexes.")
	if ttl, err := db.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("orders")}); err != nil || *ttl.TimeToLiveDescription.AttributeName != "ends" {
		t.Errorf("TTL: %+v, %v", ttl, err)
	}
	p.Type("input[name=tag-key]", "owner")
	p.Type("input[name=tag-value]", "ana\r")
	p.Until(`document.querySelectorAll(".tag").length === 3`)
	p.Click(`button[aria-label="Remove stage"]`)
	p.Until(`[...document.querySelectorAll(".tag")].map((e) => e.textContent).join() === "owner ana,team shop"`)
	choose(p, "Billing", "P")
	choose(p, "Read units", "7")
	p.Button("Save")
	p.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent === "Save")`)
	p.Until(`[...document.querySelectorAll(".choice")].find((c) => c.textContent.startsWith("The same for the global indexes")).click() === undefined`)
	p.Until(`[...document.querySelectorAll(".choice")].find((c) => c.textContent.startsWith("The same for the global indexes")).querySelector("input").checked && ![...document.querySelectorAll("button")].some((b) => b.textContent === "Save")`) // it would change nothing
	choose(p, "Read units", "9")
	p.Button("Save")
	p.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent === "Save")`)
	p.Button("Add index")
	choose(p, "Name of the index", "by-day")
	choose(p, "Partition key", "day")
	p.Click("dialog[open] .float-foot button:last-child")
	p.Until(`[...document.querySelectorAll("td")].some((c) => c.textContent === "by-day") && document.querySelector("dialog[open]") === null`)
	described, err = db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	units := func(of *types.ProvisionedThroughputDescription) int64 { return aws.ToInt64(of.ReadCapacityUnits) }
	if d := described.Table; units(d.ProvisionedThroughput) != 9 || len(d.GlobalSecondaryIndexes) != 2 || units(d.GlobalSecondaryIndexes[0].ProvisionedThroughput) != 9 {
		t.Errorf("changed to %+v", d)
	}
	p.Click(`button[aria-label="Delete by-day"]`)
	p.Wait("dialog[open] input[name=confirm]")
	p.Type("dialog[open] input[name=confirm]", "by-day")
	p.Button("Delete")
	p.Until(`![...document.querySelectorAll("td")].some((c) => c.textContent === "by-day")`)
	p.Click(`button[aria-label="Delete GSI1"]`)
	p.Wait("dialog[open] input[name=confirm]")
	p.Type("dialog[open] input[name=confirm]", "GSI1")
	p.Button("Delete")
	p.UntilText("There are none.")
	p.Button("Delete table")
	p.Wait("dialog[open] input[name=confirm]")
	p.Type("dialog[open] input[name=confirm]", "order")
	p.Until(`[...document.querySelectorAll("dialog[open] button")].find((b) => b.textContent === "Delete").disabled`)
	p.Type("dialog[open] input[name=confirm]", "s")
	look(p, "console-delete-table")
	p.Button("Delete")
	p.UntilText("orders is deleted.")
	p.UntilText("There are no tables yet")
}

// TestReadOnlyPage: a read-only page offers no changes.
func TestReadOnlyPage(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db, func(o *console.Options) { o.ReadOnly = true })
	p := webtest.Open(t, address+"/_console/#/tables/shop/settings", webtest.Language("pt-BR"), webtest.Phone)
	p.UntilText("GSI1PK")
	look(p, "console-read-only")
	p.Eval(fmt.Sprintf("location.hash = %q", at("USER#u-01", "PROFILE")[len("/_console/"):]))
	p.UntilText("João Silva")
	for _, word := range []string{"Criar", "Editar", "Excluir", "Duplicar", "Salvar", "Desativar"} {
		p.Until(fmt.Sprintf(`![...document.querySelectorAll("button, a")].some((b) => b.textContent.includes(%q))`, word))
	}
	p.Eval(`location.hash = "#/create"`)
	p.UntilText("Esta página não existe")
}

// TestSignInPage: if the endpoint requires signatures, the page asks for a key and continues where it was.
func TestSignInPage(t *testing.T) {
	t.Parallel()
	db, _, _ := guarded(t)
	p := webtest.Open(t, served(t, db, func(o *console.Options) { o.SignIn = true })+"/_console/#/tables/shop?pk=USER%23u-00", webtest.Expect("401"), webtest.Expect("400"))
	p.Type("input[name=id]", "READER")
	p.Type("input[name=secret]", "wrong\r")
	p.Wait(".notice.danger")
	look(p, "console-sign-in")
	p.Eval(`document.querySelector("input[name=secret]").value = ""`)
	p.Type("input[name=secret]", "reader-secret\r")
	p.UntilText("not authorized to perform: dynamodb:DescribeTable") // denied by the policies of the key
}

// statement replaces the statement in the editor.
func statement(p *webtest.Page, text string) {
	p.Wait(".code-editor.ready")
	p.Eval(`document.querySelector(".code-editor").shadowRoot.querySelector(".cm-content").focus()`)
	p.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// TestPartiQL: a statement is run by keyboard, and errors are AWS's.
func TestPartiQL(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/partiql", webtest.Dark, webtest.Expect("400"))
	p.UntilText("One statement at a time")
	look(p, "console-partiql-empty")
	statement(p, `SELECT SK, total FROM "shop" WHERE PK = 'USER#u-01' AND SK > 'ORDER#2026-11-18' AND total > 200`)
	p.Button("Run")
	p.UntilText("1 item")
	p.UntilText("232.5")
	p.Until(`location.hash.startsWith("#/partiql?statement=SELECT")`)
	look(p, "console-partiql")
	statement(p, "nonsense")
	p.Button("Run")
	p.UntilText("ValidationException")
	p.UntilText("Compare names, types and keys") // our hint next to AWS's message
	p.Until(`document.querySelector(".code-editor").shadowRoot.querySelector(".cm-lintRange-error") !== null`)
	look(p, "console-partiql-fault")
}
