package keyenc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/attrtest"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

func str(s string) attr.Value { return attr.String(s) }

func num(s string) attr.Value { return attr.ParseNumber(s) }

func bin(s string) attr.Value { return attr.Binary(s) }

var none attr.Value

// formatKeys are the keys whose bytes testdata/format_v1/keys holds, by the words that stand there.
func formatKeys() map[string][]byte {
	return map[string][]byte{
		"item string":        keyenc.Item(nil, 1, str("a"), none),
		"item sort":          keyenc.Item(nil, 0x01020304, str("user#1"), num("42")),
		"item binary":        keyenc.Item(nil, 1, bin("\x00\xff"), bin("")),
		"item number":        keyenc.Item(nil, 1, num("-1.05"), num("0")),
		"entry":              keyenc.IndexEntry(nil, 1, 2, []attr.Value{str("a"), num("7")}, []attr.Value{str("b")}, str("p"), str("s")),
		"ttl":                keyenc.TTL(nil, 1, 1700000000, str("a"), none),
		"ttl before 1970":    keyenc.TTL(nil, 1, -1, str("a"), str("b")),
		"statistics table":   keyenc.Statistics(1, 0),
		"statistics index":   keyenc.Statistics(1, 0x0203),
		"collection":         keyenc.Collection(1, str("a")),
		"format":             keyenc.FormatVersion(),
		"next table":         keyenc.NextTableID(),
		"descriptor":         keyenc.TableDescriptor("Music"),
		"version":            keyenc.TableVersion(0x01020304),
		"job":                keyenc.Job(0x01020304, 0x0506, 7),
		"token":              keyenc.Token("t1"),
		"stream":             keyenc.Stream(0x01020304, "2026-11-20T12:00:00.000"),
		"backup":             keyenc.Backup("01795176000000-01020304"),
		"delivery":           keyenc.Delivery(0x01020304),
		"transfer":           keyenc.Transfer('e', "01795176000000-01020304"),
		"metrics":            keyenc.Metrics(29919600),
		"identity":           keyenc.Identity('u', "ana"),
		"item version":       keyenc.ItemVersion(nil, 1, str("a"), num("7")),
		"position":           keyenc.Position(0x01020304, "eu-west-1"),
		"number 1":           keyenc.AppendSort(nil, num("1")),
		"number 1.05":        keyenc.AppendSort(nil, num("1.05")),
		"number 100":         keyenc.AppendSort(nil, num("100")),
		"number 1e125":       keyenc.AppendSort(nil, num("1e125")),
		"number 1e-130":      keyenc.AppendSort(nil, num("1e-130")),
		"number -1e125":      keyenc.AppendSort(nil, num("-1e125")),
		"number 38 digits":   keyenc.AppendSort(nil, num("12345678901234567890123456789012345678")),
		"string with zeros":  keyenc.AppendSort(nil, str("a\x00b\x00")),
		"prefix with zeros":  keyenc.AppendSortPrefix(nil, str("a\x00")),
		"prefix of binaries": keyenc.AppendSortPrefix(nil, bin("")),
	}
}

// TestFormat holds the bytes of keys, which stores in use are made of; they must never change.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile("testdata/format_v1/keys")
	if err != nil {
		t.Fatal(err)
	}
	keys := formatKeys()
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		name, digits, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		want, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := keys[name]; !bytes.Equal(got, want) {
			t.Errorf("%s is %x, want %x", name, got, want)
		}
		delete(keys, name)
	}
	for name, key := range keys {
		t.Errorf("%s: %x is not in the file", name, key)
	}
}

// TestHash holds the hashes of some partition keys, for the same reason.
func TestHash(t *testing.T) {
	for _, c := range []struct {
		pk   []attr.Value
		want uint16
	}{
		{nil, hashOf(nil)},
		{[]attr.Value{str("a")}, hashOf([]byte{0x20, 'a', 0, 1})},
		{[]attr.Value{str("a"), num("0")}, hashOf([]byte{0x20, 'a', 0, 1, 0x11})},
		{[]attr.Value{str(strings.Repeat("k", 2048))}, hashOf([]byte("\x20" + strings.Repeat("k", 2048) + "\x00\x01"))},
	} {
		if got := keyenc.PartitionHash(c.pk); got != c.want {
			t.Errorf("hash of %v is %04x, want %04x", c.pk, got, c.want)
		}
		if key := keyenc.Partition(nil, 1, 0, c.pk); !bytes.Equal(key[7:9], []byte{byte(c.want >> 8), byte(c.want)}) {
			t.Errorf("key %x has another hash than %04x", key, c.want)
		}
	}
}

