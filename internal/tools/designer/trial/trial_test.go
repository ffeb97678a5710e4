package trial_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

const (
	drafts     = "../../../../design/testdata/drafts/"
	documented = "../check/testdata/designs/"
)

// testItems is the number of items for the tests, and fewItems for tests of a single subject: fewer than the default, to save
// time.
const (
	testItems = 100
	fewItems  = 60
)

// try tries all subjects of a design, or those with some names, and returns the results by name. No pattern may do what its
// policy does not allow.
func try(t *testing.T, d *design.Design, names ...string) map[string]*trial.Result {
	t.Helper()
	const seed = 1
	items := testItems
	if len(names) > 0 {
		items = fewItems
	}
	watch := new(policyChecker)
	run, err := trial.New(d, trial.Options{Seed: seed, Items: items, Open: watch.open})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		watch.report(t)
	})
	out := map[string]*trial.Result{}
	for _, s := range run.Subjects() {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		r, err := run.Try(t.Context(), s)
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, s.Name, err)
		}
		if known := out[s.Name]; known == nil || known.OK() {
			out[s.Name] = r // an entity and a read can have the same name
		}
	}
	return out
}

func load(t *testing.T, file string) *design.Design {
	t.Helper()
	d, err := design.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func parse(t *testing.T, text string) *design.Design {
	t.Helper()
	d, err := design.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCorrectDesignsPass tries correct designs. Those in testdata are drafts in which the defects found by a trial were fixed, and one
// design that uses every feature.
func TestCorrectDesignsPass(t *testing.T) {
	files := []string{drafts + "portfolio.design.yaml", drafts + "trinity.design.yaml", "../../../../test/generated/designs/patterns.design.yaml"}
	more, err := filepath.Glob("testdata/*.design.yaml")
	if err != nil || len(more) < 4 {
		t.Fatalf("%v: %v", more, err)
	}
	for _, file := range append(files, more...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			for name, r := range try(t, load(t, file)) {
				for _, f := range r.Failures {
					t.Errorf("%s", f.String())
				}
				if r.Cases < 10 && r.Kind != trial.PersonSubject {
					t.Errorf("%s was tried %d times only", name, r.Cases)
				}
				if r.Kind != trial.EntitySubject && r.Kind != trial.PersonSubject && (r.Measured == 0 || r.Measured != r.Formula) {
					t.Errorf("%s has consumed %g units, and the cost model says %g", name, r.Measured, r.Formula)
				}
			}
		})
	}
}

