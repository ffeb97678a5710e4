package verify

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/attrtest"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

func one(v attr.Value) itemenc.Item {
	return itemenc.Encode(nil, attr.Item{{Name: "a", Value: v}})
}

// TestDecodeItemRejects: an item has one form, and nothing else is one, even where readers would get by.
func TestDecodeItemRejects(t *testing.T) {
	repeated := attr.Set(attr.KindStringSet, []attr.Value{attr.String("a"), attr.String("a")})
	deep := attr.Null()
	for range 100 {
		deep = attr.List([]attr.Value{deep})
	}
	head := func(count uint32, rest string) itemenc.Item {
		e := []byte{1, 0, 0, 0, 2}
		return append(binary.BigEndian.AppendUint32(e, count), rest...)
	}
	wrongSize, wrongForm := one(attr.Null()), one(attr.Null())
	wrongSize[4]++
	wrongForm[0]++
	null := attr.Null()
	for _, c := range []struct {
		name   string
		stored itemenc.Item
		want   string
	}{
		{"sound", one(null), ""},
		{"nothing", itemenc.Item{}, "it ends too early"},
		{"unknown form", wrongForm, "it has form 2, which is unknown"},
		{"size wrong", wrongSize, "its size is 2 and it says 3"},
		{"names not in order", itemenc.Encode(nil, attr.Item{{Name: "b", Value: null}, {Name: "a", Value: null}}), `attribute "a" is stored after "b"`},
		{"name repeated", itemenc.Encode(nil, attr.Item{{Name: "a", Value: null}, {Name: "a", Value: null}}), `attribute "a" is stored after "a"`},
		{"zeros at the end of a number", one(attr.Number("1.0")), `attribute "a": number "1.0" is not in normal form`},
		{"zeros before a number", one(attr.Number("01")), `number "01" is not in normal form`},
		{"negative zero", one(attr.Number("-0")), `number "-0" is not in normal form`},
		{"exponent", one(attr.Number("1E3")), `number "1E3" is not in normal form`},
		{"number too long", one(attr.Number(strings.Repeat("1", 39))), "is not in normal form"},
		{"number too large", one(attr.Number("1" + strings.Repeat("0", 126))), "is not in normal form"},
		{"number too small", one(attr.Number("0." + strings.Repeat("0", 130) + "1")), "is not in normal form"},
		{"no number", one(attr.Number("")), `number "" is not in normal form`},
		{"string not in UTF-8", one(attr.String("\xff")), `string "\xff" is not UTF-8`},
		{"set empty", one(attr.Set(attr.KindNumberSet, nil)), "a set is empty"},
		{"member repeated", one(repeated), `a set has the member "a" twice`},
		{"inside documents", one(attr.Map(attr.Item{{Name: "k", Value: attr.List([]attr.Value{repeated})}})), `attribute "a": attribute "k": a set has the member "a" twice`},
		{"too deep", one(deep), "more than 64 documents stand inside each other"},
		{"unknown tag", head(1, "\x01a\x0c"), "there is no value with tag 12"},
		{"length longer than needed", head(1, "\x81\x00a\x06"), "a length has more bytes than it needs"},
		{"length too long", head(1, "\xff\xff\xff\xff\xff\xff\x01a\x06"), "a length has too many bytes"},
		{"more attributes than there are", head(2, "\x01a\x06"), "it ends too early"},
		{"more than its attributes", head(1, "\x01a\x06!"), "1 bytes follow its last attribute"},
		{"more than its elements", head(1, "\x01a\x07\x00\x00\x00\x03\x01\x06!"), "1 bytes follow the last element of a L"},
	} {
		_, _, err := decodeItem(c.stored)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	whole := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(2)))
	for n := range whole {
		if _, _, err := decodeItem(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes of an item are one", n, len(whole))
		}
	}
}

