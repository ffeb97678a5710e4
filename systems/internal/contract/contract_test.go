package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/internal/contract"
)

// base is a small API. Order is recursive, and used in both a request and a response.
const base = `{
"info": {"title": "Shop", "version": "1.4.0"},
"paths": {
 "/orders": {
  "get": {"operationId": "listOrders", "security": [{}, {"bearer": []}], "parameters": [
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
    {"name": "state", "in": "query", "schema": {"type": "string", "enum": ["open", "sent"]}}],
   "responses": {"200": {"content": {"application/json": {"schema": {"type": "object", "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}}, "next": {"type": "string"}}, "required": ["items"]}}}},
     "429": {}}},
  "post": {"operationId": "createOrder", "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OrderInput"}}}},
   "responses": {"201": {"headers": {"Location": {}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}}}},
 "/old": {"delete": {"operationId": "dropOld", "deprecated": true, "responses": {"204": {}}}},
 "/events": {"get": {"operationId": "watch", "responses": {"200": {"content": {"text/event-stream": {"schema": {"type": "string", "x-events": {"order": {"$ref": "#/components/schemas/Order"}}}}}}}}}
},
"components": {"schemas": {
 "Order": {"type": "object", "required": ["id", "state", "total"], "properties": {
   "id": {"type": "string"}, "state": {"type": "string", "enum": ["open", "sent"]}, "total": {"type": "string"}, "at": {"type": "string", "format": "date-time"},
   "note": {"type": "string"}, "legacy": {"type": "string", "deprecated": true}, "parent": {"$ref": "#/components/schemas/Order"}}},
 "OrderInput": {"type": "object", "required": ["sku"], "properties": {
   "sku": {"type": "string", "minLength": 1, "maxLength": 20}, "size": {"type": "string", "enum": ["s", "m", "l"]}, "gift": {"type": ["string", "null"]},
   "wish": {"type": "string"}}}
}},
"x-problems": [{"code": "out_of_stock", "status": 409, "detail": "out of stock"}]
}`

