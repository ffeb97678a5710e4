package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// seeded is a source of random values, whose seed messages name.
func seeded() (r *rand.Rand, seed uint64) {
	seed = uint64(time.Now().UnixNano())        //nolint:gosec // any number is a seed
	return rand.New(rand.NewPCG(seed, 0)), seed //nolint:gosec // a test's values
}

// scalarKinds are all kinds that a key may be made of.
func scalarKinds() []Kind {
	return []Kind{
		schema.KindID, schema.KindUUID, schema.KindULID, schema.KindKSUID, schema.KindSlug, schema.KindEmail, schema.KindText, schema.KindSecret, schema.KindInt, schema.KindDecimal, schema.KindMoney, schema.KindBool, schema.KindTime,
		schema.KindDate, schema.KindTTL, schema.KindBytes, schema.KindEnum,
	}
}

// randomType is a type of any kind; structures and such are of at most some depth.
func randomType(r *rand.Rand, depth int) Type {
	nested := []Kind{schema.KindSet, schema.KindList, schema.KindMap, schema.KindStruct}
	n := len(scalarKinds())
	if depth > 0 {
		n += len(nested)
	}
	t := Type{Kind: slices.Concat(scalarKinds(), nested)[r.IntN(n)]}
	switch t.Kind {
	case schema.KindEnum:
		t.Enum = []string{"open", "In Transit", "Envío"}
	case schema.KindSet:
		elem := Type{Kind: schema.KindBool}
		for elem.Kind == schema.KindBool {
			elem = randomType(r, 0)
		}
		t.Elem = &elem
	case schema.KindList, schema.KindMap:
		elem := randomType(r, depth-1)
		t.Elem = &elem
	case schema.KindStruct:
		fields := randomFields(r, depth-1)
		t.Fields = &fields
	default:
	}
	return t
}

// randomFields are fields at random places, some of them inside maps.
func randomFields(r *rand.Rand, depth int) []Field {
	fields := make([]Field, 1+r.IntN(5))
	for i := range fields {
		name := fmt.Sprintf("f%d", i)
		path := [][]string{{"a_" + name}, {"doc", name}, {"doc", "inner", name}}[r.IntN(3)]
		fields[i] = Field{Name: name, Type: randomType(r, depth), Path: path, Optional: r.IntN(3) == 0}
	}
	return fields
}

// randomText is one of n characters.
func randomText(r *rand.Rand, characters string, n int) string {
	all := []rune(characters)
	out := make([]rune, n)
	for i := range out {
		out[i] = all[r.IntN(len(all))]
	}
	return string(out)
}

// randomScalar is a text of a kind's language, as it is stored.
func randomScalar(r *rand.Rand, t Type) string {
	at := time.UnixMilli(r.Int64N(4e12)).UTC()
	switch t.Kind {
	case schema.KindID:
		return randomText(r, schema.IDCharacters, 1+r.IntN(20))
	case schema.KindUUID:
		hex := randomText(r, "0123456789abcdef", 32)
		return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
	case schema.KindULID:
		return randomText(r, "01234567", 1) + randomText(r, schema.Crockford, 25)
	case schema.KindKSUID:
		return randomText(r, schema.Base62[:36], 1) + randomText(r, schema.Base62, 26)
	case schema.KindSlug:
		return randomText(r, schema.SlugCharacters, 1+r.IntN(20))
	case schema.KindEmail:
		return randomText(r, schema.Mailbox, 1+r.IntN(10)) + "@" + randomText(r, schema.Host, 1+r.IntN(10))
	case schema.KindInt, schema.KindMoney:
		return strconv.FormatInt((r.Int64()-r.Int64())>>r.IntN(63), 10)
	case schema.KindTTL:
		return strconv.FormatInt(at.Unix(), 10)
	case schema.KindDecimal:
		return fmt.Sprintf("%d.%dE%d", r.IntN(2000)-1000, r.IntN(1000), r.IntN(20)-10)
	case schema.KindTime:
		return at.Format(keytext.TimeLayout)
	case schema.KindDate:
		return at.Format(keytext.DateLayout)
	case schema.KindEnum:
		return t.Enum[r.IntN(len(t.Enum))]
	case schema.KindBytes:
		return string([]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}[:r.IntN(4)])
	default:
		return randomText(r, " \t\n\u00a0\u2003\u0085aAzZ09!#-éÉßİıſKﬁ½²ﷺ가漢😀\u0301", r.IntN(20))
	}
}

