package api

// DescribeTableReplicaAutoScalingInput asks for the auto scaling of all replicas.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTableReplicaAutoScaling.html
type DescribeTableReplicaAutoScalingInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
}

// DescribeTableReplicaAutoScalingOutput is the output of DescribeTableReplicaAutoScaling.
type DescribeTableReplicaAutoScalingOutput struct {
	TableAutoScalingDescription *TableAutoScalingDescription
}

// UpdateTableReplicaAutoScalingInput changes the auto scaling of all replicas.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTableReplicaAutoScaling.html
type UpdateTableReplicaAutoScalingInput struct {
	GlobalSecondaryIndexUpdates               []GlobalSecondaryIndexAutoScalingUpdate `min:"1"`
	TableName                                 *string                                 `required:"true" min:"1" max:"1024" name:"table"`
	ProvisionedWriteCapacityAutoScalingUpdate *AutoScalingSettingsUpdate
	ReplicaUpdates                            []ReplicaAutoScalingUpdate `min:"1"`
}

// UpdateTableReplicaAutoScalingOutput shows the settings.
type UpdateTableReplicaAutoScalingOutput struct {
	TableAutoScalingDescription *TableAutoScalingDescription
}

// GlobalSecondaryIndexAutoScalingUpdate is the auto scaling of an index's write capacity in all replicas.
type GlobalSecondaryIndexAutoScalingUpdate struct {
	IndexName                                 *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedWriteCapacityAutoScalingUpdate *AutoScalingSettingsUpdate
}

// ReplicaAutoScalingUpdate is the auto scaling of one replica's read capacity.
type ReplicaAutoScalingUpdate struct {
	RegionName                                      *string `required:"true"`
	ReplicaGlobalSecondaryIndexUpdates              []ReplicaGlobalSecondaryIndexAutoScalingUpdate
	ReplicaProvisionedReadCapacityAutoScalingUpdate *AutoScalingSettingsUpdate
}

// ReplicaGlobalSecondaryIndexAutoScalingUpdate is the auto scaling of the read capacity of an index of one replica.
type ReplicaGlobalSecondaryIndexAutoScalingUpdate struct {
	IndexName                                *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ProvisionedReadCapacityAutoScalingUpdate *AutoScalingSettingsUpdate
}

// AutoScalingSettingsUpdate changes the settings of auto scaling.
type AutoScalingSettingsUpdate struct {
	MinimumUnits        *int64 `min:"1"`
	MaximumUnits        *int64 `min:"1"`
	AutoScalingDisabled *bool
	AutoScalingRoleArn  *string `min:"1" max:"1600"`
	ScalingPolicyUpdate *AutoScalingPolicyUpdate
}

// AutoScalingPolicyUpdate changes a policy.
type AutoScalingPolicyUpdate struct {
	PolicyName                               *string                                                    `min:"1" max:"256"`
	TargetTrackingScalingPolicyConfiguration *AutoScalingTargetTrackingScalingPolicyConfigurationUpdate `required:"true"`
}

// AutoScalingTargetTrackingScalingPolicyConfigurationUpdate is the utilization that a policy keeps to, in percent.
type AutoScalingTargetTrackingScalingPolicyConfigurationUpdate struct {
	DisableScaleIn   *bool
	ScaleInCooldown  *int64   `integer:"32"`
	ScaleOutCooldown *int64   `integer:"32"`
	TargetValue      *float64 `required:"true"`
}

// TableAutoScalingDescription is the auto scaling of all replicas of a table.
type TableAutoScalingDescription struct {
	TableName   *string
	TableStatus *string
	Replicas    []ReplicaAutoScalingDescription
}

// ReplicaAutoScalingDescription is the auto scaling of a replica.
type ReplicaAutoScalingDescription struct {
	RegionName                                         *string
	GlobalSecondaryIndexes                             []ReplicaGlobalSecondaryIndexAutoScalingDescription
	ReplicaProvisionedReadCapacityAutoScalingSettings  *AutoScalingSettingsDescription
	ReplicaProvisionedWriteCapacityAutoScalingSettings *AutoScalingSettingsDescription
	ReplicaStatus                                      *string
}

// ReplicaGlobalSecondaryIndexAutoScalingDescription is the auto scaling of an index of a replica.
type ReplicaGlobalSecondaryIndexAutoScalingDescription struct {
	IndexName                                   *string
	IndexStatus                                 *string
	ProvisionedReadCapacityAutoScalingSettings  *AutoScalingSettingsDescription
	ProvisionedWriteCapacityAutoScalingSettings *AutoScalingSettingsDescription
}

// AutoScalingSettingsDescription are the settings of auto scaling.
type AutoScalingSettingsDescription struct {
	MinimumUnits        *int64
	MaximumUnits        *int64
	AutoScalingDisabled *bool
	AutoScalingRoleArn  *string
	ScalingPolicies     []AutoScalingPolicyDescription
}

// AutoScalingPolicyDescription is a policy.
type AutoScalingPolicyDescription struct {
	PolicyName                               *string
	TargetTrackingScalingPolicyConfiguration *AutoScalingTargetTrackingScalingPolicyConfigurationDescription
}

// AutoScalingTargetTrackingScalingPolicyConfigurationDescription is the utilization that a policy keeps to, in percent.
type AutoScalingTargetTrackingScalingPolicyConfigurationDescription struct {
	DisableScaleIn   *bool
	ScaleInCooldown  *int64
	ScaleOutCooldown *int64
	TargetValue      *float64
}
