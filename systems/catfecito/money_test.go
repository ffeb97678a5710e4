package catfecito

import (
	"encoding/json"
	"regexp"
	"testing"
)

// TestMoney: an amount is a string with two decimals, exactly.
func TestMoney(t *testing.T) {
	t.Parallel()
	for m, want := range map[Money]string{
		0: `"0.00"`, 1: `"0.01"`, 10: `"0.10"`, 99: `"0.99"`, 100: `"1.00"`, 3500: `"35.00"`, 123456: `"1234.56"`, moneyMost: `"9999999999999.99"`, -5: `"-0.05"`, -3500: `"-35.00"`,
	} {
		if text, err := json.Marshal(m); err != nil || string(text) != want {
			t.Errorf("%d is %s (%v), want %s", int64(m), text, err, want)
		}
	}
	for _, text := range []string{
		"", ".", "1", "1.", "1.0", "1.000", ".50", "01.00", "-1.00", "+1.00", "1,00", " 1.00", "1.00 ", "1e2", "1_0.00", "0x1.00", "99999999999999.00", "NaN", "1.0a", "١.٠٠",
	} {
		var m Money
		if err := m.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, int64(m))
		}
	}
}

// FuzzMoney: parsing and formatting round-trip, and the schema accepts exactly what parses.
func FuzzMoney(f *testing.F) {
	form := regexp.MustCompile(moneyPattern)
	for _, text := range []string{"35.00", "0.01", "00.01", "1.5", "9999999999999.99", "10000000000000.00", "-0.00", "0.00\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var m Money
		err := m.UnmarshalText([]byte(text))
		if err == nil && m.String() != text {
			t.Errorf("%q is decoded as %q", text, m)
		}
		if (err == nil) != form.MatchString(text) {
			t.Errorf("%q: %v, and by the schema %v", text, err, form.MatchString(text))
		}
	})
}