// storedText is a text as a value of a scalar type.
func storedText(t Type, text string) types.AttributeValue {
	switch {
	case t.Kind == schema.KindBytes:
		return aBinary(text)
	case t.Kind.Numeric():
		return aNumber(text)
	default:
		return aText(text)
	}
}

// randomValue is a value of a type, as it is stored.
func randomValue(r *rand.Rand, t Type) types.AttributeValue {
	switch t.Kind {
	case schema.KindBool:
		return aBool(r.IntN(2) == 0)
	case schema.KindList:
		elems := make([]types.AttributeValue, 0, 3)
		for range r.IntN(3) {
			if elem := randomValue(r, *t.Elem); !schema.EmptySet(elem) {
				elems = append(elems, elem)
			}
		}
		return aList(elems...)
	case schema.KindMap:
		members := Item{}
		for range r.IntN(3) {
			if elem := randomValue(r, *t.Elem); !schema.EmptySet(elem) {
				members[randomText(r, "ab.[é ", 1+r.IntN(3))] = elem
			}
		}
		return aMap(members)
	case schema.KindStruct:
		members := Item{}
		for _, f := range *t.Fields {
			if v := randomValue(r, f.Type); !schema.EmptySet(v) && (!f.Optional || r.IntN(2) == 0) {
				schema.PutAt(members, f.Path, v)
			}
		}
		return aMap(members)
	case schema.KindSet:
		return randomSet(r, *t.Elem)
	default:
		return storedText(t, randomScalar(r, t))
	}
}

func randomSet(r *rand.Rand, elem Type) types.AttributeValue {
	members := map[string]bool{}
	var texts []string
	var binaries [][]byte
	for range r.IntN(4) {
		v := storedText(elem, randomScalar(r, elem))
		text, err := elem.Text("", v)
		if err != nil || members[text] {
			continue
		}
		members[text] = true
		texts, binaries = append(texts, text), append(binaries, []byte(text))
	}
	switch {
	case elem.Kind == schema.KindBytes:
		return aBinarySet(binaries...)
	case elem.Kind.Numeric():
		return aNumberSet(texts...)
	default:
		return aTextSet(texts...)
	}
}

// randomEntity has fields of all kinds, and keys that are made of an id and of whatever else can stand in one.
func randomEntity(r *rand.Rand) *Entity {
	text := types.ScalarAttributeTypeS
	e := &Entity{
		Name: "E", TypeValue: "E", Table: &Table{PK: Attribute{Name: "PK", Type: text}, SK: Attribute{Name: "SK", Type: text}},
		Fields: append(randomFields(r, 3), Field{Name: "id", Type: Type{Kind: schema.KindID}, Path: []string{"id"}}),
	}
	if r.IntN(2) == 0 {
		e.Table.TypeAttr = "type"
	}
	parts := []string{"{id}"}
	for i := range e.Fields {
		f := &e.Fields[i]
		switch {
		case f.Type.Kind == schema.KindBytes:
			parts = append(parts, "{"+f.Name+"|hash(8)}")
		case slices.Contains(scalarKinds(), f.Type.Kind):
			parts = append(parts, "{"+f.Name+"}", "{"+f.Name+"|first(3)}", "{"+f.Name+"|shard(10)}")
		}
	}
	template := func(prefix string) string {
		out := prefix + "{id}"
		for range r.IntN(3) {
			out += "#" + parts[r.IntN(len(parts))]
		}
		return out
	}
	key := func(prefix string) []KeyAttribute {
		return []KeyAttribute{keyAttribute("PK", template(prefix+"#")), keyAttribute("SK", template(prefix+"#"))}
	}
	e.Key = key("E")
	entry := func(index string) []Entry {
		return []Entry{{Index: index, PK: []KeyAttribute{keyAttribute(index+"PK", template("G#"))}, SK: []KeyAttribute{keyAttribute(index+"SK", template(""))}}}
	}
	e.Entries = entry("X")
	e.Copies = []Copy{{Name: "all", Key: key("ALL"), Entries: entry("Y")}, {Name: "some", Key: key("SOME"), Fields: []string{"f0"}, Entries: entry("Z")}}
	e.Markers = []Marker{{Name: "mark", Key: key("MARK")}}
	for _, name := range schema.FieldsOf(slices.Concat(e.Key, e.Copies[0].Key, e.Copies[1].Key, e.Markers[0].Key)) {
		e.Field(name).Optional = false
	}
	return e
}

