// Package keytext makes the texts in keys: the canonical text of a value, and the results of template functions.
//
// # Model
//
//	value ──Time, Date, Whole, Decimal──▶ its canonical text ──Apply──▶ … ──Apply──▶ its text in the key
//
// It is the only implementation of both: keys are stored, so those that tools show and those that applications write
// must be the same. It only handles texts; packages render and table handle designs and attribute values.
//
// # Invariants
//
//	I1  Equal values make equal texts, on every machine and in every version. The functions without a standard of
//	    their own are FNV-1a of 32 bits (shard) and NFKD without marks (fold).
//	I2  The result for a value of a kind is in the language that package keylang computes for the kind and the functions.
//
// All functions are pure and safe for concurrent use. Errors are sentences that quote the given text.
package keytext

import (
	"fmt"
	"strconv"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// The layouts of the texts of times, which are in UTC, and of dates. Such texts sort as the times do.
const (
	TimeLayout = "2006-01-02T15:04:05.000Z"
	DateLayout = "2006-01-02"
)

// OfTime is the text of a time, to the millisecond. It fails for years that do not have four digits.
func OfTime(at time.Time) (string, error) {
	at = at.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return "", fmt.Errorf("the year %d does not have four digits", at.Year())
	}
	return at.Format(TimeLayout), nil
}

// ParseTime reads a time as RFC 3339 writes it, with years of four digits in UTC too.
func ParseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if at = at.UTC(); err == nil && !lenient(s) && at.Year() >= 0 && at.Year() <= 9999 {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2024-01-15T10:00:00.000Z", s)
}

// lenient reports whether time.Parse accepts a text that is not a time of RFC 3339, nor for other languages: the hour has one
// digit, or the zone 24 hours or 60 minutes.
func lenient(s string) bool {
	zone := s[len(s)-len("07:00"):]
	return s[len("2006-01-02T15")] != ':' || s[len(s)-1] != 'Z' && (zone[:2] > "23" || zone[3:] > "59")
}

// Time is the text of a time in any form of RFC 3339.
func Time(s string) (string, error) {
	at, err := ParseTime(s)
	if err != nil {
		return "", err
	}
	return OfTime(at)
}

// Date is the text of a date, which has one form only.
func Date(s string) (string, error) {
	if _, err := time.Parse(DateLayout, s); err != nil {
		return "", fmt.Errorf("%q is not a date: write 2024-01-15", s)
	}
	return s, nil
}

// Whole is the text of a whole number of 64 bits: digits, and a sign if it is negative.
func Whole(s string) (string, error) {
	n, err := decimal.Parse(s)
	if err == nil {
		if whole, ok := n.Int64(); ok {
			return strconv.FormatInt(whole, 10), nil
		}
	}
	return "", fmt.Errorf("%q is not a whole number of 64 bits", s)
}

// Decimal is the shortest text of a number without an exponent.
func Decimal(s string) (string, error) {
	n, err := decimal.Parse(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a number that DynamoDB can store", s)
	}
	return n.String(), nil
}
