package api

// The shapes of global tables of version 2019.11.21.

// ReplicationGroupUpdate is one change of a table's replicas.
type ReplicationGroupUpdate struct {
	Create       *CreateReplicationGroupMemberAction
	Update       *UpdateReplicationGroupMemberAction
	Delete       *DeleteReplicationGroupMemberAction
	Disassociate *DisassociateReplicationGroupMemberAction
}

// CreateReplicationGroupMemberAction adds a replica.
type CreateReplicationGroupMemberAction struct {
	RegionName                    *string `required:"true"`
	KMSMasterKeyId                *string `min:"1"` //nolint:revive // the API spells it so
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
	GlobalSecondaryIndexes        []ReplicaGlobalSecondaryIndex `min:"1"`
	TableClassOverride            *string                       `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
}

// UpdateReplicationGroupMemberAction changes a replica's settings.
type UpdateReplicationGroupMemberAction struct {
	RegionName                    *string `required:"true"`
	KMSMasterKeyId                *string `min:"1"` //nolint:revive // the API spells it so
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
	GlobalSecondaryIndexes        []ReplicaGlobalSecondaryIndex `min:"1"`
	TableClassOverride            *string                       `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
}

// DeleteReplicationGroupMemberAction removes a replica.
type DeleteReplicationGroupMemberAction struct {
	RegionName *string `required:"true"`
}

// DisassociateReplicationGroupMemberAction makes a replica a table of its own.
type DisassociateReplicationGroupMemberAction struct {
	RegionName         *string `required:"true"`
	DisassociationMode *string `enum:"WAIT_FOR_REPLICATION"`
}

// ReplicaGlobalSecondaryIndex is the throughput of a replica's index.
type ReplicaGlobalSecondaryIndex struct {
	IndexName                     *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
}

// ProvisionedThroughputOverride is a replica's read throughput in capacity units a second.
type ProvisionedThroughputOverride struct {
	ReadCapacityUnits *int64 `min:"1"`
}

// OnDemandThroughputOverride is the most that a replica serves, in request units a second.
type OnDemandThroughputOverride struct {
	MaxReadRequestUnits *int64
}

// GlobalTableWitnessGroupUpdate is one change of a table's witness.
type GlobalTableWitnessGroupUpdate struct {
	Create *CreateGlobalTableWitnessGroupMemberAction
	Delete *DeleteGlobalTableWitnessGroupMemberAction
}

// CreateGlobalTableWitnessGroupMemberAction adds a witness.
type CreateGlobalTableWitnessGroupMemberAction struct {
	RegionName *string `required:"true"`
}

// DeleteGlobalTableWitnessGroupMemberAction removes a witness.
type DeleteGlobalTableWitnessGroupMemberAction struct {
	RegionName *string `required:"true"`
}

// ReplicaDescription is the state of a replica.
type ReplicaDescription struct {
	RegionName                         *string
	ReplicaStatus                      *string
	ReplicaArn                         *string
	ReplicaStatusDescription           *string
	ReplicaStatusPercentProgress       *string
	KMSMasterKeyId                     *string //nolint:revive // the API spells it so
	ProvisionedThroughputOverride      *ProvisionedThroughputOverride
	OnDemandThroughputOverride         *OnDemandThroughputOverride
	WarmThroughput                     *TableWarmThroughputDescription
	GlobalSecondaryIndexes             []ReplicaGlobalSecondaryIndexDescription
	ReplicaInaccessibleDateTime        *Timestamp
	ReplicaTableClassSummary           *TableClassSummary
	GlobalTableSettingsReplicationMode *string
}

// ReplicaGlobalSecondaryIndexDescription is the state of a replica's index.
type ReplicaGlobalSecondaryIndexDescription struct {
	IndexName                     *string
	ProvisionedThroughputOverride *ProvisionedThroughputOverride
	OnDemandThroughputOverride    *OnDemandThroughputOverride
	WarmThroughput                *GlobalSecondaryIndexWarmThroughputDescription
}

// GlobalTableWitnessDescription is the state of a table's witness.
type GlobalTableWitnessDescription struct {
	RegionName    *string
	WitnessStatus *string
}
