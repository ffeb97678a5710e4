package engine_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
)

// TestReadsAgreeWithModel compares random queries and scans, with every page size and in both directions, with a naive evaluation
// over all items.
func TestReadsAgreeWithModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			rng := rand.New(rand.NewPCG(seed, 0))
			createModelTable(t, e)
			m := model{}
			for range 120 {
				put(t, e, m, modelItem(rng))
			}
			for range 150 {
				for _, source := range modelSources {
					checkQuery(t, e, m, source, rng)
				}
			}
			for _, source := range modelSources {
				checkScan(t, e, m, source, rng)
			}
			for range 60 {
				checkDeletedStart(t, e, m, rng)
				put(t, e, m, modelItem(rng))
			}
		})
	}
}

func put(t *testing.T, e *engine.Engine, m model, it attr.Item) {
	t.Helper()
	if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("table"), Item: it}); err != nil {
		t.Fatal(err)
	}
	m[identity(it)] = it
}

func checkQuery(t *testing.T, e *engine.Engine, m model, s modelSource, rng *rand.Rand) {
	t.Helper()
	in, matches, passes := modelQuery(rng, s)
	want := m.in(s, func(it attr.Item) bool { return matches(it) && passes(it) })
	evaluated := len(m.in(s, matches))
	forward := queryAll(t, e, in, evaluated)
	if diff := cmp.Diff(want, sorted(forward)); diff != "" {
		t.Fatalf("%s %s %v\nitems (-want +got):\n%s", s.index, *in.KeyConditionExpression, in.ExpressionAttributeValues, diff)
	}
	checkOrder(t, m, s, forward)
	in.ScanIndexForward = new(rng.IntN(2) == 0)
	checkAnyStart(t, e, m, in, s, forward, rng)
	for limit := range int64(evaluated + 2) {
		in.Limit = new(limit + 1)
		in.ScanIndexForward = new(true)
		if diff := cmp.Diff(forward, queryAll(t, e, in, evaluated)); diff != "" {
			t.Fatalf("%s %s Limit %d (-one page +pages):\n%s", s.index, *in.KeyConditionExpression, limit+1, diff)
		}
		in.ScanIndexForward = new(false)
		backward := queryAll(t, e, in, evaluated)
		slices.Reverse(backward)
		if diff := cmp.Diff(forward, backward); diff != "" {
			t.Fatalf("%s %s Limit %d backward (-want +got):\n%s", s.index, *in.KeyConditionExpression, limit+1, diff)
		}
	}
}

// checkAnyStart starts a Query at a key that need not exist: it continues with what follows, or is rejected as a client's error.
func checkAnyStart(
	t *testing.T, e *engine.Engine, m model, in api.QueryInput, s modelSource, forward []string, rng *rand.Rand,
) {
	t.Helper()
	whole := slices.Clone(forward)
	if !*in.ScanIndexForward {
		slices.Reverse(whole)
	}
	for range 4 {
		start := attr.Item{}
		for _, name := range slices.Concat([]string{"pk", "sk"}, s.pk, s.sk) {
			if v, ok := equalTo(in, name); ok && rng.IntN(8) > 0 {
				start = start.With(name, v)
			} else if rng.IntN(20) > 0 {
				start = start.With(name, modelValue(rng, name))
			}
		}
		in.ExclusiveStartKey = start
		out, err := e.Query(t.Context(), &in)
		if err != nil {
			if refused, ok := errors.AsType[*apierr.Error](err); !ok || refused.Code != apierr.ValidationException {
				t.Fatalf("start %v: %v", start, err)
			}
			continue
		}
		want := slices.DeleteFunc(slices.Clone(whole), func(id string) bool {
			c := comparePlaces(m[id], start, s)
			return c == 0 || c > 0 != *in.ScanIndexForward
		})
		if diff := cmp.Diff(want, identities(t, out.Items)); diff != "" {
			t.Fatalf("%s %s from %v (-want +got):\n%s", s.index, *in.KeyConditionExpression, start, diff)
		}
	}
}

// comparePlaces compares two keys within one partition of s.
func comparePlaces(a, b attr.Item, s modelSource) int {
	for _, name := range slices.Concat(s.sk, []string{"pk", "sk"}) {
		v, _ := a.Get(name)
		w, _ := b.Get(name)
		if c := compare(v, w); c != 0 {
			return c
		}
	}
	return 0
}

// equalTo returns the value that the key condition requires for an attribute.
func equalTo(in api.QueryInput, name string) (attr.Value, bool) {
	for alias, n := range in.ExpressionAttributeNames {
		value := ":v" + strings.TrimPrefix(alias, "#k") + "0"
		if n == name && strings.Contains(*in.KeyConditionExpression, alias+" = "+value) {
			return in.ExpressionAttributeValues.Get(value)
		}
	}
	return attr.Value{}, false
}

// checkOrder checks the order of a Query's items by their sort key values.
func checkOrder(t *testing.T, m model, s modelSource, ids []string) {
	t.Helper()
	for i := 1; i < len(ids); i++ {
		for _, name := range s.sk {
			a, _ := m[ids[i-1]].Get(name)
			b, _ := m[ids[i]].Get(name)
			c := compare(a, b)
			if c > 0 {
				t.Fatalf("%s: %s comes before %s", s.index, ids[i-1], ids[i])
			}
			if c < 0 {
				break
			}
		}
	}
}

