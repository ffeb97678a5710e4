package keylang_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
)

// TestValues compares the language of every kind and function with package design's own validation.
func TestValues(t *testing.T) {
	hundred := strings.Repeat("a", 100)
	for _, c := range []struct {
		value    string
		in, out  []string
		min, max int // max -1: unbounded
	}{
		{"id", []string{"a", "u-123", "A.b_c:d@e"}, []string{"", "a#b", "a b", "é"}, 1, -1},
		{"id(3)", []string{"abc"}, []string{"abcd"}, 1, 3},
		{"id(80)", []string{"abc"}, nil, 1, 80},
		{
			"uuid",
			[]string{"123e4567-e89b-12d3-a456-426614174000"},
			[]string{"123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000", ""},
			36, 36,
		},
		{"ulid", []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}, []string{"81ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FAI"}, 26, 26},
		{"ksuid", []string{"0ujtsYcgvSTl8PAuAdqWYSMnLOv", "aWgEPTl1tmebfsQzFP4bxwgy80V"}, []string{"b00000000000000000000000000", "0ujts"}, 27, 27},
		{"slug", []string{"cafe-premium", "9", "-"}, []string{"", "Café", "a_b"}, 1, -1},
		{"email", []string{"ana.garcia@mail.com", "a#b@c", "O'Neil+x@d-e.f"}, []string{"a", "@b", "a@", "a@b@c", "a@b#c", "ñ@b.c"}, 3, 254},
		{"text", []string{"", "a#b", "café premium", "日本", "\x00", "🙂", "\U0010ffff", "\ud7ff"}, []string{"\xff", "\xed\xa0\x80", "\xc0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xc3"}, 0, -1},
		{"text(3)", []string{"", "é", "日", "éa"}, []string{"éé", "🙂", "abcd"}, 0, 3},
		{"secret", []string{"", "a#b"}, []string{"\xff"}, 0, -1},
		{"int", []string{"0", "7", "-7", "10", "9223372036854775807", "-9223372036854775808"}, []string{"", "007", "-0", "+1", "1.0", "12345678901234567890"}, 1, 20},
		{"money", []string{"0", "-500"}, []string{"5.00"}, 1, 20},
		{"ttl", []string{"0", "1700000000"}, []string{"-1", "01"}, 1, 19},
		{"decimal", []string{"0", "10", "-0.5", "3.14", "100.001", "0.05"}, []string{"", "-0", "1.", ".5", "1.50", "00.5", "1e5"}, 1, 170},
		{"bool", []string{"true", "false"}, []string{"", "TRUE"}, 4, 5},
		{"time", []string{"2024-01-15T10:05:00.000Z"}, []string{"2024-01-15T10:05:00Z", "2024-13-15T10:05:00.000Z", "2024-01-32T10:05:00.000Z", "2024-01-15T24:05:00.000Z", "2024-01-15T10:60:00.000Z"}, 24, 24},
		{"date", []string{"2024-02-29", "1999-12-31"}, []string{"2024-00-10", "2024-2-9", "2024-01-00"}, 10, 10},
		{"Status", []string{"pending", "paid", "Shipped"}, []string{"", "shipped", "pa"}, 4, 7},
		{"bytes", []string{"", "\xff\x00"}, nil, 0, -1},

		{"id|lower", []string{"u-123", "a@b"}, []string{"U-123", ""}, 1, -1},
		{"email|lower", []string{"a@b.c"}, []string{"A@b.c"}, 3, 254},
		{"email|fold", []string{"a@b.c"}, []string{"A@b.c", "a @b"}, 3, 254},
		{"text|lower", []string{"", "café", "a  b"}, []string{"Café"}, 0, -1},
		{"text|fold", []string{"", "cafe premium", "日本 x"}, []string{" a", "a ", "a  b", "A", "a\tb"}, 0, -1},
		{"text(4)|fold", []string{"a bc"}, []string{"a bcd"}, 0, 4},
		{"text|slug", []string{"", "-", "cafe-premium", "-a-", "9"}, []string{"a--b", "--", "A", "é", "a b"}, 0, -1},
		{"id|slug", []string{"-", "a-b"}, []string{"", "a--b", "a.b"}, 1, -1},
		{"uuid|slug", []string{"123e4567-e89b-12d3-a456-426614174000"}, nil, 1, 36},
		{"Status|lower", []string{"shipped", "paid"}, []string{"Shipped"}, 4, 7},
		{"Status|slug", []string{"shipped"}, []string{"Shipped", "x"}, 4, 7},
		{"Estado|lower", []string{"en revisión"}, []string{"en revision"}, 8, 12},
		{"Estado|fold", []string{"borrador", "en revision"}, []string{"En Revision"}, 0, 12 * 11},
		{"int|pad(4)", []string{"0007", "9999"}, []string{"7", "00007", "-007"}, 4, 4},
		{"int|desc(3)", []string{"999", "000"}, []string{"1000", "9"}, 3, 3},
		{"time|ts(ms)", []string{"1705312800000"}, []string{"1705312800"}, 13, 13},
		{"time|ts(s)", []string{"1705312800"}, []string{"1705312800000"}, 10, 10},
		{"time|ts(ms)|desc(13)", []string{"8294687199999"}, []string{"829468719999"}, 13, 13},
		{"time|date(yyyy)", []string{"2024"}, []string{"24", "2024-01"}, 4, 4},
		{"time|date(yyyy-MM)", []string{"2024-12"}, []string{"2024-13", "2024"}, 7, 7},
		{"date|date(yyyy-MM-dd)", []string{"2024-12-31"}, []string{"2024-12"}, 10, 10},
		{"time|date(yyyy-MM-ddTHH)", []string{"2024-12-31T23"}, []string{"2024-12-31T24", "2024-12-31"}, 13, 13},
		{"int|band(100)", []string{"0", "2", "-1", "92233720368547758"}, []string{"00", "-0", "", "92233720368547759"}, 1, 19},
		{"int|band(100)|pad(6)", []string{"000000", "000123"}, []string{"0", "-00001"}, 6, 6},
		{"int|mod(4)", []string{"0", "3"}, []string{"4", "-1", "00"}, 1, 1},
		{"int|mod(12)|pad(2)", []string{"00", "11"}, []string{"12", "1"}, 2, 2},
		{"int|mod(1000)|band(100)", []string{"0", "9"}, []string{"10", "-1"}, 1, 1},
		{"time|ts(s)|band(21600)", []string{"0", "79000", "462962"}, []string{"462963", "-1", "01"}, 1, 6},
		{"id|shard(10)", []string{"0", "9"}, []string{"10", "00", ""}, 1, 1},
		{"id|shard(1)", []string{"0"}, []string{"1"}, 1, 1},
		{"id|shard(12)", []string{"0", "9", "10", "11"}, []string{"12", "01", "20"}, 1, 2},
		{"id|shard(1000)", []string{"999", "100", "99"}, []string{"1000", "099"}, 1, 3},
		{"id|shard(auto)", []string{"0", "9999"}, []string{"10000"}, 1, 4},
		{"id|shard(12)|pad(2)", []string{"00", "09", "11"}, []string{"12", "9"}, 2, 2},
		{"text|first(2)", []string{"", "a", "日本", "a\n"}, []string{"abc", "日本x", "\xe6", "日\xe6", "日\xe6\x9c"}, 0, 8},
		{"text(3)|first(2)", []string{"éa", "日"}, []string{"éé", "abc"}, 0, 3},
		{"uuid|first(2)", []string{"0f"}, []string{"0", "0-", "0ff"}, 2, 2},
		{"uuid|first(9)", []string{"0f0f0f0f-"}, []string{"0f0f0f0f0"}, 9, 9},
		{"Status|first(2)", []string{"pe", "pa", "Sh"}, []string{"p", "pen"}, 2, 2},
		{"Estado|first(99)", []string{"en revisión"}, []string{"en"}, 8, 12},
		{"email|first(1)", []string{"a", "#"}, []string{"@", ""}, 1, 1},
		{"text|first(200)", []string{hundred}, nil, 0, 800},
		{"bytes|hash(4)", []string{"beef"}, []string{"BEEF", "bee"}, 4, 4},
		{"text|hash(64)", []string{strings.Repeat("0", 64)}, []string{""}, 64, 64},
		// As printed by `printf paid
		//
		// sha256sum`.
		{"Status|hash(4)", []string{"268a"}, []string{"0000"}, 4, 4},
	} {
		l := value(t, c.value)
		for _, s := range c.in {
			if !l.Contains(s) {
				t.Errorf("%s must contain %q", c.value, s)
			}
		}
		for _, s := range c.out {
			if l.Contains(s) {
				t.Errorf("%s must not contain %q", c.value, s)
			}
		}
		n, bounded := l.MaxBytes()
		if !bounded {
			n = -1
		}
		if l.MinBytes() != c.min || n != c.max {
			t.Errorf("%s has from %d to %d bytes, want %d to %d", c.value, l.MinBytes(), n, c.min, c.max)
		}
	}
}

