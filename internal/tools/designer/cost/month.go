package cost

import (
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// The length of a month in AWS's own examples, and the share of provisioned capacity that a steady load can use
// while leaving room for peaks: the default target of auto scaling.
const (
	secondsPerMonth    = 30 * 24 * 3600
	hoursPerMonth      = 30 * 24
	provisionedTarget  = 0.7
	bytesPerGB         = 1 << 30
	requestsPerMillion = 1e6
)

// Month is the monthly cost of a design, in US dollars.
type Month struct {
	Design   string    `json:"design"`
	Region   string    `json:"region"`
	Since    string    `json:"pricesSince"`
	Patterns []Pattern `json:"patterns"`
	Storage  []Stored  `json:"storage"`
	// OnDemand is the cost of all requests, StorageCost the cost of all storage beyond the free tier.
	OnDemand    float64 `json:"onDemand"`
	StorageCost float64 `json:"storageCost"`
	// Provisioned is the cost of the same load in provisioned mode, with the capacity that it needs at 70 %
	// utilization.
	Provisioned ProvisionedCost `json:"provisioned"`
	Total       float64         `json:"total"` // on demand, with storage
}

// Pattern is the share of one read, collection or write.
type Pattern struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind"` // read, collection, write
	Place string  `json:"place,omitempty"`
	Units float64 `json:"units"` // per call, read or write request units
	// IndexUnits is the part of a write's units that goes to index entries: the write amplification of the indexes.
	IndexUnits float64 `json:"indexUnits,omitempty"`
	Rate       float64 `json:"rate"` // calls per second
	Cost       float64 `json:"cost"`
}

// Stored is the storage of one kind of item in one place.
type Stored struct {
	Place string  `json:"place"`
	Items float64 `json:"items"`
	Bytes float64 `json:"bytes"` // average of a month, with DynamoDB's 100 bytes per item and entry
	Cost  float64 `json:"cost"`  // before the free tier
}

// ProvisionedCost is the cost of capacity units.
type ProvisionedCost struct {
	ReadCapacity  float64 `json:"readCapacity"`
	WriteCapacity float64 `json:"writeCapacity"`
	Cost          float64 `json:"cost"`
	// BreakEven is the share of the day that the load must last for provisioned mode to be cheaper than on demand;
	// above 1 it never is.
	BreakEven float64 `json:"breakEven"`
}

// OfMonth estimates a month of a design with a price list.
func OfMonth(d *design.Design, prices Prices) Month {
	m := Month{Design: d.Name, Region: prices.Region, Since: prices.Since, Patterns: []Pattern{}}
	var reads, writes float64 // units per second
	for _, r := range d.Reads {
		result := plan.ForRead(d, r)
		units := OfRead(d, result).Units
		m.add(Pattern{Name: r.Name, Kind: "read", Place: result.Plan.Place.String(), Units: units, Rate: r.Rate}, prices.OnDemandRead)
		reads += units * r.Rate
	}
	for _, c := range d.Collections {
		p := plan.ForCollection(d, c)
		units := OfCollection(d, p).Units
		m.add(Pattern{Name: c.Name, Kind: "collection", Units: units, Rate: c.Rate}, prices.OnDemandRead)
		reads += units * c.Rate
	}
	for _, w := range d.Writes {
		of := OfWrite(plan.ForWrite(d, w))
		pattern := Pattern{Name: w.Name, Kind: "write", Units: of.Units(), Rate: w.Rate}
		for _, part := range of.Parts {
			if part.Place.Index == nil {
				continue
			}
			if part.Each {
				pattern.IndexUnits += part.Units * of.Lines
			} else {
				pattern.IndexUnits += part.Units
			}
		}
		pattern.IndexUnits = exact(pattern.IndexUnits)
		m.add(pattern, prices.OnDemandWrite)
		writes += of.Units() * w.Rate
	}
	m.store(d, prices)
	m.provision(reads, writes, prices)
	m.Total = m.OnDemand + m.StorageCost
	return m
}

func (m *Month) add(p Pattern, perMillion float64) {
	p.Cost = p.Units * p.Rate * secondsPerMonth / requestsPerMillion * perMillion
	m.OnDemand += p.Cost
	m.Patterns = append(m.Patterns, p)
}

func (m *Month) store(d *design.Design, prices Prices) {
	total := 0.0
	for _, e := range d.Entities {
		items := Items(d, e)
		for _, p := range plan.Places(d, e) {
			held := items * p.Part()
			bytes := held * float64(SizeAt(p)+itemOverhead)
			total += bytes
			m.Storage = append(m.Storage, Stored{Place: p.String(), Items: held, Bytes: bytes, Cost: bytes / bytesPerGB * prices.Storage})
		}
	}
	m.StorageCost = max(0, total/bytesPerGB-prices.FreeStorage) * prices.Storage
}

func (m *Month) provision(reads, writes float64, prices Prices) {
	p := &m.Provisioned
	p.ReadCapacity, p.WriteCapacity = reads/provisionedTarget, writes/provisionedTarget
	p.Cost = (p.ReadCapacity*prices.ProvisionedRead + p.WriteCapacity*prices.ProvisionedWrite) * hoursPerMonth
	if m.OnDemand > 0 {
		p.BreakEven = p.Cost / m.OnDemand
	}
}
