package engine

import (
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/dynamo/api"
	"github.com/monotable/monotable/internal/dynamo/apierr"
	"github.com/monotable/monotable/internal/engine/catalog"
)

// throughputMax is the most units that AWS takes as a number; quotas are another matter.
const throughputMax = 1_000_000_000_000

const noThroughput = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"

// checkTableThroughput checks a table's provisioned throughput against its billing mode. named tells
// whether the request names the mode: AWS words the lack of throughput differently then.
func checkTableThroughput(onDemand, named bool, t *api.ProvisionedThroughput) error {
	switch {
	case onDemand && t != nil:
		return apierr.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when " +
			"BillingMode is PAY_PER_REQUEST")
	case onDemand:
		return nil
	case t == nil && named:
		return apierr.InvalidParameter(noThroughput)
	case t == nil:
		return apierr.Validation("No provisioned throughput specified for the table")
	}
	return checkUnits(t, "")
}

// checkIndexThroughput does the same for a global index.
func checkIndexThroughput(onDemand bool, index string, t *api.ProvisionedThroughput) error {
	switch {
	case onDemand && t != nil:
		return apierr.InvalidParameter("ProvisionedThroughput should not be specified for index: " + index +
			" when BillingMode is PAY_PER_REQUEST")
	case onDemand:
		return nil
	case t == nil:
		return apierr.InvalidParameter("ProvisionedThroughput must be specified for index: " + index)
	}
	return checkUnits(t, index)
}

func checkUnits(t *api.ProvisionedThroughput, index string) error {
	suffix := ""
	if index != "" {
		suffix = " for index " + index
	}
	if *t.ReadCapacityUnits > throughputMax {
		return apierr.Validation(fmt.Sprintf("Given value %d for ReadCapacityUnits is out of bounds%s", *t.ReadCapacityUnits, suffix))
	}
	if *t.WriteCapacityUnits > throughputMax {
		return apierr.Validation(fmt.Sprintf("Given value %d for WriteCapacityUnits is out of bounds%s", *t.WriteCapacityUnits, suffix))
	}
	return nil
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
			return nil, apierr.InvalidParameter("OnDemandThroughput should not be specified for index: " + index +
				" when BillingMode is PROVISIONED")
		}
		return nil, apierr.InvalidParameter("OnDemandThroughput cannot be specified when BillingMode is PROVISIONED")
	}
	m := &catalog.Maxima{Read: -1, Write: -1}
	if in.MaxReadRequestUnits != nil {
		m.Read = *in.MaxReadRequestUnits
	}
	if in.MaxWriteRequestUnits != nil {
		m.Write = *in.MaxWriteRequestUnits
	}
	if badMaximum(m.Read) {
		return nil, apierr.Validation(fmt.Sprintf("Given value %d for MaxReadRequestUnits is out of bounds", m.Read))
	}
	if badMaximum(m.Write) {
		return nil, apierr.Validation(fmt.Sprintf("Given value %d for MaxWriteRequestUnits is out of bounds", m.Write))
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
	of := "table"
	if index != "" {
		of = "index: " + index
	}
	warm := floor
	if in.ReadUnitsPerSecond != nil {
		warm.Read = *in.ReadUnitsPerSecond
	}
	if in.WriteUnitsPerSecond != nil {
		warm.Write = *in.WriteUnitsPerSecond
	}
	if in.ReadUnitsPerSecond == nil && in.WriteUnitsPerSecond == nil {
		return nil, apierr.InvalidParameter("At least one of ReadUnitsPerSecond or WriteUnitsPerSecond must be specified in " +
			"WarmThroughput for " + of)
	}
	if warm.Read < floor.Read {
		return nil, apierr.InvalidParameter(fmt.Sprintf("Requested ReadUnitsPerSecond for WarmThroughput for %s is lower than "+
			"current WarmThroughput, decreasing WarmThroughput is not supported", of))
	}
	if warm.Write < floor.Write {
		return nil, apierr.InvalidParameter(fmt.Sprintf("Requested WriteUnitsPerSecond for WarmThroughput for %s is lower than "+
			"current WarmThroughput, decreasing WarmThroughput is not supported", of))
	}
	return &warm, nil
}
