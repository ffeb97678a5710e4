package schema

import (
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// throughputMax is the most units that AWS takes as a number; quotas are another matter.
const throughputMax = 1_000_000_000_000

// checkTableThroughput checks a table's provisioned throughput against its billing mode. named tells
// whether the request names the mode: AWS words the lack of throughput differently then.
func checkTableThroughput(onDemand, named bool, t *api.ProvisionedThroughput) error {
	switch {
	case onDemand && t != nil:
		return apierr.ThroughputOnDemand.With()
	case onDemand:
		return nil
	case t == nil && named:
		return apierr.ThroughputMissing.With()
	case t == nil:
		return apierr.ThroughputNotGiven.With()
	}
	return checkUnits(t, "")
}

// checkIndexThroughput does the same for a global index.
func checkIndexThroughput(onDemand bool, index string, t *api.ProvisionedThroughput) error {
	switch {
	case onDemand && t != nil:
		return apierr.IndexThroughputOnDemand.With(index)
	case onDemand:
		return nil
	case t == nil:
		return apierr.IndexThroughputMissing.With(index)
	}
	return checkUnits(t, index)
}

// checkUnits checks the units of an index, or with "" of a table.
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

// changeThroughput sets new units and keeps the history of increases and decreases.
func changeThroughput(t *catalog.Throughput, in *api.ProvisionedThroughput, now time.Time) {
	read, write := *in.ReadCapacityUnits, *in.WriteCapacityUnits
	if read > t.Read || write > t.Write {
		t.LastIncrease = now.UnixMilli()
	}
	if read < t.Read || write < t.Write {
		t.Decreases = decreasesToday(*t, now) + 1
		t.LastDecrease = now.UnixMilli()
	}
	t.Read, t.Write = read, write
}

// decreasesToday is the number of decreases since midnight UTC.
func decreasesToday(t catalog.Throughput, now time.Time) int64 {
	const day = 24 * time.Hour
	if t.LastDecrease == 0 || !time.UnixMilli(t.LastDecrease).Truncate(day).Equal(now.Truncate(day)) {
		return 0
	}
	return t.Decreases
}

// newMaxima takes the bounds of an on-demand table or index; nil for none given. A bound is -1 (none) or
// at least 1.
func newMaxima(in *api.OnDemandThroughput, onDemand bool, index string) (*catalog.Maxima, error) {
	if in == nil {
		return nil, nil //nolint:nilnil // nothing was asked for: nothing is stored
	}
	if !onDemand {
		if index != "" {
			return nil, apierr.IndexMaximaNotOnDemand.With(index)
		}
		return nil, apierr.MaximaNotOnDemand.With()
	}
	m := &catalog.Maxima{Read: -1, Write: -1}
	if in.MaxReadRequestUnits != nil {
		m.Read = *in.MaxReadRequestUnits
	}
	if in.MaxWriteRequestUnits != nil {
		m.Write = *in.MaxWriteRequestUnits
	}
	if badMaximum(m.Read) {
		return nil, apierr.UnitsOutOfBounds.With(m.Read, "MaxReadRequestUnits")
	}
	if badMaximum(m.Write) {
		return nil, apierr.UnitsOutOfBounds.With(m.Write, "MaxWriteRequestUnits")
	}
	return m, nil
}

func badMaximum(v int64) bool { return v != -1 && (v < 1 || v > throughputMax) }

// newWarm takes a wished warm throughput, which cannot be under what the table has by itself; nil for none
// given.
func newWarm(in *api.WarmThroughput, floor catalog.Units, index string) (*catalog.Units, error) {
	if in == nil {
		return nil, nil //nolint:nilnil // nothing was asked for: nothing is stored
	}
	warm := floor
	if in.ReadUnitsPerSecond != nil {
		warm.Read = *in.ReadUnitsPerSecond
	}
	if in.WriteUnitsPerSecond != nil {
		warm.Write = *in.WriteUnitsPerSecond
	}
	switch {
	case in.ReadUnitsPerSecond == nil && in.WriteUnitsPerSecond == nil && index == "":
		return nil, apierr.WarmThroughputEmpty.With()
	case in.ReadUnitsPerSecond == nil && in.WriteUnitsPerSecond == nil:
		return nil, apierr.IndexWarmThroughputEmpty.With(index)
	case warm.Read < floor.Read:
		return nil, errWarmReduced("ReadUnitsPerSecond", index)
	case warm.Write < floor.Write:
		return nil, errWarmReduced("WriteUnitsPerSecond", index)
	}
	return &warm, nil
}

func errWarmReduced(member, index string) error {
	if index == "" {
		return apierr.WarmThroughputReduced.With(member)
	}
	return apierr.IndexWarmThroughputReduced.With(member, index)
}
