package trial

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// pool has the values for all fields of one name and type, so that items of different entities refer to each other. The first
// values are chosen to be confused with each other: one is a prefix of another, or differs only in case or accents, or
// contains a separator, or sorts differently as text than as a value. The others are ordinary, in any number.
type pool struct {
	values []types.AttributeValue
	head   int // number of chosen values
	rng    *rand.Rand
	more   func(rng *rand.Rand, i int) string // nil if there are no more
	typ    design.Type
}

// limits are restrictions that keys impose on the values of a pool beyond their type.
type limits struct {
	least     int // minimum bytes of a text, and of its rendered form
	functions []string
	bytes     int // maximum in a key; 0 means no limit
	digits    int // of a number rendered by |pad or |desc; 0 means no limit
	since     bool
}

// at is value i; a type with fewer values starts again.
func (p *pool) at(i int) types.AttributeValue {
	if p.more == nil {
		return p.values[i%len(p.values)]
	}
	for len(p.values) <= i {
		p.values = append(p.values, ofText(p.typ, p.more(p.rng, len(p.values)-p.head)))
	}
	return p.values[i]
}

// chosen is one of the chosen values.
func (p *pool) chosen(rng *rand.Rand) types.AttributeValue { return p.values[rng.IntN(p.head)] }

// newPool makes the pool of a scalar type. words are the literals between the fields of the design's templates.
func newPool(d *design.Design, name string, t design.Type, l limits, words []string, now time.Time, seed uint64) *pool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name + " " + t.String()))
	p := &pool{typ: t, rng: rand.New(rand.NewPCG(seed, h.Sum64()))} //nolint:gosec // data for tests, reproducible from the seed
	var texts []string
	texts, p.more = p.texts(d, l, words, now)
	if more := p.more; l.least > 0 && more != nil {
		p.more = func(rng *rand.Rand, i int) string { return l.filled(more(rng, i)) }
	}
	for _, s := range texts {
		s = l.filled(s)
		v := ofText(t, s)
		if l.admits(t, s) && !slices.ContainsFunc(p.values, func(known types.AttributeValue) bool { return equal(known, v) }) {
			p.values = append(p.values, v)
		}
	}
	p.head = len(p.values)
	return p
}

// filled pads a text to the minimum length.
func (l limits) filled(s string) string {
	least := l.least
	if l.bytes > 0 {
		least = min(least, l.bytes)
	}
	return s + strings.Repeat("x", max(0, least-len(s)))
}

// admits reports whether a text is allowed in the keys that the limits come from.
func (l limits) admits(t design.Type, s string) bool {
	tooShort := func(fn string) bool {
		applied, err := keytext.Apply(fn, "", s)
		return err == nil && len(applied) < l.least
	}
	switch {
	case l.bytes > 0 && len(s) > l.bytes, l.least > 0 && slices.ContainsFunc(l.functions, tooShort):
		return false
	case l.digits > 0 && t.Numeric():
		return !strings.HasPrefix(s, "-") && len(s) <= l.digits
	case l.since && t.Kind == design.KindTime:
		return s >= "1970"
	default:
		return true
	}
}

// texts sets the chosen values of a type, and the generator of others.
func (p *pool) texts(d *design.Design, l limits, words []string, now time.Time) (chosen []string, more func(*rand.Rand, int) string) {
	short := func(prefix string) func(*rand.Rand, int) string {
		return func(_ *rand.Rand, i int) string { return fitting(prefix, strconv.Itoa(i), l.bytes) }
	}
	switch p.typ.Kind {
	case design.KindEnum:
		return d.Enum(p.typ.Name).Values, nil
	case design.KindBool:
		return []string{"false", "true"}, nil
	case design.KindInt, design.KindMoney:
		return wholeNumbers(l.digits), func(_ *rand.Rand, i int) string { return strconv.Itoa((i + 12) % most(l.digits)) }
	case design.KindDecimal:
		return []string{"0", "0.1", "-0.5", "9", "10", "9.5", "10.5", "100", "-1", "-10", "3.14159265358979", "1000000"},
			func(_ *rand.Rand, i int) string { return strconv.Itoa(i) + ".25" }
	case design.KindTime:
		return times(now), func(_ *rand.Rand, i int) string {
			return timeText(now.Add(-time.Duration(i+1) * 61_007 * time.Millisecond))
		}
	case design.KindDate:
		return dates(now), func(_ *rand.Rand, i int) string { return now.AddDate(0, 0, -i-2).Format(keytext.DateLayout) }
	case design.KindTTL:
		return seconds(now), func(_ *rand.Rand, i int) string { return strconv.FormatInt(now.Unix()+int64(3600*(i+1)), 10) }
	case design.KindBytes:
		return []string{"\x00", "\x00\x00", "\x00\xff", "\xff", "\xff\xff", "a", "a#"}, short("b")
	case design.KindUUID:
		return uuids(p.rng), func(rng *rand.Rand, _ int) string { return uuidText(rng) }
	case design.KindULID:
		return p.pairs(ulidText), func(rng *rand.Rand, _ int) string { return ulidText(rng) }
	case design.KindKSUID:
		return p.pairs(ksuidText), func(rng *rand.Rand, _ int) string { return ksuidText(rng) }
	case design.KindSlug:
		return slices.Concat([]string{"1", "a", "12", "ab", "a-b", "a-", "-", "10", "2", "cafe", "cafe-premium", "z"}, longest("s", l)), short("s")
	case design.KindEmail:
		return slices.Concat(emails(), longest("ana@x.org.", l)), func(_ *rand.Rand, i int) string { return fmt.Sprintf("u%d@x.org", i) }
	case design.KindID:
		return slices.Concat(ids(words), longest("k", l)), short("k")
	default:
		return slices.Concat(sentences(words), longest("t", l)), short("text ")
	}
}

