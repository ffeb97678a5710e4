package infer_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/infer"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

// TestWorkbench tests a model's tables, indexes, and facets with and without items.
func TestWorkbench(t *testing.T) {
	data, err := os.ReadFile("testdata/offers.workbench.json")
	if err != nil {
		t.Fatal(err)
	}
	in, err := infer.ParseWorkbench(data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(in.Tables[0].Items); n != 6 {
		t.Errorf("the model has %d items, want 6: those of two facets once", n)
	}
	text, err := infer.Draft(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"name: CardOffers", `Offers:`, `GSI1: { pk: GSI1PK, sk: GSI1SK, project: [status] }`, "billing: provisioned", "key: { pk: id }",
		"Accounts:", `key: { pk: "ACCT#{accountId}", sk: "ACCT#{accountId}" }  # 3 of 6 items`,
		"AccountOffers:", `key: { pk: "ACCT#{accountId}", sk: "OFFER#{offerId}" }  # 3 of 6 items`,
		`GSI1: { pk: "OFFER#{offerId}", sk: "{status}" }  # 3 of 3 items`,
		"# guess: the facet Rates of the model has no items; its keys and types are guessed by name",
		`key: { pk: "RATE#{rateId}", sk: "{since}" }`, "aprRate: decimal?", "table: Limits", `key: { pk: "{id}" }`, "creditLimit: decimal?",
	} {
		if !hasLine(string(text), want) {
			t.Errorf("there is no line %q in\n%s", want, text)
		}
	}
	d, err := design.Parse("draft", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range conformTo(t, d, in.Tables[0].Items).Findings {
		if f.Kind == conform.Unknown {
			t.Errorf("%d items are unknown to\n%s", f.Items, text)
		}
	}
}

func TestNotWorkbench(t *testing.T) {
	for text, want := range map[string]string{
		"x":                                  "not a NoSQL Workbench model",
		"{}":                                 "no DataModel",
		`{"DataModel": [{"TableName": ""}]}`: "no TableName",
		`{"DataModel": [{"TableName": "T", "KeyAttributes": {"PartitionKey": {"AttributeName": "a"}}, "TableData": [{"a": 1}]}]}`: "table T: not an item",
	} {
		if _, err := infer.ParseWorkbench([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}

// TestGuessKeys tests guesses of the key, the indexes and the TTL attribute from items alone.
func TestGuessKeys(t *testing.T) {
	for name, c := range map[string]struct {
		items []source.Item
		want  string
	}{
		"the usual two":         {sequence(t, 1, 3, "PK=a%d", "SK=b", "GSI1PK=x", "id=%d"), "PK SK"},
		"one that differs":      {sequence(t, 1, 3, "color=red", "userId=u%d", "name=n%d"), "userId "},
		"two that differ":       {slices.Concat(sequence(t, 1, 3, "device=a", "time=%d"), sequence(t, 1, 3, "device=b", "time=%d")), "device time"},
		"a number":              {sequence(t, 1, 3, "id=%d", "name=x"), "id "},
		"none":                  {slices.Concat(sequence(t, 1, 2, "a=1", "b=2"), sequence(t, 1, 2, "a=1", "b=2")), ""},
		"not in all":            {slices.Concat(sequence(t, 1, 2, "PK=%d", "SK=x"), sequence(t, 3, 2, "PK=%d")), "PK "},
		"of another type later": {slices.Concat(sequence(t, 1, 2, "id=x%d", "code=%d"), sequence(t, 3, 2, "id=%d", "code=%d")), "code "},
	} {
		t.Run(name, func(t *testing.T) {
			pk, sk, err := infer.GuessKeys(c.items)
			got := pk.Name + " " + sk.Name
			if err != nil {
				got = ""
			}
			if got != c.want {
				t.Errorf("the key is %q (%v), want %q", got, err, c.want)
			}
		})
	}
	items := sequence(t, 1, 3, "PK=a%d", "SK=b", "GSI1PK=x", "GSI1SK=%d", "gsi2_pk=y", "LSI1SK=z", "GSI3SK=alone", "expiresAt=1767225600")
	indexes := infer.GuessIndexes(items)
	var names []string
	for _, x := range indexes {
		names = append(names, x.Name)
	}
	if want := []string{"GSI1", "LSI1", "GSI2"}; !slices.Equal(names, want) || indexes[0].SK[0] != (infer.Key{Name: "GSI1SK", Type: "N"}) || !indexes[1].Local {
		t.Errorf("indexes %+v, want %v", indexes, want)
	}
	unfit := slices.Concat(items, []source.Item{
		{"GSI1PK": &types.AttributeValueMemberL{}}, {"gsi2_pk": &types.AttributeValueMemberN{Value: "1"}}, {"LSI1SK": &types.AttributeValueMemberS{}},
	})
	if got := infer.GuessIndexes(unfit); len(got) > 0 {
		t.Errorf("an index with values that it rejects: %+v", got)
	}
	if got := infer.GuessTTL(items); got != "expiresAt" {
		t.Errorf("items expire by %q, want expiresAt", got)
	}
	if _, _, err := infer.ParseKeys("PK,GSI9", items); err == nil || !strings.Contains(err.Error(), "GSI9 is not a string") {
		t.Errorf("a key that no item has: %v", err)
	}
	if pk, sk, err := infer.ParseKeys("PK, GSI1SK", items); err != nil || pk.Type != "S" || sk != (infer.Key{Name: "GSI1SK", Type: "N"}) {
		t.Errorf("the key %v %v, %v", pk, sk, err)
	}
}
