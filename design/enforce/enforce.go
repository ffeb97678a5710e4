// Package enforce has a database refuse writes whose items the design of their table does not know:
//
//	db, err := monotable.Open("data", &monotable.Options{ItemRules: enforce.Attached()})
//
// A design is attached to its tables by the command monotable design attach. PutItem, UpdateItem, BatchWriteItem, TransactWriteItems and
// statements of PartiQL are held to it, by the item that they would leave; an item that is none of an entity's is refused with a
// ValidationException, which names the entity, the key or field, and what is wrong. Deletes, TTL, restores, imports and replication are not held
// to it, and tables without a design take any item. What is refused is what monotable conform finds in an item alone.
package enforce

import (
	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/designer/enforce"
)

// Attached are the rules of the designs that are attached to tables. A design holds from a second after it is attached, changed or detached.
// They are for one database.
func Attached() monotable.ItemRules { return enforce.New(enforce.Options{}) }
