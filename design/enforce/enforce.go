// Package enforce makes a database reject writes of items that do not match their table's design:
//
//	db, err := monotable.Open("data", &monotable.Options{ItemRules: enforce.Attached()})
//
// A design is attached to its tables by the command monotable design attach. PutItem, UpdateItem, BatchWriteItem,
// TransactWriteItems and PartiQL statements are checked by the item that they would store. An item that matches no entity is
// rejected with a ValidationException that names the entity, the key or field, and the fault. Deletes, TTL, restores, imports and
// replication are not checked, and tables without a design accept any item. The rules are those that monotable conform applies to
// a single item.
package enforce

import (
	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/designer/enforce"
)

// Attached returns the rules of attached designs. Attaching, changing or detaching a design takes effect within a second. The
// rules are for one database.
func Attached() monotable.ItemRules { return enforce.New(enforce.Options{}) }
