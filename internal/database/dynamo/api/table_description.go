package api

// TableDescription is a table's definition and state.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TableDescription.html
type TableDescription struct {
	AttributeDefinitions []AttributeDefinition
	TableName            *string
	KeySchema            []KeySchemaElement
	// TableStatus is CREATING, UPDATING, DELETING, ACTIVE, INACCESSIBLE_ENCRYPTION_CREDENTIALS, ARCHIVING,
	// ARCHIVED or REPLICATION_NOT_AUTHORIZED.
	TableStatus      *string
	CreationDateTime *Timestamp
	// ProvisionedThroughput is always present, with zeros for an on-demand table.
	ProvisionedThroughput *ProvisionedThroughputDescription
	TableSizeBytes        *int64
	ItemCount             *int64
	TableArn              *string
	// TableId is a UUID: a table recreated under the same name has another.
	TableId *string //nolint:revive // the API spells it so
	// BillingModeSummary is present once the table has been on demand.
	BillingModeSummary     *BillingModeSummary
	LocalSecondaryIndexes  []LocalSecondaryIndexDescription
	GlobalSecondaryIndexes []GlobalSecondaryIndexDescription
	StreamSpecification    *StreamSpecification
	// LatestStreamLabel is the stream's creation time in ISO 8601, the end of LatestStreamArn.
	LatestStreamLabel                  *string
	LatestStreamArn                    *string
	GlobalTableVersion                 *string
	Replicas                           []ReplicaDescription
	GlobalTableWitnesses               []GlobalTableWitnessDescription
	GlobalTableSettingsReplicationMode *string
	RestoreSummary                     *RestoreSummary
	SSEDescription                     *SSEDescription
	ArchivalSummary                    *ArchivalSummary
	TableClassSummary                  *TableClassSummary
	// DeletionProtectionEnabled is always present.
	DeletionProtectionEnabled *bool
	OnDemandThroughput        *OnDemandThroughput
	// WarmThroughput is always present: Terraform waits for its status to be ACTIVE.
	WarmThroughput                  *TableWarmThroughputDescription
	MultiRegionConsistency          *string
	DisassociationProtectionEnabled *bool
	VectorIndexes                   []VectorIndexDescription
}

// ProvisionedThroughputDescription is the throughput of a table or index and its changes.
type ProvisionedThroughputDescription struct {
	LastIncreaseDateTime *Timestamp
	LastDecreaseDateTime *Timestamp
	// NumberOfDecreasesToday counts by UTC days.
	NumberOfDecreasesToday *int64
	ReadCapacityUnits      *int64
	WriteCapacityUnits     *int64
}

// BillingModeSummary says how a table is billed.
type BillingModeSummary struct {
	BillingMode                       *string
	LastUpdateToPayPerRequestDateTime *Timestamp
}

// TableWarmThroughputDescription is the throughput a table serves at once. Its status has the values of
// TableStatus.
type TableWarmThroughputDescription struct {
	ReadUnitsPerSecond  *int64
	WriteUnitsPerSecond *int64
	Status              *string
}

// TableClassSummary is a table's storage class.
type TableClassSummary struct {
	TableClass         *string
	LastUpdateDateTime *Timestamp
}

// SSEDescription is a table's encryption at rest with a key of AWS KMS; tables under the service's own key
// have none.
type SSEDescription struct {
	// Status is ENABLING, ENABLED, DISABLING, DISABLED or UPDATING.
	Status                         *string
	SSEType                        *string
	KMSMasterKeyArn                *string
	InaccessibleEncryptionDateTime *Timestamp
}

// RestoreSummary is the backup or table from which a table was restored.
type RestoreSummary struct {
	SourceBackupArn   *string
	SourceTableArn    *string
	RestoreDateTime   *Timestamp
	RestoreInProgress *bool
}

// ArchivalSummary is why and where a table was archived.
type ArchivalSummary struct {
	ArchivalDateTime  *Timestamp
	ArchivalReason    *string
	ArchivalBackupArn *string
}
