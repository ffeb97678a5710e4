package stream_test

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestSequenceNumbers tests that they order as texts and as integers, and have 21 to 40 digits,
// like AWS's.
func TestSequenceNumbers(t *testing.T) {
	before := ""
	for _, seq := range []kv.Seq{0, 1, 9, 10, 1 << 32, math.MaxUint64} {
		text := stream.SequenceNumber(seq)
		if got, ok := stream.ParseSequenceNumber(text); !ok || got != seq {
			t.Errorf("%s is read as %d", text, got)
		}
		n, ok := new(big.Int).SetString(text, 10)
		if !ok || n.String() != text || len(text) != 21 {
			t.Errorf("%d is %s", seq, text)
		}
		if text <= before {
			t.Errorf("%s is not behind %s", text, before)
		}
		before = text
	}
	for _, text := range []string{"", "1", "000000000000000000001", "200000000000000000001", "199999999999999999999", "1000000000000000000001", "10000000000000000000+1", "10000000000000000000x1"} {
		if seq, ok := stream.ParseSequenceNumber(text); ok {
			t.Errorf("%q is read as %d", text, seq)
		}
	}
}

func TestEventIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range []string{
		stream.EventID(1, "a", 1), stream.EventID(1, "a", 2), stream.EventID(2, "a", 1), stream.EventID(1, "b", 1),
	} {
		if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" || seen[id] {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
	if !seen[stream.EventID(1, "a", 1)] {
		t.Error("an id is not the same again")
	}
}

func iterator() stream.Iterator {
	return stream.Iterator{
		ARN:   "arn:aws:dynamodb:us-east-1:000000000000:table/Music/stream/2014-10-29T09:56:13.621",
		Table: 3, Label: "2014-10-29T09:56:13.621", Shard: "shardId-00000001414576573621-f55eea83",
		Next: 1 << 40, Issued: 1_414_576_573_621,
	}
}

func TestIterators(t *testing.T) {
	for _, it := range []stream.Iterator{iterator(), {}, {ARN: strings.Repeat("a", 1024), Label: strings.Repeat("l", 255), Shard: strings.Repeat("s", 255), Next: math.MaxUint64, Issued: -1}} {
		text := it.String()
		if got, ok := stream.ParseIterator(text); !ok || got != it {
			t.Errorf("%+v is read as %+v", it, got)
		}
		if len(text) > 2048 {
			t.Errorf("%d characters", len(text))
		}
	}
	text := iterator().String()
	if !regexp.MustCompile(`^\Q` + iterator().ARN + `\E\|[0-9]\|[A-Za-z0-9_-]+$`).MatchString(text) {
		t.Errorf("AWS's form is ARN|digit|opaque: %s", text)
	}
	for i := range text {
		other := []byte(text)
		other[i] ^= 1
		if _, ok := stream.ParseIterator(string(other)); ok {
			t.Errorf("with character %d changed it is taken", i)
		}
		if _, ok := stream.ParseIterator(text[:i]); ok {
			t.Errorf("the first %d characters are taken", i)
		}
	}
	for _, text := range []string{"", "no iterator", text + "\n", text + "A", text + text} {
		if _, ok := stream.ParseIterator(text); ok {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestExpiry: an iterator is valid for 15 minutes.
func TestExpiry(t *testing.T) {
	it := iterator()
	issued := time.UnixMilli(it.Issued)
	if it.Expired(issued) || it.Expired(issued.Add(15*time.Minute)) || !it.Expired(issued.Add(15*time.Minute+time.Millisecond)) {
		t.Error("it does not expire after 15 minutes")
	}
}

// FuzzIterator parses any text; if it is accepted, String returns it.
func FuzzIterator(f *testing.F) {
	f.Add(iterator().String())
	f.Add(stream.Iterator{}.String())
	f.Add("AQAAAAM")
	f.Fuzz(func(t *testing.T, text string) {
		if it, ok := stream.ParseIterator(text); ok && it.String() != text {
			t.Errorf("%q is read as %+v, which is %q", text, it, it.String())
		}
	})
}

// FuzzSequenceNumber parses any text; if it is accepted, SequenceNumber returns it.
func FuzzSequenceNumber(f *testing.F) {
	f.Add(stream.SequenceNumber(1))
	f.Add("100000000000000000000")
	f.Fuzz(func(t *testing.T, text string) {
		if seq, ok := stream.ParseSequenceNumber(text); ok && stream.SequenceNumber(seq) != text {
			t.Errorf("%q is read as %d, which is %q", text, seq, stream.SequenceNumber(seq))
		}
	})
}
