package attr_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/attrtest"
)

func number(s string) attr.Value { return attr.ParseNumber(s) }

func list(elems ...attr.Value) attr.Value { return attr.List(elems) }

func item(fields ...attr.Field) attr.Item {
	it, ok := attr.NewItem(fields)
	if !ok {
		panic("a name repeats")
	}
	return it
}

func field(name string, v attr.Value) attr.Field { return attr.Field{Name: name, Value: v} }

func texts(kind attr.Kind, members ...string) attr.Value {
	values := make([]attr.Value, len(members))
	for i, m := range members {
		switch kind {
		case attr.KindNumberSet:
			values[i] = number(m)
		case attr.KindBinarySet:
			values[i] = attr.Binary(m)
		default:
			values[i] = attr.String(m)
		}
	}
	return attr.NewSet(kind, values)
}

// everyKind holds one value of each kind, pairwise different.
func everyKind() map[attr.Kind]attr.Value {
	return map[attr.Kind]attr.Value{
		attr.KindString:    attr.String("a"),
		attr.KindNumber:    number("1"),
		attr.KindBinary:    attr.Binary("a"),
		attr.KindBool:      attr.Bool(true),
		attr.KindNull:      attr.Null(),
		attr.KindList:      list(attr.String("a")),
		attr.KindMap:       attr.Map(item(field("a", attr.String("a")))),
		attr.KindStringSet: texts(attr.KindStringSet, "a"),
		attr.KindNumberSet: texts(attr.KindNumberSet, "1"),
		attr.KindBinarySet: texts(attr.KindBinarySet, "a"),
	}
}

func TestKinds(t *testing.T) {
	names := map[attr.Kind]string{
		attr.KindString: "S", attr.KindNumber: "N", attr.KindBinary: "B", attr.KindBool: "BOOL",
		attr.KindNull: "NULL", attr.KindList: "L", attr.KindMap: "M",
		attr.KindStringSet: "SS", attr.KindNumberSet: "NS", attr.KindBinarySet: "BS",
	}
	for kind, name := range names {
		if kind.String() != name || attr.KindOf(name) != kind {
			t.Errorf("kind %d: String() = %q, KindOf(%q) = %d", kind, kind, name, attr.KindOf(name))
		}
		if got := everyKind()[kind].Kind(); got != kind {
			t.Errorf("value of kind %v has kind %v", kind, got)
		}
	}
	for _, name := range []string{"", "s", "invalid", "X"} {
		if attr.KindOf(name) != attr.KindInvalid {
			t.Errorf("KindOf(%q) = %v", name, attr.KindOf(name))
		}
	}
	if attr.KindBinarySet.Member() != attr.KindBinary || attr.KindList.Member() != attr.KindInvalid {
		t.Error("Member is wrong")
	}
}

func TestAccessors(t *testing.T) {
	var absent attr.Value
	if !absent.IsZero() || absent.Text() != "" || absent.Elems() != nil || absent.Item() != nil {
		t.Errorf("absent value is not empty: %v", absent)
	}
	if attr.String("").IsZero() || attr.Faulty(attr.Fault{}).IsZero() {
		t.Error("an empty string or a faulty value is taken for absent")
	}
	if m := attr.Map(nil).Item(); m == nil || len(m) != 0 {
		t.Errorf("content of an empty map is %#v", m)
	}
	if got := list(attr.Bool(true), attr.Null()).Elems(); len(got) != 2 || !got[0].Bool() || got[1].Kind() != attr.KindNull {
		t.Errorf("elements of a list are %v", got)
	}
	if attr.Binary("\x00\xff").Text() != "\x00\xff" {
		t.Error("bytes of a binary have changed")
	}
}

