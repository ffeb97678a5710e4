package schema_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// scalarKinds are all kinds that a key may be made of.
func scalarKinds() []Kind {
	return []Kind{
		KindID, KindUUID, KindULID, KindKSUID, KindSlug, KindEmail, KindText, KindSecret, KindInt, KindDecimal, KindMoney, KindBool, KindTime,
		KindDate, KindTTL, KindBytes, KindEnum,
	}
}

// randomType is a type of any kind; structures and such are of at most some depth.
func randomType(r *rand.Rand, depth int) Type {
	nested := []Kind{KindSet, KindList, KindMap, KindStruct}
	n := len(scalarKinds())
	if depth > 0 {
		n += len(nested)
	}
	t := Type{Kind: slices.Concat(scalarKinds(), nested)[r.IntN(n)]}
	switch t.Kind {
	case KindEnum:
		t.Enum = []string{"open", "In Transit", "Envío"}
	case KindSet:
		elem := Type{Kind: KindBool}
		for elem.Kind == KindBool {
			elem = randomType(r, 0)
		}
		t.Elem = &elem
	case KindList, KindMap:
		elem := randomType(r, depth-1)
		t.Elem = &elem
	case KindStruct:
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
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	at := time.UnixMilli(r.Int64N(4e12)).UTC()
	switch t.Kind {
	case KindID:
		return randomText(r, letters+"0123456789._:@-", 1+r.IntN(20))
	case KindUUID:
		hex := randomText(r, "0123456789abcdef", 32)
		return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
	case KindULID:
		return randomText(r, "01234567", 1) + randomText(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25)
	case KindKSUID:
		return randomText(r, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) + randomText(r, letters+"0123456789", 26)
	case KindSlug:
		return randomText(r, "abcdefghijklmnopqrstuvwxyz0123456789-", 1+r.IntN(20))
	case KindEmail:
		return randomText(r, letters+"0123456789!#$%&'*+/=?^_`{|}~.-", 1+r.IntN(10)) + "@" + randomText(r, letters+"0123456789.-", 1+r.IntN(10))
	case KindInt, KindMoney:
		return strconv.FormatInt((r.Int64()-r.Int64())>>r.IntN(63), 10)
	case KindTTL:
		return strconv.FormatInt(at.Unix(), 10)
	case KindDecimal:
		return fmt.Sprintf("%d.%dE%d", r.IntN(2000)-1000, r.IntN(1000), r.IntN(20)-10)
	case KindTime:
		return at.Format(keytext.TimeLayout)
	case KindDate:
		return at.Format(keytext.DateLayout)
	case KindEnum:
		return t.Enum[r.IntN(len(t.Enum))]
	case KindBytes:
		return string([]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}[:r.IntN(4)])
	default:
		return randomText(r, " \t\n\u00a0\u2003\u0085aAzZ09!#-éÉßİıſKﬁ½²ﷺ가漢😀\u0301", r.IntN(20))
	}
}

// storedText is a text as a value of a scalar type.
func storedText(t Type, text string) types.AttributeValue {
	switch {
	case t.Kind == KindBytes:
		return ABinary(text)
	case t.Kind.Numeric():
		return ANumber(text)
	default:
		return AText(text)
	}
}

// randomValue is a value of a type, as it is stored.
func randomValue(r *rand.Rand, t Type) types.AttributeValue {
	switch t.Kind {
	case KindBool:
		return ABool(r.IntN(2) == 0)
	case KindList:
		elems := make([]types.AttributeValue, 0, 3)
		for range r.IntN(3) {
			if elem := randomValue(r, *t.Elem); !EmptySet(elem) {
				elems = append(elems, elem)
			}
		}
		return AList(elems...)
	case KindMap:
		members := Item{}
		for range r.IntN(3) {
			if elem := randomValue(r, *t.Elem); !EmptySet(elem) {
				members[randomText(r, "ab.[é ", 1+r.IntN(3))] = elem
			}
		}
		return AMap(members)
	case KindStruct:
		members := Item{}
		for _, f := range *t.Fields {
			if v := randomValue(r, f.Type); !EmptySet(v) && (!f.Optional || r.IntN(2) == 0) {
				PutAt(members, f.Path, v)
			}
		}
		return AMap(members)
	case KindSet:
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
	case elem.Kind == KindBytes:
		return ABinarySet(binaries...)
	case elem.Kind.Numeric():
		return ANumberSet(texts...)
	default:
		return ATextSet(texts...)
	}
}

