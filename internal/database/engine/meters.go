package engine

import (
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// meters are the capacity meters of a request on several tables, by the table names in the request.
type meters struct {
	detail capacity.Detail
	split  capacity.Split
	tables map[string]*capacity.Meter
}

// of returns the meter of a table, or nil if the request wants no report.
func (ms *meters) of(table string) *capacity.Meter {
	if ms.detail == capacity.None {
		return nil
	}
	m, ok := ms.tables[table]
	if !ok {
		if ms.tables == nil {
			ms.tables = make(map[string]*capacity.Meter)
		}
		m = capacity.NewMeter(table, ms.detail, ms.split)
		ms.tables[table] = m
	}
	return m
}

// reports returns the reports of all tables on which capacity was consumed, ordered by name.
func (ms *meters) reports() []api.ConsumedCapacity {
	var reports []api.ConsumedCapacity
	for _, name := range slices.Sorted(maps.Keys(ms.tables)) {
		if r := ms.tables[name].Report(); *r.CapacityUnits > 0 {
			reports = append(reports, *r)
		}
	}
	return reports
}

// charge adds the cost of the write's last run; a transaction costs double on the table.
func (w *write) charge(m *capacity.Meter, transactional bool) {
	if m == nil {
		return
	}
	m.Table(w.tableUnits(transactional))
	for _, x := range w.outcome.indexWrites {
		switch x.index.Kind {
		case catalog.Local:
			m.Local(x.index.Name, x.units)
		case catalog.Vector:
			m.Vector(x.index.Name, x.units)
		default:
			m.Global(x.index.Name, x.units)
		}
	}
}

// tableUnits returns the cost of the write's last run on the table itself.
func (w *write) tableUnits(transactional bool) float64 {
	units := capacity.WriteUnits(max(w.outcome.oldBytes, w.outcome.nextBytes))
	if transactional {
		units *= 2
	}
	return units
}
