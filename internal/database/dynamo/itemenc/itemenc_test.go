package itemenc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/attrtest"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

func item(fields ...attr.Field) attr.Item {
	it, ok := attr.NewItem(fields)
	if !ok {
		panic("a name repeats")
	}
	return it
}

func field(name string, v attr.Value) attr.Field { return attr.Field{Name: name, Value: v} }

func set(kind attr.Kind, members ...attr.Value) attr.Value { return attr.Set(kind, members) }

// everyKind has a value of every kind.
func everyKind() attr.Item {
	return item(
		field("b", attr.Binary("\x00\xff")),
		field("bs", set(attr.KindBinarySet, attr.Binary("a"), attr.Binary(""))),
		field("f", attr.Bool(false)),
		field("l", attr.List([]attr.Value{attr.String("x"), attr.List(nil), attr.Null()})),
		field("m", attr.Map(item(field("k", attr.Number("1")), field("s", attr.String(""))))),
		field("n", attr.Number("-12.5")),
		field("ns", set(attr.KindNumberSet, attr.Number("1"), attr.Number("0.5"))),
		field("s", attr.String("é")),
		field("ss", set(attr.KindStringSet, attr.String("a"), attr.String("b"))),
		field("t", attr.Bool(true)),
		field("z", attr.Null()),
	)
}

// TestFormat holds the bytes of version 1, which stores in use are made of. The files were written by hand
// from the package comment; they must never change.
func TestFormat(t *testing.T) {
	for name, it := range map[string]attr.Item{
		"empty":      {},
		"every_kind": everyKind(),
		"long": item(
			field(strings.Repeat("n", 200), attr.String(strings.Repeat("s", 300))),
		),
	} {
		want := readHex(t, "testdata/format_v1/"+name)
		if got := itemenc.Encode(nil, it); !bytes.Equal(got, want) {
			t.Errorf("%s is encoded as\n%swant\n%s", name, hex.Dump(got), hex.Dump(want))
		}
		if back, err := itemenc.Item(want).Decode(); err != nil || !back.Equal(it) {
			t.Errorf("%s is decoded as %v, %v", name, back, err)
		}
	}
}

// readHex reads bytes in hexadecimal, in which # begins a comment, and NN*count repeats a byte.
func readHex(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for line := range strings.SplitSeq(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		for word := range strings.FieldsSeq(line) {
			digits, times := word, 1
			if before, after, found := strings.Cut(word, "*"); found {
				digits = before
				if _, err := fmt.Sscan(after, &times); err != nil {
					t.Fatal(err)
				}
			}
			b, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, bytes.Repeat(b, times)...)
		}
	}
	return out
}

func TestAbsentAndEmpty(t *testing.T) {
	if e := itemenc.Encode(nil, nil); e != nil {
		t.Errorf("an absent item is encoded as %x", []byte(e))
	}
	var absent itemenc.Item
	if it, err := absent.Decode(); it != nil || err != nil {
		t.Errorf("an absent item is decoded as %v, %v", it, err)
	}
	if it, err := absent.Select([]string{"a"}); it != nil || err != nil {
		t.Errorf("a selection of an absent item is %v, %v", it, err)
	}
	if p, err := absent.Project(nil, []string{"a"}); p != nil || err != nil {
		t.Errorf("a projection of an absent item is %x, %v", []byte(p), err)
	}
	if _, found, err := absent.Get("a"); found || err != nil || absent.Size() != 0 || absent.Len() != 0 {
		t.Errorf("an absent item has content")
	}
	empty := itemenc.Encode(nil, attr.Item{})
	if it, err := empty.Decode(); it == nil || len(it) != 0 || err != nil {
		t.Errorf("an empty item is decoded as %#v, %v", it, err)
	}
	p, err := itemenc.Encode(nil, everyKind()).Project(nil, []string{"none"})
	if err != nil || !bytes.Equal(p, empty) {
		t.Errorf("a projection on nothing is %x, %v", []byte(p), err)
	}
}

func TestReadingParts(t *testing.T) {
	it := everyKind()
	e := itemenc.Encode(nil, it)
	if e.Size() != it.Size() || e.Len() != len(it) {
		t.Errorf("head says %d bytes in %d attributes, want %d in %d", e.Size(), e.Len(), it.Size(), len(it))
	}
	for _, f := range it {
		if v, found, err := e.Get(f.Name); !found || err != nil || !v.Equal(f.Value) {
			t.Errorf("Get(%q) = %v, %v, %v", f.Name, v, found, err)
		}
	}
	for _, name := range []string{"", "a", "bb", "zz"} {
		if v, found, err := e.Get(name); found || err != nil {
			t.Errorf("Get(%q) = %v, %v, %v", name, v, found, err)
		}
	}
	for _, names := range [][]string{nil, {"a"}, {"b"}, {"z"}, {"zz"}, {"b", "c", "m", "mm", "z", "zz"}, {"bs", "l", "ns", "ss"}} {
		want := attr.Item{}
		for _, name := range names {
			if v, ok := it.Get(name); ok {
				want = want.With(name, v)
			}
		}
		checkParts(t, e, names, want)
	}
}

