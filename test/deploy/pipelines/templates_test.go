package pipelines

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awslabs/goformation/v7/schema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

type object = map[string]any

// TestTemplates: each resource of the systems' SAM templates has the properties and types documented by CloudFormation and SAM
// for its type, according to goformation's schema. `sam validate --lint`, which the pipelines run, checks more, but needs Python
// and AWS.
func TestTemplates(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.SamSchema))
	if err != nil {
		t.Fatal(err)
	}
	// AWS documents these, but the schema is older.
	definitions := document.(object)["definitions"].(object)
	properties(definitions["AWS::Serverless::HttpApi"].(object)["properties"].(object)["Properties"])["AccessLogSettings"] = object{"type": "object"}
	properties(definitions["AWS::Serverless::Function.DynamoDBEvent"])["FilterCriteria"] = object{"type": "object"}
	events := properties(definitions["AWS::Serverless::Function.EventSource"])["Properties"].(object)
	events["anyOf"] = append(events["anyOf"].([]any), object{ // ScheduleV2
		"type": "object", "required": []any{"ScheduleExpression"}, "additionalProperties": false,
		"properties": object{"ScheduleExpression": object{"type": "string"}, "Input": object{"type": "string"}, "RetryPolicy": object{"type": "object"}},
	})
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sam.json", document); err != nil {
		t.Fatal(err)
	}
	check := func(resource object) error {
		kind, _ := resource["Type"].(string)
		of, err := compiler.Compile("sam.json#/definitions/" + kind)
		if err != nil {
			return err
		}
		return of.Validate(resource)
	}
	files, err := filepath.Glob("../../../systems/*/lambda/template.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d templates: %v", len(files), err)
	}
	for _, file := range files {
		template := read(t, file)
		parameters := template["Parameters"].(object)
		for name, r := range template["Resources"].(object) {
			resource := resolved(r, parameters).(object)
			if err := check(resource); err != nil {
				t.Errorf("%s: %s: %v", file, name, err)
			}
			wrong := maps.Clone(resource)
			wrong["Properties"] = object{"NoSuchProperty": "x"}
			if check(wrong) == nil {
				t.Errorf("%s: %s: a property that %s does not have is accepted", file, name, resource["Type"])
			}
		}
	}
}

func properties(of any) object { return of.(object)["properties"].(object) }

func read(t *testing.T, file string) object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		t.Fatal(err)
	}
	template, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return template.(object)
}

// resolved returns a value in which each intrinsic function is replaced by a value of the right type.
func resolved(value any, parameters object) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = resolved(value[i], parameters)
		}
	case object:
		for _, key := range slices.Collect(maps.Keys(value)) {
			of := value[key]
			switch {
			case len(value) == 1 && key == "Ref":
				return reference(parameters[of.(string)])
			case len(value) == 1 && key == "Fn::If":
				return resolved(of.([]any)[1], parameters)
			case len(value) == 1 && strings.HasPrefix(key, "Fn::"):
				return "x"
			}
			value[key] = resolved(of, parameters)
		}
	}
	return value
}

// reference returns a value of a parameter's type; resources and pseudo parameters are strings.
func reference(parameter any) any {
	of, _ := parameter.(object)
	switch of["Type"] {
	case "Number":
		return json.Number("1")
	case "CommaDelimitedList":
		return []any{"x"}
	default:
		return "x"
	}
}
