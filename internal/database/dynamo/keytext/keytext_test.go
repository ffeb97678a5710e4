package keytext_test

import (
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

func TestTexts(t *testing.T) {
	for name, c := range map[string]struct {
		of    func(string) (string, error)
		texts map[string]string // what is made of what; "" for an error
	}{
		"Whole": {keytext.Whole, map[string]string{
			"7": "7", "007": "7", "-7": "-7", "-0": "0", "1.0": "1", "12E2": "1200",
			"9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
			"9223372036854775808": "", "1.5": "", "": "", "x": "", "1 2": "", "0x10": "",
		}},
		"Decimal": {keytext.Decimal, map[string]string{
			"1.50": "1.5", "-0.0": "0", "1E3": "1000", "1e-3": "0.001", "1E126": "", "one": "", "": "",
			"12345678901234567890123456789012345678": "12345678901234567890123456789012345678", "123456789012345678901234567890123456789": "",
		}},
		"Time": {keytext.Time, map[string]string{
			"2024-01-15T10:00:00Z": "2024-01-15T10:00:00.000Z", "2024-01-15T10:00:00.1239Z": "2024-01-15T10:00:00.123Z",
			"2024-01-15T23:30:00-02:00": "2024-01-16T01:30:00.000Z", "0000-01-01T00:30:00+01:00": "", "2024-01-15": "", "": "",
			"2024-01-15T1:00:00Z": "", "2024-01-15T1:00:00+00:00": "", "2024-01-15T10:00:00+24:00": "", "2024-01-15T10:00:00-00:60": "",
			"2024-01-15T10:00:00+23:59": "2024-01-14T10:01:00.000Z",
		}},
		"Date": {keytext.Date, map[string]string{
			"2024-02-29": "2024-02-29", "2023-02-29": "", "2024-2-9": "", "15.1.2024": "",
		}},
	} {
		for text, want := range c.texts {
			got, err := c.of(text)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%s(%q) = %q, %v; want %q", name, text, got, err, want)
			}
		}
	}
}

func TestOfTime(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Date(2024, 1, 15, 10, 0, 0, 999_999_999, time.UTC):                    "2024-01-15T10:00:00.999Z",
		time.Date(2024, 1, 15, 23, 0, 0, 0, time.FixedZone("Lima", -5*60*60)):      "2024-01-16T04:00:00.000Z",
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("Lima", -5*60*60)):   "",
		time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC):                             "",
		time.Date(10000, 1, 1, 1, 0, 0, 0, time.FixedZone("Kiritimati", 14*60*60)): "9999-12-31T11:00:00.000Z",
	} {
		got, err := keytext.OfTime(at)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("the text of %s is %q, %v; want %q", at, got, err, want)
		}
	}
}

// TestApply covers what the tests of package render, which use this package, do not.
func TestApply(t *testing.T) {
	for _, c := range []struct{ name, arg, text, out, fails string }{
		{"lower", "", "ÀB", "àb", ""},
		{"pad", "3", "7", "007", ""},
		{"pad", "3", "", "", "does not fit"},
		{"desc", "3", "000", "999", ""},
		{"hash", "64", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""}, // FIPS 180-2
		{"hash", "65", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""},
		{"first", "0", "abc", "", ""},
		{"date", "MM", "2024-01-15", "", "does not apply to"},
		{"shard", "1", "anything", "0", ""},
		{"band", "100", "299", "2", ""},
		{"band", "100", "0", "0", ""},
		{"band", "100", "-1", "-1", ""},
		{"band", "100", "-100", "-1", ""},
		{"band", "100", "-101", "-2", ""},
		{"band", "1000000000", "9223372036854775807", "9223372036", ""},
		{"band", "10", "0042", "4", ""},
		{"band", "10", "x", "", "not a whole number"},
		{"band", "10", "1.5", "", "not a whole number"},
		{"mod", "7", "700", "0", ""},
		{"mod", "7", "705", "5", ""},
		{"mod", "7", "-1", "6", ""},
		{"mod", "7", "", "", "not a whole number"},
		{"mod", "0", "1", "", "not a whole number"},
		{"upper", "", "a", "", "no function |upper"},
	} {
		got, err := keytext.Apply(c.name, c.arg, c.text)
		if got != c.out || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("|%s(%s) of %q is %q, %v; want %q, and an error with %q", c.name, c.arg, c.text, got, err, c.out, c.fails)
		}
	}
}

// TestLayouts tests that date cuts to the layouts allowed in designs, each of which is a prefix of a time's
// text.
func TestLayouts(t *testing.T) {
	const at = "2024-01-15T10:00:00.000Z"
	moment, err := time.Parse(keytext.TimeLayout, at)
	if err != nil {
		t.Fatal(err)
	}
	for name, layout := range design.DateLayouts() {
		got, err := keytext.Apply("date", name, at)
		if want := moment.Format(layout); got != want || err != nil {
			t.Errorf("|date(%s) is %q, %v; want %q", name, got, err, want)
		}
	}
}
