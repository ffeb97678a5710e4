package policy

import (
	"bytes"
	"encoding/base64"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// operator is a comparison of condition values.
type operator struct {
	family  family
	negated bool
	// holds evaluates an ordering of value and operand: -1, 0 or 1.
	holds func(order int) bool
}

type family uint8

const (
	equalFamily family = iota // texts
	foldFamily                // texts, ignoring case
	likeFamily                // patterns
	arnFamily                 // patterns of ARNs, part by part
	numberFamily
	dateFamily
	boolFamily
	binaryFamily
	addressFamily
	nullFamily
)

func equal(order int) bool   { return order == 0 }
func less(order int) bool    { return order < 0 }
func atMost(order int) bool  { return order <= 0 }
func more(order int) bool    { return order > 0 }
func atLeast(order int) bool { return order >= 0 }

// operators are all, by name.
var operators = map[string]*operator{
	"StringEquals":              {family: equalFamily},
	"StringNotEquals":           {family: equalFamily, negated: true},
	"StringEqualsIgnoreCase":    {family: foldFamily},
	"StringNotEqualsIgnoreCase": {family: foldFamily, negated: true},
	"StringLike":                {family: likeFamily},
	"StringNotLike":             {family: likeFamily, negated: true},
	"ArnEquals":                 {family: arnFamily},
	"ArnLike":                   {family: arnFamily},
	"ArnNotEquals":              {family: arnFamily, negated: true},
	"ArnNotLike":                {family: arnFamily, negated: true},
	"NumericEquals":             {family: numberFamily, holds: equal},
	"NumericNotEquals":          {family: numberFamily, holds: equal, negated: true},
	"NumericLessThan":           {family: numberFamily, holds: less},
	"NumericLessThanEquals":     {family: numberFamily, holds: atMost},
	"NumericGreaterThan":        {family: numberFamily, holds: more},
	"NumericGreaterThanEquals":  {family: numberFamily, holds: atLeast},
	"DateEquals":                {family: dateFamily, holds: equal},
	"DateNotEquals":             {family: dateFamily, holds: equal, negated: true},
	"DateLessThan":              {family: dateFamily, holds: less},
	"DateLessThanEquals":        {family: dateFamily, holds: atMost},
	"DateGreaterThan":           {family: dateFamily, holds: more},
	"DateGreaterThanEquals":     {family: dateFamily, holds: atLeast},
	"Bool":                      {family: boolFamily},
	"BinaryEquals":              {family: binaryFamily},
	"IpAddress":                 {family: addressFamily},
	"NotIpAddress":              {family: addressFamily, negated: true},
	"Null":                      {family: nullFamily},
}

// operand is what an operator compares values with; its family determines the field.
type operand struct {
	text   pattern
	arn    resource
	number *big.Rat
	date   time.Time
	yes    bool
	bytes  []byte
	prefix netip.Prefix
}

// compile parses an operand. bad is a malformed variable.
func (op *operator) compile(text string, s syntax) (o operand, bad string, ok bool) {
	switch op.family {
	case equalFamily, foldFamily:
		o.text, bad, ok = compilePattern(text, s)
	case likeFamily:
		o.text, bad, ok = compilePattern(text, wildcards|s)
	case arnFamily:
		o.arn, bad, ok = compileResource(text, wildcards|s)
	case numberFamily:
		o.number, ok = number(text)
	case dateFamily:
		o.date, ok = date(text)
	case boolFamily, nullFamily:
		o.yes, ok = truth(text)
	case binaryFamily:
		var err error
		o.bytes, err = base64.StdEncoding.DecodeString(text)
		ok = err == nil
	case addressFamily:
		o.prefix, ok = addresses(text)
	}
	return o, bad, ok
}

// test reports whether the operator, ignoring negation, is true for a value and an operand.
func (op *operator) test(text string, o *operand, keys *lookup) bool {
	switch op.family {
	case equalFamily, likeFamily:
		return o.text.match(text, keys)
	case foldFamily:
		want, ok := o.text.expand(keys)
		return ok && strings.EqualFold(text, want)
	case arnFamily:
		return o.arn.match(text, keys)
	case numberFamily:
		n, ok := number(text)
		return ok && op.holds(n.Cmp(o.number))
	case dateFamily:
		d, ok := date(text)
		return ok && op.holds(d.Compare(o.date))
	case boolFamily:
		yes, ok := truth(text)
		return ok && yes == o.yes
	case binaryFamily:
		b, err := base64.StdEncoding.DecodeString(text)
		return err == nil && bytes.Equal(b, o.bytes)
	case addressFamily:
		a, err := netip.ParseAddr(text)
		return err == nil && o.prefix.Contains(a.Unmap().WithZone(""))
	default:
		return false
	}
}

// maxDigits limits a number's text, including the effect of an exponent.
const maxDigits = 64

// number parses a decimal number exactly.
func number(text string) (*big.Rat, bool) {
	if len(text) > maxDigits || strings.Trim(text, "+-.0123456789") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// dateForms are the forms of ISO 8601 allowed by W3C's note on dates.
var dateForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", time.DateOnly, "2006-01", "2006"}

// date parses a date, or seconds since 1970, which have more digits than a year.
func date(text string) (time.Time, bool) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) > len("2006") {
		return time.Unix(seconds, 0), true
	}
	for _, form := range dateForms {
		if d, err := time.Parse(form, text); err == nil {
			return d, true
		}
	}
	return time.Time{}, false
}

func truth(text string) (yes, ok bool) {
	yes = strings.EqualFold(text, "true")
	return yes, yes || strings.EqualFold(text, "false")
}

// addresses parses a range; a single address is a range of one.
func addresses(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}
