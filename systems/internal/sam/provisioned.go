package sam

import (
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/systems/internal/designcheck"
)

// stageMark stands for {stage} when names are compared.
const stageMark = "STAGE"

// provisioned is the output of monotable provision for a design.
type provisioned struct {
	design *design.Design

	parameters, resources, outputs object

	tables   []tableResource
	policies map[string]Policy // of functions, with stageMark for {stage}
}

// tableResource is a table in the template.
type tableResource struct {
	id, name string // the name with stageMark for {stage}
	indexes  []string
}

func (t Template) provision(tb testing.TB) *provisioned {
	tb.Helper()
	read := func(args ...string) object {
		var out object
		text := designcheck.Command(tb, append([]string{"provision", t.Design}, args...)...)
		if err := yaml.UnmarshalWithOptions([]byte(text), &out, yaml.UseOrderedMap()); err != nil {
			tb.Fatal(err)
		}
		return out
	}
	template := read("--as", "sam")
	d, err := design.Load(t.Design)
	if err != nil {
		tb.Fatal(err)
	}
	p := &provisioned{design: d, policies: t.policies(tb, stageMark)}
	p.parameters, _ = get(template, "Parameters").(object)
	p.resources, _ = get(template, "Resources").(object)
	p.outputs, _ = get(template, "Outputs").(object)
	named, _ := get(read("--as", "sam", "--set", "stage="+stageMark), "Resources").(object)
	for i, resource := range named {
		id, _ := p.resources[i].Key.(string)
		properties, _ := get(resource.Value.(object), "Properties").(object) //nolint:forcetypeassert // a resource is a mapping
		t := tableResource{id: id}
		t.name, _ = get(properties, "TableName").(string)
		list, _ := get(properties, "GlobalSecondaryIndexes").([]any)
		for _, index := range list {
			name, _ := get(index.(object), "IndexName").(string) //nolint:forcetypeassert // an index is a mapping
			t.indexes = append(t.indexes, name)
		}
		p.tables = append(p.tables, t)
	}
	return p
}

// table finds a table by its name in the design or its physical name.
func (p *provisioned) table(tb testing.TB, name string) tableResource {
	tb.Helper()
	for i, t := range p.tables { // in the design's order
		if p.design.Tables[i].Name == name || t.name == name {
			return t
		}
	}
	tb.Fatalf("the design has no table %s", name)
	return tableResource{}
}

// alarms returns alarms for throttled requests: more than five in each of two periods of five minutes, for a table and its
// indexes.
func (p *provisioned) alarms() object {
	var out object
	for _, t := range p.tables {
		metric := func(id, name, index string) object {
			dimensions := []object{of("Name", "TableName", "Value", ref(t.id))}
			if index != "" {
				dimensions = append(dimensions, of("Name", "GlobalSecondaryIndexName", "Value", index))
			}
			return of("Id", id, "ReturnData", false, "MetricStat", of(
				"Metric", of("Namespace", "AWS/DynamoDB", "MetricName", name, "Dimensions", dimensions), "Period", 300, "Stat", "Sum",
			))
		}
		metrics := []object{of("Id", "throttled", "Expression", "SUM(METRICS())", "Label", "Throttled requests")}
		for i, index := range append([]string{""}, t.indexes...) {
			of := string(rune('a' + i))
			metrics = append(metrics, metric("reads_"+of, "ReadThrottleEvents", index), metric("writes_"+of, "WriteThrottleEvents", index))
		}
		out = append(out, of(t.id+"ThrottleAlarm", alarm("More than five requests were throttled in each of two periods",
			"Metrics", metrics, "EvaluationPeriods", 2, "Threshold", 5,
		))...)
	}
	return out
}
