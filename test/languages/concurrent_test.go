package languages

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// TestConcurrentWrites tests that concurrent orders sell a stock completely and no more, and that one request sent several
// times concurrently is executed once. An order with a conflict in each attempt fails after five seconds and eight attempts.
func TestConcurrentWrites(t *testing.T) {
	inEach(t, "../generated/designs/shop.design.yaml", concurrentWrites)
}

func concurrentWrites(t *testing.T, l language, d *design.Design, dir string) {
	t.Helper()
	db := monotabletest.New(t)
	handler := &conflicting{Handler: db.Handler()}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	specs := provision.Specs(d, map[string]string{"stage": "test"})
	if err := provision.Apply(t.Context(), db.Client(), specs, t.Logf); err != nil {
		t.Fatal(err)
	}
	n := start(t, l, dir)
	call := func(operation string, arguments map[string]any, result any) {
		t.Helper()
		arguments["world"] = 1
		if failed, err := n.call(operation, arguments, result); failed != nil || err != nil {
			t.Fatalf("%s: %v, %v", operation, failed, err)
		}
	}
	call("open", map[string]any{
		"endpoint": server.URL, "tables": map[string]string{"shop": "shop-test"}, "now": int64(1736942400000), "concurrent": true,
		"cursorKey": base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}, nil)
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
	const stock, orders = 6, 10
	call("load", map[string]any{"records": []any{map[string]any{
		"entity": "Product", "values": jsonValues(table.Values{"productId": text("p"), "price": number(100), "stock": number(stock)}),
	}}}, nil)
	order := func(key, id int) map[string]any {
		return jsonInput(table.Input{
			Values: table.Values{"requestKey": text(fmt.Sprint("k", key)), "userId": text("ann"), "orderId": text(fmt.Sprintf("%026d", id))},
			Lines:  []table.Values{{"productId": text("p"), "quantity": number(1), "subtotal": number(100)}},
		})
	}
	inputs := []any{order(0, 0), order(0, 1), order(0, 2)} // one request, sent three times
	for i := 1; i < orders; i++ {
		inputs = append(inputs, order(i, 100+i))
	}
	left := func() string {
		t.Helper()
		out, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("shop-test"), Key: table.Item{"PK": text("PRODUCT#p"), "SK": text("PRODUCT")},
		})
		if err != nil {
			t.Fatal(err)
		}
		return jsonText(jsonValue(out.Item["stock"]))
	}
	done := 0
	for range 20 { // a write with conflicts for five seconds fails with Conflict, and is sent again
		var codes []string
		call("atOnce", map[string]any{"pattern": "PlaceOrder", "inputs": inputs}, &codes)
		again := false
		for i, code := range codes {
			if code != "" && code != "OutOfStock" && code != "Conflict" {
				t.Fatalf("order %d ends in %s", i, code)
			}
			again = again || code == "Conflict"
		}
		if done++; !again {
			break
		}
	}
	out, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("shop-test"), FilterExpression: aws.String("SK = :o"), ExpressionAttributeValues: table.Item{":o": text("ORDER")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) != stock || left() != `{"N":"0"}` {
		t.Errorf("%d orders were placed, and %s is left of a stock of %d, after %d rounds", len(out.Items), left(), stock, done)
	}
	handler.always.Store(true)
	begun := time.Now()
	var codes []string
	call("atOnce", map[string]any{"pattern": "PlaceOrder", "inputs": []any{order(1000, 1000)}}, &codes)
	if took := time.Since(begun); codes[0] != "Conflict" || took < 5*time.Second || handler.met.Load() < 8 {
		t.Errorf("%q after %v and %d attempts; want Conflict after five seconds and eight attempts", codes[0], took, handler.met.Load())
	}
}

// conflicting is a database's handler. If always is set, each TransactWriteItems fails with a conflict.
type conflicting struct {
	http.Handler
	always atomic.Bool
	met    atomic.Int64
}

func (c *conflicting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !c.always.Load() || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		c.Handler.ServeHTTP(w, r)
		return
	}
	c.met.Add(1)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":"TransactionConflict"}]}`)
}
