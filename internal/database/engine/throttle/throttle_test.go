package throttle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0 is a new one")

var (
	table = ID{Table: 1}
	start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

func after(d time.Duration) time.Time { return start.Add(d) }

// provisioned is a limiter of a table with a number of units per second, created at start.
func provisioned(units int64, unused time.Duration) *Limiter {
	l := new(Limiter)
	l.Configure(table, Settings{Limits: [Limits]Rates{Provisioned: {units, units}}, Partitions: 1}, unused, start)
	return l
}

// onDemand is a limiter of an on-demand table.
func onDemand(warm Rates) *Limiter {
	l := new(Limiter)
	l.Configure(table, onDemandSettings(warm), 0, start)
	return l
}

func onDemandSettings(warm Rates) Settings {
	return Settings{Limits: [Limits]Rates{KeyRange: warm, AccountLimit: {40_000, 40_000}}, Partitions: Partitions(warm, 0)}
}

// granted is the number of writes of one unit granted at a moment.
func granted(l *Limiter, hash uint16, now time.Time) (n int) {
	for {
		if _, refusals := l.Take([]Demand{{0, table, Write, hash, 1}}, now); refusals != nil {
			return n
		}
		n++
	}
}

func reasons(refusals []Refusal) (names []string) {
	for _, r := range refusals {
		names = append(names, fmt.Sprintf("%d %s", r.Item, r.Reason.Of(r.ID.Index != 0)))
	}
	return names
}

// TestBurst checks how much a provisioned table saves, and for how long.
func TestBurst(t *testing.T) {
	for _, tt := range []struct {
		name   string
		unused time.Duration // before the start
		idle   time.Duration // after it
		want   int
	}{
		{"a new table has one second", 0, 0, 3},
		{"each second adds one", 0, 3 * time.Second, 3 + 9},
		{"parts of a second add parts", 0, 666 * time.Millisecond, 3 + 1},
		{"and are not lost", 0, 667 * time.Millisecond, 3 + 2},
		{"300 seconds are kept", 0, 299 * time.Second, 900},
		{"and no more", 0, 24 * time.Hour, 900},
		{"a table that was there before has saved", time.Hour, 0, 900},
		{"as long as it was there", time.Minute, 0, 3 + 180},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := granted(provisioned(3, tt.unused), 0, after(tt.idle)); got != tt.want {
				t.Errorf("%d writes granted, want %d", got, tt.want)
			}
		})
	}
}

// TestRefill checks that an exhausted table serves its rate, to the nanosecond.
func TestRefill(t *testing.T) {
	l := provisioned(3, 0)
	granted(l, 0, start)
	const third = time.Second / 3 // rounded down
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{third, 0}, {third + 1, 1}, {2 * third, 0}, {2*third + 1, 1}, {time.Second, 1}, {time.Second, 0}, {2 * time.Second, 3}, {time.Second, 0}} {
		if got := granted(l, 0, after(tt.at)); got != tt.want {
			t.Errorf("after %v: %d, want %d", tt.at, got, tt.want)
		}
	}
}

// TestReadsAreChargedAfterwards checks that the cost of a read is charged even if it is not available, and has to be repaid before the next one.
// TestClockSetBack: capacity is refilled after the clock was set back, and not by times that are only out of order.
func TestClockSetBack(t *testing.T) {
	l := provisioned(3, 0)
	granted(l, 0, after(0))
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{time.Minute, 180}, {30 * time.Second, 0}, {time.Minute, 0}, {-time.Hour, 0}, {time.Second - time.Hour, 3}} {
		if got := granted(l, 0, after(tt.at)); got != tt.want {
			t.Errorf("at %v: %d, want %d", tt.at, got, tt.want)
		}
	}
}