// fitting is a text of a prefix and a number, shortened to a maximum size if there is one.
func fitting(prefix, number string, bytes int) string {
	if bytes > 0 && len(prefix)+len(number) > bytes {
		prefix = prefix[:max(0, bytes-len(number))]
		number = number[max(0, len(number)-bytes):]
	}
	return prefix + number
}

// longest is the longest allowed text of a field, and one that differs from it in the last byte.
func longest(begin string, l limits) []string {
	if l.bytes == 0 || l.bytes < len(begin)+2 {
		return nil
	}
	s := begin + strings.Repeat("x", l.bytes-len(begin))
	return []string{s, s[:len(s)-1] + "y", s[:len(s)-1]}
}

func emails() []string {
	return []string{"ana@x.org", "Ana@X.org", "ANA@x.org", "ana@x.org.uk", "na@x.org", "ana+1@x.org", "o'hara#1@x.org", "#@x.org"}
}

func ids(words []string) []string {
	out := []string{"1", "a", "12", "A", "21", "2", "10", "ab", "aB", "a-b", "a.b", "a_b", "a:b", "-", "ana@x.org", "ana@x.org.uk"}
	for _, w := range words {
		if strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@-") == "" {
			out = append(out, w)
		}
	}
	return out
}

func sentences(words []string) []string {
	out := []string{
		"cafe", "Cafe", "café", "cafe premium", "cafe#1", "", "a", "ab", "CAFÉ", "#", "a#b", "cafe#", "Zebra", "zebra", "éclair",
		"straße", " cafe", "cafe  premium", "cafe-premium", "日本", "🙂", "1", "12", "9", "10", "{}", "100%",
	}
	for _, w := range words {
		out = append(out, w, "1#"+w)
	}
	return out
}

// wholeNumbers are whole numbers with different numbers of digits; if digits are limited, with at most that many, and none below 0.
func wholeNumbers(digits int) []string {
	out := []string{"1", "2", "9", "10", "0", "-1", "100", "99", "-10", "11", "-9", "101", "1000"}
	if digits > 0 {
		return append(out, strings.Repeat("9", min(digits, 18)), "1"+strings.Repeat("0", min(digits, 18)-1))
	}
	return append(out, "9007199254740993")
}

// most is the exclusive bound of the numbers with a number of digits.
func most(digits int) int {
	n := 10
	for range min(max(digits, 1), 17) - 1 {
		n *= 10
	}
	if digits == 0 {
		return 1 << 40
	}
	return n
}

// times are a millisecond, a second, a day and a year apart, and on both sides of the time at which milliseconds reach 13
// digits.
func times(now time.Time) []string {
	at := now.Add(-36 * time.Hour).Truncate(time.Second)
	out := []string{}
	for _, t := range []time.Time{
		at, at.Add(time.Millisecond), at.Add(-time.Millisecond), at.Add(999 * time.Millisecond), at.Add(time.Second), at.Add(time.Minute),
		at.Truncate(24 * time.Hour), at.Truncate(24 * time.Hour).Add(-time.Millisecond), now,
		time.UnixMilli(999_999_999_999), time.UnixMilli(1_000_000_000_000),
		time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC), time.Date(2024, 12, 31, 23, 59, 59, 999e6, time.UTC),
		time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		out = append(out, timeText(t))
	}
	return out
}

func dates(now time.Time) []string {
	return []string{
		now.Format(keytext.DateLayout), now.AddDate(0, 0, -1).Format(keytext.DateLayout), "2024-02-29", "2024-12-31", "2025-01-01", "1999-12-31",
	}
}

// seconds are expiry times in the past and in the future.
func seconds(now time.Time) []string {
	var out []string
	for _, after := range []time.Duration{90 * 24 * time.Hour, -time.Second, 0, time.Second, -24 * time.Hour, time.Hour, -1000 * time.Hour} {
		out = append(out, strconv.FormatInt(now.Add(after).Unix(), 10))
	}
	return append(out, "999999999", "1000000000")
}

const hexDigits = "0123456789abcdef"

// random is a text of n characters from an alphabet.
func random(rng *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(out)
}

func uuidText(rng *rand.Rand) string {
	s := random(rng, hexDigits, 32)
	return s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-a" + s[17:20] + "-" + s[20:]
}

func uuids(rng *rand.Rand) []string {
	out := []string{"00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-bfff-ffffffffffff"}
	for range 4 {
		s := uuidText(rng)
		out = append(out, s, s[:35]+string(hexDigits[(strings.IndexByte(hexDigits, s[35])+1)%16]))
	}
	return out
}

func ulidText(rng *rand.Rand) string {
	return "01" + random(rng, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)
}

func ksuidText(rng *rand.Rand) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return random(rng, digits, 1) + random(rng, digits+"abcdefghijklmnopqrstuvwxyz", 26)
}

// pairs are texts in pairs that differ only in the last character.
func (p *pool) pairs(text func(*rand.Rand) string) []string {
	var out []string
	for range 6 {
		s := text(p.rng)
		out = append(out, s[:len(s)-1]+"0", s[:len(s)-1]+"Z")
	}
	return out
}