// TestDefectsAreFound tries designs as their documents describe them, and drafts without the fixes in testdata. Each read must show
// the known defect of its design, as far as results can show it; everything else must be correct.
func TestDefectsAreFound(t *testing.T) {
	for file, want := range map[string]map[string][]trial.Kind{
		drafts + "appcore.documented": {
			"LatestTransactions": {trial.Overread}, // both items of a transaction enter the index
		},
		drafts + "catfecito.documented": {
			"UserByEmail":    {trial.Ambiguous}, // a race: nothing makes it unique
			"ActiveProducts": {trial.Refused},   // a Scan
			"SearchProducts": {trial.Refused},   // a prefix of a partition key
			"Categories":     {trial.Refused},   // a Scan
			"UserOrders":     {trial.Refused},   // random order: there is no time in the item at all
		},
		documented + "portfolio.documented": {
			"UserByEmail":    {trial.Ambiguous},  // not unique
			"CategoryBySlug": {trial.Ambiguous},  // not unique
			"CommentsOfPost": {trial.WrongOrder}, // by a random id
		},
		documented + "transporteapp.documented": {
			"ConductoresDisponibles": {trial.WrongFields},                 // NonKeyAttributes that are paths: silently empty
			"ViajesEnCurso":          {trial.Overread, trial.WrongFields}, // STATUS#borrador holds trips and cartas
			"CartaPorFolio":          {trial.Refused},                     // unsolved
			"Ubicaciones":            {trial.WrongOrder},                  // UBICACION#10 before #2
		},
		documented + "trinity.documented": {
			"Match":             {trial.Failed},    // an index on a list is impossible
			"MatchesOfRoom":     {trial.Refused},   // so there are none
			"MatchOf":           {trial.Refused},   //
			"FoundMatch":        {trial.Refused},   //
			"MatchesOfUser":     {trial.Refused},   // a Scan
			"RoomByCode":        {trial.Ambiguous}, // a race
			"RoomsOfHost":       {trial.Refused},   // a Scan
			"RoomsOfUser":       {trial.Refused},   // a Scan
			"VotesOfUserInRoom": {trial.Overread},  // also the JOINED row
			"VotesOfRoom":       {trial.Overread},  //
		},
		drafts + "catfecito": { // fold leaves spaces and #, which sort before and as the separator
			"ActiveProducts":     {trial.WrongOrder},
			"ProductsByCategory": {trial.WrongOrder},
			"SearchProducts":     {trial.Overread, trial.WrongOrder},
			"Categories":         {trial.WrongOrder},
		},
		drafts + "transporteapp": {
			"ConductoresDisponibles": {trial.WrongOrder}, // the same
		},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			for name, r := range try(t, load(t, file+".design.yaml")) {
				var got []trial.Kind
				for _, f := range r.Failures {
					got = append(got, f.Kind)
				}
				slices.Sort(got)
				if !slices.Equal(got, want[name]) {
					t.Errorf("%s fails with %v, want %v", name, got, want[name])
					for _, f := range r.Failures {
						t.Log(f.String())
					}
				}
			}
		})
	}
}

// TestEachMutationIsFound changes one thing in a correct design; the trial must find each change.
func TestEachMutationIsFound(t *testing.T) {
	text, err := os.ReadFile("testdata/market.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, old, changed string
		subject            string
		want               trial.Kind
	}{
		{"pad dropped", `sk: "{amount|pad(8)}#{bidder}"`, `sk: "{amount}#{bidder}"`, "Highest", trial.WrongOrder},
		{"pad dropped of a local index", `"R#{rank|pad(6)}#{offerId}"`, `"R#{rank}#{offerId}"`, "Ranked", trial.WrongOrder},
		{"desc dropped", `"{rank|desc(6)}#{offerId}"`, `"{rank}#{offerId}"`, "BestOpen", trial.WrongOrder},
		{"parts swapped", `sk: "{listed}#{offerId}"`, `sk: "{offerId}#{listed}"`, "Newest", trial.WrongOrder},
		{"parts swapped before a range", `"{amount|pad(8)}#{bidder}" }`, `"{bidder}#{amount|pad(8)}" }`, "Highest", trial.Refused},
		{"separator dropped in a primary key", `"B#{shop}#{offerId}"`, `"B#{shop}{offerId}"`, "Highest", trial.Overread},
		{"separator dropped between what is unique", `"D#{shop}#{key}"`, `"D#{shop}{key}"`, "Deal", trial.Collision},
		{"separator dropped in a sort key", `sk: "N#{who}#{n|pad(4)}"`, `sk: "N#{who}{n|pad(4)}"`, "NotesOf", trial.Overread},
		{"a field dropped from a copy's key", `sk: "{title|slug}#{offerId}"`, `sk: "{title|slug}"`, "Offer", trial.Collision},
		{"a text cut", `sk: "{title|slug}#{offerId}"`, `sk: "{title|slug|first(2)}#{offerId}"`, "Titles", trial.WrongOrder},
		{"a hash too short", `{mail|lower|hash(20)}`, `{mail|lower|hash(1)}`, "Shop", trial.Collision},
		{"seconds for milliseconds", `"{listed|ts(ms)}#{offerId}"`, `"{listed|ts(s)}#{offerId}"`, "ListedIn", trial.WrongOrder},
		{"another order", "order: [amount desc]", "order: [bidder desc]", "Highest", trial.WrongOrder},
		{"another order of shards", "order: [listed desc], limit", "order: [price desc], limit", "Newest", trial.WrongOrder},
		{"another condition of an index", `where: "state = 'open'" }`, `where: "state = 'sold'" }`, "BestOpen", trial.WrongSet},
		{"fold for slug", `sk: "{title|slug}#{offerId}"`, `sk: "{title|fold}#{offerId}"`, "Titles", trial.WrongOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(string(text), c.old) == 0 {
				t.Fatalf("the design has no %s", c.old)
			}
			d := parse(t, strings.ReplaceAll(string(text), c.old, c.changed))
			r := try(t, d, c.subject)[c.subject]
			if !slices.ContainsFunc(r.Failures, func(f trial.Failure) bool { return f.Kind == c.want }) {
				t.Errorf("%s has %d failures and is not found to be %s", c.subject, r.Failed, c.want)
				for _, f := range r.Failures {
					t.Log(f.String())
				}
			}
			for _, f := range r.Failures {
				if f.Kind != trial.Refused && (len(f.Items) == 0 || len(f.Items) > 8) {
					t.Errorf("the failure is shown with %d lines of items:\n%s", len(f.Items), f.String())
				}
			}
		})
	}
}

