package verify

import (
	"math/big"
	"strings"
)

// The bounds of a number: significant digits, and the power of ten of the first of them.
const (
	digitsMax    = 38
	magnitudeMin = -130
	magnitudeMax = 125
)

// number is a number's text taken apart: ±0.digits × 10^exponent. The digits begin and end with one that is not 0,
// and zero has none.
type number struct {
	negative bool
	digits   string
	exponent int
	whole    int // how many of the digits stand before the point
}

// parseNumber reads the normal form of a number: [-] whole [. fraction], without an exponent and without a zero that
// could be left out.
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

// size is what DynamoDB counts: a byte, one for each two digits on either side of the point, one for the sign.
func (n number) size() int {
	size := 1 + (n.whole+1)/2 + (len(n.digits)-n.whole+1)/2
	if n.negative {
		size++
	}
	return size
}

// ceiling is the least whole number that is not below the number of a text.
func ceiling(text string) *big.Int {
	r, _ := new(big.Rat).SetString(text)
	quotient, remainder := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}
