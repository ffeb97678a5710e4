package cost

import (
	"fmt"
	"strings"
)

// Prices of DynamoDB in one region, in US dollars.
type Prices struct {
	Region string
	Since  string // the day of the price list
	// OnDemand is per million request units.
	OnDemandRead, OnDemandWrite float64
	// Provisioned is per capacity unit and hour.
	ProvisionedRead, ProvisionedWrite float64
	// Storage, and point-in-time recovery, are per GB and month. FreeStorage is how many GB of a month cost nothing.
	Storage, Recovery, FreeStorage float64
}

// PriceLists are the known price lists, the default first: https://aws.amazon.com/dynamodb/pricing/
func PriceLists() []Prices {
	return []Prices{
		{
			Region: "us-east-1", Since: "2024-11-01", OnDemandRead: 0.125, OnDemandWrite: 0.625,
			ProvisionedRead: 0.00013, ProvisionedWrite: 0.00065, Storage: 0.25, Recovery: 0.20, FreeStorage: 25,
		},
	}
}

// PricesOf is the price list of a region; the default where it is "".
func PricesOf(region string) (Prices, error) {
	lists := PriceLists()
	known := make([]string, len(lists))
	for i, p := range lists {
		if region == "" || p.Region == region {
			return p, nil
		}
		known[i] = p.Region
	}
	return Prices{}, fmt.Errorf("there is no price list for the region %q; there are %s", region, strings.Join(known, ", "))
}
