package migrate_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/migrate"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// TestRefusals tests that changes that cannot serve both programs are rejected, with advice.
func TestRefusals(t *testing.T) {
	const counted = "  Buyer:\n    key: { pk: \"BUYER#{userId}\", sk: PROFILE }\n    fields: { userId: id, orders: int }\n"
	for name, test := range map[string]struct {
		start, edits [][2]string
		fills        []string
		want         string // subject: and part of the problem
	}{
		"table's name":      {edits: [][2]string{{"key: { pk: PK, sk: SK }", "name: shop-2\n    key: { pk: PK, sk: SK }"}}, want: "shop: the table is now called"},
		"table's key":       {edits: [][2]string{{"sk: SK }", "sk: RANGE }"}}, want: "shop: the primary key has different attributes"},
		"type attribute":    {edits: [][2]string{{"type_attr: type", "type_attr: kind"}}, want: "shop: the type attribute is"},
		"TTL attribute":     {start: [][2]string{{"type_attr", "ttl_attr: a\n    type_attr"}}, edits: [][2]string{{"ttl_attr: a", "ttl_attr: b"}}, want: "shop: items now expire by"},
		"local index":       {edits: [][2]string{{"      GSI1:", "      LSI1: { local: true, sk: number }\n      GSI1:"}}, want: "shop.LSI1: a local index"},
		"index's key":       {edits: [][2]string{{"sk: GSI1SK", "sk: GSI1RANGE"}}, want: "shop.GSI1: the key of an index cannot change"},
		"projection":        {edits: [][2]string{{"sk: GSI1SK }", "sk: GSI1SK, project: keys }"}}, want: "shop.GSI1: the projection of an index cannot change"},
		"type of an entity": {edits: [][2]string{{"  Order:\n", "  Order:\n    type: PARCEL\n"}}, want: "Order: its type is"},
		"type of a field":   {edits: [][2]string{{"note: text", "note: id"}}, want: "Order.note: it is now id instead of text"},
		"place of a field":  {edits: [][2]string{{"note: text", "note: { type: text, attr: remark }"}}, want: "Order.note: it is now stored at"},
		"entry's key":       {edits: [][2]string{{"STATUS#", "S#"}}, want: "Order.GSI1: the entry has a different key"},
		"entry's condition": {edits: [][2]string{{`"{orderId}" } }`, `"{orderId}", where: "total > 1" } }`}}, want: "Order.GSI1: the entry has a different condition"},
		"entry of more":     {start: byTurns(first), edits: [][2]string{{first, strings.Replace(second, "status = 's1'", "total > 1", 1)}}, want: "Order.GSI2.second: items have the entry GSI2.first"},
		"entry by turns":    {start: byTurns(first), edits: [][2]string{{"FIRST#", "F#"}}, want: "Order.GSI2.first: the entry has a different key"},
		"entry of a copy": {
			start: [][2]string{
				{indexes, indexes + "      GSI2: { pk: GSI2PK, sk: GSI2SK }\n"},
				{"fields: [total, status] } }", "fields: [total, status], index: { GSI2: [" + first + ", " + strings.Replace(second, "{number}", "{orderId}", 1) + "] } } }"},
			},
			edits: [][2]string{{first + ", ", ""}}, want: "Order.GSI2.first: the entry of the copy byUser was removed",
		},
		"markers and key": {edits: [][2]string{{`"ORDER#{orderId}", sk: META`, `"ORDER#{orderId}", sk: "{number}"`}}, want: "Order: its key uses other fields"},
		"new counter": {
			start: [][2]string{{"reads:\n", counted + "reads:\n"}}, edits: [][2]string{{"sk: PROFILE }\n", "sk: PROFILE }\n    counters: { orders: Order }\n"}},
			want: "Buyer.orders: the counter is new",
		},
		"colliding keys": {edits: [][2]string{{`"ORDER#{orderId}", sk: META`, `"USER#{orderId}", sk: "ORDER#{orderId}"`}}, want: "items of both designs cannot share a table"},
		"no value":       {edits: [][2]string{{"note: text }", "note: text, gift: bool }"}}, want: "Order.gift: the field is required"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := migrate.New(edited(t, base, test.start...), edited(t, base, slices.Concat(test.start, test.edits)...), migrate.Options{Fills: test.fills})
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, r := range p.Refusals {
				said += r.Subject + ": " + r.Problem + "\n"
				if r.Remedy == "" {
					t.Errorf("%s: nothing is said of what to do", r.Subject)
				}
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("refused: %swant %s", said, test.want)
			}
			if _, err := migrate.Open(p, migrate.Target{}); err == nil {
				t.Error("it can be run all the same")
			}
		})
	}
}

