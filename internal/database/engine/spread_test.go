package engine

import (
	"testing"

	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// TestPartitionsFor: a table is divided by its requested throughput and its size, and not by defaults.
func TestPartitionsFor(t *testing.T) {
	provisioned := func(read, write int64) catalog.Billing {
		return catalog.Billing{Throughput: catalog.Throughput{Read: read, Write: write}}
	}
	for _, test := range []struct {
		name  string
		table catalog.Descriptor
		bytes int64
		want  int
	}{
		{"on demand", catalog.Descriptor{Billing: catalog.Billing{OnDemand: true}}, 0, 1},
		{"on demand, warm", catalog.Descriptor{Billing: catalog.Billing{OnDemand: true}, Warm: &catalog.Units{Read: 12_000, Write: 8_000}}, 0, 8},
		{"on demand, restored", catalog.Descriptor{Billing: catalog.Billing{OnDemand: true}}, 25 << 30, 3},
		{"provisioned, small", catalog.Descriptor{Billing: provisioned(5, 5)}, 0, 1},
		{"provisioned, for reads", catalog.Descriptor{Billing: provisioned(6_001, 5)}, 0, 3},
		{"provisioned, for writes", catalog.Descriptor{Billing: provisioned(5, 4_000)}, 0, 4},
	} {
		if got := partitionsFor(&test.table, nil, test.bytes); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
