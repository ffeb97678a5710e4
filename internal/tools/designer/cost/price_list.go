package cost

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// awsPriceList is the part that we read of AWS's price list file of DynamoDB, for one region or for all:
// https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-services.html
type awsPriceList struct {
	OfferCode       string `json:"offerCode"`
	PublicationDate string `json:"publicationDate"`
	Products        map[string]struct {
		Attributes struct {
			Region    string `json:"regionCode"`
			UsageType string `json:"usagetype"`
		} `json:"attributes"`
	} `json:"products"`
	Terms struct {
		OnDemand map[string]map[string]struct { // by SKU, by offer term
			PriceDimensions map[string]awsPrice `json:"priceDimensions"`
		} `json:"OnDemand"`
	} `json:"terms"`
}

// awsPrice is the price of a unit from an amount on: the free tier is a price of 0 up to the start of the next
// tier.
type awsPrice struct {
	BeginRange   string            `json:"beginRange"`
	PricePerUnit map[string]string `json:"pricePerUnit"`
}

// usageType matches a usage type without its region prefix:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-understanding-billing.html The prefix IA
// is not a region but the other table class.
var usageType = regexp.MustCompile(`^(?:[A-Z]{2,4}\d*-)?((?:Read|Write)(?:RequestUnits|CapacityUnit-Hrs)|Timed(?:PITR)?Storage-ByteHrs)$`)

// pricesIn extracts a region's prices from the list; the name may be empty if the list has one region.
func (l *awsPriceList) pricesIn(region string) (Prices, error) {
	const million = 1e6
	p := Prices{Region: region, Since: l.PublicationDate[:min(len(l.PublicationDate), len("2006-01-02"))]}
	regions := map[string]bool{}
	for sku, product := range l.Products {
		name := usageType.FindStringSubmatch(product.Attributes.UsageType)
		if name == nil {
			continue
		}
		regions[product.Attributes.Region] = true
		if p.Region = cmp.Or(p.Region, product.Attributes.Region); p.Region != product.Attributes.Region {
			continue
		}
		price, from, err := l.priceOf(sku)
		if err != nil {
			return Prices{}, err
		}
		switch name[1] {
		case "ReadRequestUnits":
			p.OnDemandRead = price * million
		case "WriteRequestUnits":
			p.OnDemandWrite = price * million
		case "ReadCapacityUnit-Hrs":
			p.ProvisionedRead = price
		case "WriteCapacityUnit-Hrs":
			p.ProvisionedWrite = price
		case "TimedStorage-ByteHrs":
			p.Storage, p.FreeStorage = price, from
		case "TimedPITRStorage-ByteHrs":
			p.Recovery = price
		}
	}
	switch {
	case region == "" && len(regions) > 1:
		return Prices{}, fmt.Errorf("the price list has %d regions: choose one in the design with workload: { region: … }", len(regions))
	case !regions[p.Region]:
		return Prices{}, fmt.Errorf("the price list has no prices for region %q", region)
	}
	return p, nil
}

// priceOf is the price of a unit beyond the free tier, and the size of the free tier.
func (l *awsPriceList) priceOf(sku string) (price, from float64, err error) {
	var steps [][2]float64 // from which amount, price
	for _, term := range l.Terms.OnDemand[sku] {
		for _, d := range term.PriceDimensions {
			begin, err := strconv.ParseFloat(cmp.Or(d.BeginRange, "0"), 64)
			if err != nil {
				return 0, 0, fmt.Errorf("product %s starts at %q, which is not a number", sku, d.BeginRange)
			}
			each, err := strconv.ParseFloat(d.PricePerUnit["USD"], 64)
			if err != nil {
				return 0, 0, fmt.Errorf("product %s has the price %q, which is not a number of US dollars", sku, d.PricePerUnit["USD"])
			}
			steps = append(steps, [2]float64{begin, each})
		}
	}
	slices.SortFunc(steps, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	for _, s := range steps {
		if s[1] > 0 {
			return s[1], s[0], nil
		}
	}
	return 0, 0, nil
}
