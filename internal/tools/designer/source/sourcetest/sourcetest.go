// Package sourcetest makes up the items of designs, for tests of what reads tables.
//
// Entities that are so many per another belong to it: the fields of its key have its values. Ids that are another
// entity's key are those of one of its items. All else is drawn from the types, with texts of several words and
// scripts, prefixes of each other and the separators of keys.
package sourcetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// Now is the time at which the items are made: those that expire do so later.
func Now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Designs are the five designs in design/testdata/drafts, for tests of packages of designer.
func Designs(tb testing.TB) map[string]*design.Design {
	tb.Helper()
	names, err := filepath.Glob("../../../../design/testdata/drafts/*.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]*design.Design{}
	for _, name := range names {
		if strings.Contains(name, ".documented.") {
			continue
		}
		d, err := design.Load(name)
		if err != nil {
			tb.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".design.yaml")] = d
	}
	if len(out) != 5 {
		tb.Fatalf("there are %d designs, want 5", len(out))
	}
	return out
}

// Record is an entity's item, with what belongs to it.
type Record struct {
	Entity string
	Table  string // of the design
	Values table.Values
	// Items are the item, its copies, its markers.
	Items []table.Item
}

// Make makes up the items of a design, of entities that are not so many per another roots each. Equal seeds make equal
// items.
func Make(tb testing.TB, d *design.Design, seed uint64, roots int) []Record {
	tb.Helper()
	program, err := lower.Lower(d)
	if program == nil {
		tb.Fatal(err)
	}
	m := &maker{
		tb: tb, design: d, program: program, random: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // a test's values
		keys: map[string]bool{}, created: map[string][]table.Values{}, at: Now().AddDate(-1, 0, 0),
	}
	for _, e := range inOrder(d) {
		m.entity(e, roots)
	}
	return m.records
}

// inOrder are the entities, those that others are per, or refer to, first.
func inOrder(d *design.Design) []*design.Entity {
	var out []*design.Entity
	for len(out) < len(d.Entities) {
		for _, e := range d.Entities {
			parent := d.Entity(e.Volume.Per)
			if !slices.Contains(out, e) && (parent == nil || slices.Contains(out, parent)) {
				out = append(out, e)
			}
		}
	}
	return out
}

type maker struct {
	tb      testing.TB
	design  *design.Design
	program *lower.Program
	random  *rand.Rand
	keys    map[string]bool // of the items so far
	created map[string][]table.Values
	at      time.Time
	records []Record
}

func (m *maker) entity(e *design.Entity, roots int) {
	parent := m.design.Entity(e.Volume.Per)
	if parent == nil {
		for range roots {
			m.record(e, nil)
		}
		return
	}
	for _, of := range m.created[parent.Name] {
		n := 1
		if e.Volume.Max != 1 {
			n = m.random.IntN(6)
		}
		given := table.Values{}
		for _, j := range design.Belongs(e, parent) {
			given[j.A] = of[j.B]
		}
		for range n {
			m.record(e, given)
		}
	}
}

func keyFields(e *design.Entity) []string {
	out := e.Key.PK.Fields()
	if e.Key.SK != nil {
		out = append(out, e.Key.SK.Fields()...)
	}
	return out
}

// record makes an item whose keys no other has. It gives up where the values left are too few.
func (m *maker) record(e *design.Entity, given table.Values) {
	m.tb.Helper()
	for range 20 {
		values := table.Values{}
		for _, f := range e.Fields {
			if v := given[f.Name]; v != nil {
				values[f.Name] = v
			} else if v := m.value(e, f); v != nil {
				values[f.Name] = v
			}
		}
		descriptor := m.program.Entity(e.Name)
		items, err := table.Items(descriptor, values)
		if err != nil {
			m.tb.Fatalf("%s of %v: %v", e.Name, values, err)
		}
		var keys []string
		for _, item := range items {
			keys = append(keys, fmt.Sprint(e.Table, text(item[descriptor.Table.PK.Name]), "\x00", text(item[descriptor.Table.SK.Name])))
		}
		if slices.ContainsFunc(keys, func(k string) bool { return m.keys[k] }) {
			continue
		}
		for _, k := range keys {
			m.keys[k] = true
		}
		m.created[e.Name] = append(m.created[e.Name], values)
		m.records = append(m.records, Record{Entity: e.Name, Table: e.Table, Values: values, Items: items})
		return
	}
}

func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	default:
		return ""
	}
}

