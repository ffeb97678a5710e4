package cost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Prices of DynamoDB in one region, in US dollars.
type Prices struct {
	Region string `json:"region"`
	Since  string `json:"since"` // the day of the price list
	// OnDemand prices are per million request units.
	OnDemandRead  float64 `json:"onDemandRead"`
	OnDemandWrite float64 `json:"onDemandWrite"`
	// Provisioned prices are per capacity unit and hour.
	ProvisionedRead  float64 `json:"provisionedRead"`
	ProvisionedWrite float64 `json:"provisionedWrite"`
	// Storage and point-in-time recovery are per GB and month. FreeStorage is the number of free GB per month.
	Storage     float64 `json:"storage"`
	Recovery    float64 `json:"recovery"`
	FreeStorage float64 `json:"freeStorage"`
}

// ReadPrices reads a region's prices from a JSON file: AWS's price list of DynamoDB, for one region or for all, or an
// object with the members of Prices, where unknown members are errors. The region may be "" if the file has only one. A
// missing price of requests, capacity or storage is an error, because 0 would be a guess.
func ReadPrices(file, region string) (Prices, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return Prices{}, err
	}
	var p Prices
	var aws awsPriceList
	if json.Unmarshal(text, &aws) == nil && aws.OfferCode != "" {
		if aws.OfferCode != "AmazonDynamoDB" {
			return Prices{}, fmt.Errorf("%s is the price list of %s, not of AmazonDynamoDB", file, aws.OfferCode)
		}
		p, err = aws.pricesIn(region)
	} else {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&p)
	}
	switch {
	case err != nil:
		return Prices{}, fmt.Errorf("%s: %w", file, err)
	case min(p.OnDemandRead, p.OnDemandWrite, p.ProvisionedRead, p.ProvisionedWrite, p.Storage) <= 0 || p.Region == "" || p.Since == "":
		return Prices{}, fmt.Errorf("%s: a price list needs region, since, onDemandRead, onDemandWrite, provisionedRead, provisionedWrite and storage", file)
	case region != "" && region != p.Region:
		return Prices{}, fmt.Errorf("%s has prices for %s, but the design is for %s", file, p.Region, region)
	}
	return p, nil
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

// PricesOf returns the price list of a region; the default for "".
func PricesOf(region string) (Prices, error) {
	lists := PriceLists()
	known := make([]string, len(lists))
	for i, p := range lists {
		if region == "" || p.Region == region {
			return p, nil
		}
		known[i] = p.Region
	}
	return Prices{}, fmt.Errorf("no price list for region %q: built in are %s; for other regions use monotable cost --prices FILE", region, strings.Join(known, ", "))
}
