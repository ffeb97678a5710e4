package diff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/tools/designer/diff"
)

const booking = `design: 1
name: Booking
tables:
  main:
    key: { pk: PK, sk: SK }
    type_attr: kind
    ttl_attr: until
    indexes: { ByRoom: { pk: roomPK, sk: roomSK, project: [guest, nights] } }
types:
  Address: { fields: { street: text, zip: "text?" } }
entities:
  Stay:
    key: { pk: "STAY#{stayId}", sk: STAY }
    index: { ByRoom: { pk: "ROOM#{room}", sk: "{stayId}" } }
    copies: { mine: { pk: "GUEST#{guest}", sk: "STAY#{stayId}", fields: [room, nights] } }
    fields: { stayId: id, room: { type: id, max: 20 }, guest: id, nights: int, home: Address, note: { type: text, min: 0 }, until: "ttl?" }
    ttl: { attr: until, after: 1h }
  Guest: { key: { pk: "GUEST#{guest}", sk: GUEST }, fields: { guest: id, name: text } }
reads:
  StayByID: { one: Stay, by: [stayId], returns: [room, nights], consistent: true }
  StaysIn: { many: Stay, by: [room], filter: "nights > 3", page: 10 }
  StaysByID: { each: Stay, by: [stayId], keys: { max: 50 } }
collections:
  GuestWithStays: { of: [Guest, Stay], root: Guest, by: [guest], page: 10 }
writes:
  Book: { do: [{ create: Stay }] }
  Move: { do: [{ update: Stay, set: { room: ":room" }, when: "nights = 1", else: TooLong }] }
  Invite: { lines: { max: 10 }, do: [{ each: lines, create: Guest }] }
`

// TestCalls tests changes that programs and structures notice, though no item moves.
func TestCalls(t *testing.T) {
	const none = "no change"
	for name, test := range map[string]struct{ old, new, want string }{
		"type in a structure":       {"{ street: text,", "{ street: int,", "breaking Address.street: it is now int instead of text: items contain the old type"},
		"field of a structure":      {`zip: "text?"`, `zip: "text?", city: text`, "backfill Address.city: the field is new and required: existing structures need a value; or make it optional"},
		"structure without a field": {`, zip: "text?"`, "", "breaking Address.zip: the field was removed: programs with the old design read it"},
		"set in a structure":        {`zip: "text?"`, `zip: "text?", tags: set<text>`, "free Address.tags: the optional field is new"},
		"shorter":                   {"max: 20", "max: 10", "breaking Stay.room: it can now have at most 10 bytes, but items may contain longer values"},
		"not empty":                 {"min: 0", "min: 1", "breaking Stay.note: it must now have at least 1 byte, but items may contain shorter values"},
		"projection in other order": {"[guest, nights]", "[nights, guest]", none},
		"other projection":          {"[guest, nights]", "[guest, note]", "breaking main.ByRoom: it projects less: programs with the old design may read the removed attributes"},
		"copy in other order":       {"fields: [room, nights]", "fields: [nights, room]", none},
		"no type attribute":         {"    type_attr: kind\n", "", "free main: there is no type attribute any more: entities are told apart by their keys"},
		"expiry":                    {"after: 1h", "after: 2h", "free Stay: new items expire differently; existing ones keep their expiry"},
		"fewer fields":              {"returns: [room, nights]", "returns: [room]", "breaking StayByID: it no longer returns nights"},
		"a list":                    {"page: 10 }\n  StaysBy", "limit: 10 }\n  StaysBy", "breaking StaysIn: it returns pages in one design and a list in the other: its methods differ"},
		"filter":                    {"nights > 3", "nights > 4", "free StaysIn: it reads differently"},
		"filter's parameter":        {"nights > 3", "nights > :nights", "breaking StaysIn: the parameter nights is new"},
		"not consistent":            {", consistent: true", "", "breaking StayByID: it may now miss the latest writes, but programs with the old design rely on them"},
		"fewer keys":                {"max: 50", "max: 20", "breaking StaysByID: it now takes at most 20 keys"},
		"collection without pages":  {"by: [guest], page: 10", "by: [guest]", "breaking GuestWithStays: it returns pages in one design and everything in the other: its methods differ"},
		"without a root":            {"root: Guest, ", "", "breaking GuestWithStays: its root or its owner has changed"},
		"fewer lines":               {"max: 10 }, do", "max: 5 }, do", "breaking Invite: it now takes at most 5 lines"},
		"another error":             {"else: TooLong", "else: Fixed", "breaking ErrTooLong: no write has the error any more, but programs with the old design may test for it\nfree Move: it writes differently"},
		"another parameter":         {`":room" }`, `":to" }`, "breaking Move: the parameter to is new\nbreaking Move: the parameter room was removed"},
		"a put":                     {"create: Guest", "put: Guest", "free Invite: it writes differently"},
		"a rate":                    {"do: [{ create: Stay }]", "do: [{ create: Stay }], rate: 5", none},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(booking, test.old) != 1 {
				t.Fatalf("the design has not one %q", test.old)
			}
			var got []string
			for _, c := range diff.Designs(parse(t, booking), parse(t, strings.Replace(booking, test.old, test.new, 1))) {
				got = append(got, string(c.Class)+" "+c.Subject+": "+c.Message)
			}
			if got == nil {
				got = []string{none}
			}
			if d := cmp.Diff(strings.Split(test.want, "\n"), got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
