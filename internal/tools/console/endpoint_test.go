package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// endpointVariable names an endpoint to test with instead of our own server: test/systems sets it to DynamoDB Local.
const endpointVariable = "CONSOLE_ENDPOINT"

// TestEndpoint: a table of another process is created, filled, queried, edited in bulk, restored by undo and deleted.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	endpoint := os.Getenv(endpointVariable)
	if endpoint == "" {
		server := httptest.NewServer(monotabletest.New(t).Handler())
		t.Cleanup(server.Close)
		endpoint = server.URL
	}
	served := httptest.NewServer(console.New(console.Options{
		Endpoint: endpoint + "/", Address: endpoint, Region: "us-east-1", Client: http.DefaultClient, Credentials: credentials.NewStaticCredentialsProvider("console", "console", ""),
	}))
	t.Cleanup(served.Close)
	do := func(operation, body string) string {
		t.Helper()
		a := post(t, served.URL+"/_console/api/"+operation, body)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", operation, a.status, a.body)
		}
		return a.body
	}
	do("CreateTable", `{"TableName":"orders","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"N"}],`+
		`"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}`)
	var puts []string
	for n := range 20 {
		puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"PK":{"S":"USER#1"},"SK":{"N":"%d"},"status":{"S":"open"},"total":{"N":"0.1"}}}}`, n))
	}
	do("BatchWriteItem", `{"RequestItems":{"orders":[`+strings.Join(puts, ",")+`]}}`)
	p := webtest.Open(t, served.URL+"/_console/", webtest.Expect("400")) // features that the endpoint lacks
	p.Button("orders")
	p.UntilText("20 items")
	p.Eval(`location.hash = "#/tables/orders?pk=USER%231&op=between&sk=5&sk2=9&order=desc"`)
	p.UntilText("5 items")
	p.Click(`input[aria-label="Select all items of the page"]`)
	p.Button("Edit selected")
	p.Type("input[name=bulk-name-0]", "status")
	p.Type("input[name=bulk-value-0]", "sent")
	p.Button("Review changes")
	p.Button("Change 5 items")
	p.UntilText("5 items changed.")
	if body := do("Scan", `{"TableName":"orders","FilterExpression":"#s = :s","ExpressionAttributeNames":{"#s":"status"},"ExpressionAttributeValues":{":s":{"S":"sent"}}}`); !strings.Contains(body, `"Count":5`) {
		t.Errorf("after the change: %s", body)
	}
	p.Button("Undo")
	p.UntilText("5 items are as they were before.")
	p.Eval(`location.hash = "#/partiql"`)
	statement(p, `SELECT SK FROM "orders" WHERE PK = 'USER#1' AND SK < 3`)
	p.Button("Run")
	p.UntilText("3 items")
	p.Eval(`location.hash = "#/tables/orders/settings"`)
	p.Button("Delete table")
	p.Wait("dialog[open] input[name=confirm]")
	p.Type("dialog[open] input[name=confirm]", "orders")
	p.Button("Delete")
	p.UntilText("orders is deleted.")
}
