package api

// Projection says which attributes of an item an index carries: all, the keys of index and table, or these
// and NonKeyAttributes (INCLUDE only; over all indexes of a table at most 100 names).
type Projection struct {
	ProjectionType   *string  `enum:"ALL|INCLUDE|KEYS_ONLY"`
	NonKeyAttributes []string `min:"1" max:"20" each_min:"1" each_max:"255"`
}

// LocalSecondaryIndex has the table's partition key and another sort key; it is created with the table.
type LocalSecondaryIndex struct {
	IndexName  *string            `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema  []KeySchemaElement `required:"true" min:"1" max:"2"`
	Projection *Projection        `required:"true"`
}

// LocalSecondaryIndexDescription is the state of a local secondary index.
type LocalSecondaryIndexDescription struct {
	IndexName      *string
	KeySchema      []KeySchemaElement
	Projection     *Projection
	IndexSizeBytes *int64
	ItemCount      *int64
	IndexArn       *string
}

// GlobalSecondaryIndex has keys of its own: up to four attributes for the partition key and four for the
// sort key.
type GlobalSecondaryIndex struct {
	IndexName             *string            `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema             []KeySchemaElement `required:"true" min:"1"`
	Projection            *Projection        `required:"true"`
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// GlobalSecondaryIndexDescription is the state of a global secondary index.
type GlobalSecondaryIndexDescription struct {
	IndexName  *string
	KeySchema  []KeySchemaElement
	Projection *Projection
	// IndexStatus is CREATING, UPDATING, DELETING or ACTIVE.
	IndexStatus *string
	// Backfilling is present while the index is being created.
	Backfilling *bool
	// ProvisionedThroughput is always present, with zeros for an on-demand table.
	ProvisionedThroughput *ProvisionedThroughputDescription
	IndexSizeBytes        *int64
	ItemCount             *int64
	IndexArn              *string
	OnDemandThroughput    *OnDemandThroughput
	// WarmThroughput is always present.
	WarmThroughput *GlobalSecondaryIndexWarmThroughputDescription
}

// GlobalSecondaryIndexWarmThroughputDescription is the throughput an index serves at once. Its status has
// the values of IndexStatus.
type GlobalSecondaryIndexWarmThroughputDescription struct {
	ReadUnitsPerSecond  *int64
	WriteUnitsPerSecond *int64
	Status              *string
}

// GlobalSecondaryIndexUpdate is one change of a table's global indexes: exactly one of its members is
// present.
type GlobalSecondaryIndexUpdate struct {
	Update *UpdateGlobalSecondaryIndexAction
	Create *CreateGlobalSecondaryIndexAction
	Delete *DeleteGlobalSecondaryIndexAction
}

// UpdateGlobalSecondaryIndexAction changes an index's throughput.
type UpdateGlobalSecondaryIndexAction struct {
	IndexName             *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// CreateGlobalSecondaryIndexAction adds an index to a table; it is filled while writes continue.
type CreateGlobalSecondaryIndexAction struct {
	IndexName             *string            `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema             []KeySchemaElement `required:"true" min:"1"`
	Projection            *Projection        `required:"true"`
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// DeleteGlobalSecondaryIndexAction removes an index from a table.
type DeleteGlobalSecondaryIndexAction struct {
	IndexName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}
