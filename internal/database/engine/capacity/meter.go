package capacity

import (
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// Detail is the level of detail in a report.
type Detail uint8

// The details.
const (
	None Detail = iota
	Total
	Indexes
)

// DetailOf evaluates the ReturnConsumedCapacity parameter.
func DetailOf(returnConsumedCapacity *string) Detail {
	if returnConsumedCapacity == nil {
		return None
	}
	switch *returnConsumedCapacity {
	case "TOTAL":
		return Total
	case "INDEXES":
		return Indexes
	default:
		return None
	}
}

// Split determines whether the units of a transaction are reported as read or write units.
type Split uint8

// The splits.
const (
	NoSplit Split = iota // not a transaction
	Reads
	Writes
)

// Meter adds up what one request consumed on one table. A nil Meter counts nothing and reports nil. It is not safe for concurrent
// use.
type Meter struct {
	name    string
	detail  Detail
	split   Split
	table   float64
	locals  map[string]float64
	globals map[string]float64
	vectors map[string]float64 // bytes
}

// NewMeter returns a meter for a table, as named in the request (a name or an ARN, which the report repeats), or nil if the
// request wants no report.
func NewMeter(table string, d Detail, s Split) *Meter {
	if d == None {
		return nil
	}
	return &Meter{name: table, detail: d, split: s}
}

// Table adds units consumed on the table itself.
func (m *Meter) Table(units float64) {
	if m != nil {
		m.table += units
	}
}

// Local adds units consumed on a local secondary index.
func (m *Meter) Local(index string, units float64) {
	if m == nil {
		return
	}
	if m.locals == nil {
		m.locals = make(map[string]float64)
	}
	m.locals[index] += units
}

// Global adds units consumed on a global secondary index.
func (m *Meter) Global(index string, units float64) {
	if m == nil {
		return
	}
	if m.globals == nil {
		m.globals = make(map[string]float64)
	}
	m.globals[index] += units
}

// Vector adds bytes written to a vector index.
func (m *Meter) Vector(index string, bytes float64) {
	if m == nil {
		return
	}
	if m.vectors == nil {
		m.vectors = make(map[string]float64)
	}
	m.vectors[index] += bytes
}

// Report returns the ConsumedCapacity of the response.
func (m *Meter) Report() *api.ConsumedCapacity {
	if m == nil {
		return nil
	}
	total := m.table
	for _, units := range m.locals {
		total += units
	}
	for _, units := range m.globals {
		total += units
	}
	sum := m.units(total)
	report := &api.ConsumedCapacity{
		TableName:          &m.name,
		CapacityUnits:      sum.CapacityUnits,
		ReadCapacityUnits:  sum.ReadCapacityUnits,
		WriteCapacityUnits: sum.WriteCapacityUnits,
	}
	if m.detail == Indexes {
		table := m.units(m.table)
		report.Table = &table
		report.LocalSecondaryIndexes = m.arms(m.locals)
		report.GlobalSecondaryIndexes = m.arms(m.globals)
		report.VectorIndexes = m.vectorArms()
	}
	return report
}

func (m *Meter) arms(units map[string]float64) map[string]api.Capacity {
	if len(units) == 0 {
		return nil
	}
	arms := make(map[string]api.Capacity, len(units))
	for name, u := range units {
		arms[name] = m.units(u)
	}
	return arms
}

// vectorArms reports the bytes written to vector indexes, at least VectorBytesMin in total: the difference is added to the index
// that is first by name.
func (m *Meter) vectorArms() map[string]api.VectorCapacity {
	if len(m.vectors) == 0 {
		return nil
	}
	arms, sum := make(map[string]api.VectorCapacity, len(m.vectors)), 0.0
	names := slices.Sorted(maps.Keys(m.vectors))
	for _, name := range names {
		bytes := m.vectors[name]
		arms[name], sum = api.VectorCapacity{VectorWriteRequestBytes: &bytes}, sum+bytes
	}
	if sum < VectorBytesMin {
		*arms[names[0]].VectorWriteRequestBytes += VectorBytesMin - sum
	}
	return arms
}

func (m *Meter) units(u float64) api.Capacity {
	c := api.Capacity{CapacityUnits: &u}
	switch m.split {
	case Reads:
		c.ReadCapacityUnits = &u
	case Writes:
		c.WriteCapacityUnits = &u
	case NoSplit:
	}
	return c
}
