package engine_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const vectorDimensions = 5 // more than one block and a rest

// vectorIndexes are one index for each distance function; that of DOT_PRODUCT is partitioned.
func vectorIndexes() []api.VectorIndex {
	index := func(name, function, projection string, schema ...api.SearchSchemaElement) api.VectorIndex {
		return api.VectorIndex{
			IndexName: new(name), DistanceFunction: new(function), Dimensions: new(int64(vectorDimensions)), SearchSchema: schema,
			VectorAttribute: &api.VectorAttributeDefinition{AttributeName: new("v")},
			Projection:      &api.Projection{ProjectionType: new(projection)},
		}
	}
	element := func(name, role string) api.SearchSchemaElement {
		return api.SearchSchemaElement{AttributeName: new(name), SearchSchemaElementType: new(role)}
	}
	return []api.VectorIndex{
		index("cosine", "COSINE", "ALL"),
		index("euclidean", "EUCLIDEAN", "KEYS_ONLY", element("f", "INLINE_FILTER")),
		index("dot", "DOT_PRODUCT", "KEYS_ONLY", element("p", "HASH"), element("f", "INLINE_FILTER")),
	}
}

func vectorDefinitions() []api.AttributeDefinition {
	return []api.AttributeDefinition{
		{AttributeName: new("p"), AttributeType: new("S")}, {AttributeName: new("f"), AttributeType: new("N")},
	}
}

// vectorTable is a table named Music with the indexes.
func vectorTable() *api.CreateTableInput {
	in := musicTable()
	in.AttributeDefinitions = append(in.AttributeDefinitions, vectorDefinitions()...)
	in.VectorIndexes = vectorIndexes()
	return in
}

// randomVectorItem draws components from few values, so that there are ties, zeros and opposites.
func randomVectorItem(rng *rand.Rand, id int) attr.Item {
	it := attr.Item{field("pk", fmt.Sprint(id))}
	if rng.IntN(8) > 0 {
		it = it.With("p", attr.String([]string{"a", "b"}[rng.IntN(2)]))
	}
	if rng.IntN(4) > 0 {
		it = it.With("f", attr.Number(fmt.Sprint(rng.IntN(3))))
	}
	if rng.IntN(8) > 0 {
		it = it.With("v", attr.List(randomVector(rng)))
	}
	return it
}

func randomVector(rng *rand.Rand) []attr.Value {
	elements := make([]attr.Value, vectorDimensions)
	for i := range elements {
		elements[i] = attr.Number([]string{"0", "1", "-1", "0.1", "0.333333333333", "-2.5", strconv.Itoa(rng.IntN(1000))}[rng.IntN(7)])
	}
	return elements
}

// TestSearchModel compares searches with a naive computation over all items, while items are added, changed and deleted: every
// result has the right score and is in the index, and no nearer one is missing.
func TestSearchModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			e := openEngine(t, kv.Checked(s.open(t)()))
			createTable(t, e, vectorTable())
			items := map[string]attr.Item{}
			for range 300 {
				it := randomVectorItem(rng, rng.IntN(60))
				pk, _ := it.Get("pk")
				if rng.IntN(5) == 0 {
					delete(items, pk.Text())
					if _, err := e.DeleteItem(t.Context(), &api.DeleteItemInput{TableName: new("Music"), Key: attr.Item{field("pk", pk.Text())}}); err != nil {
						t.Fatal(err)
					}
				} else {
					items[pk.Text()] = it
					if err := putMusic(t.Context(), e, it...); err != nil {
						t.Fatal(err)
					}
				}
				for _, x := range vectorIndexes() {
					compareSearch(t, rng, e, &x, items)
				}
				if t.Failed() {
					return
				}
			}
			wantVerified(t, e)
		})
	}
}