const notes = `
design: 1
name: Notes
tables: { Notes: { key: { pk: PK, sk: SK } } }
entities:
  Note:
    key: { pk: "U#{who}", sk: "N#{at}#{id}" }
    fields: { who: id, id: ulid, at: time, text: text, size: "int?", gone: "ttl?" }
reads:
  NotesOf: { many: Note, by: [who], order: [at desc], page: 2 }
  NoteAt: { one: Note, by: [who, at, id] }
samples:
  Note:
    - { who: ana, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4, at: 2024-01-15T10:05:00.000Z, text: first }
    - { who: ana, id: 01HSDYCR00M4T7N2P9K5R3E1F6, at: 2024-03-20T09:00:00.000Z, text: second, size: 3 }
`

// TestExamples tests that examples are compared with the samples alone.
func TestExamples(t *testing.T) {
	for _, c := range []struct{ example, want string }{
		{`NotesOf: [{ given: { who: ana }, expect: [01HSDYCR00M4T7N2P9K5R3E1F6, 01HM6JX7V0Q6S8G0Z5B3A1C2D4] }]`, ""},
		{`NotesOf: [{ given: { who: ana }, expect: [{ text: second, size: 3 }, { text: first }] }]`, ""},
		{`NotesOf: [{ given: { who: an }, expect: [] }]`, ""},
		{`NoteAt: [{ given: { who: ana, at: 2024-01-15T10:05:00Z, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4 }, expect: [{ text: first }] }]`, ""},
		{`NoteAt: [{ given: { who: bob, at: 2024-01-15T10:05:00Z, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4 }, error: NotFound }]`, ""},
		{
			`NotesOf: [{ given: { who: ana }, expect: [01HM6JX7V0Q6S8G0Z5B3A1C2D4, 01HSDYCR00M4T7N2P9K5R3E1F6] }]`,
			"[01HSDYCR00M4T7N2P9K5R3E1F6, 01HM6JX7V0Q6S8G0Z5B3A1C2D4]",
		},
		{`NotesOf: [{ given: { who: ana }, expect: [{ text: second, size: 4 }, { text: first }] }]`, "the first difference is at result 1"},
		{`NotesOf: [{ given: { who: ana }, expect: [] }]`, "got    [01HSDYCR00M4T7N2P9K5R3E1F6, 01HM6JX7V0Q6S8G0Z5B3A1C2D4]"},
		{`NotesOf: [{ given: { who: a/b }, expect: [] }]`, "who is not an id"},
		{`NoteAt: [{ given: { who: ana, at: 2024-01-15T10:05:00Z, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4 }, error: NotFound }]`, "want   the error NotFound"},
		{`NoteAt: [{ given: { who: ana, at: soon, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4 }, error: NotFound }]`, "at is not of type time"},
		{`NoteAt: [{ given: { who: ana, at: 2024-01-15T10:05:01Z, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4 }, expect: [{ text: first }] }]`, "got    not found"},
	} {
		var text []string
		for _, r := range try(t, parse(t, notes+"examples:\n  "+c.example+"\n"), "NotesOf", "NoteAt") {
			for _, f := range r.Failures {
				text = append(text, f.String())
			}
		}
		got := strings.Join(text, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s\n%s\nwant %q", c.example, got, c.want)
		}
	}
}

