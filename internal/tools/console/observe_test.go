package console_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/web/webtest"
)

// observed is the console's response about the requests since the previous call.
type observed struct {
	After            string
	Total, Kept, Cut int
	UnknownItems     int `json:"unknownItems"`
	Groups, Foreign  []struct {
		Patterns              []string
		Shape                 *struct{ Operation, Index, Keys string }
		Count                 int
		ReadUnits, WriteUnits float64
		Took                  []float64
		Errors                map[string]int
	}
}

func observes(t *testing.T, address, after string) observed {
	t.Helper()
	return decoded[observed](t, post(t, address+"/_console/design/observe", fmt.Sprintf(`{"table":"shop","after":%q}`, after)))
}

// sdkAt returns an SDK client that connects over a socket.
func sdkAt(address string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &address, Region: "us-east-1", Retryer: aws.NopRetryer{}, Credentials: credentials.NewStaticCredentialsProvider("monotable", "monotable", ""),
	})
}

// traffic sends requests of two patterns, a failing one of a third, and some that match no pattern.
func traffic(ctx context.Context, t *testing.T, db *dynamodb.Client) {
	t.Helper()
	shop := aws.String("shop")
	user := item{"PK": text("USER#u-00"), "SK": text("PROFILE")}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		must(db.GetItem(ctx, &dynamodb.GetItemInput{TableName: shop, Key: user}))
	}
	must(db.Query(ctx, &dynamodb.QueryInput{
		TableName: shop, KeyConditionExpression: aws.String("PK = :pk AND begins_with(SK, :sk)"), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(10),
		ExpressionAttributeValues: item{":pk": text("USER#u-00"), ":sk": text("ORDER#")},
	}))
	if _, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: shop, Key: item{"PK": text("USER#u-00"), "SK": text("ORDER#o-9")}, UpdateExpression: aws.String("SET #s = :paid, GSI1PK = :key"),
		ConditionExpression: aws.String("#s = :open"), ExpressionAttributeNames: map[string]string{"#s": "status"},
		ExpressionAttributeValues: item{":paid": text("paid"), ":open": text("open"), ":key": text("STATUS#paid")},
	}); err == nil {
		t.Error("an order that does not exist was paid")
	}
	must(db.Scan(ctx, &dynamodb.ScanInput{TableName: shop}))
	must(db.Query(ctx, &dynamodb.QueryInput{
		TableName: shop, IndexName: aws.String("GSI1"), KeyConditionExpression: aws.String("GSI1PK = :pk"), ExpressionAttributeValues: item{":pk": text("TOTAL#" + strings.Repeat("9", 500))},
	}))
	for n := range 2 {
		must(db.PutItem(ctx, &dynamodb.PutItemInput{TableName: shop, Item: item{"PK": text(fmt.Sprintf("CART#%d", n)), "SK": text("OPEN"), "note": text(strings.Repeat("x", 100_000))}}))
	}
}

// TestObserve: requests are recorded while someone is watching, and grouped by the patterns they match, with their units and
// errors. Requests that match none are shown by their keys, with long values shortened.
func TestObserve(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	db := sdkAt(address)
	first := observes(t, address, "")
	if first.Total != 0 || len(first.Groups)+len(first.Foreign) != 0 {
		t.Errorf("before it was looked at: %+v", first)
	}
	traffic(t.Context(), t, db)
	for path, body := range map[string]string{ // requests of the console itself
		"api/Scan": `{"TableName":"shop"}`, "design/run": `{"table":"shop","pattern":"UserByID","arguments":{"userId":"u-00"}}`, "design/chart": `{"table":"shop"}`,
	} {
		if a := post(t, address+"/_console/"+path, body); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	seen := observes(t, address, first.After)
	if seen.Total != 9 || seen.Kept != 9 || seen.UnknownItems != 2 || seen.Cut != 0 {
		t.Errorf("%d requests, %d kept, %d unknown items, %d cut", seen.Total, seen.Kept, seen.UnknownItems, seen.Cut)
	}
	var told []string
	for _, g := range slices.Concat(seen.Groups, seen.Foreign) {
		name := strings.Join(g.Patterns, ", ")
		if g.Shape != nil {
			name = strings.Join([]string{g.Shape.Operation, g.Shape.Index, g.Shape.Keys}, "|")
		}
		told = append(told, fmt.Sprintf("%s: %d, %g RCU, %g WCU, %d timed, %v", name, g.Count, g.ReadUnits, g.WriteUnits, len(g.Took), g.Errors))
	}
	want := []string{
		"UserByID: 3, 1.5 RCU, 0 WCU, 3 timed, map[]",
		"OrdersOf: 1, 0.5 RCU, 0 WCU, 1 timed, map[]",
		"Pay: 1, 0 RCU, 1 WCU, 0 timed, map[ConditionalCheckFailedException:1]",
		"Scan||: 1, 0.5 RCU, 0 WCU, 1 timed, map[]",
		`Query|GSI1|GSI1PK = "TOTAL#` + strings.Repeat("9", 34) + `…": 1, 0.5 RCU, 0 WCU, 1 timed, map[]`,
		`PutItem||PK = "CART#1" AND SK = "OPEN": 2, 0 RCU, 196 WCU, 2 timed, map[]`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again := observes(t, address, seen.After); again.Total != 0 {
		t.Errorf("requests are reported twice: %+v", again)
	}
}

// TestObservePage: the page shows requests by pattern with rates, units and latencies as they arrive, and below them requests
// that match none and written items that match no entity. If there is nothing to show, it says why.
func TestObservePage(t *testing.T) {
	t.Parallel()
	database, address := designedShop(t, 1)
	elsewhere := served(t, database, withDesign(t), func(o *console.Options) { o.Served = &console.Served{} })
	db := sdkAt(address)
	for name, with := range map[string][]webtest.Option{"desk": {}, "night": {webtest.Phone, webtest.Dark, webtest.Language("es-MX")}} {
		t.Run(name, func(t *testing.T) {
			p := webtest.Open(t, address+"/_console/#/tables/shop/observe", with...)
			p.Until(`document.querySelectorAll(".observe table").length === 1`)
			p.Until(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("/design/observe") && e.responseEnd > 0)`)
			traffic(t.Context(), t, db)
			row := func(text string) string {
				return fmt.Sprintf(`[...document.querySelectorAll(".observe tbody tr")].some((r) => %s.every((x) => r.textContent.includes(x)))`, text)
			}
			p.Until(row(`["UserByID", "0.5", "RCU", "ms"]`))
			p.Until(row(`["OrdersOf", "ms"]`))
			p.Until(row(`["Pay", "ConditionalCheckFailedException"]`))
			p.Until(row(`["Scan", "ms"]`))
			p.Until(row(`["PutItem", "CART#1", "98", "WCU"]`))
			p.Until(`[...document.querySelectorAll(".observe .stat")].some((s) => s.querySelector("a[href$='/checks']") && s.querySelector(".stat-value").textContent === "2")`)
			look(p, "console-observe")
		})
	}
	shared := served(t, database, withDesign(t), func(o *console.Options) {
		o.Client = inprocess.Client{Handler: altered(database.Handler(), "ListRequests", func(response map[string]any) { response["Others"] = 2 })}
	})
	p := webtest.Open(t, shared+"/_console/#/tables/shop/observe")
	p.UntilText("2 other servers share the store")
	p = webtest.Open(t, elsewhere+"/_console/#/tables/shop/observe")
	p.UntilText("This endpoint does not list requests")
	look(p, "console-observe-missing")
}
