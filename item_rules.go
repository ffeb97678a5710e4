package monotable

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
)

// ItemRules say which items may be written to tables. Package design/enforce has those of designs. They are called by any number of goroutines at
// once.
type ItemRules interface {
	// Of returns the rule of a table, nil if any item may be written. It is called for each request that puts or updates an
	// item. client calls this database, in the Region of the table. An error makes the client retry.
	//
	// The rule is called with the item that would result from the request, while the item is locked: it must be fast, and must
	// not call the database. Its error rejects the request with a ValidationException with the same message.
	Of(ctx context.Context, client *dynamodb.Client, table string) (rule func(item map[string]types.AttributeValue) error, err error)
}

// itemRules are the rules for the engine of a Region; nil if any item may be written.
func (db *DB) itemRules(rules ItemRules, region string) engine.ItemRules {
	if rules == nil {
		return nil
	}
	return func(ctx context.Context, table string) (engine.ItemRule, error) {
		// db has its server when the first request comes.
		client := db.Client(func(o *dynamodb.Options) {
			o.Region = region
			o.Credentials = credentials.NewStaticCredentialsProvider("monotable", "monotable", "")
		})
		rule, err := rules.Of(ctx, client, table)
		if rule == nil || err != nil {
			return nil, err
		}
		return func(it attr.Item) error { return rule(attributes(it)) }, nil
	}
}