// TestRoundTrips: what is stored for values of any types is recognised at its place, and has the values.
func TestRoundTrips(t *testing.T) {
	r, seed := seeded()
	for range 1000 {
		e := randomEntity(r)
		v, want := Values{}, Values{}
		for i := range e.Fields {
			f := &e.Fields[i]
			if value := randomValue(r, f.Type); !f.Optional || r.IntN(2) == 0 {
				v[f.Name] = value
				if !schema.EmptySet(value) {
					want[f.Name] = value
				}
			}
		}
		items, err := Items(e, v)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, e.Fields, err)
		}
		for i, p := range e.Places() {
			found, at, got := Recognize([]*Entity{e}, items[i])
			if found != e || at != p {
				t.Fatalf("seed %d: %v at %+v is recognised at %+v", seed, schema.Attributes(items[i]), p, at)
			}
			expected := Item(want)
			if p.Kind == MarkerPlace || p.Copy == "some" {
				expected = heldValues(want, got)
			}
			if !sameItem(Item(got), expected) {
				t.Errorf("seed %d: at %+v the values are\n%v; want\n%v", seed, p, schema.Attributes(Item(got)), schema.Attributes(expected))
			}
			entriesAreRecognised(t, seed, e, p, items[i], v)
		}
	}
}

// heldValues are those of the values that others have too; one at least, the id.
func heldValues(v, others Values) Item {
	out := Item{"id": v["id"]}
	for name := range others {
		out[name] = v[name]
	}
	return out
}

// entriesAreRecognised: an item is recognised at its places in indexes too, whole and as an index of keys has it.
func entriesAreRecognised(t *testing.T, seed uint64, e *Entity, p Place, it Item, v Values) {
	t.Helper()
	index := map[string]string{"": "X", "all": "Y", "some": "Z"}[p.Copy]
	if p.Kind == MarkerPlace || it[index+"PK"] == nil {
		return
	}
	p = Place{Kind: EntryPlace, Copy: p.Copy, Index: index}
	if _, is := e.Is(p, it); !is {
		t.Errorf("seed %d: %v is not recognised at %+v", seed, schema.Attributes(it), p)
	}
	keys := Item{"PK": it["PK"], "SK": it["SK"], index + "PK": it[index+"PK"], index + "SK": it[index+"SK"]}
	if _, is := e.Is(p, keys); !is {
		t.Errorf("seed %d: the keys %v are not recognised at %+v", seed, schema.Attributes(keys), p)
	}
	if _, there := v["id"]; there {
		keys["id"] = aText("another")
		if _, is := e.Is(p, keys); is {
			t.Errorf("seed %d: the keys %v of another id are recognised at %+v", seed, schema.Attributes(keys), p)
		}
	}
}

// mutated is a text with a piece of it changed.
func mutated(r *rand.Rand, text string) string {
	i := r.IntN(len(text) + 1)
	j := i + r.IntN(min(3, len(text)-i)+1)
	pieces := []string{"", "#", "@", " ", "0", "9", "-", ".", "A", "z", "é", "\x00", "\xff", ",", "Z", text}
	return strings.Join([]string{text[:i], pieces[r.IntN(len(pieces))], text[j:]}, "")
}
