package schema

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

// Attributes converts an item of the SDK to the database's own type.
func Attributes(it Item) attr.Item { return sdk.Item(it) }

// attributesOf are some of an item's attributes.
func attributesOf(it Item, names []string) attr.Item {
	some := make(Item, len(names))
	for _, name := range names {
		if v, ok := it[name]; ok {
			some[name] = v
		}
	}
	return Attributes(some)
}