// TestFaultyFills tests that values of the wrong type are rejected.
func TestFaultyFills(t *testing.T) {
	for _, fill := range []string{"gift=false", "Order.nothing=1", "Nobody.gift=1", "Order.total='x'", "Order.total=now()", "Order.total=note", "Order.total", "Order.note=7", "Order.note='"} {
		if _, err := migrate.New(edited(t, base), edited(t, base), migrate.Options{Fills: []string{fill}}); err == nil || !strings.Contains(err.Error(), "--fill") {
			t.Errorf("%s: %v", fill, err)
		}
	}
}

// TestFaultyMakes tests the conditions for a new entity: it is made from one that both designs have, in the same table,
// without unique or counted values, and each of its required fields has a value.
func TestFaultyMakes(t *testing.T) {
	const sound = "  Parcel:\n    key: { pk: \"P#{orderId}\", sk: META }\n    fields: { orderId: id, label: text }\n"
	with := func(entity string) [][2]string { return [][2]string{{"reads:\n", entity + "reads:\n"}} }
	address := [][2]string{
		{"tables:\n", "types:\n  Address: { fields: { city: text, box: int } }\ntables:\n"}, {"note: text }", "note: text, address: Address }"},
	}
	for name, test := range map[string]struct {
		start, edits [][2]string
		makes, fills []string
		want         string // "" if it can be carried out
	}{
		"sound":               {edits: with(sound), makes: []string{"Parcel=Order"}, fills: []string{"Parcel.label=note"}},
		"a field inside":      {start: address, edits: with(sound), makes: []string{"Parcel=Order"}, fills: []string{"Parcel.label=address.city"}},
		"of another type":     {start: address, edits: with(sound), makes: []string{"Parcel=Order"}, fills: []string{"Parcel.label=address.box"}, want: "Order has no field address.box of type text"},
		"nothing inside":      {start: address, edits: with(sound), makes: []string{"Parcel=Order"}, fills: []string{"Parcel.label=note.city"}, want: "Order has no field note.city"},
		"no value":            {edits: with(sound), makes: []string{"Parcel=Order"}, want: "Parcel.label: the field is required"},
		"no entity":           {edits: with(sound), makes: []string{"Parcel"}, want: "--make"},
		"of nothing":          {edits: with(sound), makes: []string{"Parcel=Cart"}, want: "--make"},
		"an entity of before": {edits: with(sound), makes: []string{"Order=Parcel"}, want: "--make"},
		"twice":               {edits: with(sound), makes: []string{"Parcel=Order", "Parcel=Order"}, want: "already"},
		"of another table": {
			edits: append(with(strings.Replace(sound, "    key:", "    table: depot\n    key:", 1)), [2]string{"entities:\n", "  depot: { key: { pk: PK, sk: SK }, type_attr: type }\nentities:\n"}, [2]string{"  Order:\n", "  Order:\n    table: shop\n"}),
			makes: []string{"Parcel=Order"}, want: "both must be in the same table",
		},
		"unique": {
			edits: with(sound + "    unique: { Label: { pk: \"LABEL#{label}\", sk: UNIQUE } }\n"), makes: []string{"Parcel=Order"}, want: "markers or counters",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := migrate.New(edited(t, base, test.start...), edited(t, base, slices.Concat(test.start, test.edits)...), migrate.Options{Makes: test.makes, Fills: test.fills})
			said := ""
			if err != nil {
				said = err.Error()
			} else {
				for _, r := range p.Refusals {
					said += r.Subject + ": " + r.Problem + "\n"
				}
			}
			if test.want == "" && said != "" || !strings.Contains(said, test.want) {
				t.Errorf("said %q, want %q", said, test.want)
			}
		})
	}
}

// TestOnlyOneRunAtATime tests that a running migration is not started a second time, and that a run that was taken over writes
// nothing more.
func TestOnlyOneRunAtATime(t *testing.T) {
	s := newShop(t, "key")
	if _, err := s.migration(through).Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	first := s.migration(func(operation, _ string, send func() (*http.Response, error)) (*http.Response, error) {
		if operation == "TransactWriteItems" {
			once.Do(func() { close(reached); <-goOn })
		}
		return send()
	})
	ended := make(chan error)
	go func() {
		_, err := first.Run(t.Context(), migrate.DualWrites)
		ended <- err
	}()
	<-reached
	patient, err := migrate.Open(s.plan, migrate.Target{Client: s.client})
	if err != nil {
		t.Fatal(err)
	}
	if _, holder, err := patient.Status(t.Context()); err != nil || !strings.Contains(holder, "process") {
		t.Errorf("it is held by %q, %v", holder, err)
	}
	if _, err := patient.Run(t.Context(), ""); !errors.Is(err, migrate.ErrHeld) {
		t.Errorf("a second run ends with %v", err)
	}
	if _, err := s.migration(through).Run(t.Context(), ""); err != nil {
		t.Errorf("a run that takes over ends with %v", err)
	}
	close(goOn)
	if err := <-ended; !errors.Is(err, migrate.ErrLost) {
		t.Errorf("the first run ends with %v", err)
	}
	conforms(t, s.client, s.plan.DualWrites)
}

