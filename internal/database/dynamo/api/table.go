package api

// CreateTableInput makes a table with its indexes.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html
type CreateTableInput struct {
	// AttributeDefinitions has the key attributes of the table and of its indexes, and no others.
	AttributeDefinitions []AttributeDefinition
	TableName            *string            `required:"true" min:"1" max:"1024" name:"table"`
	KeySchema            []KeySchemaElement `min:"1" max:"2"`
	// LocalSecondaryIndexes are at most 5, GlobalSecondaryIndexes at most 20.
	LocalSecondaryIndexes  []LocalSecondaryIndex
	GlobalSecondaryIndexes []GlobalSecondaryIndex
	// BillingMode is PROVISIONED by default, and then ProvisionedThroughput is required.
	BillingMode               *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput     *ProvisionedThroughput
	StreamSpecification       *StreamSpecification
	SSESpecification          *SSESpecification
	Tags                      []Tag
	TableClass                *string
	DeletionProtectionEnabled *bool
	WarmThroughput            *WarmThroughput
	ResourcePolicy            *string
	OnDemandThroughput        *OnDemandThroughput

	GlobalTableSourceArn               *string `min:"1" max:"1024" unsupported:"global tables of several accounts"`
	GlobalTableSettingsReplicationMode *string `enum:"ENABLED|DISABLED|ENABLED_WITH_OVERRIDES" unsupported:"global tables of several accounts"`
	VectorIndexes                      []VectorIndex
}

// CreateTableOutput shows the table as it starts: CREATING.
type CreateTableOutput struct {
	TableDescription *TableDescription
}

// DescribeTableInput asks for a table's definition and state.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
type DescribeTableInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
}

// DescribeTableOutput is the output of DescribeTable.
type DescribeTableOutput struct {
	Table *TableDescription
}

// UpdateTableInput changes one aspect of a table: billing, streams, one index, class, or protection.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
type UpdateTableInput struct {
	// AttributeDefinitions are merged into those that the table has.
	AttributeDefinitions  []AttributeDefinition
	TableName             *string `required:"true" min:"1" max:"1024" name:"table"`
	BillingMode           *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput *ProvisionedThroughput
	// GlobalSecondaryIndexUpdates creates or deletes at most one index.
	GlobalSecondaryIndexUpdates []GlobalSecondaryIndexUpdate
	StreamSpecification         *StreamSpecification
	SSESpecification            *SSESpecification
	ReplicaUpdates              []ReplicationGroupUpdate `min:"1"`
	TableClass                  *string
	DeletionProtectionEnabled   *bool
	MultiRegionConsistency      *string                         `enum:"EVENTUAL|STRONG"`
	GlobalTableWitnessUpdates   []GlobalTableWitnessGroupUpdate `min:"1" max:"1"`
	OnDemandThroughput          *OnDemandThroughput
	WarmThroughput              *WarmThroughput

	GlobalTableSettingsReplicationMode *string `enum:"ENABLED|DISABLED|ENABLED_WITH_OVERRIDES" unsupported:"global tables of several accounts"`
	DisassociationProtectionEnabled    *bool
	VectorIndexUpdates                 []VectorIndexUpdate
}

// UpdateTableOutput shows the table under change: UPDATING.
type UpdateTableOutput struct {
	TableDescription *TableDescription
}

// DeleteTableInput removes a table with its items and indexes.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteTable.html
type DeleteTableInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
}

// DeleteTableOutput shows the table as it goes: DELETING.
type DeleteTableOutput struct {
	TableDescription *TableDescription
}

// ListTablesInput asks for a page of table names, in bytewise order.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTables.html
type ListTablesInput struct {
	// ExclusiveStartTableName need not be a table's name.
	ExclusiveStartTableName *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	// Limit is 100 by default.
	Limit *int64 `integer:"32" min:"1" max:"100"`
}

// ListTablesOutput is one page; TableNames is empty rather than absent.
type ListTablesOutput struct {
	TableNames []string
	// LastEvaluatedTableName is absent on the last page.
	LastEvaluatedTableName *string
}

// AttributeDefinition gives the type of a key attribute.
type AttributeDefinition struct {
	AttributeName *string `required:"true" min:"1" max:"255"`
	AttributeType *string `required:"true" enum:"B|N|S"`
}

// KeySchemaElement is one attribute of a key: HASH for the partition key, RANGE for the sort key. A table
// and a local index have at most one of each, a global index up to four of each.
type KeySchemaElement struct {
	AttributeName *string `required:"true" min:"1" max:"255"`
	KeyType       *string `required:"true" enum:"HASH|RANGE"`
}