// TestHashSpreads counts how partition keys that differ in their last characters fall on 64 segments.
func TestHashSpreads(t *testing.T) {
	const keys, segments = 64 * 1000, 64
	var count [segments]int
	for i := range keys {
		count[int(keyenc.PartitionHash([]attr.Value{str(fmt.Sprintf("user#%d", i))}))*segments/keyenc.Hashes]++
	}
	chi := 0.0
	for _, n := range count {
		d := float64(n) - keys/segments
		chi += d * d / (keys / segments)
	}
	if limit := 63 + 5*math.Sqrt(2*63); chi > limit {
		t.Errorf("chi-squared is %.0f, want at most %.0f: %v", chi, limit, count)
	}
}

func TestParse(t *testing.T) {
	pks := []attr.Value{str("a"), str(""), str("\x00"), num("-1.5"), num("0"), bin("\x00\x01\xff")}
	for _, pk := range pks {
		for _, sk := range append(pks, none) {
			key := keyenc.Item(nil, 7, pk, sk)
			table, gotPK, gotSK, err := keyenc.ParseItem(key)
			if err != nil || table != 7 || !gotPK.Equal(pk) || !gotSK.Equal(sk) {
				t.Errorf("%s is parsed as %v, %v, %v, %v", keyenc.Format(key), table, gotPK, gotSK, err)
			}
			entry := keyenc.IndexEntry(nil, 7, 9, []attr.Value{str("x"), pk}, []attr.Value{pk}, pk, sk)
			if table, index, err := keyenc.ParseIndex(entry); err != nil || table != 7 || index != 9 {
				t.Errorf("%s is in table %v, index %v, %v", keyenc.Format(entry), table, index, err)
			}
			table, index, xpk, xsk, gotPK, gotSK, err := keyenc.ParseIndexEntry(entry, 2, 1)
			if err != nil || table != 7 || index != 9 || len(xpk) != 2 || len(xsk) != 1 ||
				!xpk[1].Equal(pk) || !xsk[0].Equal(pk) || !gotPK.Equal(pk) || !gotSK.Equal(sk) {
				t.Errorf("%s is parsed as %v, %v, %v, %v, %v, %v, %v", keyenc.Format(entry), table, index, xpk, xsk, gotPK, gotSK, err)
			}
			for _, seconds := range []int64{math.MinInt64, -1, 0, 1700000000, math.MaxInt64} {
				ttl := keyenc.TTL(nil, 7, seconds, pk, sk)
				table, gotSeconds, gotPK, gotSK, err := keyenc.ParseTTL(ttl)
				if err != nil || table != 7 || gotSeconds != seconds || !gotPK.Equal(pk) || !gotSK.Equal(sk) {
					t.Errorf("%s is parsed as %v, %v, %v, %v, %v", keyenc.Format(ttl), table, gotSeconds, gotPK, gotSK, err)
				}
			}
		}
	}
	if name, err := keyenc.ParseTableDescriptor(keyenc.TableDescriptor("Music")); err != nil || name != "Music" {
		t.Errorf("name of a descriptor is %q, %v", name, err)
	}
}

func TestInTable(t *testing.T) {
	keys := func(t keyenc.TableID) [][]byte {
		x := []attr.Value{str("x")}
		return [][]byte{
			keyenc.Item(nil, t, str("a"), num("1")), keyenc.IndexEntry(nil, t, 2, x, x, str("a"), none),
			keyenc.Statistics(t, 3), keyenc.Collection(t, bin("\x00")),
		}
	}
	for i, key := range keys(7) {
		want := keys(0x01020304)[i]
		if got := keyenc.InTable([]byte("before"), key, 0x01020304); !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%s becomes %x, want %x", keyenc.Format(key), got, want)
		}
	}
}