// kinds are the kinds and subjects of findings.
func kinds(r *conform.Report) []string {
	var out []string
	if r != nil {
		for _, f := range r.Findings {
			out = append(out, string(f.Kind)+" "+f.Subject)
		}
	}
	return out
}

// TestDuplicates tests that duplicates of unique values are reported and not overwritten; once they are fixed, the migration
// continues.
func TestDuplicates(t *testing.T) {
	s := newShop(t, "markers")
	m := s.migration(through)
	if _, err := m.Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	twin := orderOf(0, 7)
	items, err := table.Items(s.old.lower.Entities[0], twin)
	if err != nil {
		t.Fatal(err)
	}
	put := func(item table.Item, number string) { // bypassing the program
		t.Helper()
		item["number"] = text(number)
		if _, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("shop"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	put(items[0], "n-w0-0008")
	report, err := m.Run(t.Context(), migrate.DualWrites)
	if !errors.Is(err, migrate.ErrFindings) || !slices.ContainsFunc(kinds(report), func(k string) bool { return strings.HasPrefix(k, "marker-") && strings.Contains(k, "Order.NumberNew") }) {
		t.Fatalf("it ends with %v and finds %v", err, kinds(report))
	}
	if _, err := m.Run(t.Context(), migrate.NewReads); err == nil {
		t.Error("programs that read what is not there can be deployed")
	}
	if _, err := m.Finish(t.Context()); err == nil {
		t.Error("it can be finished")
	}
	put(items[0], "n-w0-0007")
	report, err = m.Run(t.Context(), "")
	if err != nil {
		t.Fatalf("it ends with %v and finds %v", err, kinds(report))
	}
}

// TestLeftoversOfOldProgramsAreRepaired tests that leftovers of programs that do not know the new copies and markers are repaired, and that an
// obsolete marker does not block its value.
func TestLeftoversOfOldProgramsAreRepaired(t *testing.T) {
	s := newShop(t, "all at once")
	dual := programOf(t, s.client, s.plan.DualWrites)
	m := s.migration(through)
	if _, err := m.Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	place := func(p *program, id, number string) {
		v := table.Values{"orderId": text(id), "userId": text("u9"), "number": text(number), "status": text("s1"), "note": text(""), "gift": text("book")}
		if p == s.old {
			delete(v, "gift")
		}
		if err := p.write(t.Context(), "Place", v); err != nil {
			t.Fatal(err)
		}
	}
	place(dual, "gone", "n-1")
	place(dual, "moved", "n-2")
	for _, err := range []error{
		s.old.write(t.Context(), "Drop", table.Values{"orderId": text("gone")}),
		s.old.write(t.Context(), "Move", table.Values{"orderId": text("moved"), "to": text("s2")}),
		s.old.write(t.Context(), "Renumber", table.Values{"orderId": text("moved"), "to": text("n-3")}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	place(s.old, "another", "n-2")
	if report, err := m.Run(t.Context(), migrate.DualWrites); err != nil {
		t.Fatalf("it ends with %v and finds %v", err, kinds(report))
	}
	if passes := slices.DeleteFunc(s.said, func(line string) bool { return !strings.HasPrefix(line, "pass") }); len(passes) > 2 {
		t.Errorf("it took %v", passes)
	}
	conforms(t, s.client, s.plan.DualWrites)
}

// TestUndeclared tests that an attribute unknown to the design is found before the migration, because it would be lost with
// the old key.
func TestUndeclared(t *testing.T) {
	s := newShop(t, "key")
	m := s.migration(through)
	if _, err := m.Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("shop"), Key: table.Item{"PK": text("ORDER#w0-0000"), "SK": text("META")}, UpdateExpression: aws.String("SET extra = PK"),
	}); err != nil {
		t.Fatal(err)
	}
	report, err := m.Run(t.Context(), migrate.DualWrites)
	if !errors.Is(err, migrate.ErrFindings) || !slices.Equal(kinds(report), []string{"unknown Order.extra"}) {
		t.Errorf("it ends with %v and finds %v", err, kinds(report))
	}
}

// TestTooLarge tests that an item that would become too large for DynamoDB is reported, while the others are migrated.
func TestTooLarge(t *testing.T) {
	s := newShop(t, "composed entry")
	m := s.migration(through)
	if _, err := m.Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	v := orderOf(0, 0)
	for size := 400<<10 - 100; ; size -= 20 {
		v["note"] = text(strings.Repeat("x", size))
		items, err := table.Items(s.old.lower.Entities[0], v)
		if err != nil {
			t.Fatal(err)
		}
		items[0]["status"], items[0]["GSI1PK"] = text("s1"), text("STATUS#s1")
		if _, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("shop"), Item: items[0]}); err == nil {
			break
		}
	}
	report, err := m.Run(t.Context(), migrate.DualWrites)
	if !errors.Is(err, migrate.ErrFindings) || !slices.Contains(kinds(report), "index-missing Order.GSI2") {
		t.Errorf("it ends with %v and finds %v", err, kinds(report))
	}
	if !slices.ContainsFunc(s.said, func(line string) bool { return strings.HasPrefix(line, "an item of Order cannot be written: ") }) {
		t.Errorf("it says %v", s.said)
	}
	for _, f := range report.Findings {
		if f.Kind == conform.IndexMissing && f.Items != 1 {
			t.Errorf("%d items have no entry", f.Items)
		}
	}
}

