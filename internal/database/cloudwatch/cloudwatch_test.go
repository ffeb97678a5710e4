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
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/cloudwatch"
	"github.com/monotable/monotable/internal/database/cloudwatch/history"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
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
	return cloudwatch.New(h, newRules(now), now, slog.New(slog.DiscardHandler))
}

const rule = "DynamoDBContributorInsights-SKC-things-1"

// newRules are those of one rule: a key read with 2.5 units in two events, and another with 1.5, a minute later the second
// with 2 in one.
func newRules(now func() time.Time) cloudwatch.Rules {
	var tracker insights.Tracker
	for _, e := range []struct {
		pk    string
		units float64
		after time.Duration
	}{{"a", 2, 0}, {"a", 0.5, 0}, {"b", 1.5, 0}, {"b", 2, time.Minute}} {
		key := insights.KeyOf([]attr.Value{attr.String(e.pk)}, []attr.Value{attr.ParseNumber("7")})
		tracker.Count(insights.Accessed, key, e.units, now().Add(e.after))
	}
	return func(name string, from, to time.Time) (insights.Report, bool) {
		return insights.Report{
			Event: insights.Accessed, Labels: []string{"pk", "sk"},
			Minutes: tracker.Counted(insights.Accessed, true, from, to, now().Add(time.Minute)),
		}, name == rule
	}
}

