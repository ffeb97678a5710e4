package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// everywhere are the windows, themes and languages that each view is looked at in.
var everywhere = map[string][]webtest.Option{
	"desk": {}, "dark": {webtest.Dark}, "phone": {webtest.Phone, webtest.Language("es-MX")}, "phone dark": {webtest.Phone, webtest.Dark, webtest.Language("pt-BR")},
}

// change updates an item of the shop and deletes another.
func change(t *testing.T, db *monotable.DB) {
	t.Helper()
	_, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("shop"), Key: item{"PK": text("USER#u-01"), "SK": text("PROFILE")}, UpdateExpression: aws.String("SET vip = :v, address.city = :c REMOVE tags"),
		ExpressionAttributeValues: item{":v": &types.AttributeValueMemberBOOL{Value: true}, ":c": text("Mérida")},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: item{"PK": text("USER#u-01"), "SK": text("ORDER#2026-11-11")}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTail: changes show up as they are made, as what differs; older ones are asked for, and sought by key and kind.
func TestTail(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/stream")
	p.UntilText("Waiting for changes")
	look(p, "console-tail-waiting")
	change(t, db)
	p.UntilText("Mérida")
	p.UntilText("2 changes")
	p.Eval(`[...document.querySelectorAll(".tail-record summary")].find((s) => s.textContent.includes("Mérida")).focus()`)
	p.Press("\r") // a record opens by the keyboard
	p.UntilText("address.city")
	p.UntilText("Open the item")
	look(p, "console-tail-open")
	p.Button("Deleted")
	p.Until(`document.querySelectorAll(".tail-record").length === 1`)
	p.Button("Pause")
	p.UntilText("Paused")
	p.Button("Go on")
	p.UntilText("Live")
	p.Eval(`(() => { const s = document.querySelector(".tail-bar select"); s.value = "oldest"; s.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	p.UntilText("80 changes")
	p.Type("input[type=search]", "u-03 order")
	p.Until(`document.querySelectorAll(".tail-record").length === 12`)
	p.Click(".tail-record summary")
	p.Button("Open the item")
	p.Wait("dialog[open]")
}

// TestTailLooks: the stream in each window and theme.
func TestTailLooks(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	change(t, db)
	address := served(t, db)
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/_console/#/tables/shop/stream", with...)
			p.Wait(".tail-bar select")
			p.Eval(`(() => { const s = document.querySelector(".tail-bar select"); s.value = "oldest"; s.dispatchEvent(new Event("input", {bubbles: true})); })()`)
			p.UntilText("Mérida")
			p.Type("input[type=search]", "u-01")
			p.Eval(`[...document.querySelectorAll(".tail-record summary")].find((s) => s.textContent.includes("Mérida")).click()`)
			p.UntilText("address.city")
			look(p, "console-tail")
		})
	}
}

// TestTurnOnStream: where no stream is on, the view says what it would show, and turns it on; a read-only console does not offer it.
func TestTurnOnStream(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	if _, err := db.Client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String("shop"), StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)}}); err != nil {
		t.Fatal(err)
	}
	readOnly := webtest.Open(t, served(t, db, func(o *console.Options) { o.ReadOnly = true })+"/_console/#/tables/shop/stream")
	readOnly.UntilText("This table has no stream")
	readOnly.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent === "Turn on the stream")`)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/stream")
	p.UntilText("This table has no stream")
	look(p, "console-tail-off")
	p.Button("Turn on the stream")
	p.UntilText("Waiting for changes")
	change(t, db)
	p.UntilText("Mérida")
}

// TestServices: operations of other services are sent to where AWS has them, signed for them; elsewhere there is one address.
func TestServices(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ endpoint, operation, host, target, scope string }{
		{"https://dynamodb.eu-west-1.amazonaws.com/", "Query", "dynamodb.eu-west-1.amazonaws.com", "DynamoDB_20120810.Query", "/us-east-1/dynamodb/"},
		{"https://dynamodb.eu-west-1.amazonaws.com/", "GetRecords", "streams.dynamodb.eu-west-1.amazonaws.com", "DynamoDBStreams_20120810.GetRecords", "/us-east-1/dynamodb/"},
		{"https://dynamodb.cn-north-1.amazonaws.com.cn/", "GetMetricData", "monitoring.cn-north-1.amazonaws.com.cn", "GraniteServiceVersion20100801.GetMetricData", "/us-east-1/monitoring/"},
		{"http://127.0.0.1:8000/", "GetMetricData", "127.0.0.1:8000", "GraniteServiceVersion20100801.GetMetricData", "/us-east-1/monitoring/"},
		{"https://dynamodb.example.com/", "DescribeStream", "dynamodb.example.com", "DynamoDBStreams_20120810.DescribeStream", "/us-east-1/dynamodb/"},
	} {
		sent := make(recorder, 1)
		address := served(t, monotabletest.New(t), func(o *console.Options) { o.Endpoint, o.Client = test.endpoint, sent })
		post(t, address+"/_console/api/"+test.operation, `{}`)
		r := <-sent
		if r.URL.Host != test.host || r.Header.Get("X-Amz-Target") != test.target || !strings.Contains(r.Header.Get("Authorization"), test.scope) {
			t.Errorf("%s of %s: sent to %s, %s, signed %s", test.operation, test.endpoint, r.URL.Host, r.Header.Get("X-Amz-Target"), r.Header.Get("Authorization"))
		}
	}
}

// recorder is an endpoint that cannot be reached from a test: AWS.
type recorder chan *http.Request

func (c recorder) Do(r *http.Request) (*http.Response, error) {
	c <- r
	return nil, http.ErrServerClosed
}
