package history

import (
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
)

// The metrics, by AWS's names.
const (
	ConditionalCheckFailedRequests = "ConditionalCheckFailedRequests"
	ConsumedReadCapacityUnits      = "ConsumedReadCapacityUnits"
	ConsumedWriteCapacityUnits     = "ConsumedWriteCapacityUnits"
	PendingReplicationCount        = "PendingReplicationCount"
	ProvisionedReadCapacityUnits   = "ProvisionedReadCapacityUnits"
	ProvisionedWriteCapacityUnits  = "ProvisionedWriteCapacityUnits"
	ReadThrottleEvents             = "ReadThrottleEvents"
	ReplicationLatency             = "ReplicationLatency"
	ReturnedItemCount              = "ReturnedItemCount"
	ReturnedRecordsCount           = "ReturnedRecordsCount"
	SuccessfulRequestLatency       = "SuccessfulRequestLatency"
	SystemErrors                   = "SystemErrors"
	ThrottledRequests              = "ThrottledRequests"
	TimeToLiveDeletedItemCount     = "TimeToLiveDeletedItemCount"
	TransactionConflict            = "TransactionConflict"
	UserErrors                     = "UserErrors"
	WriteThrottleEvents            = "WriteThrottleEvents"
)

const (
	conditionFailed = "ConditionalCheckFailedException"
	canceled        = "(canceled)" // by the client, which gets no response
	getRecords      = "GetRecords"
	// throttleEvents is the suffix of the names of metrics by limit, which begin with the limit's name in package throttle.
	throttleEvents = "ThrottleEvents"
)

// itemReaders are the operations whose returned items AWS counts.
var itemReaders = []string{"ExecuteStatement", "Query", "Scan"}

// Tables are the existing tables by name.
type Tables = map[string]*catalog.Table

// Pending is the number of changes that have not arrived in other Regions, by table and Region.
type Pending = map[string]map[string]int64

// counter is one series of one Table of package observe. A table that was deleted and created again is another Table, and counts
// from 0.
type counter struct {
	table *observe.Table
	Series
}

// totals are the current values of counters. Latencies are in nanoseconds, which add up exactly.
type totals map[counter]Sample

func (t totals) add(of *observe.Table, s Series, total Sample) {
	sum := t[counter{of, s}]
	sum.Merge(total)
	t[counter{of, s}] = sum
}

// events adds a metric that counts events.
func (t totals) events(of *observe.Table, s Series, n int64) {
	t.add(of, s, Sample{Count: float64(n), Sum: float64(n), Low: 1, High: 1, Ranged: true})
}

// count reads all counters at approximately one moment. tables are the existing ones. restart resets the extremes.
func count(o *observe.Database, tables Tables, restart bool) totals {
	sum := totals{}
	for _, t := range o.Tables() {
		var d catalog.Descriptor // empty for a deleted table
		if table := tables[t.Name]; table != nil {
			d = *table.Descriptor
		}
		t.Operations(func(i int, op *observe.Operation) { sum.operation(t, &d, o.OperationName(i), op) })
		if !shared(t) {
			sum.table(t, &d, restart)
		}
	}
	return sum
}

// shared reports whether the counts are not those of a single table.
func shared(t *observe.Table) bool {
	return t.Name == observe.None || t.Name == observe.Several || t.Name == observe.Other
}

// operation adds the metrics of an operation on a table.
func (t totals) operation(of *observe.Table, d *catalog.Descriptor, name string, o *observe.Operation) {
	at := func(metric string) Series { return Series{Name: metric, Table: of.Name, Operation: name} }
	for failure, n := range o.Failures() {
		switch {
		case failure.Class == observe.User && failure.Code != conditionFailed && failure.Code != canceled:
			t.events(of, Series{Name: UserErrors}, n)
		case shared(of):
		case failure.Class == observe.System:
			t.events(of, at(SystemErrors), n)
		case failure.Class == observe.Throttled:
			t.events(of, at(ThrottledRequests), n)
		}
	}
	latency, returned := o.Latency.Distribution(), float64(o.Returned.Load())
	if shared(of) || latency.Count == 0 {
		return
	}
	succeeded := float64(latency.Count)
	t.add(of, at(SuccessfulRequestLatency), Sample{Count: succeeded, Sum: float64(latency.Sum), Buckets: buckets(latency)})
	switch {
	case slices.Contains(itemReaders, name):
		t.add(of, at(ReturnedItemCount), Sample{Count: succeeded, Sum: returned})
	case name == getRecords:
		records := at(ReturnedRecordsCount)
		records.Stream = d.Stream.Label
		t.add(of, records, Sample{Count: succeeded, Sum: returned})
	}
}

// buckets returns the counts of a distribution by bucket; the last one is beyond all bounds.
func buckets(d observe.Distribution) []uint64 {
	counts, below := make([]uint64, 0, len(d.UpTo)+1), uint64(0)
	for _, n := range d.UpTo {
		counts, below = append(counts, n-below), n
	}
	return append(counts, d.Count-below)
}

