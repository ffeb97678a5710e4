package decimal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the scripts in testdata, which say what is accepted, in which form it comes back, how
// numbers order, add up, and are charged.
func TestScripts(t *testing.T) {
	run := map[string]func(line string) string{
		"parse": parseLine,
		"eval":  evalLine,
		"size":  sizeLine,
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			if d.Cmd == "order" {
				return checkOrder(t, d.Input)
			}
			var out strings.Builder
			for line := range strings.SplitSeq(d.Input, "\n") {
				fmt.Fprintln(&out, run[d.Cmd](line))
			}
			return out.String()
		})
	})
}

func parseLine(line string) string {
	text := line
	if strings.HasPrefix(line, `"`) {
		var err error
		if text, err = strconv.Unquote(line); err != nil {
			return err.Error()
		}
	}
	return describe(Parse(text))
}

func evalLine(line string) string {
	parts := strings.Fields(line)
	a, b := mustParse(parts[0]), mustParse(parts[2])
	if parts[1] == "+" {
		return describe(a.Add(b))
	}
	return describe(a.Sub(b))
}

func sizeLine(line string) string { return strconv.Itoa(mustParse(line).Size()) }

// checkOrder compares every pair of the input's numbers.
func checkOrder(t *testing.T, input string) string {
	t.Helper()
	type ranked struct {
		d    Decimal
		line int
	}
	var all []ranked
	for i, line := range strings.Split(input, "\n") {
		for s := range strings.FieldsSeq(line) {
			all = append(all, ranked{mustParse(s), i})
		}
	}
	for _, a := range all {
		for _, b := range all {
			want := 0
			if a.line != b.line {
				want = 1
				if a.line < b.line {
					want = -1
				}
			}
			if got := a.d.Cmp(b.d); got != want {
				t.Errorf("Cmp(%v, %v) = %d, want %d", a.d, b.d, got, want)
			}
			if equal := a.d == b.d; equal != (want == 0) {
				t.Errorf("%v == %v is %v", a.d, b.d, equal)
			}
		}
	}
	return "ok"
}

// describe writes a number's normal form, long runs of one digit counted, or the fault's name.
func describe(d Decimal, err error) string {
	for name, e := range map[string]error{
		"syntax": ErrSyntax, "precision": ErrPrecision, "overflow": ErrOverflow, "underflow": ErrUnderflow,
	} {
		if errors.Is(err, e) {
			return name
		}
	}
	text := d.String()
	if len(text) < 100 {
		return text
	}
	if digits, found := strings.CutSuffix(text, strings.Repeat("0", 88)); found {
		sign := ""
		if strings.HasPrefix(digits, "-") {
			sign, digits = "- ", digits[1:]
		}
		if strings.Trim(digits, "9") == "" {
			return fmt.Sprintf("%s%d nines and 88 zeros", sign, len(digits))
		}
		significant := strings.TrimRight(digits, "0")
		return fmt.Sprintf("%s%s and %d zeros", sign, significant, 88+len(digits)-len(significant))
	}
	whole, fraction, _ := strings.Cut(text, ".")
	significant := strings.TrimLeft(fraction, "0")
	return fmt.Sprintf("%s. %d zeros and %s", whole, len(fraction)-len(significant), significant)
}

func mustParse(s string) Decimal {
	d, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("Parse(%q): %v", s, err))
	}
	return d
}

func TestInt64(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-1", -1, true},
		{"1e3", 1000, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false},
		{"1e125", 0, false},
		{"1.5", 0, false},
		{"0.1", 0, false},
	} {
		got, ok := mustParse(c.text).Int64()
		if ok != c.ok || (ok && got != c.want) {
			t.Errorf("Int64 of %s = %d, %v; want %d, %v", c.text, got, ok, c.want, c.ok)
		}
	}
	for _, n := range []int64{0, 1, -1, 1 << 62, -1 << 63} {
		if got, ok := FromInt(n).Int64(); !ok || got != n {
			t.Errorf("FromInt(%d).Int64() = %d, %v", n, got, ok)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		text   string
		neg    bool
		digits string
		exp    int
	}{
		{"0", false, "", 0},
		{"1", false, "1", 1},
		{"-1200", true, "12", 4},
		{"12.5", false, "125", 2},
		{"0.5", false, "5", 0},
		{"-0.00102", true, "102", -2},
		{"1e125", false, "1", 126},
		{"1e-130", false, "1", -129},
	} {
		d := mustParse(c.text)
		neg, digits, exp := d.Parts()
		if neg != c.neg || digits != c.digits || exp != c.exp {
			t.Errorf("Parts of %s = %v, %q, %d; want %v, %q, %d", c.text, neg, digits, exp, c.neg, c.digits, c.exp)
		}
		if back, err := FromDigits(neg, []byte(digits), exp); err != nil || back != d {
			t.Errorf("FromDigits of the parts of %s = %v, %v", c.text, back, err)
		}
	}
}

func TestFromDigitsRejects(t *testing.T) {
	for _, c := range []struct {
		digits string
		exp    int
		want   error
	}{
		{"01", 1, ErrSyntax},
		{"10", 1, ErrSyntax},
		{"1a", 1, ErrSyntax},
		{strings.Repeat("1", 39), 1, ErrPrecision},
		{"1", 127, ErrOverflow},
		{"1", -130, ErrUnderflow},
	} {
		if _, err := FromDigits(false, []byte(c.digits), c.exp); !errors.Is(err, c.want) {
			t.Errorf("FromDigits(%q, %d): %v, want %v", c.digits, c.exp, err, c.want)
		}
	}
}

// TestParseKeepsCanonicalText holds that a number in normal form costs no allocation.
func TestParseKeepsCanonicalText(t *testing.T) {
	for _, s := range []string{"1", "-17", "1700000000", "123456789012345678901", "0.5", "-12.75"} {
		allocs := testing.AllocsPerRun(100, func() {
			d, err := Parse(s)
			if err != nil || d.String() != s {
				t.Fatalf("Parse(%q) = %v, %v", s, d, err)
			}
		})
		if allocs != 0 {
			t.Errorf("Parse(%q) allocates %v times", s, allocs)
		}
	}
}

// TestParseIsLinear would not end if the exponent were counted down, or long zeros were tried one by one.
func TestParseIsLinear(t *testing.T) {
	zeros := strings.Repeat("0", 4<<20)
	for _, s := range []string{zeros, "1" + zeros, "0." + zeros + "1", "1e" + zeros, zeros + "1e-" + zeros + "1"} {
		_, _ = Parse(s)
	}
}