// value makes up a field's value; nil for an optional one now and then.
func (m *maker) value(e *design.Entity, f *design.Field) types.AttributeValue {
	if f.Optional && m.random.IntN(5) < 2 {
		return nil
	}
	if counts := slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name }); counts {
		return nil
	}
	// The id of another entity, if this is one.
	name := m.design.NamedLike(f.Name, f.Type)
	for _, other := range m.design.Entities {
		if keys := keyFields(other); other != e && len(keys) == 1 && keys[0] == name && len(m.created[other.Name]) > 0 {
			return m.created[other.Name][m.random.IntN(len(m.created[other.Name]))][name]
		}
	}
	return m.ofType(f.Type, 0)
}

func (m *maker) ofType(t design.Type, depth int) types.AttributeValue {
	switch t.Kind {
	case design.KindInt, design.KindMoney:
		return &types.AttributeValueMemberN{Value: strconv.Itoa(m.random.IntN(10000))}
	case design.KindDecimal:
		return &types.AttributeValueMemberN{Value: fmt.Sprintf("%d.%d", m.random.IntN(90), 1+m.random.IntN(8))}
	case design.KindTTL:
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(Now().AddDate(0, 1+m.random.IntN(6), 0).Unix(), 10)}
	case design.KindBool:
		return &types.AttributeValueMemberBOOL{Value: m.random.IntN(2) == 0}
	case design.KindBytes:
		return &types.AttributeValueMemberB{Value: []byte(m.of("0123456789abcdef", 8))}
	case design.KindList:
		list := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
		for range m.random.IntN(3) {
			list.Value = append(list.Value, m.ofType(*t.Elem, depth+1))
		}
		return list
	case design.KindMap:
		members := &types.AttributeValueMemberM{Value: table.Item{}}
		for range m.random.IntN(3) {
			members.Value[m.of("abcdefgh", 6)] = m.ofType(*t.Elem, depth+1)
		}
		return members
	case design.KindSet:
		return &types.AttributeValueMemberSS{Value: []string{m.of("abc", 3), m.of("def", 3)}}
	case design.KindStruct:
		members := &types.AttributeValueMemberM{Value: table.Item{}}
		for _, f := range m.design.Struct(t.Name).Fields {
			if !f.Optional || depth < 2 && m.random.IntN(2) == 0 {
				members.Value[f.Attribute()] = m.ofType(f.Type, depth+1)
			}
		}
		return members
	default:
		return &types.AttributeValueMemberS{Value: m.text(t)}
	}
}

// text makes up a value that is stored as a text.
func (m *maker) text(t design.Type) string {
	const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	const hexadecimal = "0123456789abcdef"
	switch t.Kind {
	case design.KindUUID:
		return m.of(hexadecimal, 8) + "-" + m.of(hexadecimal, 4) + "-4" + m.of(hexadecimal, 3) + "-8" + m.of(hexadecimal, 3) + "-" + m.of(hexadecimal, 12)
	case design.KindULID:
		return "01" + m.of(crockford, 24)
	case design.KindKSUID:
		return "2" + m.of(crockford+"abcdef", 26)
	case design.KindSlug:
		return m.of("abcdefgh", 4) + "-" + m.of("abcdefgh0123", 3)
	case design.KindEmail:
		return m.of("ABCabcdef", 5) + "." + m.of("_+xyz", 3) + "@Example." + m.pick("com", "org")
	case design.KindTime:
		m.at = m.at.Add(time.Duration(1+m.random.IntN(3_600_000)) * time.Millisecond)
		return m.at.Format("2006-01-02T15:04:05.000Z")
	case design.KindDate:
		return m.at.AddDate(0, 0, m.random.IntN(400)).Format("2006-01-02")
	case design.KindEnum:
		return m.pick(m.design.Enum(t.Name).Values...)
	case design.KindID:
		return cmp.Or(m.pick("", "x-"), "u-") + m.of("abcdefgh0123456789", 1+m.random.IntN(8))
	default:
		words := []string{"Ana", "Ñandú", "café", "de", "la", "Maria", "Über", "no: 5", "a/b", "50%", "x", "Peña & Cía"}
		var out []string
		for range 1 + m.random.IntN(4) {
			out = append(out, words[m.random.IntN(len(words))])
		}
		return strings.Join(out, " ") + " " + m.of("abcdefgh", 4)
	}
}

func (m *maker) of(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[m.random.IntN(len(alphabet))]
	}
	return string(out)
}

func (m *maker) pick(list ...string) string { return list[m.random.IntN(len(list))] }

// Flat are the items of records by their table in the design.
func Flat(records []Record) map[string][]table.Item {
	out := map[string][]table.Item{}
	for _, r := range records {
		out[r.Table] = append(out[r.Table], r.Items...)
	}
	return out
}
