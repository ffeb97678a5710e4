package infer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/infer"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

// TestDraftOfAnyItemsLoads tests that the draft of any table loads and can be checked.
func TestDraftOfAnyItemsLoads(t *testing.T) {
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
	r := rand.New(rand.NewPCG(seed, 4))   //nolint:gosec // a test's values
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	text := func() string {
		return pick("", "a", "USER", "x y", "#", "##", "a#b", "é", "\"q\" \\ '", "2026-01-15T10:00:00.000Z", "2026", "{b}", "no", "~", "line\nother", "0007", "\x00") + pick("", "", "1")
	}
	var value func(depth int) types.AttributeValue
	value = func(depth int) types.AttributeValue {
		switch n := r.IntN(11); {
		case n < 4 || depth > 3:
			return &types.AttributeValueMemberS{Value: text()}
		case n == 4:
			return &types.AttributeValueMemberN{Value: pick("0", "7", "-1", "1.5", "1767225600", "99999999999999999999")}
		case n == 5:
			return &types.AttributeValueMemberBOOL{Value: r.IntN(2) == 0}
		case n == 6:
			return &types.AttributeValueMemberNULL{Value: true}
		case n == 7:
			return &types.AttributeValueMemberSS{Value: []string{text() + "a", text() + "b"}}
		case n == 8:
			return &types.AttributeValueMemberB{Value: []byte(text() + "\xff")}
		case n == 9:
			return &types.AttributeValueMemberL{Value: []types.AttributeValue{value(depth + 1), value(depth + 1)}}
		default:
			return &types.AttributeValueMemberM{Value: source.Item{pick("m", "a b", "é", "1", "x.y", "and"): value(depth + 1), text() + "k": value(depth + 1)}}
		}
	}
	for n := range 40 {
		var items []source.Item
		kinds := 1 + r.IntN(3)
		var names [][]string
		for range kinds {
			names = append(names, []string{
				pick("name", "and", "tags[]", "a b", "é", "1x", "user_id", "userId", "x.y", "type"), pick("null", "size", "GSI1PK", "GSI1SK", "ttl", "a-b", "_"),
				pick("In", "value", "#", "{x}", "d d", "createdAt", strings.Repeat("n", 255)),
			})
		}
		for i := range 1 + r.IntN(30) {
			kind := r.IntN(kinds)
			item := source.Item{
				"PK": &types.AttributeValueMemberS{Value: pick("USER#", "a", "x#y#", "") + fmt.Sprint(i) + pick("", "#", "{")},
				"SK": &types.AttributeValueMemberS{Value: pick("ORDER#", "METADATA", "é#", "|") + text()},
			}
			for _, name := range names[kind] {
				if r.IntN(4) > 0 {
					item[name] = value(0)
				}
			}
			items = append(items, item)
		}
		table := pkSK(items)
		table.Indexes = []infer.Index{gsi("GSI1", infer.Key{Name: "GSI1PK", Type: "S"}, infer.Key{Name: "GSI1SK", Type: "S"})}
		for _, item := range items { // index attributes have the right types
			for _, name := range []string{"GSI1PK", "GSI1SK"} {
				if s, ok := item[name].(*types.AttributeValueMemberS); !ok || s.Value == "" {
					delete(item, name)
				}
			}
		}
		table.TTLAttr = pick("", "ttl")
		text, err := infer.Draft(infer.Input{Tables: []infer.Table{table}})
		if err != nil {
			t.Fatalf("seed %d, table %d: %v", seed, n, err)
		}
		d, err := design.Parse("draft", text)
		if err != nil {
			t.Fatal(err)
		}
		check.Check(d)
		if again, err := design.Format("draft", text); err != nil || !slices.Equal(again, text) {
			t.Errorf("seed %d, table %d: %v, the draft is not in the canonical form:\n%s", seed, n, err, text)
		}
	}
}

// TestUnnameableKeys tests key attributes whose names a design cannot have: of an index, which is left out, and of the table.
func TestUnnameableKeys(t *testing.T) {
	table := pkSK([]source.Item{{
		"PK": &types.AttributeValueMemberS{Value: "USER#1"}, "SK": &types.AttributeValueMemberS{Value: "PROFILE"},
		"status#day": &types.AttributeValueMemberS{Value: "open#2026-01-15"},
	}})
	table.Indexes = []infer.Index{gsi("byDay", infer.Key{Name: "status#day", Type: "S"}, infer.Key{Name: "PK", Type: "S"})}
	text, err := infer.Draft(infer.Input{Tables: []infer.Table{table}})
	if err != nil || !strings.Contains(string(text), "# Omitted: the index byDay, because a design cannot have a key attribute \"status#day\".") {
		t.Errorf("got %v and\n%s", err, text)
	}
	table.SK.Name = "status#day"
	if _, err := infer.Draft(infer.Input{Tables: []infer.Table{table}}); err == nil || !strings.Contains(err.Error(), `has the attribute "status#day": a design cannot have`) {
		t.Errorf("got %v", err)
	}
}

// TestIndexKeysThatEqualFields tests keys of indexes that have the value of another attribute, which is also in the primary key: the
// key can be the better name for it.
func TestIndexKeysThatEqualFields(t *testing.T) {
	for name, want := range map[string][]string{
		"accountKey": {`pk: "X#{owner}"`, `byOwner: { pk: "{owner}"`}, "uId": {`pk: "X#{uId}"`, `byOwner: { pk: "{uId}"`},
	} {
		var items []source.Item
		for i := range 6 {
			owner := &types.AttributeValueMemberS{Value: fmt.Sprintf("u%d", i%2)}
			items = append(items, source.Item{
				"PK": &types.AttributeValueMemberS{Value: "X#" + owner.Value}, "SK": &types.AttributeValueMemberS{Value: fmt.Sprintf("O#%d", i)}, name: owner, "owner": owner,
			})
		}
		table := pkSK(items)
		table.Indexes = []infer.Index{gsi("byOwner", infer.Key{Name: name, Type: "S"}, infer.Key{Name: "SK", Type: "S"})}
		text, err := infer.Draft(infer.Input{Tables: []infer.Table{table}})
		if err != nil || !strings.Contains(string(text), want[0]) || !strings.Contains(string(text), want[1]) {
			t.Errorf("%s: got %v and\n%s", name, err, text)
		}
	}
}

// TestLongLiteral tests that a field named for a long literal in a key has a valid name.
func TestLongLiteral(t *testing.T) {
	var items []source.Item
	for i := range 4 {
		items = append(items, source.Item{
			"PK": &types.AttributeValueMemberS{Value: strings.Repeat("a", 300) + "#" + fmt.Sprint(i)}, "SK": &types.AttributeValueMemberS{Value: "X"},
		})
	}
	if _, err := infer.Draft(infer.Input{Tables: []infer.Table{pkSK(items)}}); err != nil {
		t.Errorf("got %.200v", err)
	}
}
