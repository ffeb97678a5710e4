// Package decimal implements DynamoDB's numbers: decimals of up to 38 significant digits with a magnitude between 1E-130 and
// 9.99…E+125.
//
// # Normal form
//
// A number has one normal form, the text in which DynamoDB returns it: plain decimal, without a plus sign, an exponent, or
// redundant zeros.
//
//	[-] whole [. fraction]
//	     │       └ present only if it has digits; its last digit is not 0
//	     └ "0" or digits of which the first is not 0
//
// Zero is "0", never "-0". A Decimal is just that text: most numbers arrive in normal form, are kept as they are, and are stored,
// compared, and returned without any computation. A 128-bit coefficient would make sums faster and everything else slower.
//
// # Invariants
//
//	I1  The text of a Decimal is in normal form; zero is represented as "", so that equal numbers are equal with ==.
//	I2  It has at most 38 significant digits, and its leading digit is between 10^-130 and 10^125.
//
// Parse, FromDigits, Add, and Sub establish both; ParseCanonical trusts its caller.
//
// # Errors
//
// ErrSyntax, ErrPrecision, ErrOverflow, ErrUnderflow, always returned unwrapped.
package decimal

import (
	"errors"
	"strconv"
	"strings"
)

// The limits of a number.
const (
	// MaxDigits is the maximum number of significant digits.
	MaxDigits = 38
	// MaxMagnitude and MinMagnitude limit the power of ten of the leading digit.
	MaxMagnitude = 125
	MinMagnitude = -130
)

// The reasons why a text is not a number. The caller converts them to AWS's messages.
var (
	ErrSyntax    = errors.New("decimal: not a number")
	ErrPrecision = errors.New("decimal: more than 38 significant digits")
	ErrOverflow  = errors.New("decimal: magnitude above 9.99…E+125")
	ErrUnderflow = errors.New("decimal: magnitude below 1E-130")
)

// Decimal is an immutable number; the zero value is 0. Equal numbers are equal with ==.
type Decimal struct {
	text string // normal form; "" is zero
}

// ParseCanonical parses the result of String; it is cheap and does not validate.
func ParseCanonical(s string) Decimal {
	if s == "0" {
		return Decimal{}
	}
	return Decimal{text: s}
}

// FromInt returns n.
func FromInt(n int64) Decimal {
	if n == 0 {
		return Decimal{}
	}
	return Decimal{text: strconv.FormatInt(n, 10)}
}

// FromDigits is the inverse of Parts and AppendDigits: ±0.digits × 10^exp, or zero if digits is empty. It fails with ErrSyntax
// for characters outside '0'–'9' or an outer zero, and with Parse's errors out of range.
func FromDigits(neg bool, digits []byte, exp int) (Decimal, error) {
	if len(digits) == 0 {
		return Decimal{}, nil
	}
	for _, c := range digits {
		if !isDigit(c) {
			return Decimal{}, ErrSyntax
		}
	}
	if digits[0] == '0' || digits[len(digits)-1] == '0' {
		return Decimal{}, ErrSyntax
	}
	if err := checkBounds(len(digits), int64(exp)-1); err != nil {
		return Decimal{}, err
	}
	return fromDigits(neg, digits, exp), nil
}

// fromDigits writes the normal form of ±0.digits × 10^exp, whose range the caller has checked.
func fromDigits(neg bool, digits []byte, exp int) Decimal {
	var room [1 + 2 + MaxDigits - MinMagnitude]byte // sign, "0.", zeros, digits
	text := room[:0]
	if neg {
		text = append(text, '-')
	}
	switch {
	case exp <= 0:
		text = append(text, '0', '.')
		text = appendZeros(text, -exp)
		text = append(text, digits...)
	case exp >= len(digits):
		text = append(text, digits...)
		text = appendZeros(text, exp-len(digits))
	default:
		text = append(text, digits[:exp]...)
		text = append(text, '.')
		text = append(text, digits[exp:]...)
	}
	return Decimal{text: string(text)}
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// checkBounds checks the number of significant digits and the power of ten of the leading one.
func checkBounds(digits int, magnitude int64) error {
	switch {
	case digits > MaxDigits:
		return ErrPrecision
	case magnitude > MaxMagnitude:
		return ErrOverflow
	case magnitude < MinMagnitude:
		return ErrUnderflow
	}
	return nil
}

// String returns DynamoDB's normal form: plain decimal, zeros trimmed, never an exponent.
func (d Decimal) String() string {
	if d.text == "" {
		return "0"
	}
	return d.text
}

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool { return d.text == "" }

func (d Decimal) negative() bool { return d.text != "" && d.text[0] == '-' }

// magnitude returns the normal form without its sign; "" for zero.
func (d Decimal) magnitude() string {
	if d.negative() {
		return d.text[1:]
	}
	return d.text
}

// Cmp compares by value: -1, 0, +1.
func (d Decimal) Cmp(o Decimal) int {
	switch {
	case d.text == o.text:
		return 0
	case d.negative() != o.negative():
		if d.negative() {
			return -1
		}
		return 1
	case d.negative():
		return compareMagnitude(o.text[1:], d.text[1:])
	}
	return compareMagnitude(d.text, o.text)
}

// compareMagnitude compares two normal forms without signs. If the whole parts have the same length, the order of the bytes is
// the order of the numbers: a missing fraction is a prefix, and so is a shorter one. Zero, being "", has the shortest whole part.
func compareMagnitude(a, b string) int {
	if wa, wb := wholeLen(a), wholeLen(b); wa != wb {
		if wa < wb {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

func wholeLen(s string) int {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return i
	}
	return len(s)
}

// Parts returns sign, significant digits ('0'–'9', no outer zeros) and exponent: ±0.digits × 10^exp. Zero has no digits.
func (d Decimal) Parts() (neg bool, digits string, exp int) {
	whole, fraction, exp := d.split()
	switch {
	case whole == "":
		return d.negative(), fraction, exp
	case fraction == "":
		return d.negative(), whole, exp
	}
	return d.negative(), whole + fraction, exp
}

// AppendDigits is Parts, but appends the digits to dst.
func (d Decimal) AppendDigits(dst []byte) (digits []byte, neg bool, exp int) {
	whole, fraction, exp := d.split()
	dst = append(dst, whole...)
	return append(dst, fraction...), d.negative(), exp
}

// split returns the significant digits before and after the decimal point, the number's outer zeros
// trimmed, and the exponent of 0.digits.
func (d Decimal) split() (whole, fraction string, exp int) {
	whole, fraction, _ = strings.Cut(d.magnitude(), ".")
	if whole == "" {
		return "", "", 0
	}
	if whole == "0" {
		trimmed := strings.TrimLeft(fraction, "0")
		return "", trimmed, len(trimmed) - len(fraction)
	}
	exp = len(whole)
	if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	return whole, fraction, exp
}

// Size returns the number's size in bytes by DynamoDB's accounting: one byte, one for each pair of significant digits before the
// decimal point and one for each pair after it, and one for a minus sign. Zero is 1 byte.
func (d Decimal) Size() int {
	whole, fraction, _ := d.split()
	size := 1 + (len(whole)+1)/2 + (len(fraction)+1)/2
	if d.negative() {
		size++
	}
	return size
}

// Int64 returns the value if it is an integer that fits; TTL and list indexes need it.
func (d Decimal) Int64() (int64, bool) {
	const longest = len("-9223372036854775808")
	if d.text == "" {
		return 0, true
	}
	if len(d.text) > longest {
		return 0, false
	}
	n, err := strconv.ParseInt(d.text, 10, 64)
	return n, err == nil
}
