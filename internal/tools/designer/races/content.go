package races

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/expression"
)

// content is everything in the tables at a moment. Equal contents are the same pointer.
type content struct {
	id    int
	items []*stored // ordered by address
	// state is the decoded form of the items.
	state *expression.State
	// violations are items that do not match the design's other items; see kept.go.
	violations []string
	// broken are the violated invariants about a single moment, once computed.
	broken map[*expression.Invariant]*breach
}

// stored is an item as stored in a table. Equal items are the same pointer.
type stored struct {
	id      int
	address string // its table and key
	table   *table.Table
	item    table.Item
	key     table.Item
	// decoded is the entity's item; nil for a copy, a marker and an unknown item.
	decoded *expression.Item
	// entity and place identify the item's kind; entity is nil for an unknown item.
	entity *table.Entity
	place  table.Place
	values table.Values
}

// library stores each item and each content once.
type library struct {
	items     map[string]*stored
	contents  map[string]*content
	all       []*content
	recognize func(*stored)
	judge     func(*content)
}

func newLibrary(recognize func(*stored), judge func(*content)) *library {
	return &library{items: map[string]*stored{}, contents: map[string]*content{}, recognize: recognize, judge: judge}
}

// item returns the canonical item with these attributes.
func (l *library) item(t *table.Table, it table.Item) *stored {
	var text strings.Builder
	text.WriteString(t.Name)
	encode(&text, reflect.ValueOf(it))
	known := l.items[text.String()]
	if known != nil {
		return known
	}
	key := keyOf(t, it)
	s := &stored{id: len(l.items), address: address(t, key), table: t, item: it, key: key}
	l.recognize(s)
	l.items[text.String()] = s
	return s
}

func keyOf(t *table.Table, it table.Item) table.Item {
	key := table.Item{t.PK.Name: it[t.PK.Name]}
	if t.SK.Name != "" {
		key[t.SK.Name] = it[t.SK.Name]
	}
	return key
}

// address identifies a key of a table.
func address(t *table.Table, key map[string]types.AttributeValue) string {
	var out strings.Builder
	out.WriteString(t.Name)
	encode(&out, reflect.ValueOf(key))
	return out.String()
}

// content returns the canonical content with these items.
func (l *library) content(items []*stored) *content {
	slices.SortFunc(items, func(a, b *stored) int { return cmp.Compare(a.address, b.address) })
	key := make([]byte, 0, 4*len(items))
	for _, s := range items {
		key = append(key, byte(s.id>>24), byte(s.id>>16), byte(s.id>>8), byte(s.id))
	}
	if known := l.contents[string(key)]; known != nil {
		return known
	}
	c := &content{id: len(l.all), items: items, broken: map[*expression.Invariant]*breach{}}
	var decoded []*expression.Item
	for _, s := range items {
		if s.decoded != nil {
			decoded = append(decoded, s.decoded)
		}
	}
	c.state = expression.NewState(decoded)
	l.judge(c)
	l.contents[string(key)] = c
	l.all = append(l.all, c)
	return c
}

// with is the content after items at some addresses have changed; a nil item is a deleted one.
func (l *library) with(c *content, changes map[string]*stored) *content {
	items := make([]*stored, 0, len(c.items)+len(changes))
	for _, s := range c.items {
		if _, changed := changes[s.address]; !changed {
			items = append(items, s)
		}
	}
	for _, s := range changes {
		if s != nil {
			items = append(items, s)
		}
	}
	return l.content(items)
}

// get is the item at an address, or nil if there is none.
func (c *content) get(address string) *stored {
	i, found := slices.BinarySearchFunc(c.items, address, func(s *stored, a string) int { return cmp.Compare(s.address, a) })
	if !found {
		return nil
	}
	return c.items[i]
}
