package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/internal/tools/designer/attach"
	"github.com/monotable/monotable/monotabletest"
)

const designFile = "testdata/shop.design.yaml"

// withDesign adds the shop's design to the console.
func withDesign(t *testing.T) func(*console.Options) {
	t.Helper()
	designs := new(console.Designs)
	if err := designs.AddFile(designFile); err != nil {
		t.Fatal(err)
	}
	return func(o *console.Options) { o.Designs = designs }
}

// decoded decodes a response, which must be a success.
func decoded[T any](t *testing.T, a response) T {
	t.Helper()
	var out T
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return out
}

// ran is the console's response to running a pattern.
type ran struct {
	Exchanges []struct {
		Operation, Input, Output string
		Status                   int
	}
	Result, Error         string
	ReadUnits, WriteUnits float64
}

// runs submits a pattern of the shop in the console.
func runs(t *testing.T, address, pattern, arguments string) ran {
	t.Helper()
	return decoded[ran](t, post(t, address+"/_console/design/run", fmt.Sprintf(`{"table":"shop","pattern":%q,"arguments":%s}`, pattern, arguments)))
}

// stock fills the shop with the design's own writes.
func stock(t *testing.T, address string, users int) {
	t.Helper()
	for u := range users {
		calls := [][2]string{{"Join", fmt.Sprintf(`{"userId":"u-%02d","name":"Ana Ruiz %d","email":"Ana%d@example.com","password":"pässword"}`, u, u, u)}}
		for o := range 2 {
			calls = append(calls, [2]string{"Place", fmt.Sprintf(`{"userId":"u-%02d","orderId":"o-%d","total":%d,"note":"bring a bag","lines":[{"sku":"bean","quantity":2,"price":900},{"sku":"cup","quantity":1,"price":450}]}`, u, o, 2250+o)})
		}
		for _, c := range calls {
			if r := runs(t, address, c[0], c[1]); r.Error != "" {
				t.Fatalf("%s: %s", c[0], r.Error)
			}
		}
	}
}

// designedShop serves the shop with its design and some users.
func designedShop(t *testing.T, users int, change ...func(*console.Options)) (db *monotable.DB, address string) {
	t.Helper()
	db = monotabletest.New(t)
	shopTable(t, db)
	address = served(t, db, append(change, withDesign(t))...)
	stock(t, address, users)
	return db, address
}

// TestRunPatterns: a pattern sends the same requests as generated code, and the console shows them as DynamoDB's JSON with their
// capacity. Errors of the design are reported as such, and a preview sends nothing.
func TestRunPatterns(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	r := runs(t, address, "OrdersOf", `{"userId":"u-00"}`)
	if len(r.Exchanges) != 1 || r.Exchanges[0].Operation != "Query" || !strings.Contains(r.Exchanges[0].Input, "begins_with") || r.ReadUnits != 0.5 || !strings.Contains(r.Result, `"o-1"`) {
		t.Errorf("OrdersOf: %+v", r)
	}
	if r := runs(t, address, "UserByEmail", `{"email":"ANA0@example.com"}`); len(r.Exchanges) != 2 || !strings.Contains(r.Result, `"(secret)"`) || !strings.Contains(r.Result, `"orders": 2`) {
		t.Errorf("UserByEmail, by a marker: %+v", r)
	}
	preview := func(pattern, arguments string) ran {
		return decoded[ran](t, post(t, address+"/_console/design/run", fmt.Sprintf(`{"table":"shop","pattern":%q,"arguments":%s,"preview":true}`, pattern, arguments)))
	}
	if r := preview("Pay", `{"userId":"u-00","orderId":"o-0"}`); r.Error != "" || len(r.Exchanges) == 0 || r.Exchanges[len(r.Exchanges)-1].Status != 0 || !strings.Contains(r.Exchanges[len(r.Exchanges)-1].Input, "paid") {
		t.Errorf("preview of Pay: %+v", r)
	}
	pay := `{"userId":"u-00","orderId":"o-0"}`
	if r := runs(t, address, "Pay", pay); r.Error != "" || r.WriteUnits == 0 {
		t.Errorf("Pay: %+v", r)
	}
	if r := runs(t, address, "Pay", pay); !strings.Contains(r.Error, "open") {
		t.Errorf("Pay, once more: %+v", r)
	}
	for arguments, want := range map[string]string{`{}`: "userId is missing", `{"userId":1}`: "userId is not of type id", `{"userId":"u","x":1}`: "unknown argument x", `[]`: "cannot unmarshal"} {
		if r := runs(t, address, "UserByID", arguments); !strings.Contains(r.Error, want) {
			t.Errorf("UserByID %s: %q, want %q", arguments, r.Error, want)
		}
	}
}

// TestPatternsReadOnly: a read-only console does not run patterns that write, but it can preview their requests.
func TestPatternsReadOnly(t *testing.T) {
	t.Parallel()
	db, _ := designedShop(t, 1)
	address := served(t, db, withDesign(t), func(o *console.Options) { o.ReadOnly = true })
	body := `{"table":"shop","pattern":"Pay","arguments":{"userId":"u-00","orderId":"o-0"}%s}`
	if a := post(t, address+"/_console/design/run", fmt.Sprintf(body, "")); a.status == http.StatusOK || !strings.Contains(a.body, "ReadOnly") {
		t.Errorf("Pay: %d %s", a.status, a.body)
	}
	if r := decoded[ran](t, post(t, address+"/_console/design/run", fmt.Sprintf(body, `,"preview":true`))); len(r.Exchanges) == 0 {
		t.Errorf("preview: %+v", r)
	}
	if r := runs(t, address, "OrdersByStatus", `{"status":"paid"}`); r.Error != "" || strings.Contains(r.Result, "o-0") {
		t.Errorf("after the attempts: %+v", r)
	}
}

