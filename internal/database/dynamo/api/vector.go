package api

// The shapes of vector indexes. This server has none yet: it knows the shapes so that a request of another
// type is a SerializationException, and refuses what they ask for.

// VectorIndex is an index of a vector attribute, searched by nearness.
type VectorIndex struct {
	IndexName        *string                    `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	VectorAttribute  *VectorAttributeDefinition `required:"true"`
	SearchSchema     []SearchSchemaElement
	Projection       *Projection `required:"true"`
	Dimensions       *int64      `required:"true" min:"1"`
	DistanceFunction *string     `required:"true" enum:"COSINE|EUCLIDEAN|DOT_PRODUCT"`
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