// table adds the metrics of a table that are not by operation. The consumption of a local index counts for its table.
func (t totals) table(of *observe.Table, d *catalog.Descriptor, restart bool) {
	t.capacity(of, Series{Table: of.Name}, &of.Capacity, restart)
	for name, c := range of.Indexes() {
		s := Series{Table: of.Name}
		if x := d.Index(name); x == nil || !x.Local {
			s.Index = name
		}
		t.capacity(of, s, c, restart)
	}
	for index, c := range of.Throttles() {
		t.events(of, Series{Name: ReadThrottleEvents, Table: of.Name, Index: index}, c.Reads.Load())
		t.events(of, Series{Name: WriteThrottleEvents, Table: of.Name, Index: index}, c.Writes.Load())
		for reason, n := range c.Reasons() {
			t.events(of, Series{Name: reason + throttleEvents, Table: of.Name, Index: index}, n.Load())
		}
	}
	for region, h := range of.Replications() {
		if d := h.Distribution(); d.Count > 0 {
			s := Series{Name: ReplicationLatency, Table: of.Name, Receiver: region}
			t.add(of, s, Sample{Count: float64(d.Count), Sum: float64(d.Sum), Buckets: buckets(d)})
		}
	}
	t.events(of, Series{Name: ConditionalCheckFailedRequests, Table: of.Name}, of.ConditionsFailed.Load())
	t.events(of, Series{Name: TransactionConflict, Table: of.Name}, of.Conflicts.Load())
	t.events(of, Series{Name: TimeToLiveDeletedItemCount, Table: of.Name}, of.Expired.Load())
}

func (t totals) capacity(of *observe.Table, s Series, c *observe.Capacity, restart bool) {
	for _, x := range []struct {
		name  string
		units *observe.Units
	}{{ConsumedReadCapacityUnits, &c.Read}, {ConsumedWriteCapacityUnits, &c.Write}} {
		s.Name = x.name
		total := Sample{Count: float64(x.units.Times()), Sum: x.units.Total()}
		total.Low, total.High, total.Ranged = x.units.Extremes()
		t.add(of, s, total)
		if restart {
			x.units.Restart()
		}
	}
}

// since returns the measurements between before and t, by series.
func (t totals) since(before totals) map[Series]Sample {
	measured := map[Series]Sample{}
	for key, total := range t {
		previous := before[key]
		m := Sample{
			Count: total.Count - previous.Count, Sum: total.Sum - previous.Sum,
			Low: total.Low, High: total.High, Ranged: total.Ranged,
		}
		if m.Count <= 0 {
			continue
		}
		if total.Buckets != nil {
			m.settleLatencies(total.Buckets, previous.Buckets)
		}
		sum := measured[key.Series]
		sum.Merge(m)
		measured[key.Series] = sum
	}
	return measured
}

// settleLatencies converts nanoseconds to milliseconds, and derives extremes from the buckets: the latency of a single request is
// known exactly, those of several only by the bounds of their buckets.
func (s *Sample) settleLatencies(total, previous []uint64) {
	s.Sum, s.Ranged = milliseconds(s.Sum), true
	s.Buckets = slices.Clone(total)
	for i, n := range previous {
		s.Buckets[i] -= n
	}
	if s.Count == 1 {
		s.Low, s.High = s.Sum, s.Sum
		return
	}
	first := slices.IndexFunc(s.Buckets, func(n uint64) bool { return n > 0 })
	last := len(s.Buckets) - 1
	for last > 0 && s.Buckets[last] == 0 {
		last--
	}
	s.Low, _ = bucketBounds(max(first, 0))
	_, s.High = bucketBounds(last)
}

// measureOnce adds a value as the only sample of a minute.
func measureOnce(measured map[Series]Sample, s Series, value float64) {
	measured[s] = Sample{Count: 1, Sum: value, Low: value, High: value, Ranged: true}
}

// addPending adds the number of changes on their way to other Regions, as one sample a minute.
func addPending(measured map[Series]Sample, pending Pending) {
	for table, regions := range pending {
		for region, n := range regions {
			measureOnce(measured, Series{Name: PendingReplicationCount, Table: table, Receiver: region}, float64(n))
		}
	}
}

// addProvisioned adds the provisioned throughput, as one sample a minute.
func addProvisioned(measured map[Series]Sample, tables Tables) {
	set := func(s Series, units int64) { measureOnce(measured, s, float64(units)) }
	for name, t := range tables {
		d := t.Descriptor
		if d.Billing.OnDemand {
			continue
		}
		set(Series{Name: ProvisionedReadCapacityUnits, Table: name}, d.Billing.Throughput.Read)
		set(Series{Name: ProvisionedWriteCapacityUnits, Table: name}, d.Billing.Throughput.Write)
		for i := range d.Indexes {
			if x := &d.Indexes[i]; !x.Local {
				set(Series{Name: ProvisionedReadCapacityUnits, Table: name, Index: x.Name}, x.Throughput.Read)
				set(Series{Name: ProvisionedWriteCapacityUnits, Table: name, Index: x.Name}, x.Throughput.Write)
			}
		}
	}
}
