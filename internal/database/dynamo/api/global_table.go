package api

// The shapes of global tables of version 2017.11.29.

// CreateGlobalTableInput makes a global table of tables of one name.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateGlobalTable.html
type CreateGlobalTableInput struct {
	GlobalTableName  *string   `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ReplicationGroup []Replica `required:"true"`
}

// CreateGlobalTableOutput shows the global table as it starts: CREATING.
type CreateGlobalTableOutput struct {
	GlobalTableDescription *GlobalTableDescription
}

// DescribeGlobalTableInput asks for a global table.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeGlobalTable.html
type DescribeGlobalTableInput struct {
	GlobalTableName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// DescribeGlobalTableOutput is the output of DescribeGlobalTable.
type DescribeGlobalTableOutput struct {
	GlobalTableDescription *GlobalTableDescription
}

// ListGlobalTablesInput asks for a page of global tables, those that have a replica in a Region.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListGlobalTables.html
type ListGlobalTablesInput struct {
	ExclusiveStartGlobalTableName *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	// Limit is 100 by default.
	Limit      *int64 `integer:"32" min:"1"`
	RegionName *string
}

// ListGlobalTablesOutput is one page.
type ListGlobalTablesOutput struct {
	GlobalTables                 []GlobalTable
	LastEvaluatedGlobalTableName *string
}

// UpdateGlobalTableInput adds and removes replicas.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateGlobalTable.html
type UpdateGlobalTableInput struct {
	GlobalTableName *string         `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ReplicaUpdates  []ReplicaUpdate `required:"true"`
}

// UpdateGlobalTableOutput shows the global table under change: UPDATING.
type UpdateGlobalTableOutput struct {
	GlobalTableDescription *GlobalTableDescription
}

// Replica names a replica.
type Replica struct {
	RegionName *string
}

// ReplicaUpdate is one change of a global table's replicas.
type ReplicaUpdate struct {
	Create *CreateReplicaAction
	Delete *DeleteReplicaAction
}

// CreateReplicaAction adds a replica.
type CreateReplicaAction struct {
	RegionName *string `required:"true"`
}

// DeleteReplicaAction removes a replica.
type DeleteReplicaAction struct {
	RegionName *string `required:"true"`
}

// GlobalTable names a global table and its replicas.
type GlobalTable struct {
	GlobalTableName  *string
	ReplicationGroup []Replica
}

// GlobalTableDescription is the state of a global table.
type GlobalTableDescription struct {
	ReplicationGroup []ReplicaDescription
	GlobalTableArn   *string
	CreationDateTime *Timestamp
	// GlobalTableStatus is CREATING, ACTIVE, DELETING or UPDATING.
	GlobalTableStatus *string
	GlobalTableName   *string
}

// DescribeGlobalTableSettingsInput asks for the capacity of all replicas.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeGlobalTableSettings.html
type DescribeGlobalTableSettingsInput struct {
	GlobalTableName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// DescribeGlobalTableSettingsOutput is the output of DescribeGlobalTableSettings.
type DescribeGlobalTableSettingsOutput struct {
	GlobalTableName *string
	ReplicaSettings []ReplicaSettingsDescription
}

// UpdateGlobalTableSettingsInput changes the capacity of all replicas.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateGlobalTableSettings.html
type UpdateGlobalTableSettingsInput struct {
	GlobalTableName                                              *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	GlobalTableBillingMode                                       *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	GlobalTableProvisionedWriteCapacityUnits                     *int64  `min:"1"`
	GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate *AutoScalingSettingsUpdate
	GlobalTableGlobalSecondaryIndexSettingsUpdate                []GlobalTableGlobalSecondaryIndexSettingsUpdate `min:"1" max:"20"`
	ReplicaSettingsUpdate                                        []ReplicaSettingsUpdate                         `min:"1" max:"50"`
}

// UpdateGlobalTableSettingsOutput shows the replicas under change.
type UpdateGlobalTableSettingsOutput struct {
	GlobalTableName *string
	ReplicaSettings []ReplicaSettingsDescription
}

// GlobalTableGlobalSecondaryIndexSettingsUpdate is the write capacity of an index in all replicas.
type GlobalTableGlobalSecondaryIndexSettingsUpdate struct {
	IndexName                                         *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedWriteCapacityUnits                     *int64  `min:"1"`
	ProvisionedWriteCapacityAutoScalingSettingsUpdate *AutoScalingSettingsUpdate
}

// ReplicaSettingsUpdate is the read capacity of one replica.
type ReplicaSettingsUpdate struct {
	RegionName                                              *string `required:"true"`
	ReplicaProvisionedReadCapacityUnits                     *int64  `min:"1"`
	ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate *AutoScalingSettingsUpdate
	ReplicaGlobalSecondaryIndexSettingsUpdate               []ReplicaGlobalSecondaryIndexSettingsUpdate `min:"1" max:"20"`
	ReplicaTableClass                                       *string                                     `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
}

// ReplicaGlobalSecondaryIndexSettingsUpdate is the read capacity of an index of one replica.
type ReplicaGlobalSecondaryIndexSettingsUpdate struct {
	IndexName                                        *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedReadCapacityUnits                     *int64  `min:"1"`
	ProvisionedReadCapacityAutoScalingSettingsUpdate *AutoScalingSettingsUpdate
}

// ReplicaSettingsDescription is the capacity of a replica.
type ReplicaSettingsDescription struct {
	RegionName                                         *string
	ReplicaStatus                                      *string
	ReplicaBillingModeSummary                          *BillingModeSummary
	ReplicaProvisionedReadCapacityUnits                *int64
	ReplicaProvisionedReadCapacityAutoScalingSettings  *AutoScalingSettingsDescription
	ReplicaProvisionedWriteCapacityUnits               *int64
	ReplicaProvisionedWriteCapacityAutoScalingSettings *AutoScalingSettingsDescription
	ReplicaGlobalSecondaryIndexSettings                []ReplicaGlobalSecondaryIndexSettingsDescription
	ReplicaTableClassSummary                           *TableClassSummary
}

// ReplicaGlobalSecondaryIndexSettingsDescription is the capacity of an index of a replica.
type ReplicaGlobalSecondaryIndexSettingsDescription struct {
	IndexName                                   *string
	IndexStatus                                 *string
	ProvisionedReadCapacityUnits                *int64
	ProvisionedReadCapacityAutoScalingSettings  *AutoScalingSettingsDescription
	ProvisionedWriteCapacityUnits               *int64
	ProvisionedWriteCapacityAutoScalingSettings *AutoScalingSettingsDescription
}