// checkParts compares the three ways of reading some attributes with the item that has only those.
func checkParts(t *testing.T, e itemenc.Item, names []string, want attr.Item) {
	t.Helper()
	if got, err := e.Select(names); err != nil || got == nil || !got.Equal(want) {
		t.Errorf("Select(%q) = %v, %v, want %v", names, got, err, want)
	}
	if got, err := e.Borrow(nil, names); err != nil || !got.Equal(want) {
		t.Errorf("Borrow(%q) = %v, %v, want %v", names, got, err, want)
	}
	prefix := []byte("before")
	got, err := e.Project(prefix, names)
	if err != nil || !bytes.Equal(got, itemenc.Encode(prefix, want)) {
		t.Errorf("Project(%q) = %x, %v, want %x", names, []byte(got), err, []byte(itemenc.Encode(prefix, want)))
	}
}

// TestResultsOwnTheirText overwrites an item after it was decoded.
func TestResultsOwnTheirText(t *testing.T) {
	it := everyKind()
	e := itemenc.Encode(nil, it)
	whole, err1 := e.Decode()
	some, err2 := e.Select([]string{"l", "m", "s"})
	one, _, err3 := e.Get("ss")
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for i := range e {
		e[i] = 0xEE
	}
	ss, _ := it.Get("ss")
	if !whole.Equal(it) || !some.Equal(it.Without("b").Without("bs").Without("f").Without("n").Without("ns").
		Without("ss").Without("t").Without("z")) || !one.Equal(ss) {
		t.Errorf("decoded values changed with the bytes: %v, %v, %v", whole, some, one)
	}
}

// TestWalk prints an item by walking it, which is how package wire writes JSON.
func TestWalk(t *testing.T) {
	it := everyKind()
	e := itemenc.Encode(nil, it)
	var out strings.Builder
	if err := writeFields(&out, e.Fields()); err != nil {
		t.Fatal(err)
	}
	want := `{b:B(00ff) bs:BS[B(61) B()] f:BOOL(false) l:L[S(x) L[] NULL] m:M{k:N(1) s:S()} n:N(-12.5) ` +
		`ns:NS[N(1) N(0.5)] s:S(é) ss:SS[S(a) S(b)] t:BOOL(true) z:NULL}`
	if out.String() != want {
		t.Errorf("got  %s\nwant %s", &out, want)
	}
	allocs := testing.AllocsPerRun(100, func() {
		fields := e.Fields()
		for fields.Next() {
			elems := fields.Value().Elems()
			for elems.Next() {
				_ = elems.Value().Text()
			}
		}
	})
	if allocs != 0 {
		t.Errorf("walking allocates %v times", allocs)
	}
}

func writeFields(out *strings.Builder, fields itemenc.Fields) error {
	out.WriteByte('{')
	for first := true; fields.Next(); first = false {
		if !first {
			out.WriteByte(' ')
		}
		fmt.Fprintf(out, "%s:", fields.Name())
		if err := writeValue(out, fields.Value()); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return fields.Err()
}

func writeValue(out *strings.Builder, v itemenc.Value) error {
	out.WriteString(v.Kind().String())
	switch v.Kind() {
	case attr.KindString, attr.KindNumber:
		fmt.Fprintf(out, "(%s)", v.Text())
	case attr.KindBinary:
		fmt.Fprintf(out, "(%x)", v.Text())
	case attr.KindBool:
		fmt.Fprintf(out, "(%v)", v.Bool())
	case attr.KindMap:
		return writeFields(out, v.Fields())
	case attr.KindList, attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		out.WriteByte('[')
		elems := v.Elems()
		for first := true; elems.Next(); first = false {
			if !first {
				out.WriteByte(' ')
			}
			if err := writeValue(out, elems.Value()); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return elems.Err()
	default: // the name says it all
	}
	return nil
}

func TestVersions(t *testing.T) {
	e := itemenc.Encode(nil, everyKind())
	e[0] = itemenc.Version + 1
	_, err1 := e.Decode()
	_, _, err2 := e.Get("a")
	_, err3 := e.Project(nil, []string{"a"})
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, itemenc.ErrVersion) {
			t.Errorf("an unknown version is read with %v", err)
		}
	}
}

