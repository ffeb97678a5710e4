package transporteapp

import (
	"math/big"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
)

// Decimal is a JSON number with all its digits.
type Decimal struct{ table.Decimal }

// Schema describes Decimal as a number in the API's document.
func (Decimal) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

// sum adds numbers.
func sum(list ...table.Decimal) (table.Decimal, error) {
	total, most := new(big.Rat), 0
	for _, d := range list {
		n, ok := new(big.Rat).SetString(d.String())
		if !ok {
			continue // a Decimal is always a number
		}
		places, _ := n.FloatPrec()
		most = max(most, places)
		total.Add(total, n)
	}
	return table.ParseDecimal(total.FloatString(most))
}

// difference subtracts numbers; a negative result becomes nil.
func difference(of, less table.Decimal) (table.Decimal, error) {
	negative, err := table.ParseDecimal("-" + less.String())
	if err != nil {
		return table.Decimal{}, err
	}
	return sum(of, negative)
}

// text returns an optional text, or "" if there is none.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// given converts a text to an optional one; "" becomes nil.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
