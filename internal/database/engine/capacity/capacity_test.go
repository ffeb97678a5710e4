package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/capacity"
)

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		bytes                                   int
		eventual, strong, transactional, writes float64
	}{
		{0, 0.5, 1, 2, 1},
		{1, 0.5, 1, 2, 1},
		{1024, 0.5, 1, 2, 1},
		{1025, 0.5, 1, 2, 2},
		{4096, 0.5, 1, 2, 4},
		{4097, 1, 2, 4, 5},
		{400 << 10, 50, 100, 200, 400},
	} {
		got := [4]float64{
			capacity.ReadUnits(tt.bytes, capacity.Eventual),
			capacity.ReadUnits(tt.bytes, capacity.Strong),
			capacity.ReadUnits(tt.bytes, capacity.Transactional),
			capacity.WriteUnits(tt.bytes),
		}
		if want := [4]float64{tt.eventual, tt.strong, tt.transactional, tt.writes}; got != want {
			t.Errorf("%d bytes cost %v, want %v", tt.bytes, got, want)
		}
	}
}

// A report names the table as the request did, splits the sum on request, and tells reads from writes in
// transactions only.
func TestReport(t *testing.T) {
	units := func(u float64) *float64 { return &u }
	name := "T"
	fill := func(m *capacity.Meter) *api.ConsumedCapacity {
		m.Table(1)
		m.Table(2)
		m.Local("l", 1)
		m.Global("g", 2)
		m.Global("g", 0.5)
		return m.Report()
	}
	for _, tt := range []struct {
		name   string
		detail capacity.Detail
		split  capacity.Split
		want   *api.ConsumedCapacity
	}{
		{"none", capacity.None, capacity.NoSplit, nil},
		{"total", capacity.Total, capacity.NoSplit, &api.ConsumedCapacity{TableName: &name, CapacityUnits: units(6.5)}},
		{"total of a reading transaction", capacity.Total, capacity.Reads, &api.ConsumedCapacity{
			TableName: &name, CapacityUnits: units(6.5), ReadCapacityUnits: units(6.5),
		}},
		{"indexes", capacity.Indexes, capacity.NoSplit, &api.ConsumedCapacity{
			TableName: &name, CapacityUnits: units(6.5),
			Table:                  &api.Capacity{CapacityUnits: units(3)},
			LocalSecondaryIndexes:  map[string]api.Capacity{"l": {CapacityUnits: units(1)}},
			GlobalSecondaryIndexes: map[string]api.Capacity{"g": {CapacityUnits: units(2.5)}},
		}},
		{"indexes of a writing transaction", capacity.Indexes, capacity.Writes, &api.ConsumedCapacity{
			TableName: &name, CapacityUnits: units(6.5), WriteCapacityUnits: units(6.5),
			Table:                  &api.Capacity{CapacityUnits: units(3), WriteCapacityUnits: units(3)},
			LocalSecondaryIndexes:  map[string]api.Capacity{"l": {CapacityUnits: units(1), WriteCapacityUnits: units(1)}},
			GlobalSecondaryIndexes: map[string]api.Capacity{"g": {CapacityUnits: units(2.5), WriteCapacityUnits: units(2.5)}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, fill(capacity.NewMeter(name, tt.detail, tt.split))); diff != "" {
				t.Errorf("report (-want +got)\n%s", diff)
			}
		})
	}
}
