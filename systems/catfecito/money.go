package catfecito

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Money is an amount in hundredths of the shop's currency. In JSON it is a string with two decimals, "35.00", so that programs do
// not convert it to a binary fraction.
type Money int64

const (
	moneyUnit = 100
	// moneyMost exceeds 32 lines of 99 pieces at the highest price, 999999999.99, and is exact even in programs that parse it as
	// a number.
	moneyMost    = 999_999_999_999_999
	moneyPattern = `^(0|[1-9][0-9]{0,12})\.[0-9]{2}$`
)

// String formats the amount with two decimals.
func (m Money) String() string {
	sign, n := "", int64(m)
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/moneyUnit, n%moneyUnit)
}

// MarshalText returns the same text as String.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses the result of MarshalText, and nothing else.
func (m *Money) UnmarshalText(text []byte) error {
	whole, cents, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseInt(whole+cents, 10, 64)
	if err != nil || n < 0 || n > moneyMost || Money(n).String() != string(text) {
		return fmt.Errorf("%q is not an amount such as 35.00", text)
	}
	*m = Money(n)
	return nil
}

// Schema describes the string's format.
func (Money) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: moneyPattern, PatternDescription: "an amount such as 35.00", Examples: []any{"35.00"},
		Description: "An amount with two decimals",
	}
}
