package api

// AttributeDefinition XXX
type AttributeDefinition struct {
	AttributeName *string `required:"true" min:"1" max:"255"`
	AttributeType *string `required:"true" enum:"S|N|B"`
}

// KeySchemaElement XXX
type KeySchemaElement struct {
	AttributeName *string `required:"true" min:"1" max:"255"`
	KeyType       *string `required:"true" enum:"HASH|RANGE"`
}

// Projection XXX
type Projection struct {
	ProjectionType   *string  `enum:"ALL|KEYS_ONLY|INCLUDE"`
	NonKeyAttributes []string `min:"1" max:"20" each_min:"1" each_max:"255"`
}

// LocalSecondaryIndex XXX
type LocalSecondaryIndex struct {
	IndexName  *string            `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema  []KeySchemaElement `required:"true" min:"1"`
	Projection *Projection        `required:"true"`
}

// ProvisionedThroughput XXX
type ProvisionedThroughput struct {
	ReadCapacityUnits  *int64 `required:"true" min:"1"`
	WriteCapacityUnits *int64 `required:"true" min:"1"`
}

// OnDemandThroughput XXX
type OnDemandThroughput struct {
	MaxReadRequestUnits  *int64
	MaxWriteRequestUnits *int64
}

// WarmThroughput XXX
type WarmThroughput struct {
	ReadUnitsPerSecond  *int64
	WriteUnitsPerSecond *int64
}

// GlobalSecondaryIndex XXX
type GlobalSecondaryIndex struct {
	IndexName             *string            `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema             []KeySchemaElement `required:"true" min:"1"`
	Projection            *Projection        `required:"true"`
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// StreamSpecification XXX
type StreamSpecification struct {
	StreamEnabled  *bool   `required:"true"`
	StreamViewType *string `enum:"NEW_IMAGE|OLD_IMAGE|NEW_AND_OLD_IMAGES|KEYS_ONLY"`
}

// SSESpecification XXX
type SSESpecification struct {
	Enabled        *bool
	SSEType        *string `enum:"AES256|KMS"`
	KMSMasterKeyId *string
}

// Tag XXX
type Tag struct {
	Key   *string `required:"true" min:"1" max:"128"`
	Value *string `required:"true" min:"0" max:"256"`
}

// ProvisionedThroughputDescription XXX
type ProvisionedThroughputDescription struct {
	LastIncreaseDateTime   *Timestamp
	LastDecreaseDateTime   *Timestamp
	NumberOfDecreasesToday *int64 `min:"1"`
	ReadCapacityUnits      *int64 `min:"0"`
	WriteCapacityUnits     *int64 `min:"0"`
}

// BillingModeSummary XXX
type BillingModeSummary struct {
	BillingMode                       *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	LastUpdateToPayPerRequestDateTime *Timestamp
}

// LocalSecondaryIndexDescription XXX
type LocalSecondaryIndexDescription struct {
	IndexName      *string            `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema      []KeySchemaElement `min:"1"`
	Projection     *Projection
	IndexSizeBytes *int64
	ItemCount      *int64
	IndexArn       *string
}

// GlobalSecondaryIndexWarmThroughputDescription XXX
type GlobalSecondaryIndexWarmThroughputDescription struct {
	ReadUnitsPerSecond  *int64  `min:"1"`
	WriteUnitsPerSecond *int64  `min:"1"`
	Status              *string `enum:"CREATING|UPDATING|DELETING|ACTIVE"`
}

// GlobalSecondaryIndexDescription XXX
type GlobalSecondaryIndexDescription struct {
	IndexName             *string            `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema             []KeySchemaElement `min:"1"`
	Projection            *Projection
	IndexStatus           *string `enum:"CREATING|UPDATING|DELETING|ACTIVE"`
	Backfilling           *bool
	ProvisionedThroughput *ProvisionedThroughputDescription
	IndexSizeBytes        *int64
	ItemCount             *int64
	IndexArn              *string
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *GlobalSecondaryIndexWarmThroughputDescription
}

// ProvisionedThroughputOverride XXX
type ProvisionedThroughputOverride struct {
	ReadCapacityUnits *int64 `min:"1"`
}

// OnDemandThroughputOverride XXX
type OnDemandThroughputOverride struct {
	MaxReadRequestUnits *int64
}

// TableWarmThroughputDescription XXX
type TableWarmThroughputDescription struct {
	ReadUnitsPerSecond  *int64  `min:"1"`
	WriteUnitsPerSecond *int64  `min:"1"`
	Status              *string `enum:"CREATING|UPDATING|DELETING|ACTIVE|INACCESSIBLE_ENCRYPTION_CREDENTIALS|ARCHIVING|ARCHIVED|REPLICATION_NOT_AUTHORIZED"`
}

// ReplicaGlobalSecondaryIndexDescription XXX
type ReplicaGlobalSecondaryIndexDescription struct {
	IndexName                     *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
	WarmThroughput                *GlobalSecondaryIndexWarmThroughputDescription
}

// TableClassSummary XXX
type TableClassSummary struct {
	TableClass         *string `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
	LastUpdateDateTime *Timestamp
}

// ReplicaDescription XXX
type ReplicaDescription struct {
	RegionName                         *string
	ReplicaStatus                      *string `enum:"CREATING|CREATION_FAILED|UPDATING|DELETING|ACTIVE|REGION_DISABLED|INACCESSIBLE_ENCRYPTION_CREDENTIALS|ARCHIVING|ARCHIVED|REPLICATION_NOT_AUTHORIZED"`
	ReplicaArn                         *string
	ReplicaStatusDescription           *string
	ReplicaStatusPercentProgress       *string
	KMSMasterKeyId                     *string
	ProvisionedThroughputOverride      *ProvisionedThroughputOverride
	OnDemandThroughputOverride         *OnDemandThroughputOverride
	WarmThroughput                     *TableWarmThroughputDescription
	GlobalSecondaryIndexes             []ReplicaGlobalSecondaryIndexDescription
	ReplicaInaccessibleDateTime        *Timestamp
	ReplicaTableClassSummary           *TableClassSummary
	GlobalTableSettingsReplicationMode *string `enum:"ENABLED|DISABLED|ENABLED_WITH_OVERRIDES"`
}

// GlobalTableWitnessDescription XXX
type GlobalTableWitnessDescription struct {
	RegionName    *string
	WitnessStatus *string `enum:"CREATING|DELETING|ACTIVE"`
}

// RestoreSummary XXX
type RestoreSummary struct {
	SourceBackupArn   *string    `min:"37" max:"1024"`
	SourceTableArn    *string    `min:"1" max:"1024"`
	RestoreDateTime   *Timestamp `required:"true"`
	RestoreInProgress *bool      `required:"true"`
}

// SSEDescription XXX
type SSEDescription struct {
	Status                         *string `enum:"ENABLING|ENABLED|DISABLING|DISABLED|UPDATING"`
	SSEType                        *string `enum:"AES256|KMS"`
	KMSMasterKeyArn                *string
	InaccessibleEncryptionDateTime *Timestamp
}

// ArchivalSummary XXX
type ArchivalSummary struct {
	ArchivalDateTime  *Timestamp
	ArchivalReason    *string
	ArchivalBackupArn *string `min:"37" max:"1024"`
}

// TableDescription XXX
type TableDescription struct {
	AttributeDefinitions               []AttributeDefinition
	TableName                          *string            `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema                          []KeySchemaElement `min:"1"`
	TableStatus                        *string            `enum:"CREATING|UPDATING|DELETING|ACTIVE|INACCESSIBLE_ENCRYPTION_CREDENTIALS|ARCHIVING|ARCHIVED|REPLICATION_NOT_AUTHORIZED"`
	CreationDateTime                   *Timestamp
	ProvisionedThroughput              *ProvisionedThroughputDescription
	TableSizeBytes                     *int64
	ItemCount                          *int64
	TableArn                           *string
	TableId                            *string `pattern:"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`
	BillingModeSummary                 *BillingModeSummary
	LocalSecondaryIndexes              []LocalSecondaryIndexDescription
	GlobalSecondaryIndexes             []GlobalSecondaryIndexDescription
	StreamSpecification                *StreamSpecification
	LatestStreamLabel                  *string
	LatestStreamArn                    *string `min:"37" max:"1024"`
	GlobalTableVersion                 *string
	Replicas                           []ReplicaDescription
	GlobalTableWitnesses               []GlobalTableWitnessDescription
	GlobalTableSettingsReplicationMode *string `enum:"ENABLED|DISABLED|ENABLED_WITH_OVERRIDES"`
	RestoreSummary                     *RestoreSummary
	SSEDescription                     *SSEDescription
	ArchivalSummary                    *ArchivalSummary
	TableClassSummary                  *TableClassSummary
	DeletionProtectionEnabled          *bool
	OnDemandThroughput                 *OnDemandThroughput
	WarmThroughput                     *TableWarmThroughputDescription
	MultiRegionConsistency             *string `enum:"EVENTUAL|STRONG"`
}

// UpdateGlobalSecondaryIndexAction XXX
type UpdateGlobalSecondaryIndexAction struct {
	IndexName             *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// CreateGlobalSecondaryIndexAction XXX
type CreateGlobalSecondaryIndexAction struct {
	IndexName             *string            `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	KeySchema             []KeySchemaElement `required:"true" min:"1"`
	Projection            *Projection        `required:"true"`
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// DeleteGlobalSecondaryIndexAction XXX
type DeleteGlobalSecondaryIndexAction struct {
	IndexName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// GlobalSecondaryIndexUpdate XXX
type GlobalSecondaryIndexUpdate struct {
	Update *UpdateGlobalSecondaryIndexAction
	Create *CreateGlobalSecondaryIndexAction
	Delete *DeleteGlobalSecondaryIndexAction
}

// ReplicaGlobalSecondaryIndex XXX
type ReplicaGlobalSecondaryIndex struct {
	IndexName                     *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
}

// CreateReplicationGroupMemberAction XXX
type CreateReplicationGroupMemberAction struct {
	RegionName                    *string `required:"true"`
	KMSMasterKeyId                *string
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
	GlobalSecondaryIndexes        []ReplicaGlobalSecondaryIndex `min:"1"`
	TableClassOverride            *string                       `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
}

// UpdateReplicationGroupMemberAction XXX
type UpdateReplicationGroupMemberAction struct {
	RegionName                    *string `required:"true"`
	KMSMasterKeyId                *string
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
	GlobalSecondaryIndexes        []ReplicaGlobalSecondaryIndex `min:"1"`
	TableClassOverride            *string                       `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
}

// DeleteReplicationGroupMemberAction XXX
type DeleteReplicationGroupMemberAction struct {
	RegionName *string `required:"true"`
}

// ReplicationGroupUpdate XXX
type ReplicationGroupUpdate struct {
	Create *CreateReplicationGroupMemberAction
	Update *UpdateReplicationGroupMemberAction
	Delete *DeleteReplicationGroupMemberAction
}

// CreateGlobalTableWitnessGroupMemberAction XXX
type CreateGlobalTableWitnessGroupMemberAction struct {
	RegionName *string `required:"true"`
}

// DeleteGlobalTableWitnessGroupMemberAction XXX
type DeleteGlobalTableWitnessGroupMemberAction struct {
	RegionName *string `required:"true"`
}

// GlobalTableWitnessGroupUpdate XXX
type GlobalTableWitnessGroupUpdate struct {
	Create *CreateGlobalTableWitnessGroupMemberAction
	Delete *DeleteGlobalTableWitnessGroupMemberAction
}

// TimeToLiveSpecification XXX
type TimeToLiveSpecification struct {
	Enabled       *bool   `required:"true"`
	AttributeName *string `required:"true" min:"1" max:"255"`
}

// TimeToLiveDescription XXX
type TimeToLiveDescription struct {
	TimeToLiveStatus *string `enum:"ENABLING|DISABLING|ENABLED|DISABLED"`
	AttributeName    *string `min:"1" max:"255"`
}

// Endpoint XXX
type Endpoint struct {
	Address              *string `required:"true"`
	CachePeriodInMinutes *int64  `required:"true"`
}