// FuzzDecodeItem: whatever decodeItem accepts is what itemenc writes of the same attributes.
func FuzzDecodeItem(f *testing.F) {
	for seed := range uint64(50) {
		f.Add([]byte(itemenc.Encode(nil, attrtest.Item(attrtest.Rand(seed)))))
	}
	f.Add([]byte("\x01\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		it, size, err := decodeItem(data)
		if err != nil {
			return
		}
		other, err := itemenc.Item(data).Decode()
		if err != nil || !bytes.Equal(itemenc.Encode(nil, other), data) {
			t.Fatalf("%x is decoded as %v, and by itemenc as %v, %v", data, it, other, err)
		}
		checkItem(t, it, size, other)
	})
}

// FuzzLayout: the verifier's own decoder and key layout agree with the packages that writers use. Each was written
// from the documentation, so a difference is a mistake in one of them.
func FuzzLayout(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := attrtest.Rand(seed)
		want := attrtest.Item(r)
		it, size, err := decodeItem(itemenc.Encode(nil, want))
		if err != nil {
			t.Fatalf("%v: %v", want, err)
		}
		checkItem(t, it, size, want)

		kinds := []attr.Kind{attr.KindString, attr.KindNumber, attr.KindBinary}
		var values [4]attr.Value
		var encoded [4]string
		for i := range values {
			values[i] = attrtest.Key(r, kinds[r.IntN(3)])
			encoded[i] = encodeKey(value{kind: values[i].Kind().String(), text: values[i].Text()})
			if first, rest := cutKey(encoded[i] + "\x12rest"); first != encoded[i] || rest != "\x12rest" {
				t.Errorf("%v is cut off as %x", values[i], first)
			}
		}
		table, index, second := keyenc.TableID(r.Uint32()), keyenc.IndexID(r.Uint32()), r.Int64()-r.Int64()
		a, b, c, d := encoded[0], encoded[1], encoded[2], encoded[3]
		for _, pair := range [][2]string{
			{partitionKey(table, 0, a, b), string(keyenc.Item(nil, table, values[0], values[1]))},
			{partitionKey(table, 0, a, ""), string(keyenc.Item(nil, table, values[0], attr.Value{}))},
			{
				partitionKey(table, index, a+b, c+d+a+b),
				string(keyenc.IndexEntry(nil, table, index, values[:2], values[2:], values[0], values[1])),
			},
			{ttlKey(table, second, a+b), string(keyenc.TTL(nil, table, second, values[0], values[1]))},
			{collectionKey(table, a), string(keyenc.Collection(table, values[0]))},
			{statisticsKey(table, index), string(keyenc.Statistics(table, index))},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%v: key %x, and by keyenc %x", values, pair[0], pair[1])
			}
		}
	})
}

// checkItem compares an item with one that itemenc decoded.
func checkItem(t *testing.T, it item, size int, want attr.Item) {
	t.Helper()
	if size != want.Size() || it.size() != size || len(it) != len(want) {
		t.Errorf("%v has %d attributes and the size %d, want %d", want, len(it), size, want.Size())
	}
	for _, field := range want {
		v := it[field.Name]
		text := ""
		if field.Value.Kind().IsKey() {
			text = field.Value.Text()
		}
		if v.kind != field.Value.Kind().String() || v.text != text || v.size != field.Value.Size() {
			t.Errorf("%v is decoded as %+v", field, v)
		}
	}
}

// FuzzNumberKeys: the keys of numbers stand in the order of the numbers, by arithmetic.
func FuzzNumberKeys(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := attrtest.Rand(seed)
		a, b := attrtest.Number(r).Text(), attrtest.Number(r).Text()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got := strings.Compare(encodeNumber(a), encodeNumber(b)); got != x.Cmp(y) {
			t.Errorf("%s and %s order %d, their keys %d", a, b, x.Cmp(y), got)
		}
		up := new(big.Rat).SetInt(ceiling(a))
		if below := new(big.Rat).Sub(up, big.NewRat(1, 1)); up.Cmp(x) < 0 || below.Cmp(x) >= 0 {
			t.Errorf("the first whole number from %s on is %v", a, up)
		}
	})
}

// TestEveryKindHasATag: every kind of attribute has a tag.
func TestEveryKindHasATag(t *testing.T) {
	var want []string
	for k := attr.KindString; k <= attr.KindBinarySet; k++ {
		want = append(want, k.String())
	}
	got := slices.Collect(maps.Values(kinds))
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("kinds %q, want %q", got, want)
	}
}
