package console_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp/kb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// plainTable creates a table with a partition key and nothing else.
func plainTable(t *testing.T, db *monotable.DB, name string, items ...item) {
	t.Helper()
	if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(name), Item: i}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnsavedEdit: going back in the history, or reloading the page, asks before the changes of an item are lost.
func TestUnsavedEdit(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop", webtest.Phone)
	p.Wait(".data-grid tbody tr")
	p.Eval(fmt.Sprintf("location.hash = %q", at("USER#u-01", "PROFILE")[len("/_console/"):]))
	const asks = `(() => { const e = new Event("beforeunload", { cancelable: true }); dispatchEvent(e); return e.defaultPrevented; })()`
	p.Button("Edit")
	p.Until("!" + asks)
	fill(p, "Value of name", "João S.")
	p.Until(asks)
	p.Eval("history.back()")
	p.UntilText("Discard what you have typed?")
	look(p, "console-unsaved")
	p.Press(kb.Escape)
	p.Until(`document.querySelectorAll("dialog[open]").length === 1 && document.querySelector('[aria-label="Value of name"]').value === "João S."`)
	p.Eval("history.back()")
	p.UntilText("Discard what you have typed?")
	p.Button("Discard")
	p.Until(`document.querySelector("dialog[open]") === null && !location.hash.includes("item=")`)
}

// TestSessionEndsDuringEdit: the changes of an item are still there when its user has signed in again.
func TestSessionEndsDuringEdit(t *testing.T) {
	t.Parallel()
	db, _, _ := guarded(t)
	var ahead atomic.Int64
	p := webtest.Open(t, served(t, db, func(o *console.Options) {
		o.SignIn = true
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})+at("USER#u-01", "PROFILE"), webtest.Expect("401"))
	signIn := func() {
		t.Helper()
		p.Type("input[name=id]", "ROOT")
		p.Type("input[name=secret]", "root-secret\r")
	}
	signIn()
	p.Button("Edit")
	fill(p, "Value of name", "João S.")
	ahead.Store(int64(13 * time.Hour))
	p.Button("Review changes")
	p.Button("Save")
	p.UntilText("Your session has ended")
	look(p, "console-session-ended")
	ahead.Store(0) // the database would reject signatures of the future
	signIn()
	p.Until(`!document.body.innerText.includes("Your session has ended") && document.querySelector('[aria-label="Value of name"]').value === "João S."`)
	p.Button("Save")
	p.Until(`document.querySelector(".editor") === null`)
}

