package design_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
)

// around has the sections that complete the page's fragments.
var around = map[string]string{
	"design": "design: 1\n",
	"name":   "name: Shop\n",
	"tables": `tables:
  Shop: { key: { pk: PK, sk: SK }, type_attr: entityType, ttl_attr: expiresAt, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK } } }
`,
	"types": "types: { Status: { enum: [open, paid] } }\n",
	"entities": `entities:
  User: { key: { pk: "USER#{userId}", sk: PROFILE }, fields: { userId: id, email: email, orders: int, spent: money } }
  Order:
    key: { pk: "ORDER#{orderId}", sk: METADATA }
    copies: { byUser: { pk: "USER#{userId}", sk: "ORDER#{createdAt}#{orderId}", fields: all } }
    fields: { userId: id, orderId: ulid, status: Status, total: money, createdAt: time }
  OrderItem: { key: { pk: "ORDER#{orderId}", sk: "ITEM#{productId}" }, fields: { orderId: ulid, productId: id } }
  Product: { key: { pk: "PRODUCT#{productId}", sk: METADATA }, fields: { productId: id, stock: int, price: money } }
  Usage: { key: { pk: "USAGE#{userId}", sk: METADATA }, fields: { userId: id, orders: int, since: time } }
  Request: { key: { pk: "USER#{userId}", sk: "REQUEST#{requestKey}" }, fields: { userId: id, requestKey: id } }
`,
	"reads": `reads:
  OrderByID: { one: Order, by: [orderId] }
  OrdersOf: { many: Order, by: [userId] }
`,
}

// wrapped is a fragment of the page as a design.
func wrapped(fragment string) string {
	if strings.Contains(fragment, "entities:") && strings.Contains(fragment, "\ntables:") {
		return fragment
	}
	for _, section := range []string{"design", "name", "tables", "types", "entities", "reads"} {
		if strings.HasPrefix(fragment, section+":") || strings.Contains(fragment, "\n"+section+":") {
			continue
		}
		text := around[section]
		if section == "entities" && strings.HasPrefix(fragment, "tables:") {
			text = "entities: { Order: { key: { pk: A, sk: B }, fields: { orderId: ulid, total: money } } }\n"
		}
		if section == "reads" && (strings.HasPrefix(fragment, "tables:") || strings.HasPrefix(fragment, "entities:")) {
			continue
		}
		fragment += text
	}
	return fragment
}

// TestPageExamples tests that every example of the page is a design, or a part of one.
func TestPageExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/design-language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 10 {
		t.Fatalf("the page has %d examples", len(blocks))
	}
	for _, block := range blocks {
		if _, err := design.Parse("example", []byte(wrapped(block[1]))); err != nil {
			t.Errorf("%v\n%s", err, wrapped(block[1]))
			continue
		}
		if _, err := design.Format("example", []byte(block[1])); err != nil {
			t.Errorf("%v\n%s", err, block[1])
		}
	}
}

// TestPageConditions tests that the conditions of the page are valid.
func TestPageConditions(t *testing.T) {
	page, err := os.ReadFile("../docs/design-language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "### Conditions")
	section, _, _ = strings.Cut(section, "\n## ")
	lines := regexp.MustCompile(`(?m)^    (.+)$`).FindAllStringSubmatch(section, -1)
	if len(lines) == 0 {
		t.Fatal("the page has no conditions")
	}
	for _, line := range lines {
		if _, err := design.ParseCondition(line[1]); err != nil {
			t.Error(err)
		}
	}
}

// TestPageKeys tests that the page mentions every key of the language.
func TestPageKeys(t *testing.T) {
	page, err := os.ReadFile("../docs/design-language.md")
	if err != nil {
		t.Fatal(err)
	}
	var form struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(design.Schema(), &form); err != nil {
		t.Fatal(err)
	}
	keys := form.Properties
	for _, def := range form.Defs {
		maps.Copy(keys, def.Properties)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !regexp.MustCompile("[`{ ]" + key + "[`:]").Match(page) {
			t.Errorf("the page does not name the key %s", key)
		}
	}
}
