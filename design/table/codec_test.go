package table_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/monotable/monotable/design/table"
)

type status string

type address struct {
	City  string
	Zip   *int64
	Lines []string
}

func addresses() table.Codec[address] {
	return table.Struct(
		func(a address) table.Values {
			v := table.Values{}
			table.Set(v, "city", table.Text[string](), a.City)
			table.SetOptional(v, "zip", table.Int(), a.Zip)
			table.Set(v, "lines", table.ListOf(table.Text[string]()), a.Lines)
			return v
		},
		func(d *table.Decoder) address {
			return address{
				City: table.Get(d, "city", table.Text[string]()), Zip: table.GetOptional(d, "zip", table.Int()),
				Lines: table.Get(d, "lines", table.ListOf(table.Text[string]())),
			}
		},
	)
}

// encoded encodes a value and decodes it again.
func encoded[T any](t *testing.T, name string, c table.Codec[T], x T, want types.AttributeValue) {
	t.Helper()
	got := c.Encode(x)
	ignored := cmpopts.IgnoreUnexported(
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberL{}, types.AttributeValueMemberM{}, types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{},
	)
	if !cmp.Equal(got, want, ignored) {
		t.Errorf("%s is stored as %s", name, cmp.Diff(want, got, ignored))
	}
	back, err := c.Decode(got)
	if err != nil || !cmp.Equal(c.Encode(back), want, ignored) {
		t.Errorf("%s is decoded as %v, %v", name, back, err)
	}
}

func n(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func TestCodecs(t *testing.T) {
	day, err := table.ParseDate("2024-02-29")
	if err != nil {
		t.Fatal(err)
	}
	price, err := table.ParseDecimal("012.500e1")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 2, 29, 23, 30, 0, 123456789, time.FixedZone("", -5*3600))
	seven := int64(7)
	encoded(t, "a text", table.Text[string](), "é", text("é"))
	encoded(t, "an enumeration", table.Text[status](), status("open"), text("open"))
	encoded(t, "the least int", table.Int(), int64(math.MinInt64), n("-9223372036854775808"))
	encoded(t, "the greatest int", table.Int(), int64(math.MaxInt64), n("9223372036854775807"))
	encoded(t, "a decimal", table.Number(), price, n("125"))
	encoded(t, "true", table.Bool(), true, &types.AttributeValueMemberBOOL{Value: true})
	encoded(t, "false", table.Bool(), false, &types.AttributeValueMemberBOOL{})
	encoded(t, "a time", table.Time(), at, text("2024-03-01T04:30:00.123Z"))
	encoded(t, "a time to live", table.Seconds(), at, n("1709267400"))
	encoded(t, "a date", table.Day(), day, text("2024-02-29"))
	encoded(t, "bytes", table.Binary(), []byte{0, 255}, bytesOf("\x00\xff"))
	encoded(t, "no bytes", table.Binary(), []byte(nil), bytesOf(""))
	encoded(t, "a secret", table.Hidden(), table.Secret("pass"), text("pass"))
	encoded(t, "a list", table.ListOf(table.Int()), []int64{3, 1, 3}, &types.AttributeValueMemberL{Value: []types.AttributeValue{n("3"), n("1"), n("3")}})
	encoded(t, "an empty list", table.ListOf(table.Int()), nil, &types.AttributeValueMemberL{Value: []types.AttributeValue{}})
	encoded(t, "a set of texts", table.SetOf(table.Text[status]()), []status{"b", "a", "b"}, &types.AttributeValueMemberSS{Value: []string{"a", "b"}})
	encoded(t, "a set of numbers", table.SetOf(table.Int()), []int64{10, 9, -10, 9}, &types.AttributeValueMemberNS{Value: []string{"-10", "9", "10"}})
	encoded(t, "a set of bytes", table.SetOf(table.Binary()), [][]byte{{2}, {1, 0}, {2}}, &types.AttributeValueMemberBS{Value: [][]byte{{1, 0}, {2}}})
	encoded(t, "an empty set", table.SetOf(table.Int()), []int64{}, nil)
	encoded(t, "a map", table.MapOf(table.Bool()), map[string]bool{"x": true}, &types.AttributeValueMemberM{Value: table.Item{"x": &types.AttributeValueMemberBOOL{Value: true}}})
	encoded(t, "an empty map", table.MapOf(table.Bool()), nil, &types.AttributeValueMemberM{Value: table.Item{}})
	encoded(t, "a structure", addresses(), address{City: "Lima", Zip: &seven}, &types.AttributeValueMemberM{Value: table.Item{
		"city": text("Lima"), "zip": n("7"), "lines": &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
	}})
	zoned, err := table.Time().Decode(text("2024-02-29T23:30:00-05:00"))
	if want := time.Date(2024, 3, 1, 4, 30, 0, 0, time.UTC); err != nil || !zoned.Equal(want) || zoned.Location() != time.UTC {
		t.Errorf("a time with a zone: %v, %v; want %v", zoned, err, want)
	}
	unknown, err := table.Text[status]().Decode(text("of a later version"))
	if err != nil || unknown != "of a later version" {
		t.Errorf("an unknown value: %q, %v; want it kept", unknown, err)
	}
}