// randomEntity has fields of all kinds, and keys that are made of an id and of whatever else can stand in one.
func randomEntity(r *rand.Rand) *Entity {
	text := types.ScalarAttributeTypeS
	e := &Entity{
		Name: "E", TypeValue: "E", Table: &Table{PK: Attribute{Name: "PK", Type: text}, SK: Attribute{Name: "SK", Type: text}},
		Fields: append(randomFields(r, 3), Field{Name: "id", Type: Type{Kind: KindID}, Path: []string{"id"}}),
	}
	if r.IntN(2) == 0 {
		e.Table.TypeAttr = "type"
	}
	parts := []string{"{id}"}
	for i := range e.Fields {
		f := &e.Fields[i]
		switch {
		case f.Type.Kind == KindBytes:
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
		return []KeyAttribute{TextKey("PK", template(prefix+"#")), TextKey("SK", template(prefix+"#"))}
	}
	e.Key = key("E")
	entry := func(index string) []Entry {
		return []Entry{{Index: index, PK: []KeyAttribute{TextKey(index+"PK", template("G#"))}, SK: []KeyAttribute{TextKey(index+"SK", template(""))}}}
	}
	e.Entries = entry("X")
	e.Copies = []Copy{{Name: "all", Key: key("ALL"), Entries: entry("Y")}, {Name: "some", Key: key("SOME"), Fields: []string{"f0"}, Entries: entry("Z")}}
	e.Markers = []Marker{{Name: "mark", Key: key("MARK")}}
	for _, name := range FieldsOf(slices.Concat(e.Key, e.Copies[0].Key, e.Copies[1].Key, e.Markers[0].Key)) {
		e.Field(name).Optional = false
	}
	return e
}

// TestRoundTrips: what is stored for values of any types is recognised at its place, and has the values.
func TestRoundTrips(t *testing.T) {
	r, seed := Seeded()
	for range 1000 {
		e := randomEntity(r)
		v, want := Values{}, Values{}
		for i := range e.Fields {
			f := &e.Fields[i]
			if value := randomValue(r, f.Type); !f.Optional || r.IntN(2) == 0 {
				v[f.Name] = value
				if !EmptySet(value) {
					want[f.Name] = value
				}
			}
		}
		items, err := Items(e, v)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, e.Fields, err)
		}
		places := []Place{{Kind: KeyPlace}, {Kind: CopyPlace, Copy: "all"}, {Kind: CopyPlace, Copy: "some"}, {Kind: MarkerPlace, Marker: "mark"}}
		for i, p := range places {
			found, at, got := Recognize([]*Entity{e}, items[i])
			if found != e || at != p {
				t.Fatalf("seed %d: %v at %+v is recognised at %+v", seed, Attributes(items[i]), p, at)
			}
			expected := Item(want)
			if p.Kind == MarkerPlace || p.Copy == "some" {
				expected = heldValues(want, got)
			}
			if !SameItem(Item(got), expected) {
				t.Errorf("seed %d: at %+v the values are\n%v; want\n%v", seed, p, Attributes(Item(got)), Attributes(expected))
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
		t.Errorf("seed %d: %v is not recognised at %+v", seed, Attributes(it), p)
	}
	keys := Item{"PK": it["PK"], "SK": it["SK"], index + "PK": it[index+"PK"], index + "SK": it[index+"SK"]}
	if _, is := e.Is(p, keys); !is {
		t.Errorf("seed %d: the keys %v are not recognised at %+v", seed, Attributes(keys), p)
	}
	if _, there := v["id"]; there {
		keys["id"] = AText("another")
		if _, is := e.Is(p, keys); is {
			t.Errorf("seed %d: the keys %v of another id are recognised at %+v", seed, Attributes(keys), p)
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