// TestOrder tests that no step can be skipped.
func TestOrder(t *testing.T) {
	s := newShop(t, "key")
	m := s.migration(through)
	for _, deployed := range []migrate.Milestone{migrate.DualWrites, migrate.NewReads, migrate.NewOnly, "yesterday"} {
		if _, err := m.Run(t.Context(), deployed); err == nil {
			t.Errorf("%s can be said first", deployed)
		}
	}
	if _, err := m.Finish(t.Context()); err == nil {
		t.Error("it can be finished first")
	}
}

// TestCountersOfExpiringItems tests that a counter of items that DynamoDB has removed, which no program decrements, does not stop the
// migration, while another wrong counter does.
func TestCountersOfExpiringItems(t *testing.T) {
	const rooms = `
design: 1
name: Rooms
tables: { rooms: { key: { pk: PK, sk: SK }, type_attr: type, ttl_attr: expiresAt, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK } } } }
entities:
  Room:
    key: { pk: "ROOM#{roomId}", sk: ROOM }
    counters: { guests: Guest, seats: Seat }
    fields: { roomId: id, guests: int, seats: int }
  Guest: { key: { pk: "ROOM#{roomId}", sk: "GUEST#{userId}" }, fields: { roomId: id, userId: id, expiresAt: ttl }, ttl: { attr: expiresAt } }
  Seat: { key: { pk: "ROOM#{roomId}", sk: "SEAT#{seat}" }, fields: { roomId: id, seat: id } }
`
	const seat = "fields: { roomId: id, seat: id }"
	before, after := edited(t, rooms), edited(t, rooms, [2]string{seat, `index: { GSI1: { pk: "SEAT#{seat}", sk: "{roomId}" } }, ` + seat})
	for seats, want := range map[string][]string{"0": nil, "1": {"count Room.seats"}} {
		server := httptest.NewServer(monotabletest.New(t).Handler())
		t.Cleanup(server.Close)
		client := clientOf(server.URL)
		if err := provision.Apply(t.Context(), client, provision.Specs(before, nil), func(string, ...any) {}); err != nil {
			t.Fatal(err)
		}
		room := table.Item{"PK": text("ROOM#r"), "SK": text("ROOM"), "type": text("ROOM"), "roomId": text("r"), "guests": &types.AttributeValueMemberN{Value: "2"}, "seats": &types.AttributeValueMemberN{Value: seats}}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rooms"), Item: room}); err != nil {
			t.Fatal(err)
		}
		plan, err := migrate.New(before, after, migrate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		m, err := migrate.Open(plan, migrate.Target{Client: client, Logf: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		report, err := m.Run(t.Context(), migrate.DualWrites)
		if errors.Is(err, migrate.ErrFindings) != (want != nil) || !slices.Equal(kinds(report), want) {
			t.Errorf("with %s seats it ends with %v and finds %v, want %v", seats, err, kinds(report), want)
		}
		if !slices.ContainsFunc(said, func(line string) bool { return strings.HasPrefix(line, "Room.guests of 1 item differs") }) {
			t.Errorf("it says %v", said)
		}
	}
}
