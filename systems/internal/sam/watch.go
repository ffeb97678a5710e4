package sam

import (
	"encoding/json"
	"fmt"
	"testing"
)

// alarm returns an alarm that notifies the topic when a threshold is exceeded, and when the alarm is over.
func alarm(about string, properties ...any) object {
	return of("Type", "AWS::CloudWatch::Alarm", "Properties", append(append(of("AlarmDescription", about), of(properties...)...), of(
		"ComparisonOperator", "GreaterThanThreshold", "TreatMissingData", "notBreaching",
		"AlarmActions", []object{ref(alarmTopic)}, "OKActions", []object{ref(alarmTopic)},
	)...))
}

// functionsOfAlarm is how many functions share an alarm, which can have ten metrics: two per function.
const functionsOfAlarm = 5

// functions are the ids of all functions. Groups of them share an alarm, so that a template does not have hundreds.
type functions []string

func (t Template) watched() functions {
	var ids functions
	for _, r := range t.Routes {
		ids = append(ids, logicalID(r.ID)+"Function")
	}
	if t.Pages != nil {
		ids = append(ids, pagesFunction)
	}
	for _, s := range t.Streams {
		ids = append(ids, logicalID(s.Name)+"Function", logicalID(s.Name)+"RedriveFunction")
	}
	for _, s := range t.Schedules {
		ids = append(ids, logicalID(s.Name)+"Function")
	}
	return ids
}

func functionsAlarm(n int) string { return fmt.Sprintf("Functions%dAlarm", n/functionsOfAlarm+1) }

// preference is how a function is deployed: it is rolled back when its alarm goes off. The API's alarm cannot be used, because
// the API depends on the alias, and the alias on the alarm.
func (f functions) preference(id string) object {
	for n, other := range f {
		if other == id {
			return of("Type", ref(deployment), "Alarms", []object{ref(functionsAlarm(n))})
		}
	}
	return nil
}

// alarms returns alarms for functions that fail or are throttled.
func (f functions) alarms() object {
	var out object
	for first := 0; first < len(f); first += functionsOfAlarm {
		metrics := []object{of("Id", "faults", "Expression", "SUM(METRICS())", "Label", "Errors and throttled calls")}
		for n, id := range f[first:min(first+functionsOfAlarm, len(f))] {
			for _, name := range []string{"Errors", "Throttles"} {
				metrics = append(metrics, of("Id", fmt.Sprintf("%c_%d", name[0]+'a'-'A', n), "ReturnData", false, "MetricStat", of(
					"Metric", of("Namespace", "AWS/Lambda", "MetricName", name, "Dimensions", []object{of("Name", "FunctionName", "Value", ref(id))}),
					"Period", 60, "Stat", "Sum",
				)))
			}
		}
		out = append(out, of(functionsAlarm(first), alarm("Functions fail, or are throttled: the dashboard says which",
			"Metrics", metrics, "EvaluationPeriods", 1, "Threshold", 0,
		))...)
	}
	return out
}

// serverErrors returns the alarm for 5xx responses: more than five in each of two minutes.
func serverErrors() object {
	return of("ServerErrorsAlarm", alarm("The API responds with 5xx",
		"Namespace", "AWS/ApiGateway", "MetricName", "5xx", "Dimensions", []object{of("Name", "ApiId", "Value", ref("Api"))},
		"Statistic", "Sum", "Period", 60, "EvaluationPeriods", 2, "Threshold", 5,
	))
}

// dashboard shows the API, the functions, the age of streams and, for each table and index, its consumption, latency, throttling
// and failed conditions.
func (t Template) dashboard(tb testing.TB, p *provisioned, watched functions) object {
	tb.Helper()
	var widgets []any
	widget := func(title, stat string, metrics ...[]any) {
		widgets = append(widgets, map[string]any{
			"type": "metric", "width": 12, "height": 6,
			"properties": map[string]any{"title": title, "region": "${AWS::Region}", "stat": stat, "period": 300, "metrics": metrics},
		})
	}
	api := func(name string) []any { return []any{"AWS/ApiGateway", name, "ApiId", "${Api}"} }
	widget("Requests", "Sum", api("Count"), api("4xx"), api("5xx"))
	widget("Latency, p99", "p99", api("Latency"), api("IntegrationLatency"))
	for _, name := range []string{"Errors", "Throttles"} {
		var metrics [][]any
		for _, id := range watched {
			metrics = append(metrics, []any{"AWS/Lambda", name, "FunctionName", "${" + id + "}"})
		}
		widget("Functions: "+name, "Sum", metrics...)
	}
	for _, s := range t.Streams {
		widget("Age of what "+s.Name+" follows", "Maximum", []any{"AWS/Lambda", "IteratorAge", "FunctionName", "${" + logicalID(s.Name) + "Function}"})
	}
	for _, of := range p.tables {
		table := "${" + of.id + "}"
		var consumed, throttled, latency [][]any
		for _, name := range []string{"Read", "Write"} {
			consumed = append(consumed, []any{"AWS/DynamoDB", "Consumed" + name + "CapacityUnits", "TableName", table})
			throttled = append(throttled, []any{"AWS/DynamoDB", name + "ThrottleEvents", "TableName", table})
			for _, index := range of.indexes {
				consumed = append(consumed, []any{"AWS/DynamoDB", "Consumed" + name + "CapacityUnits", "TableName", table, "GlobalSecondaryIndexName", index})
				throttled = append(throttled, []any{"AWS/DynamoDB", name + "ThrottleEvents", "TableName", table, "GlobalSecondaryIndexName", index})
			}
		}
		for _, operation := range []string{"GetItem", "Query", "PutItem", "UpdateItem", "TransactWriteItems"} {
			latency = append(latency, []any{"AWS/DynamoDB", "SuccessfulRequestLatency", "TableName", table, "Operation", operation})
		}
		widget(table+": consumed", "Sum", consumed...)
		widget(table+": throttled, and conditions that failed", "Sum", append(throttled, []any{"AWS/DynamoDB", "ConditionalCheckFailedRequests", "TableName", table})...)
		widget(table+": latency", "Average", latency...)
	}
	body, err := json.Marshal(map[string]any{"widgets": widgets})
	if err != nil {
		tb.Fatal(err)
	}
	return of("Type", "AWS::CloudWatch::Dashboard", "Properties", of(
		"DashboardName", sub("${AWS::StackName}-${"+stageParameter+"}"), "DashboardBody", sub(string(body)),
	))
}