func TestParseRejects(t *testing.T) {
	item := keyenc.Item(nil, 1, str("a"), num("42"))
	wrongHash := slices.Clone(item)
	wrongHash[8]++
	for name, key := range map[string][]byte{
		"nothing":               nil,
		"another space":         keyenc.TTL(nil, 1, 0, str("a"), none),
		"an index entry":        keyenc.IndexEntry(nil, 1, 2, []attr.Value{str("a")}, nil, str("a"), none),
		"a prefix":              keyenc.Partition(nil, 1, 0, nil),
		"a wrong hash":          wrongHash,
		"three values":          append(slices.Clone(item), 0x11),
		"an unknown tag":        append(keyenc.Item(nil, 1, str("a"), none), 0x30),
		"no end of a string":    append(keyenc.Item(nil, 1, str("a"), none), 0x20, 'a'),
		"an escape of nothing":  append(keyenc.Item(nil, 1, str("a"), none), 0x20, 0x00, 0x02),
		"a number cut off":      item[:len(item)-1],
		"a number of no digits": append(keyenc.Item(nil, 1, str("a"), none), 0x12, 0x81, 0x00),
		"a pair above 99":       append(keyenc.Item(nil, 1, str("a"), none), 0x12, 0x81, 0x65, 0x00),
		"a first digit 0":       append(keyenc.Item(nil, 1, str("a"), none), 0x12, 0x81, 0x02, 0x00),
		"a last pair 00":        append(keyenc.Item(nil, 1, str("a"), none), 0x12, 0x81, 0x0b, 0x01, 0x00),
		"a number of 40 digits": append(append(keyenc.Item(nil, 1, str("a"), none), 0x12, 0x81), append(bytes.Repeat([]byte{0x0c}, 20), 0)...),
	} {
		if table, pk, sk, err := keyenc.ParseItem(key); !errors.Is(err, keyenc.ErrCorrupt) {
			t.Errorf("%s: %s is parsed as %v, %v, %v, %v", name, keyenc.Format(key), table, pk, sk, err)
		}
	}
}

// TestRanges holds that each range has all keys of its kind and table and no others.
func TestRanges(t *testing.T) {
	type keyRange struct{ lo, hi []byte }
	ranges := map[string]keyRange{}
	add := func(name string, lo, hi []byte) { ranges[name] = keyRange{lo, hi} }
	keys := map[string][]byte{}
	for _, table := range []keyenc.TableID{0, 1, 2, 255, 256, math.MaxUint32} {
		name := func(s string) string { return fmt.Sprintf("%s %d", s, table) }
		for _, x := range []keyenc.IndexID{0, 1, 255, math.MaxUint16} {
			index := name(fmt.Sprintf("index %d of", x))
			lo, hi := keyenc.IndexBounds(table, x)
			add(index, lo, hi)
			keys[index] = keyenc.IndexEntry(nil, table, x, []attr.Value{str("a")}, nil, str("b"), none)
			keys[name(fmt.Sprintf("statistics %d of", x))] = keyenc.Statistics(table, x)
		}
		lo, hi := keyenc.TTLTableBounds(table)
		add(name("ttl"), lo, hi)
		keys[name("ttl")] = keyenc.TTL(nil, table, 5, str("a"), none)
		lo, hi = keyenc.StatisticsBounds(table)
		add(name("statistics"), lo, hi)
		keys[name("statistics of collection")] = keyenc.Collection(table, num("1"))
		lo, hi = keyenc.TableBounds(table)
		add(name("index"), lo, hi)
		lo, hi = keyenc.ItemVersions(table)
		add(name("versions"), lo, hi)
		keys[name("versions")] = keyenc.ItemVersion(nil, table, str("a"), none)
		lo, hi = keyenc.Positions(table)
		add(name("position"), lo, hi)
		keys[name("position")] = keyenc.Position(table, "eu-west-1")
		keys[name("delivery")] = keyenc.Delivery(table)
		keys[name("version")] = keyenc.TableVersion(table)
	}
	lo, hi := keyenc.TableDescriptors()
	add("descriptor", lo, hi)
	lo, hi = keyenc.Jobs()
	add("job", lo, hi)
	lo, hi = keyenc.Streams()
	add("stream", lo, hi)
	lo, hi = keyenc.Backups()
	add("backup", lo, hi)
	keys["stream a"], keys["backup a"] = keyenc.Stream(math.MaxUint32, "a"), keyenc.Backup("a")
	for _, kind := range []byte{0, 'e', math.MaxUint8} {
		name := fmt.Sprintf("transfer %d", kind)
		lo, hi = keyenc.Transfers(kind)
		add(name, lo, hi)
		keys[name] = keyenc.Transfer(kind, "a")
	}
	keys["job a"] = keyenc.Job(math.MaxUint32, math.MaxUint16, math.MaxUint8)
	keys["descriptor a"], keys["token a"] = keyenc.TableDescriptor("a"), keyenc.Token("a")
	keys["format"], keys["next"] = keyenc.FormatVersion(), keyenc.NextTableID()

	for name, key := range keys {
		if key[0] >= 0xE0 {
			t.Errorf("%s begins with %x, which is the store's", name, key[0])
		}
		for rangeName, r := range ranges {
			in := bytes.Compare(r.lo, key) <= 0 && bytes.Compare(key, r.hi) < 0
			if want := belongs(name, rangeName); in != want {
				t.Errorf("key %s in range %s: %v", name, rangeName, in)
			}
		}
	}
}

