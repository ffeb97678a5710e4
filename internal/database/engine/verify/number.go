package verify

import (
	"math/big"
	"strings"
)

// The limits of a number: significant digits, and the power of ten of the first of them.
const (
	digitsMax    = 38
	magnitudeMin = -130
	magnitudeMax = 125
)

// number is a parsed number: ±0.digits × 10^exponent. The first and last digit are not 0, and zero has no digits.
type number struct {
	negative bool
	digits   string
	exponent int
	whole    int // the number of digits before the point
}

// parseNumber parses the normal form of a number: [-] whole [. fraction], without an exponent or unnecessary zeros.
func parseNumber(text string) (n number, ok bool) {
	unsigned, negative := strings.CutPrefix(text, "-")
	whole, fraction, point := strings.Cut(unsigned, ".")
	if strings.Trim(whole+fraction, "0123456789") != "" || whole == "" || len(whole) > 1 && whole[0] == '0' ||
		point && (fraction == "" || strings.HasSuffix(fraction, "0")) || text == "-0" {
		return number{}, false
	}
	whole = strings.TrimLeft(whole, "0")
	zeros := 0
	if whole == "" {
		zeros = len(fraction) - len(strings.TrimLeft(fraction, "0"))
	}
	n = number{
		negative: negative,
		digits:   strings.TrimRight(whole+fraction[zeros:], "0"),
		exponent: len(whole) - zeros,
	}
	n.whole = min(len(whole), len(n.digits))
	if n.digits == "" {
		return number{}, true
	}
	magnitude := n.exponent - 1
	return n, len(n.digits) <= digitsMax && magnitudeMin <= magnitude && magnitude <= magnitudeMax
}

// size returns the size by DynamoDB's accounting: a byte, one for each two digits on either side of the point, one for the sign.
func (n number) size() int {
	size := 1 + (n.whole+1)/2 + (len(n.digits)-n.whole+1)/2
	if n.negative {
		size++
	}
	return size
}

// ceiling returns the smallest integer that is not less than a number.
func ceiling(text string) *big.Int {
	r, _ := new(big.Rat).SetString(text)
	quotient, remainder := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}
