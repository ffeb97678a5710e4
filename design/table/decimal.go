package table

import (
	"fmt"
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Decimal is a number as DynamoDB has them: exactly, with at most 38 digits. Its zero value is 0. Equal numbers are equal
// with ==.
type Decimal struct {
	number decimal.Decimal
}

// ParseDecimal reads a number: digits with a point, a sign and an exponent.
func ParseDecimal(s string) (Decimal, error) {
	d, err := decimal.Parse(s)
	if err != nil {
		return Decimal{}, fmt.Errorf("%q is not a number of at most 38 digits: write 12.50", s)
	}
	return Decimal{d}, nil
}

// DecimalOf is a whole number.
func DecimalOf(n int64) Decimal { return Decimal{decimal.FromInt(n)} }

// String is the shortest text of the number, without an exponent.
func (d Decimal) String() string { return d.number.String() }

// Float64 is the nearest number of binary floating point.
func (d Decimal) Float64() float64 {
	f, _ := strconv.ParseFloat(d.String(), 64) // every number of DynamoDB is in range
	return f
}

// Compare is negative for a smaller number than o, positive for a greater one.
func (d Decimal) Compare(o Decimal) int { return d.number.Cmp(o.number) }

// MarshalJSON is the number as a number of JSON.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a number of JSON; null leaves the number as it is.
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