// belongs reports whether a key's name has all words of a range's name: "index 1 of 2" is in "index 2".
func belongs(key, keyRange string) bool {
	if key == keyRange {
		return true
	}
	words := strings.Fields(keyRange)
	has := strings.Fields(key)
	if words[0] != has[0] {
		return false
	}
	return len(words) == 1 || (len(words) == 2 && words[1] == has[len(has)-1])
}

func TestSegmentsCoverTheRangeOnce(t *testing.T) {
	wholeLo, wholeHi := keyenc.IndexBounds(3, 4)
	for _, total := range []int64{1, 2, 3, 7, 100, 65535, 65536, 65537, 1_000_000} {
		last := wholeLo
		for segment := range total {
			lo, hi := keyenc.SegmentBounds(3, 4, segment, total)
			first := segment == 0 && bytes.HasPrefix(lo, wholeLo) // the first hash, which is the first key
			if !first && !bytes.Equal(lo, last) {
				t.Fatalf("segment %d of %d begins at %x, the one before ends at %x", segment, total, lo, last)
			}
			if bytes.Compare(lo, hi) > 0 {
				t.Fatalf("segment %d of %d ends at %x, before its beginning %x", segment, total, hi, lo)
			}
			last = hi
		}
		if !bytes.Equal(last, wholeHi) {
			t.Fatalf("%d segments end at %x, the range at %x", total, last, wholeHi)
		}
	}
}

func TestTTLBounds(t *testing.T) {
	lo, hi := keyenc.TTLBounds(1, 100, 200)
	for seconds, want := range map[int64]bool{-1: false, 0: false, 99: false, 100: true, 199: true, 200: false, math.MaxInt64: false} {
		key := keyenc.TTL(nil, 1, seconds, str("a"), none)
		if in := bytes.Compare(lo, key) <= 0 && bytes.Compare(key, hi) < 0; in != want {
			t.Errorf("an entry of second %d is in [100, 200): %v", seconds, in)
		}
	}
}

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "\x00": "\x01", "a\x00\xff\xff": "a\x01", "\xff": "", "": ""} {
		if got := keyenc.PrefixEnd([]byte(prefix)); string(got) != want {
			t.Errorf("PrefixEnd(%q) = %q, want %q", prefix, got, want)
		}
	}
}

