package decimal

import "bytes"

// Add returns d+o. The sum is exact, or an error: ErrPrecision if it has more than 38 significant digits, ErrOverflow and
// ErrUnderflow if its magnitude is out of range.
func (d Decimal) Add(o Decimal) (Decimal, error) {
	if sum, ok := addShort(d, o); ok {
		return sum, nil
	}
	if d.negative() == o.negative() {
		var sum column
		sum.set(d)
		sum.add(o)
		return sum.decimal(d.negative())
	}
	larger, smaller := d, o
	if compareMagnitude(d.magnitude(), o.magnitude()) < 0 {
		larger, smaller = o, d
	}
	var difference column
	difference.set(larger)
	difference.subtract(smaller)
	return difference.decimal(larger.negative())
}

// Sub returns d-o, with the errors of Add.
func (d Decimal) Sub(o Decimal) (Decimal, error) { return d.Add(o.negate()) }

func (d Decimal) negate() Decimal {
	switch {
	case d.text == "":
		return d
	case d.negative():
		return Decimal{text: d.text[1:]}
	}
	return Decimal{text: "-" + d.text}
}

// addShort adds two integers of at most 18 digits; their sum has at most 19.
func addShort(d, o Decimal) (Decimal, bool) {
	if (d.text != "" && !isShortInteger(d.text)) || (o.text != "" && !isShortInteger(o.text)) {
		return Decimal{}, false
	}
	return FromInt(shortInteger(d) + shortInteger(o)), true
}

func shortInteger(d Decimal) int64 {
	var n int64
	text := d.magnitude()
	for i := range len(text) {
		n = n*10 + int64(text[i]-'0')
	}
	if d.negative() {
		return -n
	}
	return n
}

// A column of digits is wide enough for every digit of every number, plus a carry. Index 0 is the lowest power of ten, which is
// the last digit of the longest number at the lower end of the range.
const (
	columnLow   = MinMagnitude - MaxDigits + 1
	columnWidth = MaxMagnitude - columnLow + 1 + 1
)

// column holds the digits of one magnitude, as values 0 to 9.
type column [columnWidth]int8

// each calls digit with the index and value of every digit of d, from the lowest.
func each(d Decimal, digit func(i int, v int8)) {
	text := d.magnitude()
	top := wholeLen(text) - 1 - columnLow
	point := wholeLen(text)
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case i < point:
			digit(top-i, int8(text[i]-'0'))
		case i > point:
			digit(top-i+1, int8(text[i]-'0'))
		}
	}
}

func (c *column) set(d Decimal) {
	each(d, func(i int, v int8) { c[i] = v })
}

func (c *column) add(d Decimal) {
	each(d, func(i int, v int8) { c[i] += v })
	for i := range len(c) - 1 {
		if c[i] > 9 {
			c[i] -= 10
			c[i+1]++
		}
	}
}

// subtract subtracts d, whose magnitude is not larger.
func (c *column) subtract(d Decimal) {
	each(d, func(i int, v int8) { c[i] -= v })
	for i := range len(c) - 1 {
		if c[i] < 0 {
			c[i] += 10
			c[i+1]--
		}
	}
}

// decimal returns the column as a number, or an error if it is out of range.
func (c *column) decimal(neg bool) (Decimal, error) {
	var text [columnWidth]byte
	for i, v := range c {
		text[columnWidth-1-i] = byte('0' + v)
	}
	digits := bytes.TrimLeft(text[:], "0")
	if len(digits) == 0 {
		return Decimal{}, nil
	}
	exp := len(digits) + columnLow
	digits = bytes.TrimRight(digits, "0")
	if exp-1 > MaxMagnitude { // before precision: 9.9…E+125 plus 1E+125 overflows
		return Decimal{}, ErrOverflow
	}
	if err := checkBounds(len(digits), int64(exp)-1); err != nil {
		return Decimal{}, err
	}
	return fromDigits(neg, digits, exp), nil
}