func TestEqual(t *testing.T) {
	wide := make([]string, 40)
	for i := range wide {
		wide[i] = strconv.Itoa(i)
	}
	backwards := make([]string, len(wide))
	for i, s := range wide {
		backwards[len(wide)-1-i] = s
	}
	other := append([]string{"x"}, backwards[1:]...)
	for _, c := range []struct {
		name string
		a, b attr.Value
		want bool
	}{
		{"strings", attr.String("a"), attr.String("b"), false},
		{"numbers by value", number("1.0"), number("1"), true},
		{"numbers in all digits", number("123456789012345678"), number("123456789012345679"), false},
		{"booleans", attr.Bool(true), attr.Bool(false), false},
		{"lists in order", list(attr.Null(), number("1")), list(number("1"), attr.Null()), false},
		{"lists of different lengths", list(attr.Null()), list(attr.Null(), attr.Null()), false},
		{"sets in any order", texts(attr.KindStringSet, "a", "b"), texts(attr.KindStringSet, "b", "a"), true},
		{"a set and a part of it", texts(attr.KindStringSet, "a", "b"), texts(attr.KindStringSet, "a"), false},
		{"sets with one other member", texts(attr.KindNumberSet, "1", "2"), texts(attr.KindNumberSet, "1", "3"), false},
		{"wide sets in any order", texts(attr.KindNumberSet, wide...), texts(attr.KindNumberSet, backwards...), true},
		{"wide sets with one other member", texts(attr.KindStringSet, wide...), texts(attr.KindStringSet, other...), false},
		{"sets inside lists", list(texts(attr.KindBinarySet, "a", "b")), list(texts(attr.KindBinarySet, "b", "a")), true},
		{"maps", attr.Map(item(field("a", number("1")))), attr.Map(item(field("a", number("2")))), false},
		{"maps with other names", attr.Map(item(field("a", number("1")))), attr.Map(item(field("b", number("1")))), false},
		{"empty maps", attr.Map(nil), attr.Map(attr.Item{}), true},
		{"absent values", attr.Value{}, attr.Value{}, true},
	} {
		if got := c.a.Equal(c.b); got != c.want {
			t.Errorf("%s: %v and %v: %v", c.name, c.a, c.b, got)
		}
		if got := c.b.Equal(c.a); got != c.want {
			t.Errorf("%s: %v and %v: %v", c.name, c.b, c.a, got)
		}
	}
	for k, v := range everyKind() {
		for l, w := range everyKind() {
			if v.Equal(w) != (k == l) {
				t.Errorf("%v equal to %v: %v", v, w, k != l)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	ascending := [][]attr.Value{
		{attr.String(""), attr.String("A"), attr.String("Z"), attr.String("a"), attr.String("a\x00"), attr.String("aa"), attr.String("é"), attr.String("\uffff"), attr.String("😀")},
		{attr.Binary(""), attr.Binary("\x00"), attr.Binary("\x00\x00"), attr.Binary("\x7f"), attr.Binary("\x80"), attr.Binary("\xff")},
		{number("-1e125"), number("-10"), number("-9"), number("0"), number("1e-130"), number("9"), number("10"), number("10.5")},
	}
	for _, values := range ascending {
		for i, a := range values {
			for j, b := range values {
				c, ok := a.Compare(b)
				if !ok || (c < 0) != (i < j) || (c == 0) != (i == j) {
					t.Errorf("Compare(%v, %v) = %d, %v", a, b, c, ok)
				}
			}
		}
	}
	for k, v := range everyKind() {
		for l, w := range everyKind() {
			if _, ok := v.Compare(w); ok != (k == l && k.IsKey()) {
				t.Errorf("Compare(%v, %v) is defined: %v", v, w, ok)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		value attr.Value
		want  int
	}{
		{attr.String(""), 0},
		{attr.String("abc"), 3},
		{attr.String("é😀"), 6},
		{attr.Binary("\x00\x01"), 2},
		{number("0"), 1},
		{number("-12.5"), 4},
		{attr.Bool(false), 1},
		{attr.Null(), 1},
		{list(), 3},
		{list(attr.String("ab"), attr.Null()), 3 + 1 + 2 + 1 + 1},
		{attr.Map(nil), 3},
		{attr.Map(item(field("name", attr.String("ab")))), 3 + 1 + 4 + 2},
		{attr.Map(item(field("a", list(list())))), 3 + 1 + 1 + (3 + 1 + 3)},
		{texts(attr.KindStringSet, "", "abc"), 3},
		{texts(attr.KindNumberSet, "0", "100", "-1"), 1 + 2 + 3},
		{texts(attr.KindBinarySet, "a", "bc"), 3},
	} {
		if got := c.value.Size(); got != c.want {
			t.Errorf("size of %v is %d, want %d", c.value, got, c.want)
		}
	}
	it := item(field("pk", attr.String("user#1")), field("é", number("7")))
	if got, want := it.Size(), 2+6+2+2; got != want {
		t.Errorf("size of %v is %d, want %d", it, got, want)
	}
}

func TestDepth(t *testing.T) {
	if d := attr.String("a").Depth(); d != 0 {
		t.Errorf("depth of a string is %d", d)
	}
	if d := texts(attr.KindStringSet, "a").Depth(); d != 0 {
		t.Errorf("depth of a set is %d", d)
	}
	v := attr.Null()
	for range attr.MaxDepth {
		v = attr.Map(item(field("a", attr.Null()), field("m", v)))
	}
	if d := v.Depth(); d != attr.MaxDepth {
		t.Errorf("depth is %d, want %d", d, attr.MaxDepth)
	}
	if d := item(field("a", attr.Null()), field("b", list(v))).Depth(); d != attr.MaxDepth+1 {
		t.Errorf("depth of the item is %d, want %d", d, attr.MaxDepth+1)
	}
}

func TestNewItem(t *testing.T) {
	fields := []attr.Field{field("b", number("1")), field("", number("2")), field("a", number("3")), field("B", number("4"))}
	it, ok := attr.NewItem(fields)
	want := `{"":{"N":"2"},"B":{"N":"4"},"a":{"N":"3"},"b":{"N":"1"}}`
	if !ok || it.String() != want {
		t.Errorf("got %v, %v, want %s", it, ok, want)
	}
	for _, names := range []string{"a a", "b a b", "a b b", "a b c d a"} {
		var fields []attr.Field
		for name := range strings.FieldsSeq(names) {
			fields = append(fields, field(name, attr.Null()))
		}
		if _, ok := attr.NewItem(fields); ok {
			t.Errorf("the names %q are taken for unique", names)
		}
	}
	for n := range 130 {
		var many []attr.Field
		for i := range n {
			many = append(many, field(strconv.Itoa(i*7919%1000), number(strconv.Itoa(i))))
		}
		if it, ok := attr.NewItem(many); !ok || !slices.IsSortedFunc(it, func(a, b attr.Field) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%d fields are not in order", n)
		}
		if _, ok := attr.NewItem(append(many, field("x", attr.Null()), field("y", attr.Null()), field("x", attr.Null()))); ok {
			t.Errorf("a repeated name among %d is not seen", n)
		}
	}
	if it, ok := attr.NewItem(nil); !ok || it == nil {
		t.Error("an item without fields is absent")
	}
}

// TestEdits changes items one attribute at a time, and holds a map beside them as the truth.
func TestEdits(t *testing.T) {
	for seed := range uint64(50) {
		r := attrtest.Rand(seed)
		it, truth := attr.Item{}, map[string]attr.Value{}
		for range 60 {
			before, was := it, it.String()
			name := string(rune('a' + r.IntN(12)))
			if r.IntN(3) == 0 {
				it = it.Without(name)
				delete(truth, name)
			} else {
				v := attrtest.Value(r)
				it = it.With(name, v)
				truth[name] = v
			}
			if before.String() != was {
				t.Fatalf("seed %d: an edit changed the item it began with", seed)
			}
			checkItem(t, seed, it, truth)
		}
	}
}

func checkItem(t *testing.T, seed uint64, it attr.Item, truth map[string]attr.Value) {
	t.Helper()
	if len(it) != len(truth) {
		t.Fatalf("seed %d: item has %d attributes, want %d", seed, len(it), len(truth))
	}
	for i := range it {
		if i > 0 && it[i-1].Name >= it[i].Name {
			t.Fatalf("seed %d: names are not in order: %v", seed, it)
		}
	}
	for c := 'a'; c < 'a'+12; c++ {
		got, ok := it.Get(string(c))
		want, wanted := truth[string(c)]
		if ok != wanted || !got.Equal(want) {
			t.Fatalf("seed %d: attribute %c is %v, %v, want %v, %v", seed, c, got, ok, want, wanted)
		}
	}
}

func TestNewSet(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    attr.Kind
		members []attr.Value
		want    attr.FaultCode // 0: none
	}{
		{"strings", attr.KindStringSet, []attr.Value{attr.String("a"), attr.String("")}, 0},
		{"empty", attr.KindNumberSet, nil, attr.FaultEmptySet},
		{"duplicate", attr.KindStringSet, []attr.Value{attr.String("a"), attr.String("b"), attr.String("a")}, attr.FaultDuplicate},
		{"numbers by value", attr.KindNumberSet, []attr.Value{number("1"), number("1.0")}, attr.FaultDuplicate},
		{"numbers in all digits", attr.KindNumberSet, []attr.Value{number("123456789012345678"), number("123456789012345679")}, 0},
		{"faulty member", attr.KindNumberSet, []attr.Value{number("1"), number(""), number("1")}, attr.FaultNumberSyntax},
		{"empty binary", attr.KindBinarySet, []attr.Value{attr.Binary("")}, 0},
	} {
		v := attr.NewSet(c.kind, c.members)
		f, faulty := v.Fault()
		if faulty != (c.want != 0) || f.Code != c.want {
			t.Errorf("%s: fault is %v, %v, want code %v", c.name, f, faulty, c.want)
		}
		if !faulty && (v.Kind() != c.kind || len(v.Elems()) != len(c.members)) {
			t.Errorf("%s: set is %v", c.name, v)
		}
	}
	many := make([]attr.Value, 100)
	for i := range many {
		many[i] = number(strconv.Itoa(i))
	}
	if attr.Repeats(many) {
		t.Error("100 different members are said to repeat")
	}
	many[99] = many[0]
	if !attr.Repeats(many) {
		t.Error("a repeated member among 100 is not seen")
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]attr.FaultCode{
		"x":                     attr.FaultNumberSyntax,
		"":                      attr.FaultNumberSyntax,
		"1e126":                 attr.FaultNumberOverflow,
		"1e-131":                attr.FaultNumberUnderflow,
		strings.Repeat("1", 39): attr.FaultNumberPrecision,
	} {
		got, ok := number(text).Fault()
		if diff := cmp.Diff(attr.Fault{Code: want, Kind: attr.KindNumber, Text: text}, got); !ok || diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if v := number("+1.50"); v.Kind() != attr.KindNumber || v.Text() != "1.5" {
		t.Errorf("+1.50 is %v", v)
	}
}

func TestFaultIsFoundAnywhere(t *testing.T) {
	bad := attr.Faulty(attr.Fault{Code: attr.FaultNull, Kind: attr.KindNull})
	deep := item(
		field("a", attr.String("fine")),
		field("b", list(attr.Null(), attr.Map(item(field("x", number("1")), field("y", bad))))),
		field("c", number("bad")),
	)
	name, f, ok := deep.Fault()
	if !ok || name != "b" || f.Code != attr.FaultNull {
		t.Errorf("found %q, %v, %v", name, f, ok)
	}
	if name, f, ok := deep.Without("b").Without("c").Fault(); ok {
		t.Errorf("found %q, %v in an item without faults", name, f)
	}
	if _, ok := (attr.Value{}).Fault(); ok {
		t.Error("an absent value has a fault")
	}
}

func TestString(t *testing.T) {
	it := item(
		field("a", attr.String(`say "hi"`)),
		field("b", attr.Binary("\x00\xff")),
		field("l", list(attr.Bool(true), attr.Null(), attr.Value{})),
		field("m", attr.Map(item(field("n", number("1.50"))))),
		field("s", texts(attr.KindBinarySet, "a", "b")),
	)
	want := `{"a":{"S":"say \"hi\""},"b":{"B":"AP8="},"l":{"L":[{"BOOL":true},{"NULL":true},{}]},` +
		`"m":{"M":{"n":{"N":"1.5"}}},"s":{"BS":["YQ==","Yg=="]}}`
	if got := it.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func BenchmarkItemGet(b *testing.B) {
	for _, n := range []int{5, 20, 100} {
		it := attr.Item{}
		for i := range n {
			it = it.With("attribute"+strconv.Itoa(1000+i), attr.Null())
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if _, ok := it.Get(it[i].Name); !ok {
					b.Fatal("not found")
				}
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func BenchmarkNewItem(b *testing.B) {
	sorted := make([]attr.Field, 20)
	for i := range sorted {
		sorted[i].Name = "attribute" + strconv.Itoa(1000+i)
	}
	shuffled := append([]attr.Field(nil), sorted...)
	attrtest.Rand(1).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for name, fields := range map[string][]attr.Field{"sorted": sorted, "shuffled": shuffled} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			room := make([]attr.Field, len(fields))
			for b.Loop() {
				copy(room, fields)
				if _, ok := attr.NewItem(room); !ok {
					b.Fatal("a name repeats")
				}
			}
		})
	}
}
