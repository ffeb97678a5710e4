package differential

import (
	"net/http"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// outcome is a server's response, without server-specific parts.
type outcome struct {
	status  int
	kind    string // the type of an error, "ok" for none
	message string // message of an error; not compared
	result  string // the other members, normalized
}

func (o outcome) String() string {
	if o.kind == "ok" {
		return "ok " + o.result
	}
	return strings.TrimSpace(o.kind + ": " + o.message + " " + o.result)
}

// same reports whether two outcomes are equivalent: the same error, or the same result.
func (o outcome) same(p outcome) bool { return o.kind == p.kind && o.result == p.result }

func newOutcome(q request, status int, body any) outcome {
	o := outcome{status: status, kind: "ok"}
	object, _ := body.(map[string]any)
	if status != http.StatusOK {
		name, _ := object["__type"].(string)
		if _, after, found := strings.Cut(name, "#"); found {
			name = after
		}
		o.kind = name
		if status >= http.StatusInternalServerError {
			o.kind = "InternalServerError"
		}
		for _, k := range []string{"message", "Message"} {
			if text, ok := object[k].(string); ok {
				o.message = text
			}
		}
	}
	o.result = compact(normal(q, object))
	return o
}

// normal returns the part of a result on which the two servers must agree.
func normal(q request, result map[string]any) map[string]any {
	kept := map[string]any{}
	for name, v := range result {
		switch name {
		case "__type", "message", "Message", "ConsumedCapacity", "ItemCollectionMetrics", "TableDescription", "Table", "TableNames":
		case "LastEvaluatedKey", "NextToken": // AWS does not define whether the last page has one
		case "CancellationReasons":
			kept[name] = reasons(v)
		default:
			kept[name] = values(v)
		}
	}
	if unordered(q) {
		sortList(kept["Items"])
		if limited(q) {
			return map[string]any{} // the order of items depends on the server
		}
	}
	if responses, ok := kept["Responses"].(map[string]any); ok && q.op == "BatchGetItem" {
		for _, items := range responses {
			sortList(items)
		}
	}
	if responses, ok := kept["Responses"].([]any); ok {
		kept["Responses"] = statements(responses)
	}
	return kept
}

// unordered reports whether AWS does not define the order of the items.
func unordered(q request) bool {
	switch q.op {
	case "Scan", "ExecuteStatement":
		return true
	case "Query":
		return member(q.body, "IndexName") != nil
	}
	return false
}

// limited reports whether a request reads a subset of the items that depends on that order.
func limited(q request) bool {
	return member(q.body, "Limit") != nil || member(q.body, "Segment") != nil || member(q.body, "ExclusiveStartKey") != nil
}

// reasons removes the messages of cancellation reasons.
func reasons(v any) any {
	list, _ := v.([]any)
	kept := make([]any, len(list))
	for i, reason := range list {
		kept[i] = map[string]any{"Code": member(reason, "Code"), "Item": values(member(reason, "Item"))}
	}
	return kept
}

// statements removes the messages of statements' errors.
func statements(responses []any) any {
	kept := make([]any, len(responses))
	for i, response := range responses {
		object, _ := response.(map[string]any)
		one := map[string]any{}
		for name, v := range object {
			if name == "Error" {
				v = map[string]any{"Code": member(v, "Code"), "Item": member(v, "Item")}
			}
			one[name] = v
		}
		kept[i] = one
	}
	return kept
}

// values sorts sets, and normalizes numbers.
func values(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = values(inner)
			switch name {
			case "N":
				v[name] = number(inner)
			case "NS":
				if numbers, ok := inner.([]any); ok {
					for i := range numbers {
						numbers[i] = number(numbers[i])
					}
				}
				sortList(inner)
			case "SS", "BS":
				sortList(inner)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = values(inner)
		}
	}
	return v
}

// number writes a number without an exponent: DynamoDB Local writes some numbers with exponents.
func number(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	d, err := decimal.Parse(text)
	if err != nil {
		return v
	}
	return d.String()
}

func sortList(v any) {
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(compact(a), compact(b)) })
	}
}