// TestJSONFaults: the JSON of an item that cannot be written says why, and the form does not become JSON while that would lose an attribute.
func TestJSONFaults(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+at("USER#u-01", "PROFILE"))
	p.Button("Edit")
	p.Wait(".editor .how")
	p.Until(`[...document.querySelectorAll(".editor .how-one")].find((b) => b.textContent === "JSON").click() === undefined`)
	statement(p, `{"PK": {"S": "USER#other"}, "SK": {"S": "PROFILE"}}`)
	p.UntilText("A key attribute cannot be changed")
	statement(p, `{"PK": {"S": "USER#u-01"}, "SK": {"S": "PROFILE"}, "total": {"N": "12,5"}}`)
	p.UntilText("total: This is not a number of up to 38 digits.")
	look(p, "console-json-fault")
	statement(p, `{"PK": {"S": "USER#u-01"}, "SK": {"S": "PROFILE"}, "total": {"N": "9007199254740993.5"}}`)
	p.Until(`document.querySelector(".editor .field-error") === null`)
	p.Button("Form")
	p.Button("Add attribute")
	p.Eval(`(() => { const e = [...document.querySelectorAll(".node-name")].pop(); e.value = "total"; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	p.UntilText("This is here twice.")
	p.Until(`[...document.querySelectorAll(".editor .how-one")].find((b) => b.textContent === "JSON").disabled`)
}

// TestStreamByKeyboard: arrow keys choose what a stream shows; a button turns it on.
func TestStreamByKeyboard(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	plainTable(t, db, "plain")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/plain/settings", webtest.Phone)
	tabTo(t, p, `e.tagName === "SELECT" && document.querySelector("label[for='" + CSS.escape(e.id) + "']").textContent === "Turn on with"`)
	p.Press(kb.ArrowDown + kb.ArrowDown)
	p.Until(`document.activeElement.selectedOptions[0].textContent === "Items after"`)
	look(p, "console-stream-choice")
	tabTo(t, p, `e.textContent === "Turn on" && e.closest(".card").textContent.startsWith("Stream")`)
	p.Press(kb.Enter)
	p.Until(`[...document.querySelectorAll("button")].some((b) => b.textContent === "Turn off")`)
	described, err := db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("plain")})
	if err != nil || described.Table.StreamSpecification == nil || described.Table.StreamSpecification.StreamViewType != types.StreamViewTypeNewImage {
		t.Errorf("%+v, %v", described.Table.StreamSpecification, err)
	}
}

// TestStatementOfAddress: the editor shows the statement of the address, also when the address changes while it is shown.
func TestStatementOfAddress(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	plainTable(t, db, "one", item{"id": text("1")})
	p := webtest.Open(t, served(t, db)+`/_console/#/partiql?statement=SELECT+*+FROM+"one"`)
	shows := func(text string) {
		t.Helper()
		p.Until(fmt.Sprintf(`document.querySelector(".code-editor.ready").shadowRoot.querySelector(".cm-content").textContent === %q`, text))
	}
	shows(`SELECT * FROM "one"`)
	p.Button("Run")
	p.UntilText("1 item")
	p.Eval(`location.hash = "#/partiql?" + new URLSearchParams({ statement: 'SELECT * FROM "two"' })`)
	shows(`SELECT * FROM "two"`)
	p.Until(`!document.body.innerText.includes("1 item")`) // that is the result of the other statement
	p.Eval("history.back()")
	shows(`SELECT * FROM "one"`)
}

// TestEnterInDialogs: Enter submits the form of a dialog, and Escape asks before what was typed is lost.
func TestEnterInDialogs(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	plainTable(t, db, "plain")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/plain/backups", webtest.Phone)
	p.Button("Create backup")
	p.Type("dialog[open] input[name=backup]", "-x")
	p.Press(kb.Escape)
	p.UntilText("Discard what you have typed?")
	p.Press(kb.Escape)
	p.Until(`document.querySelectorAll("dialog[open]").length === 1`)
	p.Type("dialog[open] input[name=backup]", kb.Enter)
	p.UntilText("is made.")
	p.Until(`document.querySelector("dialog[open]") === null`)
	p.Button("Restore")
	p.Type("dialog[open] input[name=target]", kb.Enter)
	p.Until(`location.hash === "#/tables/plain-restored/settings"`)
	p.Eval(`location.hash = "#/tables/plain/settings"`)
	p.Until(`document.querySelector("h1").textContent === "plain"`)
	p.Button("Add index")
	choose(p, "Name of the index", "by-day")
	choose(p, "Partition key", "day")
	p.Type("dialog[open] input", kb.Enter)
	p.Until(`document.querySelector("dialog[open]") === null`)
	p.UntilText("by-day")
}

