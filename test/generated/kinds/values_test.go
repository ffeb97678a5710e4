package kinds_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/test/generated/kinds"
)

var seed = flag.Uint64("seed", 0, "of the random values; 0 chooses one")

// begin is the time of the tests.
var begin = time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)

const thingsTable = "kinds-things-test"

func open(t *testing.T) (*kinds.DB, *dynamodb.Client) {
	t.Helper()
	server := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return begin }}) // so that nothing expires
	client := server.Client()
	config := kinds.Config{ThingsTable: thingsTable, CursorKey: bytes.Repeat([]byte("k"), 32), Clock: func() time.Time { return begin }}
	for _, in := range kinds.CreateTables(config) {
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range kinds.TimeToLive(config) {
		if _, err := client.UpdateTimeToLive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	db, err := kinds.New(client, config)
	if err != nil {
		t.Fatal(err)
	}
	return db, client
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	equal := cmp.Options{
		cmp.Comparer(func(a, b table.Decimal) bool { return a == b }), cmp.Comparer(func(a, b table.Date) bool { return a == b }),
	}
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// random makes values.
type random struct{ *rand.Rand }

func newRandom(t *testing.T) random {
	t.Helper()
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	return random{rand.New(rand.NewPCG(s, 0))}
}

// of is a random text with a number of letters and signs.
func (r random) of(letters string, n int) string {
	runes := []rune(letters)
	out := make([]rune, n)
	for i := range out {
		out[i] = runes[r.IntN(len(runes))]
	}
	return string(out)
}

func (r random) id() string { return r.of("abcXYZ019._:@-", 1+r.IntN(12)) }

// text may be empty, and may contain the separators of keys.
func (r random) text() string { return r.of("aZ#/ñÉ€😀 \"\\{}|~\t", r.IntN(12)) }

func (r random) ulid() string { return "0" + r.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25) }

func (r random) int() int64 {
	return []int64{0, 1, -1, r.Int64N(1000), -r.Int64N(1 << 40), 1<<63 - 1, -1 << 63}[r.IntN(7)]
}

func (r random) decimal() table.Decimal {
	texts := []string{"0", "-1.5", "123456789012345678901234567890.12345678", "0.00000001", r.of("123456789", 1+r.IntN(20)) + "." + r.of("123456789", 1+r.IntN(10))}
	d, err := table.ParseDecimal(texts[r.IntN(len(texts))])
	if err != nil {
		panic(err)
	}
	return d
}

func (r random) time() time.Time { return time.UnixMilli(r.Int64N(4_000_000_000_000)).UTC() }

func (r random) second() time.Time {
	return time.Unix(begin.Unix()+1_000_000+r.Int64N(1_000_000_000), 0).UTC()
}

func (r random) date() table.Date { return table.DateOf(r.time()) }

func (r random) bytes() []byte {
	out := make([]byte, 1+r.IntN(20))
	for i := range out {
		out[i] = byte(r.IntN(256))
	}
	return out
}

func (r random) bool() bool { return r.IntN(2) == 0 }

func (r random) color() kinds.Color {
	return []kinds.Color{kinds.ColorRed, kinds.ColorDarkGreen, kinds.Color4xx, kinds.ColorUSD, kinds.ColorNotYet, kinds.ColorNotYet2}[r.IntN(6)]
}

func list[T any](r random, one func() T) []T {
	out := make([]T, r.IntN(4))
	for i := range out {
		out[i] = one()
	}
	return out
}

func dictionary[T any](r random, one func() T) map[string]T {
	out := map[string]T{}
	for range r.IntN(4) {
		out["k"+r.text()] = one() // DynamoDB has no empty names
	}
	return out
}

// members are the members of a set: sorted, without duplicates.
func members[T any](r random, one func() T, compare func(a, b T) int) []T {
	out := list(r, one)
	slices.SortFunc(out, compare)
	return slices.CompactFunc(out, func(a, b T) bool { return compare(a, b) == 0 })
}

func maybe[T any](r random, one func() T) *T {
	if r.bool() {
		return nil
	}
	x := one()
	return &x
}

// maybeEmpty is nil, or a value that may be empty.
func maybeEmpty[T any](r random, one func() T) (out T) {
	if p := maybe(r, one); p != nil {
		out = *p
	}
	return out
}

func (r random) point() kinds.Point {
	return kinds.Point{
		Lat: r.decimal(), Lng: r.decimal(), Label: maybe(r, r.text), Height: maybe(r, r.int),
		Aliases: maybeEmpty(r, func() []string { return list(r, r.text) }), Flags: members(r, r.id, strings.Compare),
	}
}

// node is a tree with at most a number of levels.
func (r random) node(levels int) kinds.Node {
	out := kinds.Node{Name: r.text(), Children: []kinds.Node{}, Named: map[string]kinds.Node{}, At: maybe(r, r.point)}
	if levels == 0 {
		return out
	}
	inner := func() kinds.Node { return r.node(levels - 1) }
	out.Next, out.Children, out.Named = maybe(r, inner), list(r, inner), dictionary(r, inner)
	return out
}

func (r random) thing(owner string) kinds.Thing {
	compareInts := func(a, b int64) int { return int(min(1, max(-1, float64(a)-float64(b)))) }
	return kinds.Thing{
		OwnerID: owner, ThingID: r.ulid(), UUIDValue: "0f0f0f0f-1111-4222-8333-" + r.of("0123456789abcdef", 12), KSUIDValue: "0" + r.of("0aZ", 26),
		SlugValue: r.of("ab9-", 3), MailAddress: r.of("abc.+", 5) + "@mail.com", Title: "T" + r.text(), Pass: table.Secret(r.text()), Rank: r.int(),
		Weight: r.decimal(), Price: r.int(), Active: r.bool(), CreatedAt: r.time(), Day: r.date(), Payload: r.bytes(), Color: r.color(), Region: r.id(),
		Point: r.point(), Street: r.text(), Zip: maybe(r, r.text), List: list(r, r.text),
		Numbers: members(r, func() int64 { return r.Int64N(1000) - 500 }, compareInts), Words: members(r, r.id, strings.Compare),
		Blobs: members(r, r.bytes, bytes.Compare), Amounts: members(r, r.decimal, table.Decimal.Compare), Labels: dictionary(r, r.text),
		Matrix: list(r, func() []int64 { return list(r, r.int) }), Points: dictionary(r, r.point), Tree: r.node(2),
		Dates: list(r, r.date), Colors: list(r, r.color),
		OptText: maybe(r, r.text), OptURL: maybe(r, r.text), OptInt: maybe(r, r.int), OptDecimal: maybe(r, r.decimal), OptMoney: maybe(r, r.int),
		OptBool: maybe(r, r.bool), OptTime: maybe(r, r.time), OptDate: maybe(r, r.date), OptTTL: maybe(r, r.second), OptBytes: maybeEmpty(r, r.bytes),
		OptColor: maybe(r, r.color), OptSecret: maybe(r, func() table.Secret { return table.Secret(r.text()) }), OptPoint: maybe(r, r.point),
		OptTree: maybe(r, func() kinds.Node { return r.node(1) }), OptList: maybeEmpty(r, func() []int64 { return list(r, r.int) }),
		OptSet: maybeEmpty(r, func() []string { return append(members(r, r.id, strings.Compare), "~") }),
		OptMap: maybeEmpty(r, func() map[string]int64 { return dictionary(r, r.int) }), RecordValue: maybe(r, r.text), ExpiresAt: r.second(),
	}
}

// TestRoundTrip tests that stored values come back equal from the item and from its whole copy, and that a partial copy has
// its part.
func TestRoundTrip(t *testing.T) {
	db, client := open(t)
	r := newRandom(t)
	want := map[string]kinds.Thing{}
	for range 100 {
		x := r.thing("o-1")
		want[x.ThingID] = x
	}
	if err := db.Load(t.Context(), func(yield func(table.Record) bool) {
		for x := range maps.Values(want) {
			if !yield(x.Record()) {
				return
			}
		}
	}, nil); err != nil {
		t.Fatal(err)
	}
	for id, x := range want {
		got, err := db.ThingByID(t.Context(), kinds.ThingByIDInput{OwnerID: "o-1", ThingID: id})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "thing "+id, got, x)
	}
	places := map[string]int{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(thingsTable)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			x, place, err := kinds.Decode(item)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := x.(kinds.Thing)
			if !ok {
				t.Fatalf("%v is a %T", item, x)
			}
			all := want[got.ThingID]
			if place.Copy == "byId" { // its own fields, its key's and the expiry time
				all = kinds.Thing{
					OwnerID: all.OwnerID, ThingID: all.ThingID, Title: all.Title, Price: all.Price, Color: all.Color, ExpiresAt: all.ExpiresAt,
				}
			}
			same(t, fmt.Sprintf("thing %s at %q", got.ThingID, place.Copy), got, all)
			places[place.Copy]++
		}
	}
	same(t, "the items", places, map[string]int{"": 100, "byId": 100, "whole": 100})
}