// TestCountedExample tests that generated items do not change the counters of the samples.
func TestCountedExample(t *testing.T) {
	d := parse(t, `
design: 1
name: Votes
tables: { Votes: { key: { pk: PK, sk: SK } } }
types: { Film: { enum: [jaws, psycho] } }
entities:
  Tally: { key: { pk: "FILM#{film}", sk: TALLY }, counters: { votes: Vote }, fields: { film: Film, votes: int } }
  Vote: { key: { pk: "FILM#{film}", sk: "VOTE#{userId}" }, fields: { film: Film, userId: id } }
reads:
  VotesFor: { one: Tally, by: [film] }
samples:
  Tally: [{ film: jaws, votes: 1 }]
  Vote: [{ film: jaws, userId: ana }]
examples:
  VotesFor: [{ given: { film: jaws }, expect: [{ votes: 1 }] }]
`)
	if r := try(t, d, "VotesFor")["VotesFor"]; !r.OK() {
		t.Error(r.Failures[0].String())
	}
}

// TestInputsRepeatIfFew tests that inputs are repeated if there are few, and that a repetition returns no new ID.
func TestInputsRepeatIfFew(t *testing.T) {
	d := parse(t, `
design: 1
name: Notes
tables: { Notes: { key: { pk: PK, sk: SK } } }
types:
  Who: { enum: [ana, bob, eva] }
  Key: { enum: [k1, k2, k3, k4, k5, k6, k7, k8] }
  Text: { enum: [hello] }
entities:
  Note: { key: { pk: "U#{who}", sk: "N#{id}" }, fields: { who: Who, id: ulid, text: Text } }
  Request: { key: { pk: "U#{who}", sk: "R#{key}" }, fields: { who: Who, key: Key, id: ulid, request: text } }
writes:
  Write: { params: { key: Key }, idempotent: { with: Request, request: [text] }, do: [{ create: Note, set: { id: newID() } }] }
`)
	if r := try(t, d, "Write")["Write"]; !r.OK() {
		t.Error(r.Failures[0].String())
	}
}

