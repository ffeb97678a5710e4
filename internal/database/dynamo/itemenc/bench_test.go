package itemenc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// kilobyte is the item of the benchmarks' workload: keys of a table and two indexes, some numbers, a list, a
// map, and text up to about 1 KB.
func kilobyte() attr.Item {
	fields := []attr.Field{
		field("PK", attr.String("CUSTOMER#00012345")), field("SK", attr.String("ORDER#2026-01-01#000001")),
		field("GSI1PK", attr.String("STATUS#open")), field("GSI1SK", attr.String("2026-01-01T00:00:00Z")),
		field("GSI2PK", attr.String("REGION#eu")), field("GSI2SK", attr.String("000001")),
		field("total", attr.Number("129.95")), field("n", attr.Number("42")), field("paid", attr.Bool(true)),
		field("tags", attr.List([]attr.Value{attr.String("gift"), attr.String("express")})),
		field("address", attr.Map(item(field("city", attr.String("Bern")), field("zip", attr.String("3011"))))),
	}
	for i := range 9 {
		fields = append(fields, field(fmt.Sprintf("text%d", i), attr.String(strings.Repeat("x", 80))))
	}
	return item(fields...)
}

func BenchmarkEncode(b *testing.B) {
	it := kilobyte()
	b.ReportAllocs()
	for b.Loop() {
		itemenc.Encode(nil, it)
	}
}

func BenchmarkDecode(b *testing.B) {
	e := itemenc.Encode(nil, kilobyte())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Decode(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	e := itemenc.Encode(nil, kilobyte())
	for b.Loop() {
		if _, found, _ := e.Lookup("SK"); !found {
			b.Fatal("not found")
		}
	}
}

func BenchmarkProject(b *testing.B) {
	e := itemenc.Encode(nil, kilobyte())
	names := []string{"GSI1PK", "GSI1SK", "PK", "SK", "total"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Project(nil, names); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	e := itemenc.Encode(nil, kilobyte())
	names := []string{"paid", "total"}
	b.Run("Select", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Select(names); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Borrow", func(b *testing.B) {
		b.ReportAllocs()
		var fields attr.Item
		for b.Loop() {
			var err error
			if fields, err = e.Borrow(fields, names); err != nil {
				b.Fatal(err)
			}
		}
	})
}
