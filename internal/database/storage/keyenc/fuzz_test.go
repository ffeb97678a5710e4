package keyenc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// hashOf is the partition hash as the package comment and its source describe it, written a second time.
func hashOf(encoded []byte) uint16 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range encoded {
		h ^= uint64(c)
		h *= 0x100000001b3
	}
	for _, factor := range []uint64{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 1} {
		h ^= h >> 33
		h *= factor
	}
	return uint16(h / (1 << 48))
}

// checkOrder holds invariant I1 for two values of one kind, whatever follows them.
func checkOrder(t *testing.T, a, b attr.Value) {
	t.Helper()
	ka, kb := keyenc.AppendSort(nil, a), keyenc.AppendSort(nil, b)
	want, ok := a.Compare(b)
	if !ok {
		t.Fatalf("%v and %v have no order", a, b)
	}
	if got := bytes.Compare(ka, kb); got != want {
		t.Fatalf("%v and %v order %d, their keys %x and %x %d", a, b, want, ka, kb, got)
	}
	if want == 0 {
		return
	}
	if bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka) {
		t.Fatalf("of the keys of %v and %v, %x and %x, one begins with the other", a, b, ka, kb)
	}
	if got := bytes.Compare(append(ka, 0xFF), append(kb, 0x00)); got != want {
		t.Fatalf("%v and %v order %d, with something behind them %d", a, b, want, got)
	}
}

// FuzzSortOrder compares the order of generated values with the order of their keys.
func FuzzSortOrder(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		_, a, b := anyKey(seed)
		checkOrder(t, a, b)
		checkOrder(t, a, a)
		key := keyenc.Item(nil, 1, a, b)
		if _, pk, sk, err := keyenc.ParseItem(key); err != nil || !pk.Equal(a) || !sk.Equal(b) {
			t.Fatalf("%s is parsed as %v, %v, %v", keyenc.Format(key), pk, sk, err)
		}
	})
}

// FuzzNumberOrder does it for numbers the fuzzer writes.
func FuzzNumberOrder(f *testing.F) {
	numbers := []string{"0", "1", "-1", "1.05", "1.5", "10", "100", "99", "-99", "1e125", "-1e125", "1e-130", "-1e-130", "12345678901234567890123456789012345678"}
	for _, a := range numbers {
		for _, b := range numbers {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, s, u string) {
		a, b := attr.ParseNumber(s), attr.ParseNumber(u)
		if a.Kind() == attr.KindNumber && b.Kind() == attr.KindNumber {
			checkOrder(t, a, b)
		}
	})
}

// FuzzPrefix holds that the keys with a prefix are those of the values that begin with it.
func FuzzPrefix(f *testing.F) {
	for _, s := range []string{"", "a", "ab", "\x00", "a\x00", "a\x00\xff", "a\x00\x01", "a\xff", "a\x01", "\xff"} {
		for _, prefix := range []string{"", "a", "\x00", "a\x00", "a\x00\xff", "a\xff", "\xff"} {
			f.Add(s, prefix)
		}
	}
	f.Fuzz(func(t *testing.T, s, prefix string) {
		for _, value := range []func(string) attr.Value{attr.String, attr.Binary} {
			key := keyenc.AppendSort(nil, value(s))
			lo := keyenc.AppendSortPrefix(nil, value(prefix))
			in := bytes.HasPrefix(key, lo)
			if between := bytes.Compare(lo, key) <= 0 && bytes.Compare(key, keyenc.PrefixEnd(lo)) < 0; between != in {
				t.Fatalf("%q is in the range of %q: %v, it has the prefix: %v", s, prefix, between, in)
			}
			if want := strings.HasPrefix(s, prefix); in != want {
				t.Fatalf("%q begins with %q: %v, their keys say %v", s, prefix, want, in)
			}
			checkOrder(t, value(s), value(prefix))
		}
	})
}

// FuzzParse parses any bytes as any key: what is accepted is what its parts are encoded as.
func FuzzParse(f *testing.F) {
	for seed := range uint64(50) {
		_, a, b := anyKey(seed)
		f.Add(keyenc.Item(nil, 1, a, b))
		f.Add(keyenc.TTL(nil, 1, int64(seed), a, attr.Value{}))
		f.Add(keyenc.IndexEntry(nil, 1, 2, []attr.Value{a}, []attr.Value{b}, b, a))
	}
	for _, key := range formatKeys() {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		_ = keyenc.Format(key)
		if table, pk, sk, err := keyenc.ParseItem(key); err == nil && !bytes.Equal(keyenc.Item(nil, table, pk, sk), key) {
			t.Fatalf("%x is parsed as an item %v, %v, %v", key, table, pk, sk)
		}
		if table, seconds, pk, sk, err := keyenc.ParseTTL(key); err == nil && !bytes.Equal(keyenc.TTL(nil, table, seconds, pk, sk), key) {
			t.Fatalf("%x is parsed as a TTL entry %v, %v, %v, %v", key, table, seconds, pk, sk)
		}
		for nPK := range 3 {
			for nSK := range 3 {
				table, x, pk, sk, basePK, baseSK, err := keyenc.ParseIndexEntry(key, nPK, nSK)
				if err == nil && !bytes.Equal(keyenc.IndexEntry(nil, table, x, pk, sk, basePK, baseSK), key) {
					t.Fatalf("%x is parsed as an entry %v, %v, %v, %v, %v, %v", key, table, x, pk, sk, basePK, baseSK)
				}
			}
		}
	})
}