// TestSamples tests that a sample value of the wrong type is an error at that value.
func TestSamples(t *testing.T) {
	const line = 16 // of the sample
	for _, c := range []struct{ sample, want string }{
		{`{ who: ana, id: n-1, at: 2024-01-15T10:05:00.000Z, text: t }`, "16:19: sample of Note: id is not a ulid"},
		{`{ who: a b, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4, at: 2024-01-15T10:05:00.000Z, text: t }`, "16:9: sample of Note: who is not an id"},
		{`{ who: ana, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4, at: yesterday, text: t }`, "16:51: sample of Note: at is not of type time"},
		{`{ who: ana, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4, at: 2024-01-15T10:05:00.000Z, text: t, size: 1.5 }`, "size is not of type int"},
		{`{ who: ana, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4, at: 2024-01-15T10:05:00.000Z, text: [a] }`, "text is not of type text"},
		{`{ who: ana, id: 01HM6JX7V0Q6S8G0Z5B3A1C2D4, at: 2024-01-15T10:05:00.000Z }`, "16:9: sample of Note: text is missing"},
	} {
		_, err := trial.New(parse(t, notes+"    - "+c.sample+"\n"), trial.Options{Seed: 1, Items: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("line %d, %s: %v, want %q", line, c.sample, err, c.want)
		}
	}
}

// TestSeed tests that the same seed repeats a trial and another seed does not.
func TestSeed(t *testing.T) {
	tried := func(seed uint64) string {
		run, err := trial.New(load(t, drafts+"catfecito.design.yaml"), trial.Options{Seed: seed, Items: 60})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, s := range run.Subjects() {
			if s.Kind == trial.WriteSubject || s.Kind == trial.EntitySubject {
				continue
			}
			r, err := run.Try(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%+v\n", *r)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	first := tried(7)
	if again := tried(7); again != first {
		t.Errorf("seed 7 tries\n%s\nand then\n%s", first, again)
	}
	if other := tried(8); other == first {
		t.Errorf("seed 8 tries what seed 7 does:\n%s", first)
	}
}

// TestAccepted tests that a mismatch predicted by an accepted rule does not fail, while a failed example still does.
func TestAccepted(t *testing.T) {
	const lines = `
design: 1
name: Lines
tables: { Lines: { key: { pk: PK, sk: SK } } }
entities:
  Line: { key: { pk: "ORDER#{orderId}", sk: "LINE#{number}" }, fields: { orderId: id, number: int } }
reads:
  LinesOf: { many: Line, by: [orderId], order: [number asc], page: 50%s }
samples: { Line: [{ orderId: o, number: 10 }, { orderId: o, number: 9 }] }
examples: { LinesOf: [{ given: { orderId: o }, expect: [%s] }] }
`
	const accept = `, accept: { ST105: "Any order." }`
	for _, c := range []struct {
		accept, expect   string
		failed, accepted bool
	}{{"", "10, 9", true, false}, {accept, "10, 9", false, true}, {accept, "9, 10", true, true}} {
		r := try(t, parse(t, fmt.Sprintf(lines, c.accept, c.expect)), "LinesOf")["LinesOf"]
		if r.OK() == c.failed || (len(r.Accepted) == 1 && r.Accepted[0] == trial.Accepted{Kind: trial.WrongOrder, Rule: "ST105", Reason: "Any order."}) != c.accepted {
			t.Errorf("%q, %s: %d failures, accepted %v", c.accept, c.expect, r.Failed, r.Accepted)
		}
	}
}

// TestRejectedBeforeAnyRequestIsUnexercised tests that a write does not pass if its key can never be computed.
func TestRejectedBeforeAnyRequestIsUnexercised(t *testing.T) {
	d := parse(t, `
design: 1
name: Jobs
tables: { Jobs: { key: { pk: PK, sk: SK } } }
entities: { Step: { key: { pk: "JOB#{jobId}", sk: "{number|pad(3)}" }, fields: { jobId: ulid, number: int } } }
writes:
  First: { do: [{ create: Step, set: { number: -1 } }] }
`)
	r := try(t, d, "First")["First"]
	if r.OK() || r.Requests != 0 || len(r.Failures) != 1 || r.Failures[0].Kind != trial.Unexercised {
		t.Errorf("%d requests, failures %+v; want one, not exercised", r.Requests, r.Failures)
	}
}

// TestUnexercised tests that a pattern without any generated call does not pass. Here no item of the root can be stored, so
// there is no owner to ask as.
func TestUnexercised(t *testing.T) {
	d := parse(t, `
design: 1
name: Rooms
tables: { Rooms: { key: { pk: PK, sk: SK }, indexes: { ByUsers: { pk: users:S } } } }
entities:
  Room:
    key: { pk: "ROOM#{roomId}", sk: ROOM }
    index: { ByUsers: { pk: "{users}" } }
    fields: { roomId: id, users: list<id>, host: id }
  Note: { key: { pk: "ROOM#{roomId}", sk: "NOTE#{n}" }, fields: { roomId: id, n: int, host: id } }
collections:
  RoomWithNotes: { of: [Room, Note], root: Room, by: [roomId], owner: host }
`)
	r := try(t, d, "RoomWithNotes")["RoomWithNotes"]
	if r.OK() || r.Requests != 0 || len(r.Failures) != 1 || r.Failures[0].Kind != trial.Unexercised {
		t.Errorf("%d requests, failures %+v; want one, not exercised", r.Requests, r.Failures)
	}
}
