package render_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// key renders a template of one field, v.
func key(t *testing.T, template string, of design.Type, value string) (string, error) {
	t.Helper()
	parsed, err := design.ParseTemplate(template)
	if err != nil {
		t.Fatal(err)
	}
	e := &design.Entity{Name: "E", Fields: []*design.Field{{Name: "v", Type: of, Path: []string{"v"}}}}
	return render.Key(e, parsed, design.KeyString, map[string]design.Literal{"v": {Text: value}})
}

func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		template   string
		kind       design.Kind
		value, out string
	}{
		{"USER#{v}", design.KindID, "u-1", "USER#u-1"},
		{"{{{v}}}", design.KindID, "u", "{u}"},
		{"{v}", design.KindInt, "007", "7"},
		{"{v}", design.KindDecimal, "1.50", "1.5"},
		{"{v}", design.KindDecimal, "1E3", "1000"},
		{"{v}", design.KindTTL, "2024-01-15T10:00:00Z", "1705312800"},
		{"{v}", design.KindTime, "2024-01-15T10:00:00+02:00", "2024-01-15T08:00:00.000Z"},
		{"{v|lower}", design.KindEmail, "Ana.GARCÍA@Mail.com", "ana.garcía@mail.com"},
		{"{v|fold}", design.KindText, "  Café \t de   OLLA ", "cafe de olla"},
		{"{v|fold}", design.KindText, "ﬁne Å\u00a0Straße", "fine a straße"}, // the ligature, a no-break space
		{"{v|fold}", design.KindText, "İstanbul", "istanbul"},
		{"x{v|fold}", design.KindText, "  ", "x"},
		{"{v|slug}", design.KindText, "¿Café, o té?", "-cafe-o-te-"},
		{"{v|slug}", design.KindText, "a  b", "a-b"},
		{"x{v|slug}", design.KindText, "", "x"},
		{"{v|pad(8)}", design.KindInt, "42", "00000042"},
		{"{v|pad(2)}", design.KindMoney, "42", "42"},
		{"{v|desc(6)}", design.KindInt, "0", "999999"},
		{"{v|desc(6)}", design.KindInt, "42", "999957"},
		{"{v|desc(18)}", design.KindInt, "999999999999999999", "000000000000000000"},
		{"{v|ts(ms)}", design.KindTime, "2024-01-15T10:00:00.250Z", "1705312800250"},
		{"{v|ts(s)}", design.KindTime, "2024-01-15T10:00:00.250Z", "1705312800"},
		{"{v|ts(ms)|desc(13)}", design.KindTime, "1970-01-01T00:00:00.001Z", "9999999999998"},
		{"{v|date(yyyy)}", design.KindDate, "2024-01-15", "2024"},
		{"{v|date(yyyy-MM)}", design.KindTime, "2024-01-15T10:00:00.000Z", "2024-01"},
		{"{v|date(yyyy-MM-dd)}", design.KindTime, "2024-01-15T23:30:00-02:00", "2024-01-16"},
		{"{v|date(yyyy-MM-ddTHH)}", design.KindTime, "2024-01-15T10:00:00.000Z", "2024-01-15T10"},
		// The page of FNV-1a: the empty text is the offset 2166136261, "a" is 0xe40c292c, "foobar" 0xbf9cf968 (3214735720).
		{"x{v|shard(1000)}", design.KindText, "", "x261"},
		{"{v|shard(10)}", design.KindID, "a", "0"},
		{"{v|shard(10000)}", design.KindID, "foobar", "5720"},
		{"{v|shard(auto)}", design.KindID, "foobar", "0"},
		{"{v|first(2)}", design.KindText, "éa€", "éa"},
		{"{v|first(9)}", design.KindText, "éa€", "éa€"},
		// FIPS 180-2: "abc" is ba7816bf 8f01cfea….
		{"{v|hash(12)}", design.KindID, "abc", "ba7816bf8f01"},
		{"{v|fold|first(3)}", design.KindText, "Ñandú", "nan"},
	} {
		got, err := key(t, c.template, design.Type{Kind: c.kind}, c.value)
		if err != nil || got != c.out {
			t.Errorf("%s of the %s %q is %q, %v; want %q", c.template, c.kind, c.value, got, err, c.out)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		template    string
		kind        design.Kind
		value, want string
	}{
		{"{v}", design.KindText, "", "would be empty"},
		{"{v}", design.KindText, "\xff", "not UTF-8"},
		{"{v}", design.KindInt, "1.5", "not a whole number"},
		{"{v}", design.KindTTL, "-1", "before 1970"},
		{"{v}", design.KindBool, "yes", "neither true nor false"},
		{"{v}", design.KindDate, "15.1.2024", "not a date"},
		{"{v}", design.KindTime, "yesterday", "not a time"},
		{"{v}", design.KindStruct, "x", "cannot be used in a key"},
		{"{v}", design.KindBytes, "!", "not base 64"},
		{"{v|pad(2)}", design.KindInt, "100", "does not fit into 2 digits"},
		{"{v|pad(3)}", design.KindInt, "-1", "at least 0"},
		{"{v|desc(2)}", design.KindInt, "100", "does not fit"},
		{"{v|ts(ms)}", design.KindTime, "1969-12-31T23:59:59Z", "at least 0"},
		{"{v|ts(s)}", design.KindTime, "2300-01-01T00:00:00Z", "does not fit"},
		{"{v|date(yyyy-MM-ddTHH)}", design.KindDate, "2024-01-15", "does not apply to"},
		{"{w}", design.KindID, "x", "no such field"},
	} {
		got, err := key(t, c.template, design.Type{Kind: c.kind}, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of the %s %q: got %q, %v; want an error with %q", c.template, c.kind, c.value, got, err, c.want)
		}
	}
}

// TestLimit tests that a field's MaxBytes applies before its functions and after those that make texts longer.
func TestLimit(t *testing.T) {
	template, err := design.ParseTemplate("{v|lower}")
	if err != nil {
		t.Fatal(err)
	}
	e := &design.Entity{Fields: []*design.Field{{Name: "v", Type: design.Type{Kind: design.KindText}, MaxBytes: 4}}}
	for value, fits := range map[string]bool{"abcd": true, "abcde": false, "ȺȺ": false} { // Ⱥ has 2 bytes, ⱥ 3
		_, err := render.Key(e, template, design.KeyString, map[string]design.Literal{"v": {Text: value}})
		if (err == nil) != fits {
			t.Errorf("%q: %v, want that it fits: %v", value, err, fits)
		}
	}
	if _, err := render.Key(e, template, design.KeyString, nil); err == nil {
		t.Error("a key without a value was accepted")
	}
}

// TestNumber tests that an attribute of type N contains the shortest form of a number.
func TestNumber(t *testing.T) {
	e := &design.Entity{Fields: []*design.Field{{Name: "v", Type: design.Type{Kind: design.KindInt}}}}
	for template, want := range map[string]string{"{v}": "42", "{v|pad(8)}": "42"} {
		parsed, err := design.ParseTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		got, err := render.Key(e, parsed, design.KeyNumber, map[string]design.Literal{"v": {Text: "042"}})
		if err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", template, got, err, want)
		}
	}
}
