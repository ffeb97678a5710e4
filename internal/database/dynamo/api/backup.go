package api

// CreateBackupInput keeps a table as it is now.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
type CreateBackupInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
	// BackupName need not be unique.
	BackupName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// CreateBackupOutput shows the backup as it starts: CREATING.
type CreateBackupOutput struct {
	BackupDetails *BackupDetails
}

// DescribeBackupInput asks what a backup is of.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeBackup.html
type DescribeBackupInput struct {
	BackupArn *string `required:"true" max:"1024"`
}

// DescribeBackupOutput is the output of DescribeBackup.
type DescribeBackupOutput struct {
	BackupDescription *BackupDescription
}

// ListBackupsInput asks for a page of backups, the oldest first. The members narrow the list down together.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
type ListBackupsInput struct {
	// TableName need not be a table's that is still there.
	TableName *string `min:"1" max:"1024" name:"table"`
	// Limit is 100 by default.
	Limit *int64 `integer:"32" min:"1" max:"100"`
	// The list has the backups with TimeRangeLowerBound <= creation < TimeRangeUpperBound.
	TimeRangeLowerBound     *Timestamp
	TimeRangeUpperBound     *Timestamp
	ExclusiveStartBackupArn *string `max:"1024"`
	// BackupType is USER by default; ALL are USER and SYSTEM.
	BackupType *string `enum:"USER|SYSTEM|AWS_BACKUP|ALL"`
}

// ListBackupsOutput is one page; BackupSummaries is empty rather than absent.
type ListBackupsOutput struct {
	BackupSummaries []BackupSummary
	// LastEvaluatedBackupArn is absent on the last page.
	LastEvaluatedBackupArn *string
}

// DeleteBackupInput removes a backup of type USER.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteBackup.html
type DeleteBackupInput struct {
	BackupArn *string `required:"true" max:"1024"`
}

// DeleteBackupOutput shows the backup as it goes: DELETED.
type DeleteBackupOutput struct {
	BackupDescription *BackupDescription
}

// RestoreTableFromBackupInput makes a table of what a backup holds. An override of indexes names those of the
// backup's that the table is to have.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
type RestoreTableFromBackupInput struct {
	TargetTableName               *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	BackupArn                     *string `required:"true" max:"1024"`
	BillingModeOverride           *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	GlobalSecondaryIndexOverride  []GlobalSecondaryIndex
	LocalSecondaryIndexOverride   []LocalSecondaryIndex
	ProvisionedThroughputOverride *ProvisionedThroughput
	OnDemandThroughputOverride    *OnDemandThroughput
	SSESpecificationOverride      *SSESpecification
	VectorIndexOverride           []VectorIndex
}

// RestoreTableFromBackupOutput shows the table as it starts: CREATING.
type RestoreTableFromBackupOutput struct {
	TableDescription *TableDescription
}

// BackupDescription is a backup and its source table as of that time.
type BackupDescription struct {
	BackupDetails             *BackupDetails
	SourceTableDetails        *SourceTableDetails
	SourceTableFeatureDetails *SourceTableFeatureDetails
}

// BackupDetails is a backup by itself.
type BackupDetails struct {
	BackupArn       *string
	BackupName      *string
	BackupSizeBytes *int64
	// BackupStatus is CREATING, AVAILABLE or DELETED.
	BackupStatus *string
	// BackupType is USER, or SYSTEM for the backup of a deleted table.
	BackupType             *string
	BackupCreationDateTime *Timestamp
	// BackupExpiryDateTime is present for SYSTEM only.
	BackupExpiryDateTime *Timestamp
}

// BackupSummary is a backup in a list.
type BackupSummary struct {
	TableName              *string
	TableId                *string //nolint:revive // the API spells it so
	TableArn               *string
	BackupArn              *string
	BackupName             *string
	BackupCreationDateTime *Timestamp
	BackupExpiryDateTime   *Timestamp
	BackupStatus           *string
	BackupType             *string
	BackupSizeBytes        *int64
}

// SourceTableDetails is the source table of a backup.
type SourceTableDetails struct {
	TableName             *string
	TableId               *string //nolint:revive // the API spells it so
	TableArn              *string
	TableSizeBytes        *int64
	KeySchema             []KeySchemaElement
	TableCreationDateTime *Timestamp
	// ProvisionedThroughput has zeros for an on-demand table.
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	ItemCount             *int64
	BillingMode           *string
}

// SourceTableFeatureDetails are the features of a backup's source table.
type SourceTableFeatureDetails struct {
	LocalSecondaryIndexes  []LocalSecondaryIndexInfo
	GlobalSecondaryIndexes []GlobalSecondaryIndexInfo
	StreamDescription      *StreamSpecification
	TimeToLiveDescription  *TimeToLiveDescription
	SSEDescription         *SSEDescription
	VectorIndexes          []VectorIndexInfo
}

// LocalSecondaryIndexInfo is a local index of a backup's source table.
type LocalSecondaryIndexInfo struct {
	IndexName  *string
	KeySchema  []KeySchemaElement
	Projection *Projection
}

// GlobalSecondaryIndexInfo is a global index of a backup's source table.
type GlobalSecondaryIndexInfo struct {
	IndexName             *string
	KeySchema             []KeySchemaElement
	Projection            *Projection
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
}

// VectorIndexInfo is a vector index of a backup's source table.
type VectorIndexInfo struct {
	IndexName        *string
	VectorAttribute  *VectorAttributeDefinition
	SearchSchema     []SearchSchemaElement
	Projection       *Projection
	Dimensions       *int64
	DistanceFunction *string
}