// TestCounts tests the number of partitions for keys with one value.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		value string
		want  float64
	}{
		{"Status", 3},
		{"Level|hash(8)", 2},
		{"Estado|fold", 2}, // the texts are unknown, but not their number
		{"Status|shard(10)", 3},
		{"bool", 2},
		{"id|shard(10)", 10},
		{"id|shard(auto)", 10000},
		{"id|shard(12)|pad(2)", 12},
		{"uuid", math.Pow(16, 32)},
		{"uuid|first(2)", 256},
		{"int|pad(3)", 1000},
		{"int", 2*(1e19-1) + 1},
		{"time|date(yyyy)", 10000},
		{"time|date(yyyy-MM)", 120000},
		{"bytes|hash(2)", 256},
		{"text(1)", 129}, // ASCII and the empty text
		{"text(2)", 1 + 128 + 128*128 + 30*64},
		{"slug(2)", 37 + 37*37},
		{"id", math.Inf(1)},
		{"text|fold", math.Inf(1)},
		{"email", math.Inf(1)},
	} {
		n, finite := value(t, c.value).Count()
		if math.Abs(n-c.want) > c.want*1e-12 || finite == math.IsInf(c.want, 1) {
			t.Errorf("%s has %g texts (finite %v), want %g", c.value, n, finite, c.want)
		}
	}
}

