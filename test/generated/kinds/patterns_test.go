package kinds_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/kinds"
)

func fails(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// ulid sorts by n.
func ulid(n int) string { return fmt.Sprintf("01HM%022d", n) }

// things have one owner, one region and one colour, with n as rank and 10 n as price.
func things(r random, titles ...string) []kinds.Thing {
	var out []kinds.Thing
	for i, title := range titles {
		x := r.thing("o-1")
		x.ThingID, x.Title, x.Rank, x.Price, x.Active = ulid(i+1), title, int64(i+1), int64(10*(i+1)), true
		x.Region, x.Color, x.Zip = "north", kinds.ColorUSD, aws.String("zip")
		out = append(out, x)
	}
	return out
}

func load(t *testing.T, db *kinds.DB, owner kinds.Owner, list []kinds.Thing) {
	t.Helper()
	records := []table.Record{owner.Record()}
	for _, x := range list {
		records = append(records, x.Record())
	}
	if err := db.Load(t.Context(), slices.Values(records), nil); err != nil {
		t.Fatal(err)
	}
}

func titles[T any](list []T, title func(T) string) string {
	var out []string
	for _, x := range list {
		out = append(out, title(x))
	}
	return strings.Join(out, " ")
}

func titleOf(x kinds.Thing) string { return x.Title }

// TestReads tests local, multi-attribute and sparse indexes, numeric bounds, filters with several parameters, and results with
// the fields of their place.
func TestReads(t *testing.T) {
	db, _ := open(t)
	r := newRandom(t)
	list := things(r, "Ana", "ämber", "Bea", "Carl", "amok")
	list[3].Active = false
	owner := kinds.Owner{OwnerID: "o-1", Email: "O@x.org", Handle: "o", Things: 5, Worth: 110, Password: "secret"}
	load(t, db, owner, list)

	two, four := int64(2), int64(4)
	byRank, err := db.ThingsByRank(t.Context(), kinds.ThingsByRankInput{OwnerID: "o-1", RankFrom: &two, RankTo: &four}, table.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "by rank", byRank.Items, list[1:4])
	var all []kinds.Thing
	for x, err := range db.ThingsByRankAll(t.Context(), kinds.ThingsByRankInput{OwnerID: "o-1"}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	same(t, "all by rank", all, list)

	dear := int64(20)
	byColor, err := db.ThingsByColor(t.Context(), kinds.ThingsByColorInput{Region: "north", Color: kinds.ColorUSD, PriceFrom: &dear})
	if err != nil {
		t.Fatal(err)
	}
	var want []kinds.ThingsByColorItem
	for _, i := range []int{4, 3, 2} {
		want = append(want, kinds.ThingsByColorItem{Price: list[i].Price, CreatedAt: list[i].CreatedAt, Color: kinds.ColorUSD, Region: "north"})
	}
	same(t, "by colour, the dearest three", byColor, want)

	for prefix, want := range map[string]string{"A": "ämber amok Ana", "am": "ämber amok", "": "ämber amok Ana Bea", "C": ""} {
		var got []string
		for x, err := range db.ThingsByTitleAll(t.Context(), kinds.ThingsByTitleInput{Region: "north", TitlePrefix: prefix}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, x.Title)
		}
		same(t, "titles with "+prefix, strings.Join(got, " "), want)
	}

	part, err := db.ThingCopy(t.Context(), kinds.ThingCopyInput{ThingID: ulid(1)})
	if err != nil {
		t.Fatal(err)
	}
	mine, err := db.ThingOfOwner(t.Context(), kinds.ThingOfOwnerInput{ThingID: ulid(1), OwnerID: "o-1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the owner's", mine, kinds.ThingOfOwnerItem{Title: "Ana", Zip: aws.String("zip")})
	_, err = db.ThingOfOwner(t.Context(), kinds.ThingOfOwnerInput{ThingID: ulid(1), OwnerID: "o-2"})
	fails(t, "another's", err, table.ErrNotFound)
	same(t, "the copy", part, kinds.ThingCopyItem{OwnerID: "o-1", ThingID: ulid(1), Title: "Ana", Price: 10, Color: kinds.ColorUSD})

	byEmail, err := db.OwnerByEmail(t.Context(), kinds.OwnerByEmailInput{Email: "o@X.org"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the owner", byEmail, owner)
}

// TestBatch tests that a batch returns results in the order of its inputs, nil for a missing item.
func TestBatch(t *testing.T) {
	db, _ := open(t)
	one := kinds.Owner{OwnerID: "o-1", Email: "O@x.org", Handle: "o", Password: "secret"}
	two := kinds.Owner{OwnerID: "o-2", Email: "P@x.org", Handle: "p", Password: "secret"}
	load(t, db, one, nil)
	load(t, db, two, nil)
	got, err := db.OwnerByIDBatch(t.Context(), []kinds.OwnerByIDInput{{OwnerID: "o-2"}, {OwnerID: "o-9"}, {OwnerID: "o-1"}, {OwnerID: "o-2"}})
	if err != nil || len(got) != 4 || got[1] != nil || *got[0] != two || *got[2] != one || *got[3] != two {
		t.Errorf("%v, %v; want o-2, nil, o-1, o-2", got, err)
	}
}

// TestNew tests that New rejects an invalid configuration.
func TestNew(t *testing.T) {
	if _, err := kinds.New(nil, kinds.Config{}); err == nil {
		t.Error("a DB without a client was made")
	}
	_, client := open(t)
	if _, err := kinds.New(client, kinds.Config{ThingsTable: thingsTable, CursorKey: []byte("short")}); err == nil {
		t.Error("a DB with a short cursor key was made")
	}
	if !kinds.ColorUSD.Valid() || kinds.Color("usd").Valid() {
		t.Error("Valid does not know the values of Color")
	}
}

// TestFilter tests that a filter's parameters have the types of what they are compared with.
func TestFilter(t *testing.T) {
	db, _ := open(t)
	r := newRandom(t)
	list := things(r, "a", "b", "c", "d", "e")
	for i := range list {
		list[i].Words, list[i].OptDate, list[i].Point.Height = []string{"w"}, nil, aws.Int64(5)
	}
	day := table.DateOf(begin)
	list[1].OptDate = &day
	list[2].Words = []string{"v", "ww"}
	list[3].Point.Height = nil
	load(t, db, kinds.Owner{OwnerID: "o-1", Email: "o@x.org", Handle: "o"}, list)
	in := kinds.DearThingsInput{OwnerID: "o-1", Least: 10, Before: table.DateOf(begin.AddDate(0, 0, 1)), Word: "w", Above: 4}
	for _, c := range []struct {
		change func(*kinds.DearThingsInput)
		want   string
	}{
		{func(*kinds.DearThingsInput) {}, "a b e"},
		{func(in *kinds.DearThingsInput) { in.Least = 11 }, "b e"},
		{func(in *kinds.DearThingsInput) { in.Before = day }, "a e"},
		{func(in *kinds.DearThingsInput) { in.Word = "ww" }, "c"},
		{func(in *kinds.DearThingsInput) { in.Above = 5 }, ""},
	} {
		asked := in
		c.change(&asked)
		page, err := db.DearThings(t.Context(), asked, table.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("things of %+v", asked), titles(page.Items, titleOf), c.want)
	}
}

// TestCollections tests that a collection has the root once, and that Next leads through all of it.
func TestCollections(t *testing.T) {
	db, _ := open(t)
	list := things(newRandom(t), "a", "b", "c")
	owner := kinds.Owner{OwnerID: "o-1", Email: "o@x.org", Handle: "o", Password: "p"}
	load(t, db, owner, list)
	whole, err := db.OwnerAndThings(t.Context(), kinds.OwnerAndThingsInput{OwnerID: "o-1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the collection", whole, kinds.OwnerAndThingsResult{Thing: list, Owner: []kinds.Owner{owner}})

	var roots []kinds.Owner
	var got []kinds.Thing
	pages := 0
	for options := (table.PageOptions{}); ; pages++ {
		page, err := db.OwnerWithThings(t.Context(), kinds.OwnerWithThingsInput{OwnerID: "o-1"}, options)
		if err != nil {
			t.Fatal(err)
		}
		if page.Owner != nil {
			roots = append(roots, *page.Owner)
		}
		got = append(got, page.Thing...)
		if options.After = page.Next; page.Next == "" {
			break
		}
	}
	same(t, "its roots", roots, []kinds.Owner{owner})
	same(t, "its things", titles(got, titleOf), "a b c")
	if pages < 1 {
		t.Error("four items were on one page of two")
	}
	_, err = db.OwnerWithThings(t.Context(), kinds.OwnerWithThingsInput{OwnerID: "o-2"}, table.PageOptions{})
	fails(t, "a collection without its root", err, table.ErrNotFound)
}

// add creates a thing with the package's own write.
func add(t *testing.T, db *kinds.DB, x kinds.Thing) kinds.Thing {
	t.Helper()
	out, err := db.AddThing(t.Context(), kinds.AddThingInput{
		OwnerID: x.OwnerID, UUIDValue: x.UUIDValue, KSUIDValue: x.KSUIDValue, SlugValue: x.SlugValue, MailAddress: x.MailAddress, Title: x.Title,
		Pass: x.Pass, Rank: x.Rank, Weight: x.Weight, Price: x.Price, Active: x.Active, Day: x.Day, Payload: x.Payload, Color: x.Color, Region: x.Region,
		Point: x.Point, Street: x.Street, Zip: x.Zip, List: x.List, Numbers: x.Numbers, Words: x.Words, Blobs: x.Blobs, Amounts: x.Amounts,
		Labels: x.Labels, Matrix: x.Matrix, Points: x.Points, Tree: x.Tree, Dates: x.Dates, Colors: x.Colors, OptText: x.OptText, OptURL: x.OptURL,
		OptInt: x.OptInt, OptDecimal: x.OptDecimal, OptMoney: x.OptMoney, OptBool: x.OptBool, OptTime: x.OptTime, OptDate: x.OptDate, OptTTL: x.OptTTL,
		OptBytes: x.OptBytes, OptColor: x.OptColor, OptSecret: x.OptSecret, OptPoint: x.OptPoint, OptTree: x.OptTree, OptList: x.OptList,
		OptSet: x.OptSet, OptMap: x.OptMap, Record: x.RecordValue,
	})
	if err != nil {
		t.Fatal(err)
	}
	x.ThingID, x.CreatedAt, x.ExpiresAt = out.Thing.ThingID, begin, begin.AddDate(0, 0, 30)
	same(t, "what was added", out.Thing, x)
	return x
}

// TestWrites tests that added, changed and removed items are counted, and copied.
func TestWrites(t *testing.T) {
	db, client := open(t)
	if _, err := db.Register(t.Context(), kinds.RegisterInput{OwnerID: "o-1", Email: "o@x.org", Handle: "o", Password: "p"}); err != nil {
		t.Fatal(err)
	}
	_, err := db.Register(t.Context(), kinds.RegisterInput{OwnerID: "o-2", Email: "p@x.org", Handle: "o", Password: "p"})
	fails(t, "a taken handle", err, kinds.ErrOwnerHandleTaken)
	counted := func(things, worth int64) {
		t.Helper()
		owner, err := db.OwnerByID(t.Context(), kinds.OwnerByIDInput{OwnerID: "o-1"})
		if err != nil {
			t.Fatal(err)
		}
		if owner.Things != things || owner.Worth != worth {
			t.Errorf("the owner has %d things of %d, want %d of %d", owner.Things, owner.Worth, things, worth)
		}
	}
	var list []kinds.Thing
	for i, x := range things(newRandom(t), "a", "b", "c") {
		x.Active, x.OptInt = i != 1, nil
		list = append(list, add(t, db, x))
	}
	counted(3, 10+30)

	point := newRandom(t).point()
	changed, err := db.ChangeThing(t.Context(), kinds.ChangeThingInput{
		NewTitle: aws.String("new"), NewPoint: point, OwnerID: "o-1", ThingID: list[0].ThingID, Street: "street", More: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := list[0]
	want.Title, want.Point, want.Street, want.Zip, want.Price, want.OptInt = "new", point, "street", nil, 15, aws.Int64(1)
	got, err := db.ThingByID(t.Context(), kinds.ThingByIDInput{OwnerID: "o-1", ThingID: want.ThingID})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "what was changed", got, want)
	if changed.Thing != nil {
		same(t, "what the change says", *changed.Thing, want)
	}
	counted(3, 15+30)
	_, err = db.ChangeThing(t.Context(), kinds.ChangeThingInput{NewTitle: aws.String("new"), NewPoint: point, OwnerID: "o-1", ThingID: list[1].ThingID, Street: "s"})
	fails(t, "one that is not active", err, kinds.ErrInactive)
	if _, err := db.RenameThing(t.Context(), kinds.RenameThingInput{OwnerID: "o-1", ThingID: list[2].ThingID, Title: "renamed"}); err != nil {
		t.Fatal(err)
	}
	_, err = db.RenameThing(t.Context(), kinds.RenameThingInput{OwnerID: "o-1", ThingID: ulid(9), Title: "renamed"})
	fails(t, "none", err, kinds.ErrThingNotFound)

	fails(t, "a dear one", db.DropThing(t.Context(), kinds.DropThingInput{OwnerID: "o-1", ThingID: list[2].ThingID, Most: 30}), kinds.ErrTooDear)
	if err := db.DropThing(t.Context(), kinds.DropThingInput{OwnerID: "o-1", ThingID: list[2].ThingID, Most: 31}); err != nil {
		t.Fatal(err)
	}
	counted(2, 15)
	scan, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(thingsTable)})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, item := range scan.Items {
		x, place, err := kinds.Decode(item)
		if err != nil {
			t.Fatal(err)
		}
		found[fmt.Sprintf("%T %s%s", x, place.Copy, place.Marker)]++
		if thing, ok := x.(kinds.Thing); ok && thing.ThingID == want.ThingID && thing.Title != "new" {
			t.Errorf("the copy %s is titled %s", place.Copy, thing.Title)
		}
	}
	same(t, "what is stored", found, map[string]int{
		"kinds.Owner ": 1, "kinds.Owner Email": 1, "kinds.Owner Handle": 1, "kinds.Thing ": 2, "kinds.Thing byId": 2, "kinds.Thing whole": 2,
	})
}

// TestReplays tests that a repetition is answered from the record by default, and from a collection if that is declared.
func TestReplays(t *testing.T) {
	db, _ := open(t)
	write := func(body string) kinds.WriteNoteResult {
		t.Helper()
		out, err := db.WriteNote(t.Context(), kinds.WriteNoteInput{RequestKey: "k", OwnerID: "o-1", Body: body})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := write("first")
	if first.Replayed || first.Note.Body != "first" || len(first.Note.NoteID) != 26 {
		t.Errorf("the first note is %+v", first)
	}
	same(t, "the repetition, of which the record has the id", write("second"), kinds.WriteNoteResult{
		Note: kinds.Note{NoteID: first.Note.NoteID}, Replayed: true,
	})

	in := kinds.BuyThingsInput{
		RequestKey: "b", OwnerID: "o-1", Email: "o@x.org", Handle: "o", Password: "p",
		Lines: []kinds.BuyThingsLine{{Source: "s", At: 2, Level: 1, Message: "two"}, {Source: "s", At: 10, Level: 1, Message: "ten"}},
	}
	_, err := db.BuyThings(t.Context(), in)
	fails(t, "without a shop", err, kinds.ErrNoShop)
	if _, err := db.Set(t.Context(), kinds.SetInput{Name: "Shop", Value: "open"}); err != nil {
		t.Fatal(err)
	}
	bought, err := db.BuyThings(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	owner := kinds.Owner{OwnerID: "o-1", Email: "o@x.org", Handle: "o", Password: "p"}
	events := []kinds.Event{{Source: "s", At: 2, Level: 1, Message: "two"}, {Source: "s", At: 10, Level: 1, Message: "ten"}}
	same(t, "what was bought", bought, kinds.BuyThingsResult{Owner: owner, Event: events})
	again, err := db.BuyThings(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the repetition, of which the collection has the owner", again, kinds.BuyThingsResult{Owner: owner, Replayed: true})
	in.Lines = in.Lines[:1]
	_, err = db.BuyThings(t.Context(), in)
	fails(t, "other lines", err, kinds.ErrRequestReused)

	var got []kinds.Event
	for x, err := range db.EventsOfAll(t.Context(), kinds.EventsOfInput{Source: "s"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	slices.Reverse(events)
	same(t, "the log, by numbers", got, events)
}

// TestSingle tests that writes of one item return the result.
func TestSingle(t *testing.T) {
	db, _ := open(t)
	for version := int64(1); version <= 2; version++ {
		out, err := db.Set(t.Context(), kinds.SetInput{Name: "Lang", Value: "es"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the setting", out.Setting, kinds.Setting{Name: "Lang", Value: "es", Version: version})
	}
	found, err := db.SettingByName(t.Context(), kinds.SettingByNameInput{Name: "Lang"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the setting that is found", found.Version, int64(2))
	if err := db.Unset(t.Context(), kinds.UnsetInput{Name: "Lang"}); err != nil {
		t.Fatal(err)
	}
	_, err = db.SettingByName(t.Context(), kinds.SettingByNameInput{Name: "Lang"})
	fails(t, "an unset one", err, table.ErrNotFound)

	for _, c := range []struct {
		level int64
		want  error
	}{{3, nil}, {3, nil}, {2, kinds.ErrOlderLevel}, {4, nil}} {
		_, err := db.Log(t.Context(), kinds.LogInput{Source: "s", At: 1, Level: c.level, Message: "m"})
		if !errors.Is(err, c.want) {
			t.Errorf("level %d: %v, want %v", c.level, err, c.want)
		}
	}
}

// TestFound tests that items created in the same write are counted in it.
func TestFound(t *testing.T) {
	db, client := open(t)
	team, person := kinds.Team{TeamID: "t-1", People: 1}, kinds.Person{PersonID: "p-1", TeamID: "t-1"}
	out, err := db.FoundTeam(t.Context(), kinds.FoundTeamInput{TeamID: "t-1", PersonID: "p-1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "what was founded", out, kinds.FoundTeamResult{Team: team, Person: person})
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(thingsTable), Key: table.Item{
		"PK": &types.AttributeValueMemberS{Value: "TEAM#t-1"}, "SK": &types.AttributeValueMemberS{Value: "TEAM"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	stored, _, err := kinds.Decode(got.Item)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the team that is stored", stored, team)
}
