package schema

import (
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// The quotas of a new AWS account, in read or write units a second.
const (
	AccountUnitsMax = 80_000 // of everything provisioned in a Region
	TableUnitsMax   = 40_000 // of a table or global index, also on demand
)

// ProvisionedUnits returns the total provisioned throughput of a table and its indexes.
func ProvisionedUnits(d *catalog.Descriptor) catalog.Units {
	sum := catalog.Units{Read: d.Billing.Throughput.Read, Write: d.Billing.Throughput.Write}
	for i := range d.Indexes {
		sum.Read += d.Indexes[i].Throughput.Read
		sum.Write += d.Indexes[i].Throughput.Write
	}
	return sum
}

// CheckQuotas checks the provisioned throughput of a table against the quotas; others is the total of all other tables.
func CheckQuotas(d *catalog.Descriptor, others catalog.Units) error {
	if err := checkTableQuota(d.Name, d.Billing.Throughput); err != nil {
		return err
	}
	for i := range d.Indexes {
		if err := checkTableQuota(d.Name+"/"+d.Indexes[i].Name, d.Indexes[i].Throughput); err != nil {
			return err
		}
	}
	own := ProvisionedUnits(d)
	switch {
	case own.Read+others.Read > AccountUnitsMax:
		return apierr.AccountUnitsExceeded.With(AccountUnitsMax, "ReadCapacityUnits")
	case own.Write+others.Write > AccountUnitsMax:
		return apierr.AccountUnitsExceeded.With(AccountUnitsMax, "WriteCapacityUnits")
	}
	return nil
}

func checkTableQuota(name string, t catalog.Throughput) error {
	switch {
	case t.Read > TableUnitsMax:
		return apierr.TableQuotaExceeded.With(TableUnitsMax, "ReadCapacityUnits", name)
	case t.Write > TableUnitsMax:
		return apierr.TableQuotaExceeded.With(TableUnitsMax, "WriteCapacityUnits", name)
	}
	return nil
}