func TestValuesOfFiniteLanguages(t *testing.T) {
	for _, c := range []struct {
		language keylang.Language
		want     []string
	}{
		{value(t, "Status"), []string{"Shipped", "paid", "pending"}},
		{value(t, "Status|first(1)|lower"), []string{"p", "s"}},
		{value(t, "id|shard(11)"), []string{"0", "1", "10", "2", "3", "4", "5", "6", "7", "8", "9"}},
		{template(t, "status:Level on:bool", "S#{status}#{on}").Language(), []string{"S#high#false", "S#high#true", "S#low#false", "S#low#true"}},
		{template(t, "", "CATALOG").Language(), []string{"CATALOG"}},
	} {
		got, ok := c.language.Values(20)
		if !ok || !slices.Equal(got, c.want) {
			t.Errorf("got %q %v, want %q", got, ok, c.want)
		}
		if _, ok := c.language.Values(len(c.want) - 1); ok {
			t.Errorf("%q: more than the limit must not be listed", c.want)
		}
	}
	if _, ok := value(t, "id").Values(1000); ok {
		t.Error("an id is not one of a list")
	}
}

// TestWitnessesOfText tests that the witness for two languages that share one text is valid UTF-8
// and readable.
func TestWitnessesOfText(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"text", "text", "a"},
		{"id", "text", "a"},
		{"text", "int", "0"},
		{"time", "text", "2024-01-01T10:30:00.000Z"},
		{"uuid", "id", "3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c"},
		{"email", "id", "a@b"},
		{"slug", "int|pad(3)", "000"},
		{"Status", "text|lower", "paid"},
		{"decimal", "int", "0"},
	} {
		w, ok := keylang.Intersect(value(t, c.a), value(t, c.b))
		if !ok || !w.Certain || w.Text != c.want || !utf8.ValidString(w.Text) {
			t.Errorf("%s and %s have %+v %v in common, want %q", c.a, c.b, w, ok, c.want)
		}
	}
}

// TestUncertainWitnesses tests texts that are in the automaton but may not be a value's.
func TestUncertainWitnesses(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		certain bool
	}{
		{"text", "Acento", true},
		{"text|fold", "Acento", false}, // fold makes o of ó
		{"text|lower", "Acento", false},
		{"text|slug", "slug", true},
		{"text|fold", "Estado", true}, // borrador
		{"email|slug", "slug", false},
		{"email(50)|lower|slug", "slug", false},
		{"Estado(50)|fold", "text", false},
		{"text|first(2)|fold", "bool", false},
		{"text(100)", "id", true},
		{"text(40)", "time", true},
		{"Estado|fold", "text", false},
		{"text|fold|hash(4)", "text", true},
	} {
		w, ok := keylang.Intersect(value(t, c.a), value(t, c.b))
		if !ok || w.Certain != c.certain {
			t.Errorf("%s and %s have %+v %v in common, certain should be %v", c.a, c.b, w, ok, c.certain)
		}
		ak, af, _ := strings.Cut(c.a, "|")
		bk, bf, _ := strings.Cut(c.b, "|")
		spec := "a:" + ak + " b:" + bk
		piped := func(name, calls string) string {
			if calls == "" {
				return "{" + name + "}"
			}
			return "{" + name + "|" + calls + "}"
		}
		k, ok := keylang.Collide(
			[]keylang.Template{template(t, spec, piped("a", af))}, []keylang.Template{template(t, spec, piped("b", bf))})
		if !ok || k.Certain != c.certain {
			t.Errorf("%s and %s collide: %+v %v, certain should be %v", c.a, c.b, k, ok, c.certain)
		}
	}
}

