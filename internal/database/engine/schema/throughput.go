package schema

import (
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// throughputMax is the largest number of units that AWS accepts syntactically; quotas are checked separately.
const throughputMax = 1_000_000_000_000

// target is a table or one of its indexes, in the state that a request produces, whose capacity the request sets.
type target struct {
	index      string // "" for the table
	onDemand   bool
	isNew      bool // CreateTable and UpdateTable have different messages for the same errors
	throughput catalog.Throughput
}

// checkNewThroughput checks a new table's provisioned throughput against its billing mode.
func checkNewThroughput(onDemand bool, t *api.ProvisionedThroughput) error {
	switch {
	case onDemand && t != nil:
		return apierr.ThroughputOnDemand.With()
	case onDemand:
		return nil
	case t == nil:
		return apierr.NewThroughputMissing.With()
	}
	return checkUnits(t, "")
}

// indexWording is the messages that reject the provisioned throughput of a new index.
type indexWording struct{ onDemand, missing apierr.Sentence }

var (
	ofNewTable   = indexWording{apierr.NewIndexThroughputOnDemand, apierr.NewIndexThroughputMissing}
	ofAddedIndex = indexWording{apierr.IndexThroughputOnDemand, apierr.AddedIndexThroughputMissing}
	ofOverride   = indexWording{apierr.OverrideIndexThroughputOnDemand, apierr.OverrideIndexThroughputMissing}
)

// check checks the throughput of a global index against the billing mode of its table.
func (w indexWording) check(onDemand bool, index string, t *api.ProvisionedThroughput) error {
	switch {
	case onDemand && t != nil:
		return w.onDemand.With(index)
	case onDemand:
		return nil
	case t == nil:
		return w.missing.With(index)
	}
	return checkUnits(t, index)
}

// checkUnits checks the units of an index or, with "", of a table.
func checkUnits(t *api.ProvisionedThroughput, index string) error {
	if *t.ReadCapacityUnits > throughputMax {
		return errOutOfBounds(*t.ReadCapacityUnits, "ReadCapacityUnits", index)
	}
	if *t.WriteCapacityUnits > throughputMax {
		return errOutOfBounds(*t.WriteCapacityUnits, "WriteCapacityUnits", index)
	}
	return nil
}

func errOutOfBounds(units int64, member, index string) error {
	if index == "" {
		return apierr.UnitsOutOfBounds.With(units, member)
	}
	return apierr.IndexUnitsOutOfBounds.With(units, member, index)
}

func newThroughput(t *api.ProvisionedThroughput) catalog.Throughput {
	return catalog.Throughput{Read: *t.ReadCapacityUnits, Write: *t.WriteCapacityUnits}
}

// changeThroughput sets new units and maintains the history of increases and decreases. Until the change has settled, the
// previous throughput is described.
func (c *Change) changeThroughput(t *catalog.Throughput, in *api.ProvisionedThroughput) error {
	read, write, now := *in.ReadCapacityUnits, *in.WriteCapacityUnits, c.Env.Now
	was := new(*t)
	if read < t.Read || write < t.Write {
		today := decreasesToday(*t, now)
		if next := time.UnixMilli(t.LastDecrease).Add(decreaseInterval); c.Env.Limited && today >= decreasesAnyTime && now.Before(next) {
			return apierr.TooManyDecreases.With(decreasesAnyTime, int(decreaseInterval.Seconds()), today,
				decreaseTime(time.UnixMilli(t.LastDecrease)), decreaseTime(next))
		}
		t.Decreases = today + 1
		t.LastDecrease = now.UnixMilli()
	}
	if read > t.Read || write > t.Write {
		t.LastIncrease = now.UnixMilli()
	}
	t.Was = was
	t.Read, t.Write = read, write
	return nil
}

// The first decreases of a day (UTC) are possible at any time, further ones after an interval without a decrease: at most 27.
const (
	decreasesAnyTime = 4
	decreaseInterval = time.Hour
)

func decreaseTime(at time.Time) string {
	return at.UTC().Format("Monday, January 2, 2006 3:04:05 PM MST")
}

// decreasesToday returns the number of decreases since midnight UTC.
func decreasesToday(t catalog.Throughput, now time.Time) int64 {
	const day = 24 * time.Hour
	if t.LastDecrease == 0 || !time.UnixMilli(t.LastDecrease).Truncate(day).Equal(now.Truncate(day)) {
		return 0
	}
	return t.Decreases
}

// maxima applies the limits in a request to the existing ones; nil is no limit. -1 removes a limit, which is not valid for a new
// table or index.
func (t target) maxima(old *catalog.Maxima, in *api.OnDemandThroughput) (*catalog.Maxima, error) {
	if in == nil {
		return old, nil
	}
	m := catalog.Maxima{Read: -1, Write: -1}
	if old != nil {
		m = *old
	}
	for _, bound := range []struct {
		name     string
		in, here *int64
	}{
		{"MaxReadRequestUnits", in.MaxReadRequestUnits, &m.Read},
		{"MaxWriteRequestUnits", in.MaxWriteRequestUnits, &m.Write},
	} {
		switch v := bound.in; {
		case v == nil:
			continue
		case !t.onDemand:
			return nil, t.maximaNotOnDemand(bound.name)
		case *v < 1 && (t.isNew || *v != -1), *v > throughputMax:
			return nil, t.maximaOutOfRange(bound.name)
		}
		*bound.here = *bound.in
	}
	if m.Read == -1 && m.Write == -1 {
		return nil, nil //nolint:nilnil // no bound is left
	}
	return &m, nil
}

func (t target) maximaNotOnDemand(member string) error {
	switch {
	case t.isNew && t.index == "":
		return apierr.NewMaximaNotOnDemand.With(member)
	case t.isNew:
		return apierr.NewIndexMaximaNotOnDemand.With(member, t.index)
	case t.index == "":
		return apierr.MaximaNotOnDemand.With(member)
	}
	return apierr.IndexMaximaNotOnDemand.With(member, t.index)
}

func (t target) maximaOutOfRange(member string) error {
	if t.index == "" {
		return apierr.MaximaOutOfRange.With(member)
	}
	return apierr.IndexMaximaOutOfRange.With(member, t.index)
}

// warm applies the requested warm throughput, which must not be less than the current one; nil is the default.
func (t target) warm(old *catalog.Units, in *api.WarmThroughput) (*catalog.Units, error) {
	if in == nil || in.ReadUnitsPerSecond == nil && in.WriteUnitsPerSecond == nil {
		return old, nil
	}
	warm := warmUnits(old, t.onDemand, t.throughput)
	for _, wish := range []struct {
		name, provisioned string
		in, here          *int64
	}{
		{"ReadUnitsPerSecond", "ReadCapacityUnits", in.ReadUnitsPerSecond, &warm.Read},
		{"WriteUnitsPerSecond", "WriteCapacityUnits", in.WriteUnitsPerSecond, &warm.Write},
	} {
		if wish.in == nil {
			continue
		}
		if *wish.in < *wish.here {
			return nil, t.warmTooLow(wish.name, wish.provisioned)
		}
		*wish.here = *wish.in
	}
	return &warm, nil
}

func (t target) warmTooLow(member, provisioned string) error {
	switch table := t.index == ""; {
	case !t.isNew && table:
		return apierr.WarmThroughputReduced.With(member)
	case !t.isNew:
		return apierr.IndexWarmThroughputReduced.With(member, t.index)
	case t.onDemand && table:
		return apierr.WarmBelowOnDemand.With(member)
	case t.onDemand:
		return apierr.IndexWarmBelowOnDemand.With(member, t.index)
	case table:
		return apierr.WarmBelowProvisioned.With(member, provisioned)
	}
	return apierr.IndexWarmBelowProvisioned.With(member, t.index, provisioned)
}

// keptWarm returns the warm throughput to store after a change of billing or throughput, which never decreases. before is the
// previous value, own the new default of the table or index.
func keptWarm(before, own catalog.Units) *catalog.Units {
	high := catalog.Units{Read: max(before.Read, own.Read), Write: max(before.Write, own.Write)}
	if high == own {
		return nil
	}
	return &high
}