// TestInsightRuleReport: what a rule counted, by contributor and by period.
func TestInsightRuleReport(t *testing.T) {
	h := newHandler(t)
	const metrics = `["UniqueContributors","MaxContributorValue","SampleCount","Sum","Minimum","Maximum","Average"]`
	for more, want := range map[string]string{
		`,"Period":60,"MaxContributorCount":1,"Metrics":` + metrics: `{"KeyLabels":["pk","sk"],"AggregationStatistic":"SUM","AggregateValue":6,` +
			`"ApproximateUniqueCount":2,"Contributors":[{"Keys":["b","7"],"ApproximateAggregateValue":3.5,"Datapoints":[` +
			`{"Timestamp":1772366400,"ApproximateValue":1.5},{"Timestamp":1772366460,"ApproximateValue":2}]}],"MetricDatapoints":[` +
			`{"Timestamp":1772366400,"UniqueContributors":2,"MaxContributorValue":2.5,"SampleCount":3,"Average":1.3333333333333333,"Sum":4,"Minimum":0.5,"Maximum":2},` +
			`{"Timestamp":1772366460,"UniqueContributors":1,"MaxContributorValue":2,"SampleCount":1,"Average":2,"Sum":2,"Minimum":2,"Maximum":2}]}`,
		`,"Period":60,"MaxContributorCount":1,"OrderBy":"Maximum"`: `{"KeyLabels":["pk","sk"],"AggregationStatistic":"SUM","AggregateValue":6,` +
			`"ApproximateUniqueCount":2,"Contributors":[{"Keys":["a","7"],"ApproximateAggregateValue":2.5,"Datapoints":[` +
			`{"Timestamp":1772366400,"ApproximateValue":2.5}]}],"MetricDatapoints":[]}`,
		`,"Period":300,"Metrics":["Sum"]`: `{"KeyLabels":["pk","sk"],"AggregationStatistic":"SUM","AggregateValue":6,` +
			`"ApproximateUniqueCount":2,"Contributors":[{"Keys":["b","7"],"ApproximateAggregateValue":3.5,"Datapoints":[` +
			`{"Timestamp":1772366400,"ApproximateValue":3.5}]},{"Keys":["a","7"],"ApproximateAggregateValue":2.5,"Datapoints":[` +
			`{"Timestamp":1772366400,"ApproximateValue":2.5}]}],"MetricDatapoints":[{"Timestamp":1772366400,"Sum":6}]}`,
	} {
		got := callJSON(t, h, "GetInsightRuleReport", `{"RuleName":"`+rule+`",`+span+more+`}`)
		if diff := cmp.Diff(want, got.body); diff != "" || got.status != 200 {
			t.Errorf("%s: %d %s", more, got.status, diff)
		}
	}
	got := callQuery(t, h, "Action=GetInsightRuleReport&RuleName="+rule+"&StartTime=2026-03-01T12:01:00&EndTime=2026-03-01T13:00:00&Period=60&Metrics.member.1=Sum")
	const wantXML = `<GetInsightRuleReportResult><KeyLabels><member>pk</member><member>sk</member></KeyLabels>` +
		`<AggregationStatistic>SUM</AggregationStatistic><AggregateValue>2</AggregateValue><ApproximateUniqueCount>1</ApproximateUniqueCount>` +
		`<Contributors><member><Keys><member>b</member><member>7</member></Keys><ApproximateAggregateValue>2</ApproximateAggregateValue>` +
		`<Datapoints><member><Timestamp>2026-03-01T12:01:00Z</Timestamp><ApproximateValue>2</ApproximateValue></member></Datapoints></member></Contributors>` +
		`<MetricDatapoints><member><Timestamp>2026-03-01T12:01:00Z</Timestamp><Sum>2</Sum></member></MetricDatapoints></GetInsightRuleReportResult>`
	if got.status != 200 || !strings.Contains(got.body, wantXML) {
		t.Errorf("XML: %+v", got)
	}
	if got := callJSON(t, h, "GetInsightRuleReport", `{"RuleName":"x",`+span+`,"Period":60}`); got.status != 404 ||
		got.header.Get("X-Amzn-Query-Error") != "ResourceNotFoundException;Sender" {
		t.Errorf("no such rule: %+v", got)
	}
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
	if !h.Serves(r, nil) {
		tb.Fatalf("%s %v is not served", path, header)
	}
	status, got, text := h.Serve(tb.Context(), nil, r, "request-1", body)
	return response{status, got, string(text)}
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
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"b*2"}]}`, "ValidationError", "no query has the Id b"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"b"},{"Id":"b","Expression":"a+1"}]}`, "ValidationError", "refers to itself"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"2"}]}`, "ValidationError", "one time series"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"METRICS()"}]}`, "ValidationError", "one time series"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"SELECT MAX(x)"}]}`, "ValidationError", "AVG, FILL, MAX"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"SEARCH(1)"}]}`, "ValidationError", "the function SEARCH"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"SUM(1)"}]}`, "ValidationError", "no values"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"PERIOD(1)"}]}`, "ValidationError", "PERIOD needs"},
			{`{` + span + `,"MetricDataQueries":[` + stat("m", "60", "Sum") + `,{"Id":"a","Expression":"m % 2"}]}`, "ValidationError", "operator %"},
			{`{` + span + `,"MetricDataQueries":[` + stat("m", "60", "Sum") + `,{"Id":"a","Expression":"m.x"}]}`, "ValidationError", "syntax"},
			{`{` + span + `,"MetricDataQueries":[` + stat("m", "60", "Sum") + `,{"Id":"a","Expression":"METRICS()+METRICS()"}]}`, "ValidationError", "two arrays"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"` + strings.Repeat("(", 2049) + `"}]}`, "ValidationError", "2048"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"` + strings.Repeat("(", 1001) + `b` + strings.Repeat(")", 1001) + `"}]}`, "ValidationError", "nested"},
			{`{` + span + `,"MetricDataQueries":[{"Id":"a","Expression":"` + strings.Repeat("(", 2000) + `"}]}`, "ValidationError", "syntax"},
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
		"GetInsightRuleReport": {
			{`{}`, "MissingParameter", "RuleName"},
			{`{"RuleName":"r"}`, "MissingParameter", "StartTime"},
			{`{"RuleName":"r","StartTime":60}`, "MissingParameter", "EndTime"},
			{`{"RuleName":"r",` + span + `}`, "MissingParameter", "Period"},
			{`{"RuleName":"r",` + span + `,"Period":0}`, "InvalidParameterValue", "Period"},
			{`{"RuleName":"r",` + span + `,"Period":9223372036854775807}`, "InvalidParameterValue", "Period"},
			{`{"RuleName":"r",` + span + `,"Period":60,"MaxContributorCount":101}`, "InvalidParameterValue", "1 to 100"},
			{`{"RuleName":"r",` + span + `,"Period":60,"OrderBy":"Average"}`, "InvalidParameterValue", "Sum, Maximum"},
			{`{"RuleName":"r",` + span + `,"Period":60,"Metrics":["p50"]}`, "InvalidParameterValue", "Metrics.member.1"},
			{`{"RuleName":"r","StartTime":60,"EndTime":60,"Period":60}`, "InvalidParameterValue", "must not equal"},
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

// TestMetricMath: 4 units, in writes of 1 and 3, in the one minute that there is.
func TestMetricMath(t *testing.T) {
	h := newHandler(t)
	metrics := stat("m1", "60", "Sum") + `,` + stat("m2", "60", "Maximum") + `,{"Id":"e","Expression":"m1*10"},` +
		strings.Replace(stat("none", "60", "Sum"), "things", "other", 1)
	for expression, want := range map[string]string{
		"m1 + m2":                   "[7]",
		"m1 - m2 * 2":               "[-2]",
		"(m1-m2)*2":                 "[2]",
		"-m1":                       "[-4]",
		"m1/PERIOD(m1)":             "[0.06666666666666667]",
		"m1/(m2-3)":                 "[]",
		"SUM(METRICS())":            "[7]",
		"MAX(METRICS()) / 2":        "[2]",
		"AVG(METRICS()*2)":          "[7]",
		"m1/SUM(m2)":                "[1.3333333333333333]",
		"e/100":                     "[0.4]",
		"m1+none":                   "[]",
		"m1+SUM(none)":              "[]",
		"m1+FILL(none, 1)":          "[5]",
		"MIN(FILL(METRICS(), 0.5))": "[0.5]",
	} {
		got := callJSON(t, h, "GetMetricData", `{`+span+`,"MetricDataQueries":[`+strings.ReplaceAll(metrics, `{"Id"`, `{"ReturnData":false,"Id"`)+
			`,{"Id":"x","Expression":"`+expression+`"}]}`)
		if got.status != 200 || !strings.Contains(got.body, `"MetricDataResults":[{"Id":"x","Label":"x","Timestamps":`) || !strings.Contains(got.body, `"Values":`+want+`,`) {
			t.Errorf("%s: %d %s, want %s", expression, got.status, got.body, want)
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
	f.Add([]byte(`{` + span + `,"MetricDataQueries":[` + stat("a", "60", "Sum") + `,{"Id":"b","Expression":"SUM(METRICS())/PERIOD(a)-FILL(a,1)"}]}`))
	f.Add([]byte(`{"RuleName":"` + rule + `",` + span + `,"Period":60,"MaxContributorCount":1,"Metrics":["Sum"],"OrderBy":"Maximum"}`))
	f.Add(bytes.Repeat([]byte{0x81}, 100))                                                                // nested arrays of CBOR
	f.Add([]byte{0xa1, 0x66, 'P', 'e', 'r', 'i', 'o', 'd', 0x9b, 255, 255, 255, 255, 255, 255, 255, 255}) // an array that says it is large
	h := newHandler(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, operation := range []string{"GetInsightRuleReport", "GetMetricData", "GetMetricStatistics", "ListMetrics"} {
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
