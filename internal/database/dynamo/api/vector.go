package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// SearchVectorsInput finds the items of a vector index whose vectors are nearest to one.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SearchVectors.html
type SearchVectorsInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
	IndexName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	// SearchVector has a number for each dimension of the index.
	SearchVector []attr.Value `required:"true"`
	// TopK is 1 to 100.
	TopK *int64 `required:"true" integer:"32" min:"1"`
	// SearchConditionExpression has an equality of the partition key, if the index has one, and conditions on inline filters.
	SearchConditionExpression *string
	ProjectionExpression      *string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attr.Item
	ReturnConsumedCapacity    *string `enum:"INDEXES|TOTAL|NONE"`
}

// SearchVectorsOutput has the nearest items, the nearest first.
type SearchVectorsOutput struct {
	SearchResults    []SearchResultItem
	ConsumedCapacity *VectorCapacity
}

// SearchResultItem is one item with its distance, or with DOT_PRODUCT its similarity.
type SearchResultItem struct {
	Item  itemenc.Item
	Score *float64
}

// VectorIndex is an index of a vector attribute, searched by nearness.
type VectorIndex struct {
	IndexName        *string                    `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	VectorAttribute  *VectorAttributeDefinition `required:"true"`
	SearchSchema     []SearchSchemaElement      `min:"1"`
	Projection       *Projection                `required:"true"`
	Dimensions       *int64                     `required:"true" min:"1"`
	DistanceFunction *string                    `required:"true" enum:"COSINE|EUCLIDEAN|DOT_PRODUCT"`
}

// VectorAttributeDefinition names the attribute that holds the vector, a list of numbers.
type VectorAttributeDefinition struct {
	AttributeName *string `required:"true" min:"1" max:"255"`
}

// SearchSchemaElement is an attribute that a search is narrowed by: a partition key (HASH) or an inline
// filter.
type SearchSchemaElement struct {
	AttributeName           *string `required:"true" min:"1" max:"255"`
	SearchSchemaElementType *string `required:"true" enum:"HASH|INLINE_FILTER"`
}

// VectorIndexUpdate creates or deletes a vector index.
type VectorIndexUpdate struct {
	Create *VectorIndex
	Delete *DeleteVectorIndexAction
}

// DeleteVectorIndexAction removes a vector index from a table.
type DeleteVectorIndexAction struct {
	IndexName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// VectorIndexDescription is the state of a vector index.
type VectorIndexDescription struct {
	IndexName        *string
	SearchSchema     []SearchSchemaElement
	Projection       *Projection
	VectorAttribute  *VectorAttributeDefinition
	Dimensions       *int64
	DistanceFunction *string
	IndexStatus      *string
	Backfilling      *bool
	IndexSizeBytes   *int64
	ItemCount        *int64
	IndexArn         *string
}

// VectorCapacity is what an operation cost in a vector index, in bytes.
type VectorCapacity struct {
	VectorSearchRequestBytes *float64
	VectorWriteRequestBytes  *float64
}