// TestCompare: each small change has the expected effect on clients of the older API.
func TestCompare(t *testing.T) {
	t.Parallel()
	const breaks, keeps = true, false
	for _, c := range []struct {
		name, from, to string
		breaks         bool
		want           string
	}{
		{"an operation is added", `"/old":`, `"/new": {"get": {"operationId": "getNew", "responses": {}}}, "/old":`, keeps, "GET /new: is new"},
		{"an operation is removed", `"/events": {"get":`, `"/events": {"put":`, breaks, "GET /events: has been removed"},
		{"a deprecated one is removed", `"delete": {"operationId": "dropOld", "deprecated": true, "responses": {"204": {}}}`, ``, keeps, "DELETE /old: was deprecated and has been removed"},
		{"an operation is renamed", `"listOrders"`, `"orders"`, breaks, "GET /orders: is called orders instead of listOrders"},
		{"an operation is deprecated", `"operationId": "watch",`, `"operationId": "watch", "deprecated": true,`, keeps, "GET /events: is deprecated"},
		{"a public operation requires a token", `[{}, {"bearer": []}]`, `[{"bearer": []}]`, breaks, "GET /orders: needs a token"},
		{"a parameter is added", `"parameters": [`, `"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}},`, keeps, "GET /orders: query.q: is new"},
		{"one that is required is added", `"parameters": [`, `"parameters": [{"name": "q", "in": "query", "required": true, "schema": {"type": "string"}},`, breaks, "GET /orders: query.q: is new and required"},
		{"a parameter is removed", `"name": "limit"`, `"name": "most"`, breaks, "GET /orders: query.limit: has been removed"},
		{"a parameter becomes required", `"name": "limit", "in": "query"`, `"name": "limit", "in": "query", "required": true`, breaks, "GET /orders: query.limit: is required now"},
		{"a bound grows", `"maximum": 100`, `"maximum": 200`, keeps, ""},
		{"a bound shrinks", `"maximum": 100`, `"maximum": 50`, breaks, "GET /orders: query.limit: has the maximum 50 now"},
		{"a request's list of values shrinks", `"size": {"type": "string", "enum": ["s", "m", "l"]}`, `"size": {"type": "string", "enum": ["s", "l"]}`, breaks, "POST /orders: body.size: can no longer be m"},
		{"a request's list of values grows", `"enum": ["s", "m", "l"]`, `"enum": ["s", "m", "l", "xl"]`, keeps, ""},
		{"a request's value gets a list", `"wish": {"type": "string"}`, `"wish": {"type": "string", "enum": ["a"]}`, breaks, "POST /orders: body.wish: may only be one of [a] now"},
		{"a text gets a bound", `"wish": {"type": "string"}`, `"wish": {"type": "string", "maxLength": 9}`, breaks, "POST /orders: body.wish: has the maxLength 9 now"},
		{"a text gets a pattern", `"wish": {"type": "string"}`, `"wish": {"type": "string", "pattern": "^a"}`, breaks, "POST /orders: body.wish: must match ^a now"},
		{"a request's field is added", `"wish":`, `"colour": {"type": "string"}, "wish":`, keeps, "POST /orders: body.colour: is new"},
		{"a request's field is added and required", `"required": ["sku"], "properties": {`, `"required": ["sku", "colour"], "properties": {"colour": {"type": "string"},`, breaks, "POST /orders: body.colour: is new and required"},
		{"a request's field becomes required", `"required": ["sku"]`, `"required": ["sku", "wish"]`, breaks, "POST /orders: body.wish: is required now"},
		{"a request's field may be left out", `"required": ["sku"]`, `"required": []`, keeps, ""},
		{"a request's field is removed", `,` + "\n" + `   "wish": {"type": "string"}`, ``, breaks, "POST /orders: body.wish: has been removed"},
		{"a request's field may not be null", `["string", "null"]`, `"string"`, breaks, "POST /orders: body.gift: can no longer be null"},
		{"a response's field is added", `"note":`, `"weight": {"type": "number"}, "note":`, keeps, "GET /events: 200: event order.weight: is new"},
		{"a response's field is removed", `"note": {"type": "string"}, `, ``, breaks, "GET /events: 200: event order.note: has been removed"},
		{"a deprecated field is removed", `"legacy": {"type": "string", "deprecated": true}, `, ``, keeps, "GET /events: 200: event order.legacy: was deprecated and has been removed"},
		{"a response's field changes its type", `"total": {"type": "string"}`, `"total": {"type": "number"}`, breaks, "GET /events: 200: event order.total: is number instead of string"},
		{"a response's field changes its format", `"format": "date-time"`, `"format": "date"`, breaks, "GET /events: 200: event order.at: is string date instead of string date-time"},
		{"a response's field may be missing", `"required": ["id", "state", "total"]`, `"required": ["id", "state"]`, breaks, "GET /events: 200: event order.total: may be missing now"},
		{"a response's field may be null", `"id": {"type": "string"}`, `"id": {"type": ["string", "null"]}`, breaks, "GET /events: 200: event order.id: may be null now"},
		{"a response's list of values grows", `"state": {"type": "string", "enum": ["open", "sent"]}, "total"`, `"state": {"type": "string", "enum": ["open", "sent", "lost"]}, "total"`, keeps, "GET /events: 200: event order.state: can also be lost"},
		{"a status of success changes", `"201":`, `"202":`, breaks, "POST /orders: 201: is no longer a response"},
		{"a refusal is added", `"429": {}`, `"429": {}, "409": {}`, keeps, ""},
		{"a header is removed", `"headers": {"Location": {}}, `, ``, breaks, "POST /orders: 201: Location: has been removed"},
		{"an event is removed", `"x-events": {"order"`, `"x-events": {"change"`, breaks, "GET /events: 200: event order: has been removed"},
		{"a kind of body is removed", `"201": {"headers": {"Location": {}}, "content": {"application/json"`, `"201": {"headers": {"Location": {}}, "content": {"text/plain"`, breaks, "POST /orders: 201: application/json has been removed"},
		{"a code is removed", `"out_of_stock"`, `"sold_out"`, breaks, "code out_of_stock: has been removed, or its status is no longer 409"},
		{"a code changes its status", `"status": 409`, `"status": 422`, breaks, "code out_of_stock: has been removed, or its status is no longer 409"},
		{"nothing", `"wish"`, `"wish"`, keeps, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(base, c.from) {
				t.Fatalf("the document has no %s", c.from)
			}
			newer := strings.Replace(base, c.from, c.to, 1)
			changes, err := contract.Compare([]byte(base), []byte(newer))
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			broken := false
			for _, change := range changes {
				said = append(said, change.Where+": "+change.What)
				broken = broken || change.Breaks
				if change.Breaks && !strings.Contains(change.String(), ". ") {
					t.Errorf("%s does not say what to do", change)
				}
			}
			if all := strings.Join(said, "\n"); broken != c.breaks || !strings.Contains(all, c.want) || (c.want == "" && all != "") {
				t.Errorf("breaks %v: %s\nwant breaks %v: %s", broken, all, c.breaks, c.want)
			}
		})
	}
}

// TestOnce: a type used by many operations is reported once.
func TestOnce(t *testing.T) {
	t.Parallel()
	changes, err := contract.Compare([]byte(base), []byte(strings.Replace(base, `"note": {"type": "string"}, `, ``, 1)))
	if err != nil || len(changes) != 1 {
		t.Errorf("%v, %v", changes, err)
	}
}

// TestFormat: the format has one operation or type per line, keeps the document's meaning, and is idempotent.
func TestFormat(t *testing.T) {
	t.Parallel()
	text, err := contract.Format([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	var before, after any
	if err := json.Unmarshal([]byte(base), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &after); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	again, err := contract.Format(text)
	if err != nil || string(again) != string(text) {
		t.Errorf("formatted again, %v:\n%s", err, again)
	}
	if lines := strings.Split(string(text), "\n"); len(lines) < 10 || !strings.HasPrefix(lines[3], `   "Order": {`) {
		t.Errorf("types do not have their own lines:\n%s", text)
	}
}

// TestInvalidDocument: an invalid document is an error.
func TestInvalidDocument(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `[]`, `{"paths": {"/a": {"get": null}}}`, `{"components": {"schemas": {"A": {"type": 7}}}}`} {
		if _, err := contract.Compare([]byte(text), []byte(base)); err == nil {
			t.Errorf("%s was accepted", text)
		}
		if _, err := contract.Compare([]byte(base), []byte(text)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
	if major, err := contract.Major([]byte(base)); err != nil || major != "1" {
		t.Errorf("%q, %v", major, err)
	}
}