// TestInheritedNames: tables and attributes may be named like the properties that all objects of JavaScript have.
func TestInheritedNames(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	plainTable(t, db, "constructor", item{"id": text("1"), "constructor": text("Ferrari"), "points": number("9007199254740993")}, item{"id": text("2"), "points": number("18")})
	p := webtest.Open(t, served(t, db)+"/_console/#/tables")
	p.Button("constructor")
	p.UntilText("2 items")
	p.UntilText("Ferrari")
	p.Button("2")
	p.Button("Edit")
	p.Button("Add attribute")
	p.Eval(`(() => { const e = [...document.querySelectorAll(".node-name")].pop(); e.value = "constructor"; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	fill(p, "Value of constructor", "Lotus")
	p.Button("Review changes")
	p.UntilText("Save these changes?")
	p.Button("Save")
	p.UntilText("The item is saved.")
	got, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("constructor"), Key: item{"id": text("2")}})
	if err != nil || got.Item["constructor"].(*s).Value != "Lotus" {
		t.Errorf("%v, %v", got.Item, err)
	}
}

// TestLongNames: names and values of the greatest length are shown on a phone without making the page wider.
func TestLongNames(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	name := strings.Repeat("abcdefghij", 25) + "12345"
	deep := types.AttributeValue(text("bottom"))
	for range 30 {
		deep = &m{Value: item{"level": deep}}
	}
	plainTable(t, db, name,
		item{"id": text(strings.Repeat("k", 2048)), strings.Repeat("n", 300): text("v"), "deep": deep},
		item{"id": text("big"), "text": text(strings.Repeat("0123456789", 40_000)), "raw": &types.AttributeValueMemberB{Value: make([]byte, 3000)}})
	address := served(t, db)
	for _, with := range [][]webtest.Option{{webtest.Phone, webtest.Dark, webtest.Language("es-MX")}, {webtest.Language("pt-BR")}} {
		p := webtest.Open(t, address+"/_console/#/tables", with...)
		p.UntilText(name)
		look(p, "console-long-tables")
		for _, view := range []string{"", "/settings", "/backups", "/metrics", "/stream", "/new", "/import"} {
			p.Eval(fmt.Sprintf("location.hash = %q", "#/tables/"+name+view))
			p.Until(`document.querySelector("h1") && document.querySelector(".skeleton, [aria-busy=true]") === null`)
			look(p, "console-long"+strings.ReplaceAll(view, "/", "-"))
		}
		for _, key := range []string{"big", strings.Repeat("k", 2048)} {
			p.Eval(fmt.Sprintf(`location.hash = "#/tables/%s?" + new URLSearchParams({ item: '{"id":{"S":"%s"}}' })`, name, key))
			p.Wait("dialog[open] .attributes")
			look(p, "console-long-item-"+key[:1])
			p.Until(`(() => { const e = document.querySelector("dialog[open] .float-body"); return e.scrollWidth <= e.clientWidth; })()`)
			p.Until(`[...document.querySelectorAll("dialog[open] .float-foot button")].pop().click() === undefined`)
			p.Wait("dialog[open] .editor .node")
			look(p, "console-long-edit-"+key[:1])
			p.Until(`(() => { const e = document.querySelector("dialog[open] .float-body"); return e.scrollWidth <= e.clientWidth; })()`)
			p.Press(kb.Escape)
			p.Until(`document.querySelector("dialog[open]") === null || document.querySelector("dialog[open] .editor") === null`)
		}
	}
}

// TestOtherPrograms: what other programs have changed is shown when a view is opened, without reloading the page.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	plainTable(t, db, "plain")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables")
	p.Until(`document.querySelector("tbody tr").textContent.startsWith("plainACTIVEid0")`)
	p.Button("plain")
	p.UntilText("This table has no items yet")
	p.Until(`!document.querySelector(".table-head").textContent.includes("–")`) // for no features
	for n := range 3 {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("plain"), Item: item{"id": text(fmt.Sprint(n))}}); err != nil {
			t.Fatal(err)
		}
	}
	plainTable(t, db, "second")
	p.Button("Settings")
	p.Until(`[...document.querySelectorAll(".stat")].some((e) => e.textContent === "Items3")`)
	p.Until(`[...document.querySelectorAll(".sidebar a")].some((e) => e.textContent === "second")`)
	p.Button("Tables")
	p.Until(`document.querySelector("tbody tr").textContent.startsWith("plainACTIVEid3")`)
}