// TestFieldsWithoutLanguage tests fields and functions that have no language.
func TestFieldsWithoutLanguage(t *testing.T) {
	for _, c := range []struct{ fields, template string }{
		{"x:text", "{y}"},
		{"x:text", "{x|pad(3)}"},
		{"x:decimal", "{x|pad(3)}"},
		{"x:date", "{x|ts(ms)}"},
		{"x:text", "{x|date(yyyy)}"},
		{"x:date", "{x|date(yyyy-MM-ddTHH)}"},
		{"x:bytes", "{x}"},
		{"x:bytes", "{x|lower}"},
		{"x:list", "{x}"},
		{"x:Nowhere", "{x}"},
	} {
		if _, err := keylang.OfTemplate(shop(), fields(t, c.fields), parse(t, c.template), design.KeyString); err == nil {
			t.Errorf("%s of %s must have no language", c.template, c.fields)
		}
	}
}

// TestTypes tests the languages of attributes of type N and B, and that only equal types intersect.
func TestTypes(t *testing.T) {
	of := func(spec, s string, kind design.KeyType) (keylang.Template, error) {
		return keylang.OfTemplate(shop(), fields(t, spec), parse(t, s), kind)
	}
	for _, c := range []struct {
		fields, template string
		kind             design.KeyType
		ok               bool
	}{
		{"n:int", "{n}", design.KeyNumber, true},
		{"n:decimal", "{n}", design.KeyNumber, true},
		{"n:ttl", "{n}", design.KeyNumber, true},
		{"n:time", "{n|ts(ms)}", design.KeyNumber, true},
		{"n:time", "{n}", design.KeyNumber, false},
		{"n:id", "{n}", design.KeyNumber, false},
		{"n:int", "X{n}", design.KeyNumber, false},
		{"n:int m:int", "{n}{m}", design.KeyNumber, false},
		{"n:bytes", "{n}", design.KeyBinary, true},
		{"n:text", "{n}", design.KeyBinary, false},
		{"n:bytes", "A{n}", design.KeyBinary, false},
	} {
		if _, err := of(c.fields, c.template, c.kind); (err == nil) != c.ok {
			t.Errorf("%s of %s in %s: %v", c.template, c.fields, c.kind, err)
		}
	}
	number, _ := of("n:int", "{n}", design.KeyNumber)
	price, _ := of("n:decimal", "{n}", design.KeyNumber)
	millis, _ := of("n:time", "{n|ts(ms)}", design.KeyNumber)
	padded, _ := of("n:int", "{n|pad(4)}", design.KeyNumber)
	bytes, _ := of("n:bytes", "{n}", design.KeyBinary)
	text := template(t, "n:int", "{n}")
	for _, c := range []struct {
		a, b keylang.Template
		want bool
	}{
		{number, number, true},
		{number, price, true},
		{number, millis, true},
		{number, text, false},
		{number, bytes, false},
		{text, bytes, false},
		{bytes, bytes, true},
	} {
		if w, ok := keylang.Intersect(c.a.Language(), c.b.Language()); ok != c.want {
			t.Errorf("%s and %s: %+v %v", c.a.Type(), c.b.Type(), w, ok)
		}
	}
	if padded.Language().Contains("0007") || !padded.Language().Contains("7") {
		t.Error("a number has no zeros before it, whatever the template says")
	}
	if x, ok := number.Language().PrefixFree(); !ok {
		t.Errorf("nothing asks for the beginning of a number: %+v", x)
	}
	if x, ok := keylang.IntersectPrefix(number.Language(), number.Language()); ok {
		t.Errorf("begins_with does not take numbers: %+v", x)
	}
}