// TestMeanings: items are matched to their entities, and keys are split into their parts and link to the items they reference.
func TestMeanings(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	scan := decoded[struct{ Items []json.RawMessage }](t, post(t, address+"/_console/api/Scan", `{"TableName":"shop"}`))
	raw, err := json.Marshal(append(scan.Items, json.RawMessage(`{"PK":{"S":"who"},"SK":{"S":"knows"}}`)))
	if err != nil {
		t.Fatal(err)
	}
	type segment struct{ Text, Field string }
	meanings := decoded[struct {
		Items []struct {
			Entity, Place string
			Entries       []string
			Keys          map[string][]segment
			Links         []struct {
				Entity, Pattern string
				Key             map[string]map[string]string
				Arguments       map[string]any
			}
		}
	}](t, post(t, address+"/_console/design/items", fmt.Sprintf(`{"table":"shop","items":%s}`, raw))).Items
	seen := map[string]int{}
	for _, m := range meanings {
		seen[m.Entity+"."+m.Place]++
		if m.Entity != "Line" || m.Keys["SK"][3].Text != "cup" {
			continue
		}
		if diff := cmp.Diff([]segment{{"LINE#", ""}, {"o-0", "orderId"}, {"#", ""}, {"cup", "sku"}}, m.Keys["SK"]); diff != "" && m.Keys["SK"][1].Text == "o-0" {
			t.Error(diff)
		}
		owner := false
		for _, l := range m.Links {
			owner = owner || l.Entity == "Order" && l.Key["SK"]["S"] == "ORDER#"+m.Keys["SK"][1].Text
		}
		if !owner {
			t.Errorf("a line does not lead to its order: %+v", m.Links)
		}
	}
	if diff := cmp.Diff(map[string]int{"User.key": 1, "User.Email": 1, "Order.key": 2, "Line.key": 4, ".": 1}, seen); diff != "" {
		t.Error(diff)
	}
	chart := decoded[struct {
		Chart struct {
			Items, Bytes int
			Kinds        []struct {
				Entity, Place, Index string
				Items                int
			}
			Partitions []struct {
				Index, Key string
				Items      int
			}
		}
		Next  any
		Units float64
	}](t, post(t, address+"/_console/design/chart", `{"table":"shop"}`))
	if c := chart.Chart; c.Items != 8 || c.Bytes < 400 || len(c.Kinds) != 5 || c.Partitions[0].Key != "USER#u-00" || c.Partitions[0].Items != 7 || chart.Next != nil || chart.Units == 0 {
		t.Errorf("chart %+v", chart)
	}
}

// TestDesignOf: a table's design is the one provided, or else the latest attached one. A file is reread when it has changed, and
// its faults are reported.
func TestDesignOf(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	text, err := os.ReadFile(designFile)
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/other.design.yaml"
	write := func(text string, at time.Time) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	write(strings.ReplaceAll(string(text), `name: "shop"`, `name: "other-{stage}"`), begun)
	designs := new(console.Designs)
	if err := designs.AddFile(file); err != nil {
		t.Fatal(err)
	}
	address := served(t, db, func(o *console.Options) { o.Designs = designs })
	type model struct {
		Design *struct {
			Name   string
			Of     string
			Own    map[string]string
			Source struct {
				File    string
				Version int
			}
			Patterns []struct{ Name, Entity string }
		}
	}
	of := func(table string) model {
		return decoded[model](t, post(t, address+"/_console/design/model", fmt.Sprintf(`{"table":%q}`, table)))
	}
	if got := of("other-dev").Design; got == nil || got.Name != "Shop" || got.Of != "shop" || got.Own["shop"] != "other-dev" || len(got.Patterns) != 8 {
		t.Errorf("of a file: %+v", got)
	}
	write(strings.ReplaceAll(strings.ReplaceAll(string(text), `name: "shop"`, `name: "other-{stage}"`), "name: Shop\n", "name: Changed\n"), begun.Add(time.Minute))
	if got := of("other-dev").Design; got == nil || got.Name != "Changed" {
		t.Errorf("after a change: %+v", got)
	}
	write("design: 1\n", begun.Add(2*time.Minute))
	if a := post(t, address+"/_console/design/model", `{"table":"other-dev"}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "name") {
		t.Errorf("with faults: %d %s", a.status, a.body)
	}
	write(string(text), begun.Add(3*time.Minute))
	if got := of("elsewhere").Design; got != nil {
		t.Errorf("of no table: %+v", got)
	}
	for version := 1; version <= 2; version++ {
		d := attach.Design{File: "shop.design.yaml", Text: string(text), Tables: map[string]string{"shop": "elsewhere"}, At: begun}
		if _, err := attach.Attach(t.Context(), db.Client(), d); err != nil {
			t.Fatal(err)
		}
		if got := of("elsewhere").Design; got == nil || got.Source.Version != version {
			t.Errorf("attached: %+v", got)
		}
	}
	if _, err := attach.Detach(t.Context(), db.Client(), "elsewhere", begun); err != nil {
		t.Fatal(err)
	}
	if got := of("elsewhere").Design; got != nil {
		t.Errorf("detached: %+v", got)
	}
}
