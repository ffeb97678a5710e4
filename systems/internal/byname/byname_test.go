package byname_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/byname"
)

type (
	kind   string
	amount int64
	day    struct{ n int }
	Number struct{ digits string }
	// shownNumber wraps a Number.
	shownNumber struct{ Number }
)

func (d day) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "day %d", d.n), nil }

type place struct{ Name *string }

type stored struct {
	ID, Secret string
	Kind       kind
	Price      int64
	Note, None *string
	Day        day
	Tags       []string
	Places     []place
	Where      *place
	At         time.Time
}

type shownPlace struct {
	Name string `json:"name"`
}

// Head is embedded; its fields count as fields of the outer struct.
type Head struct {
	Key string `json:"key" from:"ID"`
}

type shown struct {
	Head
	Kind   string       `json:"kind"`
	Price  amount       `json:"price"`
	Note   string       `json:"note"`
	None   string       `json:"none,omitempty"`
	Day    string       `json:"day"`
	Tags   []string     `json:"tags"`
	Places []shownPlace `json:"places"`
	Where  *shownPlace  `json:"where,omitempty"`
	At     *time.Time   `json:"at,omitempty"`
	Later  string       `json:"later" from:"-"`
	More   *string      `json:"more,omitempty" from:",optional"`
}

func TestShows(t *testing.T) {
	t.Parallel()
	show := byname.Copy[stored, shown]()
	got := show(stored{
		ID: "1", Secret: "s", Kind: "k", Price: 3, Note: new("n"), Day: day{7}, Places: []place{{new("here")}, {}}, Where: &place{new("there")},
	})
	want := shown{
		Head: Head{"1"}, Kind: "k", Price: 3, Note: "n", Day: "day 7", Tags: []string{}, Places: []shownPlace{{"here"}, {}}, Where: &shownPlace{"there"},
		At: &time.Time{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if empty := show(stored{}); empty.Tags == nil || empty.Places == nil || empty.Where != nil {
		t.Errorf("of nothing: %+v, want empty lists and no pointer", empty)
	}
}

// TestStores: the zero value of an optional field is not stored, and fields without a source may be optional in stored types.
func TestStores(t *testing.T) {
	t.Parallel()
	type input struct {
		Note, None string
		Price      shownNumber
	}
	type who struct{ ID string }
	type target struct {
		ID         string
		Note, None *string
		Price      Number
		Other      *string
	}
	got := byname.Copy2[who, input, target]()(who{"me"}, input{Note: "n", Price: shownNumber{Number{"7"}}})
	want := target{ID: "me", Note: new("n"), Price: Number{"7"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	kept := target{ID: "kept", None: new("gone"), Other: new("kept")}
	byname.Into[input, target]()(input{Note: "n"}, &kept)
	if want := (target{ID: "kept", Note: new("n"), Other: new("kept")}); !reflect.DeepEqual(kept, want) {
		t.Errorf("into: got  %+v\nwant %+v", kept, want)
	}
}

// TestInner: results of writes contain the items that they created, and inputs contain bodies.
func TestInner(t *testing.T) {
	t.Parallel()
	type item struct{ ID, Body string }
	type result struct {
		Item     *item
		Body     struct{ Text string }
		Replayed bool
	}
	type target struct {
		ID   string `json:"id"`
		Body string `json:"body"`
		Text string `json:"text"`
	}
	show := byname.Copy[result, target]()
	r := result{Item: &item{"1", "b"}}
	r.Body.Text = "t"
	if got, want := show(r), (target{"1", "b", "t"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	defer func() {
		if fault := recover(); !strings.Contains(fmt.Sprint(fault), "item to copy from") {
			t.Errorf("of a missing item: %v", fault)
		}
	}()
	show(result{})
}

func TestRejects(t *testing.T) {
	t.Parallel()
	type noSource struct {
		Missing string `json:"missing"`
	}
	type noOptional struct {
		Missing *string `json:"missing"`
	}
	type wrongType struct {
		Price string `json:"price"`
	}
	type wrongKind struct {
		Kind []byte `json:"kind"`
	}
	type wrongInside struct {
		Where struct {
			Street string `json:"street"`
		} `json:"where"`
	}
	for name, c := range map[string]struct {
		to   reflect.Type
		want string
	}{
		"no source":           {reflect.TypeFor[noSource](), "Missing: no source has a field of that name"},
		"no optional source":  {reflect.TypeFor[noOptional](), "Missing: no source has a field of that name"},
		"a number as a text":  {reflect.TypeFor[wrongType](), "Price: is string, and Price of byname_test.stored is int64"},
		"a text as bytes":     {reflect.TypeFor[wrongKind](), "Kind: is []uint8"},
		"a struct's field":    {reflect.TypeFor[wrongInside](), "Street: no source has a field of that name"},
		"not a struct":        {reflect.TypeFor[string](), "string is not a struct"},
		"pointer to a struct": {reflect.TypeFor[*noSource](), "is not a struct"},
	} {
		if _, err := byname.Make(c.to, false, reflect.TypeFor[stored]()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
	defer func() {
		if fault := recover(); !strings.Contains(fmt.Sprint(fault), "Missing of byname_test.noSource has no target") {
			t.Errorf("a target without the field: %v", fault)
		}
	}()
	byname.Into[noSource, stored]()
}

func BenchmarkCopy(b *testing.B) {
	show := byname.Copy[stored, shown]()
	s := stored{ID: "1", Kind: "k", Note: new("n"), Places: []place{{new("here")}}}
	for b.Loop() {
		show(s)
	}
}
