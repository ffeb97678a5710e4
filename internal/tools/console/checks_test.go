package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp/kb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// addNonconforming adds items to the shop that do not conform to its design: a cart, an order without its total, a user without their
// marker.
func addNonconforming(t *testing.T, db *monotable.DB) {
	t.Helper()
	table := aws.String("shop")
	if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: item{"PK": text("CART#1"), "SK": text("OPEN"), "sku": text("bean")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: table, Key: item{"PK": text("USER#u-00"), "SK": text("ORDER#o-1")}, UpdateExpression: aws.String("REMOVE #total"), ExpressionAttributeNames: map[string]string{"#total": "total"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: table, Key: item{"PK": text("EMAIL#ana0@example.com"), "SK": text("UNIQUE")}}); err != nil {
		t.Fatal(err)
	}
}

// lines returns the last progress and the result of a response, whose last line has the result.
func lines(t *testing.T, a response) (progress int, done json.RawMessage) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(a.body), "\n") {
		var said struct{ Progress, Done, Error json.RawMessage }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		if said.Progress != nil {
			progress++
		}
		if said.Error != nil {
			t.Fatal(string(said.Error))
		}
		done = said.Done
	}
	return progress, done
}

// TestConform: nonconforming items are found with their keys. A limit on the number of items suppresses findings that depend on
// several items.
func TestConform(t *testing.T) {
	t.Parallel()
	db, address := designedShop(t, 2)
	addNonconforming(t, db)
	check := func(limit int) string {
		t.Helper()
		progress, done := lines(t, post(t, address+"/_console/design/conform", fmt.Sprintf(`{"table":"shop","limit":%d}`, limit)))
		var got struct {
			Items    int
			Cut      bool
			Units    float64
			Findings []struct {
				Kind, Subject string
				Examples      []struct {
					Key     map[string]map[string]string
					Message string
				}
			}
		}
		if err := json.Unmarshal(done, &got); err != nil {
			t.Fatal(err)
		}
		if got.Units == 0 || !got.Cut && progress == 0 {
			t.Errorf("%d lines of progress, %v units", progress, got.Units)
		}
		told := []string{fmt.Sprintf("%d items, cut: %v", got.Items, got.Cut)}
		for _, f := range got.Findings {
			told = append(told, fmt.Sprintf("%s %s %s %s", f.Kind, f.Subject, f.Examples[0].Key["PK"]["S"], f.Examples[0].Key["SK"]["S"]))
		}
		return strings.Join(told, "\n")
	}
	want := "16 items, cut: false\nunknown shop CART#1 OPEN\nvalue Order.total USER#u-00 ORDER#o-1\nmarker-missing User.Email USER#u-00 PROFILE"
	if got := check(0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := check(15); !strings.HasPrefix(got, "15 items, cut: true") || strings.Contains(got, "marker") {
		t.Errorf("of 15 items:\n%s", got)
	}
	if a := post(t, address+"/_console/design/conform", `{"table":"nothing"}`); !strings.Contains(a.body, "NoDesign") {
		t.Errorf("a table without a design: %s", a.body)
	}
}

// votes serves a table whose design has races that break it.
func votes(t *testing.T) (address string) {
	t.Helper()
	db := monotabletest.New(t)
	if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("votes"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS}},
	}); err != nil {
		t.Fatal(err)
	}
	designs := new(console.Designs)
	if err := designs.AddFile("testdata/votes.design.yaml"); err != nil {
		t.Fatal(err)
	}
	return served(t, db, func(o *console.Options) { o.Designs = designs })
}

// TestCheckViews: findings link to nonconforming items, and a failing race is drawn, in each window size and theme.
func TestCheckViews(t *testing.T) {
	t.Parallel()
	db, shop := designedShop(t, 2)
	addNonconforming(t, db)
	races := votes(t)
	for name, with := range map[string][]webtest.Option{
		"desk": {}, "dark": {webtest.Dark}, "phone": {webtest.Phone, webtest.Language("es-MX")}, "night": {webtest.Phone, webtest.Dark, webtest.Language("pt-BR")},
	} {
		t.Run(name, func(t *testing.T) {
			p := webtest.Open(t, shop+"/_console/#/tables/shop/checks", with...)
			p.Until(`document.querySelectorAll(".wrong").length === 3`)
			look(p, "console-conform")
			p = webtest.Open(t, races+"/_console/#/tables/votes/checks", with...)
			p.Click(".checks > section:nth-of-type(2) button")
			p.Until(`document.querySelectorAll(".sequence").length >= 3`)
			p.Until(`document.querySelector(".sequence-step.crash") !== null`)
			look(p, "console-races")
			p.ShotOf(".races > li:first-child", "console-race")
		})
	}
	p := webtest.Open(t, shop+"/_console/#/tables/shop/checks")
	p.Until(`(() => { const a = [...document.querySelectorAll(".wrong-items a")].find((a) => a.textContent.includes("CART#1")); if (!a) return false; a.click(); return true; })()`)
	p.Until(`location.hash.startsWith("#/tables/shop?") && document.querySelector("dialog[open]") !== null`)
	p.UntilText("bean")
}

// TestChecksByKeyboard: comparing items, following a finding to its item and running a race work without a pointer.
func TestChecksByKeyboard(t *testing.T) {
	t.Parallel()
	db, shop := designedShop(t, 1)
	addNonconforming(t, db)
	p := webtest.Open(t, shop+"/_console/#/tables/shop/checks", webtest.Dark)
	p.Until(`document.querySelectorAll(".wrong").length === 3`)
	tabTo(t, p, `e.textContent === "Compare"`)
	p.Press(kb.Enter)
	p.Until(`document.querySelectorAll(".wrong").length === 3 && document.querySelector(".map-bar [role=status]").textContent.includes("RCU")`)
	tabTo(t, p, `e.matches(".wrong > summary") && e.textContent.includes("Order")`)
	p.Press(kb.Enter)
	p.Until(`!document.activeElement.parentElement.open`)
	p.Press(kb.Enter)
	p.Until(`document.activeElement.parentElement.open`)
	look(p, "console-conform-keys")
	tabTo(t, p, `e.matches(".wrong-items a")`)
	p.Press(kb.Enter)
	p.Wait("dialog[open]")
	p.UntilText("ORDER#o-1")
	p = webtest.Open(t, votes(t)+"/_console/#/tables/votes/checks")
	p.UntilText("Run the races")
	tabTo(t, p, `e.textContent === "Run the races"`)
	p.Press(kb.Enter)
	p.Until(`document.querySelectorAll(".sequence").length >= 3`)
	tabTo(t, p, `e.matches(".race > summary")`)
	tabTo(t, p, `e.matches(".race-finding a")`)
	p.Press(kb.Enter)
	p.Until(`location.hash.startsWith("#/tables/votes/patterns/")`)
}

// TestCollectionByDesign: the collection view uses the design's entities as kinds, and splits keys into their parts.
func TestCollectionByDesign(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	p := webtest.Open(t, address+"/_console/#/tables/shop?view=collection")
	p.Until(`[...document.querySelectorAll(".kinds .kind")].map((k) => k.textContent.replace(/^\W+/u, "")).sort().join() === "Line,Order,User,User · Email"`)
	p.Until(`document.querySelector(".entry .key-part") !== null`)
	look(p, "console-collection-design")
}