func TestFormatIsReadable(t *testing.T) {
	hash := func(pk ...attr.Value) string { return fmt.Sprintf("%04x", keyenc.PartitionHash(pk)) }
	broken := append(keyenc.Item(nil, 3, str("a"), none), 0x20, 'b')
	for _, c := range []struct {
		key  []byte
		want string
	}{
		{keyenc.Item(nil, 3, str("user#1"), num("42")), `data/table 3/index 0/hash ` + hash(str("user#1")) + `/"user#1"/42`},
		{keyenc.Item(nil, 3, bin("\x00\xff"), none), `data/table 3/index 0/hash ` + hash(bin("\x00\xff")) + `/0x00ff`},
		{broken, `data/table 3/index 0/hash ` + hash(str("a")) + `/"a"/?2062`},
		{keyenc.TTL(nil, 3, -5, str("a"), num("-1.5")), `ttl/table 3/-5/"a"/-1.5`},
		{keyenc.Statistics(3, 1), `statistics/table 3/index 1`},
		{keyenc.Collection(3, str("a")), `statistics/table 3/collection/"a"`},
		{keyenc.FormatVersion(), `catalog/format`},
		{keyenc.NextTableID(), `catalog/next table`},
		{keyenc.TableDescriptor("Music"), `catalog/table "Music"`},
		{keyenc.TableVersion(3), `catalog/version/table 3`},
		{keyenc.Job(3, 1, 'b'), `job/table 3/index 1/b`},
		{keyenc.Stream(3, "l"), `catalog/stream/table 3/"l"`},
		{keyenc.Delivery(3), `catalog/delivery/table 3`},
		{keyenc.Backup("b"), `catalog/backup "b"`},
		{keyenc.Transfer('e', "x"), `catalog/transfer/e/"x"`},
		{keyenc.Position(3, "eu-west-1"), `catalog/position/table 3/"eu-west-1"`},
		{keyenc.ItemVersion(nil, 3, str("a"), num("7")), `version/table 3/"a"/7`},
		{keyenc.Metrics(7), `metrics/minute 7`},
		{keyenc.Identity('u', "ana"), `identity/u/"ana"`},
		{keyenc.Token("x"), `token/"x"`},
		{nil, `empty`},
		{[]byte("\xf1\x02"), `?f102`},
		{[]byte("d\x00"), `?6400`},
		{[]byte("t"), `?74`},
		{[]byte("s\x00\x00\x00\x01\x07"), `?730000000107`},
		{[]byte("c"), `?63`},
		{[]byte("cf "), `?636620`},
	} {
		if got := keyenc.Format(c.key); got != c.want {
			t.Errorf("%x is printed as %s, want %s", c.key, got, c.want)
		}
	}
}

func TestAllocations(t *testing.T) {
	if attrtest.Race {
		t.Skip("the race detector allocates")
	}
	pk, sk := str("CUSTOMER#00012345"), num("20260101000001")
	room := make([]byte, 0, 256)
	pks, sks := []attr.Value{pk}, []attr.Value{sk, pk}
	for name, c := range map[string]struct {
		most float64
		f    func()
	}{
		"Item":           {1, func() { keyenc.Item(nil, 1, pk, sk) }},
		"Item with room": {0, func() { keyenc.Item(room, 1, pk, sk) }},
		"IndexEntry":     {1, func() { keyenc.IndexEntry(nil, 1, 2, pks, sks, pk, sk) }},
		"PartitionHash":  {0, func() { keyenc.PartitionHash(pks) }},
		"TTL":            {1, func() { keyenc.TTL(nil, 1, 1700000000, pk, sk) }},
	} {
		if got := testing.AllocsPerRun(100, c.f); got > c.most {
			t.Errorf("%s allocates %v times, want %v", name, got, c.most)
		}
	}
}

func BenchmarkItem(b *testing.B) {
	room := make([]byte, 0, 256)
	for name, sk := range map[string]attr.Value{"string": str("ORDER#2026-01-01#000001"), "number": num("1767225600")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				keyenc.Item(room, 1, str("CUSTOMER#00012345"), sk)
			}
		})
	}
}

func BenchmarkParseItem(b *testing.B) {
	key := keyenc.Item(nil, 1, str("CUSTOMER#00012345"), num("1767225600"))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := keyenc.ParseItem(key); err != nil {
			b.Fatal(err)
		}
	}
}

// keyKinds are the kinds that a key can have.
var keyKinds = []attr.Kind{attr.KindString, attr.KindNumber, attr.KindBinary}

func anyKey(seed uint64) (kind attr.Kind, a, b attr.Value) {
	r := attrtest.Rand(seed)
	kind = keyKinds[r.IntN(len(keyKinds))]
	return kind, attrtest.Key(r, kind), attrtest.Key(r, kind)
}