// decoded is the error of decoding a value as the field "f" of an entity.
func decoded[T any](c table.Codec[T], v types.AttributeValue) error {
	d := table.Decode("Order", table.Values{"f": v})
	table.Get(d, "f", c)
	return d.Err()
}

func TestDecodeErrors(t *testing.T) {
	inList := func(v types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{text("x"), v}}
	}
	inMap := func(name string, v types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: table.Item{name: v}}
	}
	for _, c := range []struct {
		err  error
		want table.DecodeError
	}{
		{decoded(table.Text[string](), nil), table.DecodeError{Field: "f", Reason: "is missing"}},
		{decoded(table.Text[string](), &types.AttributeValueMemberNULL{Value: true}), table.DecodeError{Field: "f", Reason: "is missing"}},
		{decoded(table.Text[string](), n("1")), table.DecodeError{Field: "f", Reason: "is stored as N, not as S"}},
		{decoded(table.Int(), n("1.5")), table.DecodeError{Field: "f", Reason: "is not a whole number of 64 bits: 1.5"}},
		{decoded(table.Int(), n("9223372036854775808")), table.DecodeError{Field: "f", Reason: "is not a whole number of 64 bits: 9223372036854775808"}},
		{decoded(table.Seconds(), text("1")), table.DecodeError{Field: "f", Reason: "is stored as S, not as N"}},
		{decoded(table.Time(), text("yesterday")), table.DecodeError{Field: "f", Reason: "is not a time: yesterday"}},
		{decoded(table.Day(), text("2023-02-29")), table.DecodeError{Field: "f", Reason: "is not a date: 2023-02-29"}},
		{decoded(table.ListOf(table.Text[string]()), inList(n("1"))), table.DecodeError{Field: "f[1]", Reason: "is stored as N, not as S"}},
		{decoded(table.ListOf(table.ListOf(table.Int())), inList(nil)), table.DecodeError{Field: "f[0]", Reason: "is stored as S, not as L"}},
		{decoded(table.SetOf(table.Int()), text("x")), table.DecodeError{Field: "f", Reason: "is stored as S, not as a set"}},
		{decoded(table.SetOf(table.Int()), &types.AttributeValueMemberSS{Value: []string{"x"}}), table.DecodeError{Field: "f[0]", Reason: "is stored as S, not as N"}},
		{decoded(table.MapOf(table.Int()), inMap("k", text("x"))), table.DecodeError{Field: "f.k", Reason: "is stored as S, not as N"}},
		{decoded(addresses(), inMap("zip", n("1"))), table.DecodeError{Field: "f.city", Reason: "is missing"}},
		{decoded(table.MapOf(addresses()), inMap("k", &types.AttributeValueMemberM{Value: table.Item{"city": text("x"), "lines": inList(n("1"))}})), table.DecodeError{Field: "f.k.lines[1]", Reason: "is stored as N, not as S"}},
	} {
		c.want.Entity = "Order"
		if found, is := errors.AsType[*table.DecodeError](c.err); !is || *found != c.want {
			t.Errorf("%v; want %v", c.err, &c.want)
		}
	}
	for _, err := range []error{
		decoded(table.ListOf(table.Int()), nil), decoded(table.SetOf(table.Int()), nil), decoded(table.MapOf(table.Int()), nil),
	} {
		if err != nil {
			t.Errorf("a missing value is not treated as empty: %v", err)
		}
	}
	d := table.Decode("Order", table.Values{"b": text("x")})
	table.Get(d, "a", table.Int())
	table.Get(d, "b", table.Int())
	if zip := table.GetOptional(d, "c", table.Int()); zip != nil {
		t.Errorf("the missing value is %d", *zip)
	}
	if got := fmt.Sprint(d.Err()); got != "stored Order.a is missing" {
		t.Errorf("%q; want the first error", got)
	}
	if table.Decode("", nil).Err() != nil {
		t.Error("an error without a cause")
	}
}

