package decimal

// Parse parses a number in any form that DynamoDB accepts:
//
//	[+|-] ( digits [. [digits]] | . digits ) [ (e|E) [+|-] digits ]
//
// Nothing may be around or between these. Redundant zeros do not count as significant digits. A text in normal form is kept, not
// copied. The time is linear in the length of the text, whatever its exponent.
//
// Zeros have a range, too, as on DynamoDB: the exponent of the last written digit counts, so that 0e126 and 0e-131 are rejected,
// but 0.0e126 is not.
func Parse(s string) (Decimal, error) {
	if isShortInteger(s) {
		return Decimal{text: s}, nil
	}
	lit, ok := scan(s)
	if !ok {
		return Decimal{}, ErrSyntax
	}
	first, last, found := lit.significant()
	if !found {
		// A zero is one digit: the one written last.
		return Decimal{}, checkBounds(1, lit.exp-int64(len(lit.fraction)))
	}
	exp := int64(len(lit.whole)-first) + lit.exp
	if err := checkBounds(last-first+1, exp-1); err != nil {
		return Decimal{}, err
	}
	if lit.normal(last) {
		return Decimal{text: s}, nil
	}
	var room [MaxDigits]byte
	digits := room[:0]
	for i := first; i <= last; i++ {
		digits = append(digits, lit.at(i))
	}
	return fromDigits(lit.neg, digits, int(exp)), nil
}

// isShortInteger quickly recognizes what most numbers are: an integer of at most 18 digits, in normal form.
func isShortInteger(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	if s == "" || len(s) > 18 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// literal is a number as written.
type literal struct {
	neg             bool
	plain           bool // neither plus sign nor exponent
	whole, fraction string
	exp             int64 // saturated far beyond the range of numbers and the length of a text
}

// scan parses a text; ok is false if it has none of the accepted forms.
func scan(s string) (lit literal, ok bool) {
	lit.plain = true
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		lit.neg, lit.plain = s[i] == '-', s[i] == '-'
		i++
	}
	end := digitsEnd(s, i)
	lit.whole = s[i:end]
	i = end
	if i < len(s) && s[i] == '.' {
		end = digitsEnd(s, i+1)
		lit.fraction = s[i+1 : end]
		lit.plain = lit.plain && lit.fraction != ""
		i = end
	}
	if lit.whole == "" && lit.fraction == "" {
		return literal{}, false
	}
	if i == len(s) {
		return lit, true
	}
	lit.plain = false
	lit.exp, ok = scanExponent(s[i:])
	return lit, ok
}

// digitsEnd returns the index after the run of digits that begins at i.
func digitsEnd(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// scanExponent parses all of s as (e|E) [+|-] digits.
func scanExponent(s string) (exp int64, ok bool) {
	const saturated = 1 << 40
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	neg := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		exp = min(exp*10+int64(s[i]-'0'), saturated)
	}
	if neg {
		exp = -exp
	}
	return exp, true
}

// at returns the i-th written digit, counting through the whole part and the fraction.
func (l literal) at(i int) byte {
	if i < len(l.whole) {
		return l.whole[i]
	}
	return l.fraction[i-len(l.whole)]
}

// significant returns the indexes of the first and the last digit that is not 0.
func (l literal) significant() (first, last int, found bool) {
	n := len(l.whole) + len(l.fraction)
	for first < n && l.at(first) == '0' {
		first++
	}
	if first == n {
		return 0, 0, false
	}
	last = n - 1
	for l.at(last) == '0' {
		last--
	}
	return first, last, true
}

// normal reports whether the text is already in normal form; last is the index of its last digit that is not 0.
func (l literal) normal(last int) bool {
	if !l.plain || l.whole == "" || (l.whole[0] == '0' && len(l.whole) > 1) {
		return false
	}
	return l.fraction == "" || last == len(l.whole)+len(l.fraction)-1
}
