// Package decimal holds DynamoDB's number: a decimal of up to 38 significant digits.
package decimal

import "errors"

// The ways in which a text fails to be a number. The caller turns them into AWS's sentences.
var (
	ErrSyntax    = errors.New("decimal: not a number")
	ErrPrecision = errors.New("decimal: more than 38 significant digits")
	ErrOverflow  = errors.New("decimal: magnitude above 9.99…E+125")
	ErrUnderflow = errors.New("decimal: magnitude below 1E-130")
)

// Decimal is an immutable number; the zero value is 0.
type Decimal struct {
	neg    bool
	digits string // significant digits without leading or trailing zeros; "" is zero
	exp    int    // value = 0.digits × 10^exp
}

// Parse reads a number in any form that DynamoDB accepts.
func Parse(s string) (Decimal, error) { panic("skeleton") }

// ParseCanonical reads a text that String wrote; it is cheap and does not validate.
func ParseCanonical(s string) Decimal { panic("skeleton") }

// FromInt returns n.
func FromInt(n int64) Decimal { panic("skeleton") }

// String is DynamoDB's normal form: plain decimal, zeros trimmed, never an exponent.
func (d Decimal) String() string { panic("skeleton") }

// Cmp orders by value: -1, 0, +1.
func (d Decimal) Cmp(o Decimal) int { panic("skeleton") }

// Add returns d+o, or ErrOverflow/ErrUnderflow/ErrPrecision where DynamoDB refuses the result.
func (d Decimal) Add(o Decimal) (Decimal, error) { panic("skeleton") }

// Sub returns d-o, with the errors of Add.
func (d Decimal) Sub(o Decimal) (Decimal, error) { panic("skeleton") }

// Size is the number's size in bytes by DynamoDB's accounting.
func (d Decimal) Size() int { panic("skeleton") }

// Parts exposes sign, significant digits ('0'–'9', no outer zeros) and exponent: ±0.digits × 10^exp.
func (d Decimal) Parts() (neg bool, digits string, exp int) { return d.neg, d.digits, d.exp }

// Int64 returns the value when it is a whole number that fits; TTL and list indexes need it.
func (d Decimal) Int64() (int64, bool) { panic("skeleton") }
