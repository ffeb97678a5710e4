package table

import (
	"cmp"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Date is a calendar day without a time or a time zone. Its zero value is 0001-01-01. Dates can be compared with ==.
type Date struct {
	days int64 // since 0001-01-01
}

const (
	secondsOfDay = 24 * 60 * 60
	firstDay     = -62135596800 // 0001-01-01 in seconds since 1970
)

// ParseDate reads a date as 2006-01-02.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(keytext.DateLayout, s)
	if err != nil {
		return Date{}, fmt.Errorf("%q is not a date: write 2024-01-15", s)
	}
	return DateOf(t), nil
}

// DateOf returns the day of a time, in the time's own zone.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() - firstDay) / secondsOfDay}
}

// Time returns the start of the day in UTC.
func (d Date) Time() time.Time { return time.Unix(d.days*secondsOfDay+firstDay, 0).UTC() }

// String is the date as 2006-01-02.
func (d Date) String() string { return d.Time().Format(keytext.DateLayout) }

// Compare is negative for an earlier day than o, positive for a later one.
func (d Date) Compare(o Date) int { return cmp.Compare(d.days, o.days) }

// MarshalText is the date as 2006-01-02.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a date as ParseDate does.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
