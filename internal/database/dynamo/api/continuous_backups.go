package api

// UpdateContinuousBackupsInput turns point-in-time recovery of a table on or off.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
type UpdateContinuousBackupsInput struct {
	TableName                        *string                           `required:"true" min:"1" max:"1024" name:"table"`
	PointInTimeRecoverySpecification *PointInTimeRecoverySpecification `required:"true"`
}

// UpdateContinuousBackupsOutput shows the setting as it has become.
type UpdateContinuousBackupsOutput struct {
	ContinuousBackupsDescription *ContinuousBackupsDescription
}

// DescribeContinuousBackupsInput asks to which times a table can be restored.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContinuousBackups.html
type DescribeContinuousBackupsInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
}

// DescribeContinuousBackupsOutput is the output of DescribeContinuousBackups.
type DescribeContinuousBackupsOutput struct {
	ContinuousBackupsDescription *ContinuousBackupsDescription
}

// PointInTimeRecoverySpecification turns point-in-time recovery on or off.
type PointInTimeRecoverySpecification struct {
	PointInTimeRecoveryEnabled *bool `required:"true"`
	// RecoveryPeriodInDays is 35 by default.
	RecoveryPeriodInDays *int64 `integer:"32" min:"1" max:"35"`
}

// ContinuousBackupsDescription is a table's continuous backups, which are always ENABLED, and what can be done
// with them.
type ContinuousBackupsDescription struct {
	ContinuousBackupsStatus        *string
	PointInTimeRecoveryDescription *PointInTimeRecoveryDescription
}

// PointInTimeRecoveryDescription is a table's point-in-time recovery: ENABLED or DISABLED, and while it is
// ENABLED the times, in whole seconds, that the table can be restored to.
type PointInTimeRecoveryDescription struct {
	PointInTimeRecoveryStatus  *string
	RecoveryPeriodInDays       *int64
	EarliestRestorableDateTime *Timestamp
	LatestRestorableDateTime   *Timestamp
}

// RestoreTableToPointInTimeInput makes a table of what another was at an earlier time, which has a precision of a
// second. The source is named by its name or its ARN.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
type RestoreTableToPointInTimeInput struct {
	SourceTableArn  *string `min:"1" max:"1024"`
	SourceTableName *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	TargetTableName *string `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	// One of UseLatestRestorableTime and RestoreDateTime is required.
	UseLatestRestorableTime       *bool
	RestoreDateTime               *Timestamp
	BillingModeOverride           *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	GlobalSecondaryIndexOverride  []GlobalSecondaryIndex
	LocalSecondaryIndexOverride   []LocalSecondaryIndex
	ProvisionedThroughputOverride *ProvisionedThroughput
	OnDemandThroughputOverride    *OnDemandThroughput
	SSESpecificationOverride      *SSESpecification
	VectorIndexOverride           []VectorIndex
}

// RestoreTableToPointInTimeOutput shows the table as it starts: CREATING.
type RestoreTableToPointInTimeOutput struct {
	TableDescription *TableDescription
}
