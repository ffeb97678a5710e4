package cloudwatch_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/monotable/monotable/internal/database/cloudwatch"
	"github.com/monotable/monotable/internal/database/cloudwatch/history"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newHandler serves the metrics of a table "things", to which 1 and 3 units were written in the minute of start.
func newHandler(tb testing.TB) *cloudwatch.Handler {
	tb.Helper()
	counts, now := observe.New("PutItem"), func() time.Time { return start }
	things := &catalog.Table{Name: "things", Descriptor: &catalog.Descriptor{Name: "things", Billing: catalog.Billing{OnDemand: true}}}
	h := history.Start(history.Options{
		Store: memkv.New(), Observe: counts, Now: now, Logger: slog.New(slog.DiscardHandler),
		Tables: func() history.Tables { return history.Tables{"things": things} },
	})
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Error(err)
		}
	})
	counts.Table("things").Write.Add(1)
	counts.Table("things").Write.Add(3)
	return cloudwatch.New(h, now, slog.New(slog.DiscardHandler))
}

type response struct {
	status int
	header http.Header
	body   string
}

func call(tb testing.TB, h *cloudwatch.Handler, path string, header map[string]string, body []byte) response {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, path, nil)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	if !h.Serves(r) {
		tb.Fatalf("%s %v is not served", path, header)
	}
	status, got, answer := h.Serve(tb.Context(), r, "request-1", body)
	return response{status, got, string(answer)}
}

func callJSON(tb testing.TB, h *cloudwatch.Handler, operation, body string) response {
	tb.Helper()
	return call(tb, h, "/", map[string]string{"X-Amz-Target": "GraniteServiceVersion20100801." + operation}, []byte(body))
}

func callQuery(tb testing.TB, h *cloudwatch.Handler, parameters string) response {
	tb.Helper()
	return call(tb, h, "/", map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
		[]byte("Version=2010-08-01&"+parameters))
}

func callCBOR(tb testing.TB, h *cloudwatch.Handler, operation string, body []byte) response {
	tb.Helper()
	return call(tb, h, "/service/GraniteServiceVersion20100801/operation/"+operation, map[string]string{"Smithy-Protocol": "rpc-v2-cbor"}, body)
}

const (
	span   = `"StartTime":1772366400,"EndTime":1772370000`
	things = `"Namespace":"AWS/DynamoDB","MetricName":"ConsumedWriteCapacityUnits","Dimensions":[{"Name":"TableName","Value":"things"}]`
)

// TestProtocols: one request, and one that is refused, in the three forms that clients write and read.
func TestProtocols(t *testing.T) {
	h := newHandler(t)
	got := callJSON(t, h, "GetMetricStatistics", "{"+things+","+span+`,"Period":60,"Statistics":["Sum","Maximum"]}`)
	const wantJSON = `{"Label":"ConsumedWriteCapacityUnits","Datapoints":[{"Timestamp":1772366400,"Sum":4,"Maximum":3,"Unit":"Count"}]}`
	if got.body != wantJSON || got.status != 200 || got.header.Get("Content-Type") != "application/x-amz-json-1.0" {
		t.Errorf("JSON: %+v", got)
	}
	got = callQuery(t, h, "Action=GetMetricStatistics&Namespace=AWS%2FDynamoDB&MetricName=ConsumedWriteCapacityUnits"+
		"&Dimensions.member.1.Name=TableName&Dimensions.member.1.Value=things&StartTime=2026-03-01T12:00:00Z"+
		"&EndTime=2026-03-01T13:00:00.5Z&Period=60&Statistics.member.1=Sum")
	const wantXML = `<GetMetricStatisticsResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><GetMetricStatisticsResult>` +
		`<Label>ConsumedWriteCapacityUnits</Label><Datapoints><member><Timestamp>2026-03-01T12:00:00Z</Timestamp><Sum>4</Sum>` +
		`<Unit>Count</Unit></member></Datapoints></GetMetricStatisticsResult><ResponseMetadata><RequestId>request-1</RequestId>` +
		"</ResponseMetadata></GetMetricStatisticsResponse>\n"
	if got.body != wantXML || got.status != 200 || got.header.Get("Content-Type") != "text/xml" {
		t.Errorf("XML: %+v", got)
	}
	got = callQuery(t, h, "Action=GetMetricStatistics&Namespace=%3C")
	const wantFault = `<ErrorResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><Error><Type>Sender</Type><Code>MissingParameter</Code>` +
		"<Message>The parameter MetricName is required.</Message></Error><RequestId>request-1</RequestId></ErrorResponse>\n"
	if got.body != wantFault || got.status != 400 {
		t.Errorf("XML of a fault: %+v", got)
	}
	body, err := cbor.Marshal(map[string]any{"Namespace": "AWS/DynamoDB"})
	if err != nil {
		t.Fatal(err)
	}
	got = callCBOR(t, h, "GetMetricStatistics", body)
	var fault map[string]string
	if err := cbor.Unmarshal([]byte(got.body), &fault); err != nil || got.status != 400 || got.header.Get("Smithy-Protocol") != "rpc-v2-cbor" ||
		got.header.Get("X-Amzn-Query-Error") != "MissingParameter;Sender" ||
		fault["__type"] != "com.amazonaws.cloudwatch#MissingRequiredParameterException" {
		t.Errorf("CBOR of a fault: %+v, %v, %v", got, fault, err)
	}
}

