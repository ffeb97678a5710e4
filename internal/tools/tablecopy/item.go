package tablecopy

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

// primary is the primary key of an item.
func primary(schema []types.KeySchemaElement, item Item) Item {
	out := Item{}
	for _, k := range schema {
		name := aws.ToString(k.AttributeName)
		out[name] = item[name]
	}
	return out
}

// like returns the key attributes of an item.
func like(key, item Item) Item {
	out := Item{}
	for name := range key {
		out[name] = item[name]
	}
	return out
}

// identity returns a key as text; equal keys have equal texts.
func identity(key Item) string { return sdk.Item(key).String() }