// queryAll follows LastEvaluatedKey to the end and returns the identities of the items in order.
func queryAll(t *testing.T, e *engine.Engine, in api.QueryInput, evaluated int) []string {
	t.Helper()
	ids, scanned := []string{}, int64(0)
	for {
		out, err := e.Query(t.Context(), &in)
		if err != nil {
			t.Fatalf("%s %v: %v", *in.KeyConditionExpression, in.ExclusiveStartKey, err)
		}
		ids = append(ids, identities(t, out.Items)...)
		scanned += *out.ScannedCount
		limit := in.Limit
		if in.IndexName == nil && strings.Count(*in.KeyConditionExpression, " = ") == 2 {
			limit = nil // one item at most: such a query has one page
		}
		checkPage(t, len(out.Items), *out.Count, *out.ScannedCount, limit, out.LastEvaluatedKey)
		if out.LastEvaluatedKey == nil {
			if scanned != int64(evaluated) {
				t.Fatalf("ScannedCount is %d over all pages, want %d", scanned, evaluated)
			}
			return ids
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func checkPage(t *testing.T, items int, count, scanned int64, limit *int64, last attr.Item) {
	t.Helper()
	if int64(items) != count || count > scanned {
		t.Fatalf("%d items, Count %d, ScannedCount %d", items, count, scanned)
	}
	if limit == nil && last != nil {
		t.Fatalf("LastEvaluatedKey %v without Limit", last)
	}
	if limit != nil && (last != nil) != (scanned == *limit) {
		t.Fatalf("ScannedCount %d at Limit %d with LastEvaluatedKey %v", scanned, *limit, last)
	}
}

func checkScan(t *testing.T, e *engine.Engine, m model, s modelSource, rng *rand.Rand) {
	t.Helper()
	want := m.in(s, func(attr.Item) bool { return true })
	in := api.ScanInput{TableName: new("table")}
	if s.index != "" {
		in.IndexName = new(s.index)
	}
	whole := scanAll(t, e, in)
	if diff := cmp.Diff(want, sorted(whole)); diff != "" {
		t.Fatalf("%s: scan (-want +got):\n%s", s.index, diff)
	}
	for limit := int64(1); limit < int64(len(want)+2); limit += 1 + rng.Int64N(5) {
		in.Limit = &limit
		if diff := cmp.Diff(whole, scanAll(t, e, in)); diff != "" {
			t.Fatalf("%s: scan with Limit %d (-one page +pages):\n%s", s.index, limit, diff)
		}
	}
	in.Limit = new(int64(3))
	for _, total := range []int64{1, 2, 3, 7, 1000} {
		in.TotalSegments = &total
		var all []string
		for segment := range total {
			in.Segment = &segment
			all = append(all, scanAll(t, e, in)...)
		}
		if diff := cmp.Diff(whole, all); diff != "" {
			t.Fatalf("%s: scan in %d segments (-whole +segments):\n%s", s.index, total, diff)
		}
	}
}

func scanAll(t *testing.T, e *engine.Engine, in api.ScanInput) []string {
	t.Helper()
	ids := []string{}
	for {
		out, err := e.Scan(t.Context(), &in)
		if err != nil {
			t.Fatalf("%v: %v", in.ExclusiveStartKey, err)
		}
		ids = append(ids, identities(t, out.Items)...)
		checkPage(t, len(out.Items), *out.Count, *out.ScannedCount, in.Limit, out.LastEvaluatedKey)
		if out.LastEvaluatedKey == nil {
			return ids
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// checkDeletedStart deletes the last item of a page before it reads the next page.
func checkDeletedStart(t *testing.T, e *engine.Engine, m model, rng *rand.Rand) {
	t.Helper()
	in, matches, _ := modelQuery(rng, modelSources[rng.IntN(len(modelSources))])
	in.FilterExpression = nil
	in.ExpressionAttributeValues = in.ExpressionAttributeValues.Without(":f")
	in.ScanIndexForward = new(rng.IntN(2) == 0)
	whole := queryAll(t, e, in, len(m.in(sourceNamed(in.IndexName), matches)))
	var paged []string
	in.Limit = new(1 + rng.Int64N(3))
	for {
		out, err := e.Query(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, identities(t, out.Items)...)
		if out.LastEvaluatedKey == nil {
			break
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		if rng.IntN(2) == 0 {
			last := m[identity(out.LastEvaluatedKey)]
			remove(t, e, m, last)
		}
	}
	if diff := cmp.Diff(whole, append([]string{}, paged...)); diff != "" {
		t.Fatalf("%s with deletions between pages (-want +got):\n%s", *in.KeyConditionExpression, diff)
	}
}

func sourceNamed(index *string) modelSource {
	for _, s := range modelSources {
		if index != nil && s.index == *index || index == nil && s.index == "" {
			return s
		}
	}
	panic("no such source")
}

func remove(t *testing.T, e *engine.Engine, m model, it attr.Item) {
	t.Helper()
	pk, _ := it.Get("pk")
	sk, _ := it.Get("sk")
	key := attr.Item{}.With("pk", pk).With("sk", sk)
	if _, err := e.DeleteItem(t.Context(), &api.DeleteItemInput{TableName: new("table"), Key: key}); err != nil {
		t.Fatal(err)
	}
	delete(m, identity(it))
}

func identities(t *testing.T, items []itemenc.Item) []string {
	t.Helper()
	ids := make([]string, len(items))
	for i, stored := range items {
		it, err := stored.Decode()
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = identity(it)
	}
	return ids
}

func sorted(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return ids
}