// TestSecret tests that no way of printing shows a secret.
func TestSecret(t *testing.T) {
	s := table.Secret("hunter2")
	holder := struct{ Password table.Secret }{s}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("login", "password", s, "all", holder, "any", map[string]any{"p": s})
	slog.New(slog.NewTextHandler(&log, nil)).Info("login", "password", s, "all", holder)
	asJSON, err := json.Marshal([]any{s, holder})
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{log.String(), string(asJSON), s.String(), s.GoString()}
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %10s %t %T") {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
	}
	for _, text := range shown {
		if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), "68756e74657232") {
			t.Errorf("%q shows the secret", text)
		}
	}
	if s.Reveal() != "hunter2" {
		t.Errorf("%q is revealed", s.Reveal())
	}
	var read struct{ Password table.Secret }
	if err := json.Unmarshal([]byte(`{"Password":"hunter2"}`), &read); err != nil || read.Password != s {
		t.Errorf("%v, %q; want the secret that a form sends", err, read.Password.Reveal())
	}
}

func TestDate(t *testing.T) {
	var zero table.Date
	if zero.String() != "0001-01-01" || !zero.Time().IsZero() {
		t.Errorf("the zero date is %s", zero)
	}
	for _, s := range []string{"0000-01-01", "0001-01-01", "1899-12-31", "1969-12-31", "1970-01-01", "2000-02-29", "2024-12-31", "9999-12-31"} {
		d, err := table.ParseDate(s)
		if err != nil || d.String() != s || d != table.DateOf(d.Time()) {
			t.Errorf("%s is read as %s, %v", s, d, err)
		}
		asJSON, err := json.Marshal(d)
		var back table.Date
		if err != nil || json.Unmarshal(asJSON, &back) != nil || back != d || string(asJSON) != `"`+s+`"` {
			t.Errorf("%s is %s in JSON, and is decoded as %s", s, asJSON, back)
		}
		next := table.DateOf(d.Time().AddDate(0, 0, 1))
		if d.Compare(next) >= 0 || next.Compare(d) <= 0 || next.Compare(table.DateOf(next.Time())) != 0 {
			t.Errorf("%s and %s compare wrongly", d, next)
		}
	}
	for _, s := range []string{"", "2023-02-29", "2024-1-1", "2024-01-01T00:00:00Z", " 2024-01-01", "20240101"} {
		if d, err := table.ParseDate(s); err == nil {
			t.Errorf("%q is read as %s", s, d)
		}
	}
	evening := time.Date(2024, 1, 31, 23, 59, 0, 0, time.FixedZone("", -12*3600))
	if d := table.DateOf(evening); d.String() != "2024-01-31" {
		t.Errorf("%s is on %s; want the day of its own zone", evening, d)
	}
}

func TestDecimal(t *testing.T) {
	digits := strings.Repeat("1234567890", 4)[:38]
	for in, want := range map[string]string{
		"0": "0", "-0.00": "0", "1.50": "1.5", "-12": "-12", "1e3": "1000", "25E-2": "0.25", digits: digits, "0." + digits: "0." + digits, "007": "7",
	} {
		d, err := table.ParseDecimal(in)
		if err != nil || d.String() != want {
			t.Errorf("%s is %s, %v; want %s", in, d, err, want)
		}
		again, err := table.ParseDecimal(want)
		if err != nil || again != d || d.Compare(again) != 0 {
			t.Errorf("%s and %s differ", in, want)
		}
		asJSON, err := json.Marshal(struct{ X table.Decimal }{d})
		var back struct{ X table.Decimal }
		if err != nil || string(asJSON) != `{"X":`+want+`}` || json.Unmarshal(asJSON, &back) != nil || back.X != d {
			t.Errorf("%s is %s in JSON, %v, and is decoded as %s", in, asJSON, err, back.X)
		}
	}
	for _, s := range []string{"", "x", "1,5", "0x10", "NaN", "Inf", "1" + digits, "1e126"} {
		if d, err := table.ParseDecimal(s); err == nil {
			t.Errorf("%q is read as %s", s, d)
		}
	}
	half, err := table.ParseDecimal("-0.5")
	if err != nil || half.Float64() != -0.5 || table.DecimalOf(-3).Compare(half) >= 0 || table.DecimalOf(0) != (table.Decimal{}) {
		t.Errorf("%v of -0.5, %v", half.Float64(), err)
	}
	var d table.Decimal
	if err := json.Unmarshal([]byte("null"), &d); err != nil || d != (table.Decimal{}) {
		t.Errorf("null is %s, %v", d, err)
	}
	if err := json.Unmarshal([]byte(`"1"`), &d); err == nil {
		t.Errorf("a text of JSON is read as %s", d)
	}
}