func TestReadsAreChargedAfterwards(t *testing.T) {
	l := provisioned(1, 0)
	read := []Demand{{0, table, Read, 7, 0.5}}
	for range 2 {
		if _, refusals := l.Take(read, start); refusals != nil {
			t.Fatal(reasons(refusals))
		}
	}
	l.Spend([]Demand{{0, table, Read, 7, 10}}, start)
	if got := l.Available(table, Read, 7, start); got != 0 {
		t.Errorf("%v available, want 0", got)
	}
	_, refusals := l.Take(read, after(10*time.Second))
	if diff := cmp.Diff([]string{"0 TableReadProvisionedThroughputExceeded"}, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
	if _, refusals := l.Take(read, after(10500*time.Millisecond)); refusals != nil {
		t.Errorf("throttled although the debt is paid: %v", reasons(refusals))
	}
	if got := l.Available(table, Write, 7, start); got != 1 {
		t.Errorf("%v writes available, want 1: reads are not charged to them", got)
	}
}

// TestFullBucketAdmitsAnyRequest checks that no request is rejected forever because of its size.
func TestFullBucketAdmitsAnyRequest(t *testing.T) {
	l := provisioned(1, 0)
	large := []Demand{{0, table, Write, 0, 400}}
	if _, refusals := l.Take(large, after(298*time.Second)); refusals == nil {
		t.Error("granted with 299 of 400 units")
	}
	if _, refusals := l.Take(large, after(299*time.Second)); refusals != nil {
		t.Error(reasons(refusals))
	}
	if got := granted(l, 0, after(399*time.Second)); got != 0 {
		t.Errorf("%d, want none while there is a debt", got)
	}
	if got := granted(l, 0, after(400*time.Second)); got != 1 {
		t.Errorf("%d, want 1", got)
	}
}

// TestAllOrNothing checks that demands are granted together, that all exceeded limits are reported, and that a refund is
// complete.
func TestAllOrNothing(t *testing.T) {
	l := provisioned(10, 0)
	index := ID{Table: 1, Index: 2}
	l.Configure(index, Settings{Limits: [Limits]Rates{Provisioned: {1, 1}}, Partitions: 1}, 0, start)
	write := func(units float64) []Demand { return []Demand{{0, table, Write, 0, units}, {0, index, Write, 0, 1}} }
	if _, refusals := l.Take(write(10), start); refusals != nil {
		t.Fatal(reasons(refusals))
	}
	at := after(500 * time.Millisecond)
	_, refusals := l.Take(write(5), at)
	if diff := cmp.Diff([]string{"0 IndexWriteProvisionedThroughputExceeded"}, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
	_, refusals = l.Take(write(6), at)
	want := []string{"0 TableWriteProvisionedThroughputExceeded", "0 IndexWriteProvisionedThroughputExceeded"}
	if diff := cmp.Diff(want, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
	grant, refusals := l.Take([]Demand{{0, table, Write, 0, 5}}, at)
	if refusals != nil {
		t.Errorf("a refused demand was charged: %v", reasons(refusals))
	}
	grant.Refund()
	grant.Refund()
	if got := l.Available(table, Write, 0, at); got != 5 {
		t.Errorf("%v after a refund, want 5", got)
	}
}

// TestItemsOfARequest checks that a rejected item leaves its units to the others.
func TestItemsOfARequest(t *testing.T) {
	l := provisioned(3, 0)
	index := ID{Table: 1, Index: 2}
	l.Configure(index, Settings{Limits: [Limits]Rates{Provisioned: {1, 1}}, Partitions: 1}, 0, start)
	items := []Demand{
		{0, table, Write, 0, 1},
		{0, index, Write, 0, 1},
		{1, table, Write, 0, 2},
		{1, index, Write, 0, 1}, // the index has no units left
		{2, table, Write, 0, 2},
		{3, table, Write, 0, 1},
	}
	_, refusals := l.Take(items, start)
	want := []string{"1 IndexWriteProvisionedThroughputExceeded", "3 TableWriteProvisionedThroughputExceeded"}
	if diff := cmp.Diff(want, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
	if _, refusals := l.Take(slices.Concat(items[:2], items[4:5]), start); refusals != nil {
		t.Errorf("the others are refused: %v", reasons(refusals))
	}
}

// TestChangedThroughput checks that a change of throughput keeps saved units, as far as there is room.
func TestChangedThroughput(t *testing.T) {
	l := provisioned(10, time.Hour)
	change := func(units int64, at time.Time) {
		l.Configure(table, Settings{Limits: [Limits]Rates{Provisioned: {units, units}}, Partitions: 1}, time.Hour, at)
	}
	change(20, start)
	if got := l.Available(table, Write, 0, start); got != 1000 { // the partition's limit per second; the table has 3000
		t.Errorf("%v, want 1000", got)
	}
	change(2, start)
	if got := granted(l, 0, start); got != 600 {
		t.Errorf("%d, want 600", got)
	}
	change(4, start)
	if got := granted(l, 0, after(time.Second)); got != 4 {
		t.Errorf("%d, want 4", got)
	}
}

// TestPartitionLimit checks that one partition has 1,000 writes and 3,000 reads per second, regardless of the table, and
// saves at most one second.
func TestPartitionLimit(t *testing.T) {
	l := provisioned(10_000, time.Hour)
	l.Configure(table, Settings{Limits: [Limits]Rates{Provisioned: {10_000, 10_000}}, Partitions: Partitions(Rates{10_000, 10_000}, 0)}, 0, start)
	for _, at := range []time.Time{start, after(time.Second), after(time.Hour)} {
		if got := granted(l, 0, at); got != 1000 {
			t.Errorf("%v: %d, want 1000", at.Sub(start), got)
		}
		if got := granted(l, hashes-1, at); got != 1000 {
			t.Errorf("%v: another partition: %d, want 1000", at.Sub(start), got)
		}
		if got := l.Available(table, Read, 0, at); got != 3000 {
			t.Errorf("%v: %v reads, want 3000", at.Sub(start), got)
		}
	}
	_, refusals := l.Take([]Demand{{0, table, Write, 0, 1}}, after(time.Hour))
	if diff := cmp.Diff([]string{"0 TableWriteKeyRangeThroughputExceeded"}, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
}

func TestPartitions(t *testing.T) {
	for _, tt := range []struct {
		read, write, bytes int64
		want               int
	}{
		{1, 1, 0, 1},
		{12_000, 4_000, 0, 4},
		{3001, 1, 0, 2},
		{1, 1001, 0, 2},
		{1, 1, 10 << 30, 1},
		{1, 1, 10<<30 + 1, 2},
		{1e12, 1e12, 1 << 60, partitionsMax},
	} {
		if got := Partitions(Rates{tt.read, tt.write}, tt.bytes); got != tt.want {
			t.Errorf("%d reads, %d writes, %d bytes: %d, want %d", tt.read, tt.write, tt.bytes, got, tt.want)
		}
	}
}

// TestOnDemandServesWarmThroughput checks the limits of an on-demand table together.
func TestOnDemandServesWarmThroughput(t *testing.T) {
	l := onDemand(Rates{WarmReads, WarmWrites})
	sum := 0
	for _, hash := range []uint16{0, hashes / 4, hashes / 2, 3 * hashes / 4} {
		sum += granted(l, hash, start)
	}
	if sum != WarmWrites {
		t.Errorf("%d writes in the first second, want %d", sum, WarmWrites)
	}
	_, refusals := l.Take([]Demand{{0, table, Write, 0, 1}}, start)
	if diff := cmp.Diff([]string{"0 TableWriteKeyRangeThroughputExceeded"}, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
	s := onDemandSettings(Rates{80_000, 80_000})
	s.Limits[MaxOnDemand] = Rates{0, 2}
	l.Configure(table, s, 0, after(time.Hour))
	if got := granted(l, 0, after(time.Hour)); got != 2 {
		t.Errorf("%d, want the maximum of one second", got)
	}
	_, refusals = l.Take([]Demand{{0, table, Write, 0, 1}}, after(time.Hour))
	if diff := cmp.Diff([]string{"0 TableWriteMaxOnDemandThroughputExceeded"}, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
	l.Spend([]Demand{{0, table, Read, 0, 45_000}}, after(time.Hour))
	_, refusals = l.Take([]Demand{{0, table, Read, 0, 1}}, after(time.Hour))
	want := []string{"0 TableReadAccountLimitExceeded", "0 TableReadKeyRangeThroughputExceeded"}
	if diff := cmp.Diff(want, reasons(refusals)); diff != "" {
		t.Error(diff)
	}
}

// TestPeakDoublesWarmThroughput checks that a new peak doubles the warm throughput half an hour later.
func TestPeakDoublesWarmThroughput(t *testing.T) {
	var g Growth
	quota := Rates{40_000, 40_000}
	warm := Rates{WarmReads, WarmWrites}
	for _, tt := range []struct {
		at          time.Duration
		read, write float64
		want        Rates
	}{
		{0, 6000, 2000, Rates{12_000, 4000}},
		{40 * time.Minute, 0, 0, Rates{12_000, 4000}}, // not a new peak
		{41 * time.Minute, 0, 3000, Rates{12_000, 4000}},
		{50 * time.Minute, 10_000, 4000, Rates{12_000, 4000}},
		{70 * time.Minute, 0, 1, Rates{12_000, 4000}},
		{71 * time.Minute, 0, 0, Rates{12_000, 8000}}, // twice the highest peak of the half hour
		{80 * time.Minute, 0, 0, Rates{20_000, 8000}},
		{3 * time.Hour, 0, 0, Rates{20_000, 8000}}, // it does not shrink
		{4 * time.Hour, 0, 39_000, Rates{20_000, 8000}},
		{4*time.Hour + 30*time.Minute, 0, 0, Rates{20_000, 40_000}}, // nor exceed the quota
		{9 * time.Hour, 0, 50_000, Rates{20_000, 40_000}},
		{10 * time.Hour, 0, 50_000, Rates{20_000, 40_000}},
	} {
		if warm = g.Observe([ops]float64{tt.read, tt.write}, warm, quota, after(tt.at)); warm != tt.want {
			t.Errorf("%v: %v, want %v", tt.at, warm, tt.want)
		}
	}
}

// TestHotKeyIsIsolated checks that a key with most of the traffic gets its own partition after some minutes, and that other
// keys are no longer affected. The key itself never gets more than a partition's throughput.
func TestHotKeyIsIsolated(t *testing.T) {
	l := provisioned(3000, time.Hour)
	l.Configure(table, Settings{Limits: [Limits]Rates{Provisioned: {3000, 3000}}, Partitions: 1}, 0, start)
	const hot, other = 1234, 1235
	traffic := func(at time.Time) (hotGranted, otherGranted int) {
		for i := range 1500 { // twice as many for the hot key
			if _, refusals := l.Take([]Demand{{0, table, Write, hot, 1}}, at); refusals == nil {
				hotGranted++
			}
			if i%2 == 0 {
				if _, refusals := l.Take([]Demand{{0, table, Write, other, 1}}, at); refusals == nil {
					otherGranted++
				}
			}
		}
		return hotGranted, otherGranted
	}
	for second := time.Duration(0); second <= SplitAfter; second += 20 * time.Second {
		if hot, other := traffic(after(second)); hot+other != 1000 {
			t.Fatalf("after %v: %d and %d, want 1000", second, hot, other)
		}
	}
	if hot, other := traffic(after(SplitAfter + time.Second)); hot != 1000 || other != 750 {
		t.Errorf("afterwards: %d and %d, want 1000 and 750", hot, other)
	}
	if diff := cmp.Diff([]int{hot, hot + 1}, l.resources[table].partitions.heat); diff != "" {
		t.Error(diff)
	}
	for second := time.Duration(0); second <= 2*SplitAfter; second += 20 * time.Second {
		traffic(after(SplitAfter + 2*time.Second + second))
	}
	if n := len(l.resources[table].partitions.all); n != 3 {
		t.Errorf("%d partitions, want 3: one key is not divided", n)
	}
}

// TestHotPartitionIsSplit checks that a partition with many keys is split at the median of its traffic, and that a pause
// restarts the wait.
func TestHotPartitionIsSplit(t *testing.T) {
	l := provisioned(3000, time.Hour)
	traffic := func(at time.Time) (n int) {
		for i := range 1920 {
			if _, refusals := l.Take([]Demand{{0, table, Write, uint16(i % 32), 1}}, at); refusals == nil {
				n++
			}
		}
		return n
	}
	at := start
	for range SplitAfter / (20 * time.Second) {
		traffic(at)
		at = at.Add(20 * time.Second)
	}
	at = at.Add(2 * coolAfter)
	for range SplitAfter/(20*time.Second) + 1 {
		if got := traffic(at); got != 1000 {
			t.Fatalf("%d, want 1000", got)
		}
		at = at.Add(20 * time.Second)
	}
	if got := traffic(at); got != 1920 {
		t.Errorf("%d, want 1920: two partitions", got)
	}
	if diff := cmp.Diff([]int{16}, l.resources[table].partitions.heat); diff != "" {
		t.Error(diff)
	}
}

// TestHotPartitionOfABatch checks that a partition is split once if it rejects several items of one request.
func TestHotPartitionOfABatch(t *testing.T) {
	l := provisioned(3000, time.Hour)
	batch := []Demand{{0, table, Write, 7, 600}, {1, table, Write, 7, 600}, {2, table, Write, 7, 600}, {3, table, Write, 7, 600}}
	for at := time.Duration(0); at <= SplitAfter; at += 20 * time.Second {
		l.Spend([]Demand{{0, table, Write, 7, 1000}}, after(at))
		if _, refusals := l.Take(batch, after(at)); len(refusals) != len(batch) {
			t.Fatalf("after %v: %v, want every item to be rejected", at, reasons(refusals))
		}
	}
	if diff := cmp.Diff([]int{7, 8}, l.resources[table].partitions.heat); diff != "" {
		t.Error(diff)
	}
}

// TestDivide checks that partitions cover every hash once, and keep their state when they are divided.
func TestDivide(t *testing.T) {
	var ps partitions
	for _, tt := range []struct {
		n    int
		want int
	}{{1, 1}, {4, 4}, {3, 4}, {7, 7}, {1 << 20, partitionsMax}} {
		ps.divide(tt.n, start)
		if len(ps.all) != tt.want {
			t.Errorf("%d: %d partitions, want %d", tt.n, len(ps.all), tt.want)
		}
		next := 0
		for _, p := range ps.all {
			if p.lo != next || p.hi <= p.lo {
				t.Fatalf("%d: a partition from %d to %d after %d", tt.n, p.lo, p.hi, next)
			}
			next = p.hi
			p.buckets[Write].level = tokens(p.lo)
		}
		if next != hashes {
			t.Errorf("%d: the last ends at %d", tt.n, next)
		}
	}
	if got, want := ps.at(hashes/2 + 1).buckets[Write].level, tokens(hashes/2); got != want {
		t.Errorf("a partition begins with %d, want %d", got, want)
	}
}

// TestGrantsAreBounded checks invariants 2 and 3 on random requests at random times.
func TestGrantsAreBounded(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	run := func() (log []string) {
		r := rand.New(rand.NewPCG(s, 0))
		rate := 1 + r.Int64N(50)
		l := provisioned(rate, time.Duration(r.IntN(400))*time.Second)
		now, sum := start, 0.0
		for range 3000 {
			if now = now.Add(time.Duration(r.Int64N(int64(2 * time.Second)))); r.IntN(300) == 0 {
				now = now.Add(10 * time.Minute)
			}
			units := float64(1+r.IntN(60)) / 2
			grant, refusals := l.Take([]Demand{{0, table, Write, uint16(r.IntN(hashes)), units}}, now)
			switch {
			case refusals != nil:
			case r.IntN(10) == 0:
				grant.Refund()
			default:
				sum += units
			}
			if most := float64(rate)*(Burst+now.Sub(start)).Seconds() + 30; sum > most {
				t.Fatalf("%v of %v units granted after %v", sum, most, now.Sub(start))
			}
			log = append(log, fmt.Sprint(now, units, reasons(refusals)))
		}
		return log
	}
	if !slices.Equal(run(), run()) {
		t.Error("the same requests had other results")
	}
}

func BenchmarkTake(b *testing.B) {
	l := onDemand(Rates{40_000, 40_000})
	demands := []Demand{{0, table, Write, 0, 1}}
	now := start
	for i := range b.N {
		demands[0].Hash = uint16(i)
		now = now.Add(time.Millisecond)
		if _, refusals := l.Take(demands, now); refusals != nil {
			b.Fatal(reasons(refusals))
		}
	}
}