// stat is a query of GetMetricData.
func stat(id, period, statistic string) string {
	return `{"Id":"` + id + `","MetricStat":{"Metric":{` + things + `},"Period":` + period + `,"Stat":"` + statistic + `"}}`
}

// TestRefusals: what is wrong is refused with CloudWatch's code, whatever stands beside it.
func TestRefusals(t *testing.T) {
	h := newHandler(t)
	type refusal struct{ input, code, part string }
	for operation, refusals := range map[string][]refusal{
		"GetMetricStatistics": {
			{`[]`, "MalformedInput", "read"},
			{`{"Period":"60"}`, "MalformedInput", "read"},
			{`{"StartTime":1e300}`, "MalformedInput", "1970"},
			{`{}`, "MissingParameter", "Namespace"},
			{`{` + things + `}`, "MissingParameter", "StartTime"},
			{`{` + things + `,` + span + `}`, "MissingParameter", "Period"},
			{`{` + things + `,` + span + `,"Period":0,"Statistics":["Sum"]}`, "InvalidParameterValue", "Period"},
			{`{` + things + `,` + span + `,"Period":90,"Statistics":["Sum"]}`, "InvalidParameterValue", "Period"},
			{`{` + things + `,` + span + `,"Period":9223372036854775740,"Statistics":["Sum"]}`, "InvalidParameterValue", "Period"},
			{`{` + things + `,` + span + `,"Period":1,"Statistics":["Sum"]}`, "InvalidParameterCombination", "You have requested up to 3600 datapoints, which exceeds the limit of 1440."},
			{`{` + things + `,"StartTime":60,"EndTime":60,"Period":60,"Statistics":["Sum"]}`, "InvalidParameterValue", "must not equal"},
			{`{` + things + `,"StartTime":120,"EndTime":60,"Period":60,"Statistics":["Sum"]}`, "InvalidParameterValue", "must be less"},
			{`{` + things + `,` + span + `,"Period":60}`, "InvalidParameterCombination", "At least one"},
			{`{` + things + `,` + span + `,"Period":60,"Statistics":["Sum"],"ExtendedStatistics":["p9"]}`, "InvalidParameterCombination", "together"},
			{`{` + things + `,` + span + `,"Period":60,"Statistics":["p99"]}`, "InvalidParameterValue", "Statistics.member.1"},
			{`{` + things + `,` + span + `,"Period":60,"ExtendedStatistics":["p101"]}`, "InvalidParameterValue", "p101"},
			{`{` + things + `,` + span + `,"Period":60,"Statistics":["Sum"],"Unit":"Bananas"}`, "InvalidParameterValue", "Bananas"},
			{`{"Namespace":":a","MetricName":"b",` + span + `,"Period":60,"Statistics":["Sum"]}`, "InvalidParameterValue", "':'"},
			{`{"Namespace":"a","MetricName":"b","Dimensions":[{"Name":"n"}],` + span + `,"Period":60}`, "MissingParameter", "Dimensions.member.1.Value"},
		},
		"GetMetricData": {
			{`{}`, "MissingParameter", "MetricDataQueries"},
			{`{` + span + `,"MetricDataQueries":[{}]}`, "MissingParameter", "member.1.Id"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a"}]}`, "MissingParameter", "member.1.MetricStat"},
			{`{` + span + `,"MetricDataQueries":[` + stat("A", "60", "Sum") + `]}`, "ValidationError", "pattern"},
			{`{` + span + `,"MetricDataQueries":[` + stat("a", "60", "Sum") + `,` + stat("a", "60", "Sum") + `]}`, "ValidationError", "not unique"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"b*2"}]}`, "ValidationError", "metric math"},
			{`{` + span + `,"MetricDataQueries":[` + stat("a", "61", "Sum") + `]}`, "ValidationError", "Period"},
			{`{` + span + `,"MetricDataQueries":[` + stat("a", "60", "Min") + `]}`, "ValidationError", "The value Min for parameter"},
			{`{` + span + `,"MaxDatapoints":0,"MetricDataQueries":[` + stat("a", "60", "Sum") + `]}`, "ValidationError", "MaxDatapoints"},
			{`{` + span + `,"ScanBy":"x","MetricDataQueries":[` + stat("a", "60", "Sum") + `]}`, "ValidationError", "ScanBy"},
			{`{` + span + `,"NextToken":"x","MetricDataQueries":[` + stat("a", "60", "Sum") + `]}`, "InvalidNextToken", ""},
			{`{` + span + `,"MetricDataQueries":[` + strings.Repeat(`{},`, 500) + `{}]}`, "ValidationError", "greater than 500"},
		},
		"ListMetrics": {
			{`{"NextToken":"e30="}`, "InvalidParameterValue", "NextToken"},
			{`{"RecentlyActive":"PT4H"}`, "InvalidParameterValue", "PT3H"},
			{`{"Dimensions":[{"Value":"x"}]}`, "InvalidParameterValue", "Name"},
		},
		"PutMetricData": {{`{}`, "InvalidAction", "PutMetricData"}},
	} {
		for _, c := range refusals {
			got := callJSON(t, h, operation, c.input)
			var fault struct {
				Message string `json:"message"`
			}
			err := json.Unmarshal([]byte(got.body), &fault)
			if err != nil || got.status != 400 || got.header.Get("X-Amzn-Query-Error") != c.code+";Sender" || !strings.Contains(fault.Message, c.part) {
				t.Errorf("%s %.200s: %d %v %s, want %s with %q", operation, c.input, got.status, got.header, got.body, c.code, c.part)
			}
		}
	}
}

// TestLargeBodies are refused before they are decoded.
func TestLargeBodies(t *testing.T) {
	if got := callJSON(t, newHandler(t), "ListMetrics", strings.Repeat(" ", cloudwatch.BodyMax+1)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%+v", got)
	}
}

// FuzzRequests: no body causes a panic or a 500, in no protocol.
func FuzzRequests(f *testing.F) {
	f.Add([]byte(`{` + span + `,"MetricDataQueries":[` + stat("a", "60", "Sum") + `]}`))
	f.Add([]byte("Action=GetMetricData&MetricDataQueries.member.1.Id=a&MetricDataQueries.member.0=&StartTime=2026-03-01"))
	f.Add([]byte("Action=ListMetrics&Dimensions.member.1.Name=TableName&IncludeLinkedAccounts=true&" + url.QueryEscape("a.b.c.d.e.f.g.h.i.j.k.l.m.n") + "=1"))
	f.Add(bytes.Repeat([]byte{0x81}, 100))                                                                // nested arrays of CBOR
	f.Add([]byte{0xa1, 0x66, 'P', 'e', 'r', 'i', 'o', 'd', 0x9b, 255, 255, 255, 255, 255, 255, 255, 255}) // an array that says it is large
	h := newHandler(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, operation := range []string{"GetMetricData", "GetMetricStatistics", "ListMetrics"} {
			for _, got := range []response{
				callJSON(t, h, operation, string(body)), callCBOR(t, h, operation, body), callQuery(t, h, "Action="+operation+"&"+string(body)),
			} {
				if got.status >= http.StatusInternalServerError {
					t.Errorf("%s: %+v", operation, got)
				}
			}
		}
	})
}