// compareSearch searches for a random vector under a random condition.
func compareSearch(t *testing.T, rng *rand.Rand, e *engine.Engine, x *api.VectorIndex, items map[string]attr.Item) {
	t.Helper()
	in := &api.SearchVectorsInput{
		TableName: new("Music"), IndexName: x.IndexName, SearchVector: randomVector(rng), TopK: new(int64(1 + rng.IntN(12))),
	}
	want := vectorWant{partition: "any", filter: anyItem}
	var clauses []string
	for _, element := range x.SearchSchema {
		switch {
		case *element.AttributeName == "p":
			want.partition = []string{"a", "b", "c"}[rng.IntN(3)]
			clauses = append(clauses, "p = :p")
			in.ExpressionAttributeValues = in.ExpressionAttributeValues.With(":p", attr.String(want.partition))
		case rng.IntN(3) > 0:
			f := vectorFilters[rng.IntN(len(vectorFilters))]
			l, h := rng.IntN(3), 2
			if strings.Contains(f.text, ":h") {
				h = l + rng.IntN(3-l)
				in.ExpressionAttributeValues = in.ExpressionAttributeValues.With(":h", attr.Number(strconv.Itoa(h)))
			}
			in.ExpressionAttributeValues = in.ExpressionAttributeValues.With(":l", attr.Number(strconv.Itoa(l)))
			want.text, want.filter = f.text, func(it attr.Item) bool {
				v, found := it.Get("f")
				n, _ := strconv.Atoi(v.Text())
				return f.holds(n, l, h, found)
			}
			clauses = append(clauses, "("+f.text+")")
		}
	}
	if len(clauses) > 0 {
		in.SearchConditionExpression = new(strings.Join(clauses, " AND "))
	}
	out, err := e.SearchVectors(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	scores := naiveScores(*x.DistanceFunction, in.SearchVector, items, &want)
	nearest := slices.SortedFunc(mapsValues(scores), func(a, b float64) int {
		if *x.DistanceFunction == "DOT_PRODUCT" {
			a, b = b, a
		}
		return cmp.Compare(a, b)
	})
	nearest = nearest[:min(len(nearest), int(*in.TopK))]
	if len(out.SearchResults) != len(nearest) {
		t.Fatalf("%s %s %s: %d results, want %d", *x.IndexName, want.partition, want.text, len(out.SearchResults), len(nearest))
	}
	for i, r := range out.SearchResults {
		pk, _, err := r.Item.Get("pk")
		if err != nil {
			t.Fatal(err)
		}
		own, present := scores[pk.Text()]
		if !present || !closeTo(*r.Score, own) || !closeTo(*r.Score, nearest[i]) {
			t.Errorf("%s %s %s: result %d is %s with %v; it has %v (%t), and the score there is %v",
				*x.IndexName, want.partition, want.text, i, pk.Text(), *r.Score, own, present, nearest[i])
		}
	}
}

func mapsValues(m map[string]float64) func(func(float64) bool) {
	return func(yield func(float64) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// vectorWant is the condition of a search for an evaluator without expressions.
type vectorWant struct {
	partition, text string
	filter          func(it attr.Item) bool
}

func anyItem(attr.Item) bool { return true }

// vectorFilters are conditions on f, which an item may lack, with equivalent predicates.
var vectorFilters = []struct {
	text  string
	holds func(f, l, h int, found bool) bool
}{
	{"f = :l", func(f, l, _ int, found bool) bool { return found && f == l }},
	{":l = f", func(f, l, _ int, found bool) bool { return found && f == l }},
	{"f <> :l", func(f, l, _ int, found bool) bool { return !found || f != l }},
	{"f < :l", func(f, l, _ int, found bool) bool { return found && f < l }},
	{":l >= f", func(f, l, _ int, found bool) bool { return found && f <= l }},
	{"f > :l", func(f, l, _ int, found bool) bool { return found && f > l }},
	{"f >= :l AND f <= :h", func(f, l, h int, found bool) bool { return found && f >= l && f <= h }},
	{"f BETWEEN :l AND :h", func(f, l, h int, found bool) bool { return found && f >= l && f <= h }},
	{"f IN (:h, :l)", func(f, l, h int, found bool) bool { return found && (f == l || f == h) }},
	{"f = :l OR f > :h", func(f, l, h int, found bool) bool { return found && (f == l || f > h) }},
	{"NOT f = :l", func(f, l, _ int, found bool) bool { return !found || f != l }},
}

// naiveScores returns the scores of the items that have a vector and satisfy the condition.
func naiveScores(function string, search []attr.Value, items map[string]attr.Item, want *vectorWant) map[string]float64 {
	scores := map[string]float64{}
	q := plainVector(search)
	for id, it := range items {
		v, has := it.Get("v")
		p, _ := it.Get("p")
		if has && (want.partition == "any" || p.Text() == want.partition) && want.filter(it) {
			scores[id] = naiveScore(function, q, plainVector(v.Elems()))
		}
	}
	return scores
}

func plainVector(elements []attr.Value) []float64 {
	out := make([]float64, len(elements))
	for i, e := range elements {
		f, err := strconv.ParseFloat(e.Text(), 64)
		if err != nil {
			panic(err)
		}
		out[i] = float64(float32(f))
	}
	return out
}

func naiveScore(function string, a, b []float64) float64 {
	var product, aa, bb, difference float64
	for i := range a {
		product += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
		difference += (a[i] - b[i]) * (a[i] - b[i])
	}
	switch {
	case function == "DOT_PRODUCT":
		return product
	case function == "EUCLIDEAN":
		return math.Sqrt(difference)
	case aa == 0 || bb == 0:
		return 1
	default:
		return 1 - product/math.Sqrt(aa*bb)
	}
}

func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// FuzzSearchCondition searches with any condition. If it is accepted, the search finds the same items as a scan with that
// condition, as far as they have a vector; a rejected one is not an internal error.
func FuzzSearchCondition(f *testing.F) {
	for _, condition := range []string{"p = :p", "#p = :p AND f = :f", "(f = :f)", ":f = f", "p = :p and #f = :f", "f = :p", "a.b = :p", "NOT p = :p", ""} {
		f.Add(condition, "a", "1")
	}
	e := openOn(f, memkv.New(), engine.Options{})
	f.Cleanup(func() {
		if err := e.Close(); err != nil {
			f.Error(err)
		}
	})
	if _, err := e.CreateTable(f.Context(), vectorTable()); err != nil {
		f.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for id := range 40 {
		if err := putMusic(f.Context(), e, randomVectorItem(rng, id)...); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, condition, text, number string) {
		names, values := map[string]string{}, attr.Item(nil)
		for placeholder, name := range map[string]string{"#p": "p", "#f": "f"} {
			if strings.Contains(condition, placeholder) {
				names[placeholder] = name
			}
		}
		for placeholder, v := range map[string]attr.Value{":p": attr.String(text), ":f": attr.ParseNumber(number)} {
			if strings.Contains(condition, placeholder) {
				values = values.With(placeholder, v)
			}
		}
		if len(names) == 0 {
			names = nil
		}
		scanned, scanErr := e.Scan(t.Context(), &api.ScanInput{
			TableName: new("Music"), FilterExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		})
		wantNoFault(t, scanErr)
		for _, x := range vectorIndexes() {
			found, err := e.SearchVectors(t.Context(), &api.SearchVectorsInput{
				TableName: new("Music"), IndexName: x.IndexName, SearchVector: randomVector(rng), TopK: new(int64(100)),
				SearchConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
			wantNoFault(t, err)
			if err != nil {
				continue
			}
			if scanErr != nil {
				t.Fatalf("%s searches %q, and a scan does not: %v", *x.IndexName, condition, scanErr)
			}
			var got, want []string
			for _, r := range found.SearchResults {
				got = append(got, keyOf(t, r.Item))
			}
			for _, it := range scanned.Items {
				if _, has, _ := it.Get("v"); has {
					want = append(want, keyOf(t, it))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s finds %q under %q, want %q", *x.IndexName, got, condition, want)
			}
		}
	})
}

func keyOf(t *testing.T, it itemenc.Item) string {
	t.Helper()
	pk, _, err := it.Get("pk")
	if err != nil {
		t.Fatal(err)
	}
	return pk.Text()
}
