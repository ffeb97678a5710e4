package table

import (
	"fmt"
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Decimal is an exact DynamoDB number with at most 38 digits. Its zero value is 0. Equal numbers are equal with ==.
type Decimal struct {
	number decimal.Decimal
}

// ParseDecimal reads a number with an optional sign, decimal point and exponent.
func ParseDecimal(s string) (Decimal, error) {
	d, err := decimal.Parse(s)
	if err != nil {
		return Decimal{}, fmt.Errorf("%q is not a number of at most 38 digits: write 12.50", s)
	}
	return Decimal{d}, nil
}

// DecimalOf returns a whole number.
func DecimalOf(n int64) Decimal { return Decimal{decimal.FromInt(n)} }

// String returns the shortest text of the number, without an exponent.
func (d Decimal) String() string { return d.number.String() }

// Float64 returns the nearest float64.
func (d Decimal) Float64() float64 {
	f, _ := strconv.ParseFloat(d.String(), 64) // every number of DynamoDB is in range
	return f
}

// Compare is negative for a smaller number than o, positive for a greater one.
func (d Decimal) Compare(o Decimal) int { return d.number.Cmp(o.number) }

// MarshalJSON writes a JSON number.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a JSON number; null leaves the value unchanged.
func (d *Decimal) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return d.UnmarshalText(text)
}

// MarshalText is the shortest text of the number.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a number as ParseDecimal does.
func (d *Decimal) UnmarshalText(text []byte) error {
	parsed, err := ParseDecimal(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
