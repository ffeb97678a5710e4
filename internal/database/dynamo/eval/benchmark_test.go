package eval_test

import (
	"strconv"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// wideItem has 20 attributes, f00 to f19, and the ones that the benchmarks name.
func wideItem() attr.Item {
	it := attr.Item{{Name: "hits", Value: attr.Number("41")}, {Name: "state", Value: attr.String("OPEN")}}
	for i := range 20 {
		it = it.With("f"+strconv.Itoa(100 + i)[1:], attr.String("some text of a field"))
	}
	return it
}

func bindCondition(b *testing.B) *eval.Condition {
	b.Helper()
	binder, err := eval.NewBinder(
		map[string]string{"#s": "state"},
		attr.Item{{Name: ":low", Value: attr.Number("10")}, {Name: ":open", Value: attr.String("OPEN")}})
	if err != nil {
		b.Fatal(err)
	}
	c, err := binder.Condition(expr.Condition, "attribute_exists(f07) AND #s = :open AND hits >= :low")
	if err != nil {
		b.Fatal(err)
	}
	if err := binder.Done(); err != nil {
		b.Fatal(err)
	}
	return c
}

func BenchmarkBindCondition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		bindCondition(b)
	}
}

func BenchmarkEval(b *testing.B) {
	c, it := bindCondition(b), wideItem()
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := c.Eval(it); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// The workload "update" of bench: SET n = n + :one, bound and applied.
func BenchmarkUpdate(b *testing.B) {
	it := wideItem()
	values := attr.Item{{Name: ":one", Value: attr.Number("1")}}
	b.ReportAllocs()
	for b.Loop() {
		binder, err := eval.NewBinder(nil, values)
		if err != nil {
			b.Fatal(err)
		}
		u, err := binder.Update("SET hits = hits + :one")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := u.Apply(it); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKeyCondition(b *testing.B) {
	values := attr.Item{{Name: ":p", Value: attr.String("p")}, {Name: ":s", Value: attr.String("s")}}
	b.ReportAllocs()
	for b.Loop() {
		binder, err := eval.NewBinder(nil, values)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := binder.KeyCondition("pk = :p AND begins_with(sk, :s)"); err != nil {
			b.Fatal(err)
		}
	}
}
