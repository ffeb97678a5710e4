package decimal

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"
)

var (
	accepted  = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	canonical = regexp.MustCompile(`^(0|-?([1-9][0-9]*|0)(\.[0-9]*[1-9])?)$`)
)

var seeds = []string{
	"0", "-0", "1", "-1.50", "0042.1200", ".5", "5.", "1.e5", "1e125", "1e126", "1e-130", "1e-131", "0e126", "0.0e126",
	"12345678901234567890123456789012345678", "123456789012345678901234567890123456789", "1e2147483648", "+e2", "0x10",
	"99999999999999999999999999999999999999", "0.1", "-0.0000001", "1e20", "1e-17",
}

// FuzzParse compares with a regular expression for the form and math/big for the value.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if ok := accepted.MatchString(s); ok == errors.Is(err, ErrSyntax) {
			t.Fatalf("Parse(%q): %v, the form is accepted: %v", s, err, ok)
		}
		if err != nil {
			return
		}
		text := d.String()
		if !canonical.MatchString(text) {
			t.Fatalf("Parse(%q) = %q, which is not in normal form", s, text)
		}
		if back, err := Parse(text); err != nil || back != d || ParseCanonical(text) != d {
			t.Fatalf("Parse(%q) = %v, %v", text, back, err)
		}
		if rat(t, s).Cmp(rat(t, text)) != 0 {
			t.Fatalf("Parse(%q) = %q", s, text)
		}
		neg, digits, exp := d.Parts()
		if back, err := FromDigits(neg, []byte(digits), exp); err != nil || back != d {
			t.Fatalf("FromDigits of the parts of %q = %v, %v", text, back, err)
		}
	})
}

// FuzzArithmetic compares order, sums and differences with math/big.
func FuzzArithmetic(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i*7+3)%len(seeds)])
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, u string) {
		a, errA := Parse(s)
		b, errB := Parse(u)
		if errA != nil || errB != nil {
			return
		}
		x, y := rat(t, a.String()), rat(t, b.String())
		if got, want := a.Cmp(b), x.Cmp(y); got != want {
			t.Fatalf("Cmp(%v, %v) = %d, want %d", a, b, got, want)
		}
		sum, err := a.Add(b)
		checkResult(t, sum, err, new(big.Rat).Add(x, y))
		difference, err := a.Sub(b)
		checkResult(t, difference, err, new(big.Rat).Sub(x, y))
	})
}

func checkResult(t *testing.T, got Decimal, err error, want *big.Rat) {
	t.Helper()
	exact := want.FloatString(MaxDigits - MinMagnitude)
	if err != nil {
		if _, again := Parse(exact); !errors.Is(again, err) {
			t.Fatalf("refused with %v: %s", err, exact)
		}
		return
	}
	if rat(t, got.String()).Cmp(want) != 0 || !canonical.MatchString(got.String()) {
		t.Fatalf("got %v, want %s", got, strings.TrimRight(exact, "0"))
	}
}

func rat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("math/big does not read %q", s)
	}
	return r
}

func BenchmarkParse(b *testing.B) {
	for name, s := range map[string]string{
		"integer":  "1700000000",
		"fraction": "19.99",
		"long":     "12345678901234567890.123456789012345678",
		"exponent": "1.5E3",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, pair := range map[string][2]string{"integer": {"41", "1"}, "fraction": {"19.99", "0.01"}} {
		b.Run(name, func(b *testing.B) {
			x, y := mustParse(pair[0]), mustParse(pair[1])
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Add(y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