// TestTruncated cuts an item at every place: what is left is never well formed.
func TestTruncated(t *testing.T) {
	e := itemenc.Encode(nil, everyKind())
	for n := range e {
		if _, err := e[:n].Decode(); !errors.Is(err, itemenc.ErrCorrupt) {
			t.Errorf("the first %d bytes are decoded: %v", n, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	if attrtest.Race {
		t.Skip("the race detector allocates")
	}
	it := everyKind()
	e := itemenc.Encode(nil, it)
	room := make([]byte, 0, 1<<10)
	fields := make(attr.Item, 0, 4)
	two, three := []string{"b", "s"}, []string{"b", "s", "z"}
	flat := itemenc.Encode(nil, item(field("a", attr.Null()), field("b", attr.String("x"))))
	for name, c := range map[string]struct {
		most float64
		f    func()
	}{
		"Encode":             {1, func() { itemenc.Encode(nil, it) }},
		"Encode with room":   {0, func() { itemenc.Encode(room, it) }},
		"Project":            {1, func() { _, _ = e.Project(nil, two) }},
		"Lookup":             {0, func() { _, _, _ = e.Lookup("z") }},
		"Get":                {1, func() { _, _, _ = e.Get("s") }},
		"Borrow of scalars":  {0, func() { fields, _ = e.Borrow(fields, three) }},
		"Decode of flat one": {2, func() { _, _ = flat.Decode() }},
	} {
		if got := testing.AllocsPerRun(100, c.f); got > c.most {
			t.Errorf("%s allocates %v times, want %v", name, got, c.most)
		}
	}
}

// FuzzRoundTrip encodes generated items and reads them back in every way.
func FuzzRoundTrip(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := attrtest.Rand(seed)
		it := attrtest.Item(r)
		e := itemenc.Encode(nil, it)
		if cap(e) > 2*len(e)+64 {
			t.Errorf("%d bytes were set aside for %d", cap(e), len(e))
		}
		back, err := e.Decode()
		if err != nil || !back.Equal(it) || e.Size() != it.Size() || !bytes.Equal(itemenc.Encode(nil, back), e) {
			t.Fatalf("%v is read as %v, %v", it, back, err)
		}
		var names []string
		part := attr.Item{}
		for _, field := range it {
			if r.IntN(2) == 0 {
				names = append(names, field.Name)
				part = part.With(field.Name, field.Value)
			}
		}
		checkParts(t, e, names, part)

		other := attrtest.Item(r)
		for _, field := range other {
			names = append(names, field.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		replaced := it
		for _, name := range names {
			if v, ok := other.Get(name); ok {
				replaced = replaced.With(name, v)
			} else {
				replaced = replaced.Without(name)
			}
		}
		got, err := e.Replace(nil, names, other)
		if err != nil || !bytes.Equal(got, itemenc.Encode(nil, replaced)) {
			t.Fatalf("%v with %q of %v is %x, %v", it, names, other, []byte(got), err)
		}
		if same, err := got.Equal(e); err != nil || same != replaced.Equal(it) {
			t.Fatalf("%v and %v are equal: %v, %v", it, replaced, same, err)
		}
	})
}

// FuzzRead reads any bytes: nothing panics, and what Decode reads can be encoded and read again.
func FuzzRead(f *testing.F) {
	for seed := range uint64(50) {
		f.Add([]byte(itemenc.Encode(nil, attrtest.Item(attrtest.Rand(seed)))))
	}
	f.Add([]byte(itemenc.Encode(nil, everyKind())))
	f.Add([]byte("\x01\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := itemenc.Item(data)
		it, err := e.Decode()
		names := []string{"a", "b", "user"}
		_, _ = e.Select(names)
		_, _ = e.Borrow(nil, names)
		_, _ = e.Project(nil, names)
		_, _, _ = e.Get("b")
		_, _ = e.Replace(nil, names, attr.Item{{Name: "b", Value: attr.Null()}})
		other := itemenc.Item(bytes.Clone(data))
		if len(other) > 20 {
			other[20] ^= 1
		}
		_, _ = e.Equal(other)
		var out strings.Builder
		_ = writeFields(&out, e.Fields())
		if err != nil {
			return
		}
		if again, err := itemenc.Encode(nil, it).Decode(); err != nil || !again.Equal(it) {
			t.Fatalf("%x is read as %v, and that as %v, %v", data, it, again, err)
		}
	})
}
