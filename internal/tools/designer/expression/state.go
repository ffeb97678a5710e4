package expression

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

// Item is a stored item, decoded to its entity's fields.
type Item struct {
	Entity *design.Entity
	// Key identifies the item: two states have the same item if the keys are equal.
	Key    string
	Values Values
}

// State is everything that is stored.
type State struct {
	items map[*design.Entity][]*Item
	keys  map[string]*Item
}

// NewState returns the state with these items.
func NewState(items []*Item) *State {
	s := &State{items: map[*design.Entity][]*Item{}, keys: make(map[string]*Item, len(items))}
	for _, it := range items {
		s.items[it.Entity] = append(s.items[it.Entity], it)
		s.keys[it.Key] = it
	}
	return s
}

// Of returns the items of an entity in the order in which they were passed.
func (s *State) Of(e *design.Entity) []*Item { return s.items[e] }

// Get returns the item with a key, or nil. A nil state has no items.
func (s *State) Get(key string) *Item {
	if s == nil {
		return nil
	}
	return s.keys[key]
}

// belong reports whether two items are related by their fields.
func belong(a, b Values, by []design.Join) bool {
	return !slices.ContainsFunc(by, func(j design.Join) bool {
		order, same := orderOf(a[j.A], b[j.B])
		return !same || order != 0
	})
}

// valuesOf returns the values of items.
func valuesOf(items []*Item) []Values {
	out := make([]Values, len(items))
	for i, it := range items {
		out[i] = it.Values
	}
	return out
}

// same reports whether two values are equal, or both absent.
func same(a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return sdk.Value(a).Equal(sdk.Value(b))
}
