package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

func openEngine(tb testing.TB, store kv.Store) *engine.Engine {
	tb.Helper()
	e, err := engine.Open(tb.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// modelSource is what the model test reads: the table or one of its indexes.
type modelSource struct {
	index  string
	pk, sk []string
	global bool
	keys   bool // it projects keys only
}

var modelSources = []modelSource{
	{pk: []string{"pk"}, sk: []string{"sk"}},
	{index: "local", pk: []string{"pk"}, sk: []string{"ls"}, keys: true},
	{index: "global", pk: []string{"g"}, sk: []string{"n"}, global: true},
	{index: "hash-only", pk: []string{"n"}, global: true},
	{index: "many", pk: []string{"g", "h"}, sk: []string{"r", "n", "ls"}, global: true},
}

var modelKinds = map[string]string{"pk": "S", "sk": "N", "ls": "S", "g": "S", "h": "N", "r": "B", "n": "N"}

func createModelTable(t *testing.T, e *engine.Engine) {
	t.Helper()
	in := &api.CreateTableInput{TableName: new("table"), BillingMode: new("PAY_PER_REQUEST")}
	for name, kind := range modelKinds {
		in.AttributeDefinitions = append(in.AttributeDefinitions, api.AttributeDefinition{AttributeName: new(name), AttributeType: new(kind)})
	}
	for _, s := range modelSources {
		var keys []api.KeySchemaElement
		for _, name := range s.pk {
			keys = append(keys, api.KeySchemaElement{AttributeName: new(name), KeyType: new("HASH")})
		}
		for _, name := range s.sk {
			keys = append(keys, api.KeySchemaElement{AttributeName: new(name), KeyType: new("RANGE")})
		}
		projection := &api.Projection{ProjectionType: new("ALL")}
		if s.keys {
			projection = &api.Projection{ProjectionType: new("INCLUDE"), NonKeyAttributes: []string{"f"}}
		}
		switch {
		case s.index == "":
			in.KeySchema = keys
		case s.global:
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
				api.GlobalSecondaryIndex{IndexName: new(s.index), KeySchema: keys, Projection: projection})
		default:
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes,
				api.LocalSecondaryIndex{IndexName: new(s.index), KeySchema: keys, Projection: projection})
		}
	}
	if _, err := e.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// modelValue draws a value for a key attribute from a small set, so that keys collide and ranges end at existing keys.
func modelValue(rng *rand.Rand, name string) attr.Value {
	switch modelKinds[name] {
	case "N":
		return attr.Number([]string{"-120", "-1.5", "0", "0.001", "2", "10", "10000000000"}[rng.IntN(7)])
	case "B":
		return attr.Binary([]string{"\x00", "\x00\x00", "\x01", "\xff", "\xff\xff"}[rng.IntN(5)])
	default:
		return attr.String([]string{"a", "a\x00", "ab", "b", "ba", "é"}[rng.IntN(6)])
	}
}

func modelItem(rng *rand.Rand) attr.Item {
	it := attr.Item{}
	for name := range modelKinds {
		if name == "pk" || name == "sk" || rng.IntN(5) > 0 {
			it = it.With(name, modelValue(rng, name))
		}
	}
	if rng.IntN(3) > 0 {
		it = it.With("f", attr.Number(fmt.Sprint(rng.IntN(4))))
	}
	return it
}

// model is the naive reference: the items of the table by key.
type model map[string]attr.Item

func identity(it attr.Item) string {
	pk, _ := it.Get("pk")
	sk, _ := it.Get("sk")
	return fmt.Sprintf("%q %s", pk.Text(), sk.Text())
}

// in returns the identities of the items that are in source and accepted by keep, sorted.
func (m model) in(s modelSource, keep func(attr.Item) bool) []string {
	ids := []string{}
	for id, it := range m {
		present := true
		for _, name := range slices.Concat(s.pk, s.sk) {
			_, ok := it.Get(name)
			present = present && ok
		}
		if present && keep(it) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// modelClause is one clause of a key condition, as text and as a function.
type modelClause struct {
	text   string
	holds  func(v attr.Value) bool
	name   string
	values []attr.Value
}

func modelEquality(rng *rand.Rand, name string) modelClause {
	v := modelValue(rng, name)
	return modelClause{"%s = %s", func(x attr.Value) bool { return x.Equal(v) }, name, []attr.Value{v}}
}

func modelRange(rng *rand.Rand, name string) modelClause {
	v, w := modelValue(rng, name), modelValue(rng, name)
	if compare(v, w) > 0 {
		v, w = w, v
	}
	one := []attr.Value{v}
	clauses := []modelClause{
		{"%s < %s", func(x attr.Value) bool { return compare(x, v) < 0 }, name, one},
		{"%s <= %s", func(x attr.Value) bool { return compare(x, v) <= 0 }, name, one},
		{"%s > %s", func(x attr.Value) bool { return compare(x, v) > 0 }, name, one},
		{"%s >= %s", func(x attr.Value) bool { return compare(x, v) >= 0 }, name, one},
		{"%s BETWEEN %s AND %s", func(x attr.Value) bool { return compare(x, v) >= 0 && compare(x, w) <= 0 }, name, []attr.Value{v, w}},
		{"begins_with(%s, %s)", func(x attr.Value) bool { return strings.HasPrefix(x.Text(), v.Text()) }, name, one},
	}
	n := len(clauses)
	if v.Kind() == attr.KindNumber {
		n--
	}
	return clauses[rng.IntN(n)]
}

func compare(a, b attr.Value) int {
	c, ok := a.Compare(b)
	if !ok {
		panic("values of two kinds")
	}
	return c
}

// modelQuery draws a Query on s, and returns it with a function that reports which items it selects.
func modelQuery(rng *rand.Rand, s modelSource) (in api.QueryInput, matches, passes func(attr.Item) bool) {
	var clauses []modelClause
	for _, name := range s.pk {
		clauses = append(clauses, modelEquality(rng, name))
	}
	for _, name := range s.sk {
		if rng.IntN(3) == 0 {
			break
		}
		if rng.IntN(2) == 0 {
			clauses = append(clauses, modelRange(rng, name))
			break
		}
		clauses = append(clauses, modelEquality(rng, name))
	}
	rng.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })

	in = api.QueryInput{TableName: new("table"), ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: attr.Item{}}
	if s.index != "" {
		in.IndexName = new(s.index)
	}
	var texts []string
	for i, c := range clauses {
		alias := fmt.Sprintf("#k%d", i)
		in.ExpressionAttributeNames[alias] = c.name
		words := []any{alias}
		for j, v := range c.values {
			word := fmt.Sprintf(":v%d%d", i, j)
			in.ExpressionAttributeValues = in.ExpressionAttributeValues.With(word, v)
			words = append(words, word)
		}
		texts = append(texts, fmt.Sprintf(c.text, words...))
	}
	in.KeyConditionExpression = new(strings.Join(texts, " AND "))
	matches = func(it attr.Item) bool {
		return !slices.ContainsFunc(clauses, func(c modelClause) bool {
			v, ok := it.Get(c.name)
			return !ok || !c.holds(v)
		})
	}
	passes = func(attr.Item) bool { return true }
	if rng.IntN(3) == 0 {
		limit := attr.Number(fmt.Sprint(rng.IntN(5)))
		in.FilterExpression = new("f < :f")
		in.ExpressionAttributeValues = in.ExpressionAttributeValues.With(":f", limit)
		passes = func(it attr.Item) bool {
			f, ok := it.Get("f")
			return ok && compare(f, limit) < 0
		}
	}
	return in, matches, passes
}
