package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// asAWS is an endpoint with the host names of AWS. It accepts only the operations of AWS's SDK, with their members.
type asAWS struct {
	endpoint console.Doer

	mu     sync.Mutex
	called []string // operations called, without duplicates
	faults []string // requests that AWS would reject
}

// awsClients are the clients of the official SDK, by the prefix of X-Amz-Target, with the prefixes of their hosts.
var awsClients = map[string]struct {
	host   string
	client reflect.Type
}{
	"DynamoDB_20120810":             {"dynamodb.", reflect.TypeFor[*dynamodb.Client]()},
	"DynamoDBStreams_20120810":      {"streams.dynamodb.", reflect.TypeFor[*dynamodbstreams.Client]()},
	"GraniteServiceVersion20100801": {"monitoring.", reflect.TypeFor[*cloudwatch.Client]()},
}

// inputMember is the position of the input among the parameters of a client's method: receiver, context, input.
const inputMember = 2

func (a *asAWS) Do(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Host, "sts.us-east-1.") { // its requests have no target
		return a.endpoint.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	prefix, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var fault string
	if of, is := awsClients[prefix]; !is {
		fault = "no service " + prefix
	} else if method, is := of.client.MethodByName(name); !is {
		fault = "no such operation"
	} else if want := of.host + "us-east-1.amazonaws.com"; r.URL.Host != want {
		fault = "sent to " + r.URL.Host + ", want " + want
	} else {
		fault = foreign(body, method.Type.In(inputMember).Elem())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if fault != "" {
		a.faults = append(a.faults, fmt.Sprintf("%s.%s: %s: %s", prefix, name, fault, body))
		said := `{"__type":"com.amazonaws.dynamodb.v20120810#UnknownOperationException"}`
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(said)), Request: r}, nil
	}
	if !slices.Contains(a.called, name) {
		a.called = append(a.called, name)
	}
	if name == "DescribeAlarms" { // our server has none
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(alarms)), Request: r}, nil
	}
	return a.endpoint.Do(r)
}

// alarms are what CloudWatch returns: an alarm of a table and one of another service.
const alarms = `{"MetricAlarms":[
	{"AlarmName":"shop is throttled","StateReason":"Threshold crossed.","Namespace":"AWS/DynamoDB","MetricName":"ThrottledRequests","Dimensions":[{"Name":"TableName","Value":"shop"}]},
	{"AlarmName":"queue is long","StateReason":"Threshold crossed.","Namespace":"AWS/SQS","MetricName":"ApproximateNumberOfMessagesVisible","Dimensions":[]}
]}`

// foreign returns the first member of a body that the operation's input does not have.
func foreign(body []byte, input reflect.Type) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return err.Error()
	}
	for name := range members {
		if _, is := input.FieldByName(name); !is {
			return "no member " + name
		}
	}
	return ""
}

// TestAWS drives the views of the console against an endpoint that accepts only what AWS accepts, signatures included. The
// console sends no other requests, and it does not offer views that only a monotable server can fill.
func TestAWS(t *testing.T) {
	t.Parallel()
	db := monotabletest.NewWith(t, &monotable.Options{Auth: &monotable.Auth{Required: true, RootAccessKeyID: "ROOT", RootSecretAccessKey: "root-secret"}})
	shopTable(t, db)
	aws := &asAWS{endpoint: inprocess.Client{Handler: db.Handler()}}
	address := served(t, db, withDesign(t), func(o *console.Options) {
		o.Endpoint, o.Address, o.Client = "https://dynamodb.us-east-1.amazonaws.com/", "https://dynamodb.us-east-1.amazonaws.com", aws
		o.Credentials = credentials.NewStaticCredentialsProvider("ROOT", "root-secret", "")
	})
	stock(t, address, 2)
	p := webtest.Open(t, address+"/_console/")
	p.UntilText("ACTIVE")
	p.Until(`document.querySelector('a[href="#/server"]') === null`)
	p.UntilText("CloudWatch's alarm shop is throttled is on. Threshold crossed.")
	p.Until(`document.querySelectorAll(".warnings li").length === 1 && document.querySelector('.warnings a[href="#/tables/shop/metrics"]') !== null`)
	for _, view := range []struct{ at, until string }{
		{"", `document.querySelectorAll(".data-grid tbody tr").length >= 10`},
		{"?view=collection", `document.querySelector(".partition") !== null`},
		{"?view=entities", `document.querySelectorAll(".entity-group").length === 4`},
		{`?view=entities&item=%7B%22PK%22%3A%7B%22S%22%3A%22USER%23u-00%22%7D%2C%22SK%22%3A%7B%22S%22%3A%22ORDER%23o-1%22%7D%7D`, `document.querySelector(".key-explained") !== null`},
		{"?pk=USER%23u-00&op=begins_with&sk=ORDER%23", `document.body.innerText.includes("2 items")`},
		{"/patterns", `document.querySelectorAll(".table caption").length >= 1`},
		{"/patterns/OrdersOf?with=%7B%22userId%22%3A%22u-01%22%7D&run=1", `document.querySelectorAll(".pattern-result .entity-group tbody tr").length === 2`},
		{"/map", `[...document.querySelectorAll("button")].find((b) => b.textContent === "Count").click() === undefined`},
		{"/map", `document.querySelectorAll(".map-samples a").length > 3`},
		{"/checks", `[...document.querySelectorAll("button")].find((b) => b.textContent === "Compare").click() === undefined`},
		{"/checks", `document.querySelector(".checks .good") !== null`},
		{"/stream", `document.body.innerText.includes("Waiting for changes")`},
		{"/metrics", `document.querySelectorAll(".chart").length >= 3`},
		{"/backups", `document.body.innerText.includes("There are no backups")`},
		{"/settings", `document.body.innerText.includes("GSI1PK")`},
	} {
		p.Eval(`location.hash = "#/tables/shop` + view.at + `"`)
		p.Until(view.until)
		p.Until(`document.querySelector(".table-views a[href$='/past']") === null`)
	}
	p.Eval(`location.hash = "#/partiql"`)
	statement(p, `SELECT SK FROM "shop" WHERE PK = 'USER#u-00'`)
	p.Button("Run")
	p.Until(`document.querySelector(".data-grid tbody tr") !== null`)
	p.Eval(`location.hash = "#/backups"`)
	p.UntilText("There are no imports")
	p.Eval(`location.hash = "#/queries"`)
	p.Button("Create the table (on demand, billed per request)")
	p.UntilText("They are kept in the table")
	p.Eval(`location.hash = ` + fmt.Sprintf("%q", strings.TrimPrefix(at("USER#u-00", "ORDER#o-1"), "/_console/")))
	p.Button("Edit")
	fill(p, "Value of note", "no bag")
	p.Button("Review changes")
	p.UntilText("Save these changes?")
	p.Button("Save")
	p.UntilText("The item is saved.")
	aws.mu.Lock()
	defer aws.mu.Unlock()
	for _, fault := range aws.faults {
		t.Error(fault)
	}
	t.Logf("operations: %s", strings.Join(aws.called, " "))
}
