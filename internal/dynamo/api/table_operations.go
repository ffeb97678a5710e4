package api

// CreateTableInput XXX
type CreateTableInput struct {
	AttributeDefinitions               []AttributeDefinition
	TableName                          *string            `required:"true" min:"1" max:"1024"`
	KeySchema                          []KeySchemaElement `min:"1"`
	LocalSecondaryIndexes              []LocalSecondaryIndex
	GlobalSecondaryIndexes             []GlobalSecondaryIndex
	BillingMode                        *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput              *ProvisionedThroughput
	StreamSpecification                *StreamSpecification
	SSESpecification                   *SSESpecification
	Tags                               []Tag
	TableClass                         *string `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
	DeletionProtectionEnabled          *bool
	WarmThroughput                     *WarmThroughput
	ResourcePolicy                     *string
	OnDemandThroughput                 *OnDemandThroughput
	GlobalTableSourceArn               *string `min:"1" max:"1024"`
	GlobalTableSettingsReplicationMode *string `enum:"ENABLED|DISABLED|ENABLED_WITH_OVERRIDES"`
}

// CreateTableOutput XXX
type CreateTableOutput struct {
	TableDescription *TableDescription
}

// DescribeTableInput XXX
type DescribeTableInput struct {
	TableName *string `required:"true" min:"1" max:"1024"`
}

// DescribeTableOutput XXX
type DescribeTableOutput struct {
	Table *TableDescription
}

// UpdateTableInput XXX
type UpdateTableInput struct {
	AttributeDefinitions               []AttributeDefinition
	TableName                          *string `required:"true" min:"1" max:"1024"`
	BillingMode                        *string `enum:"PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput              *ProvisionedThroughput
	GlobalSecondaryIndexUpdates        []GlobalSecondaryIndexUpdate
	StreamSpecification                *StreamSpecification
	SSESpecification                   *SSESpecification
	ReplicaUpdates                     []ReplicationGroupUpdate `min:"1"`
	TableClass                         *string                  `enum:"STANDARD|STANDARD_INFREQUENT_ACCESS"`
	DeletionProtectionEnabled          *bool
	MultiRegionConsistency             *string                         `enum:"EVENTUAL|STRONG"`
	GlobalTableWitnessUpdates          []GlobalTableWitnessGroupUpdate `min:"1" max:"1"`
	OnDemandThroughput                 *OnDemandThroughput
	WarmThroughput                     *WarmThroughput
	GlobalTableSettingsReplicationMode *string `enum:"ENABLED|DISABLED|ENABLED_WITH_OVERRIDES"`
}

// UpdateTableOutput XXX
type UpdateTableOutput struct {
	TableDescription *TableDescription
}

// DeleteTableInput XXX
type DeleteTableInput struct {
	TableName *string `required:"true" min:"1" max:"1024"`
}

// DeleteTableOutput XXX
type DeleteTableOutput struct {
	TableDescription *TableDescription
}

// ListTablesInput XXX
type ListTablesInput struct {
	ExclusiveStartTableName *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	Limit                   *int64  `min:"1" max:"100"`
}

// ListTablesOutput XXX
type ListTablesOutput struct {
	TableNames             []string `each_min:"3" each_max:"255" each_pattern:"[a-zA-Z0-9_.-]+"`
	LastEvaluatedTableName *string  `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// UpdateTimeToLiveInput XXX
type UpdateTimeToLiveInput struct {
	TableName               *string                  `required:"true" min:"1" max:"1024"`
	TimeToLiveSpecification *TimeToLiveSpecification `required:"true"`
}

// UpdateTimeToLiveOutput XXX
type UpdateTimeToLiveOutput struct {
	TimeToLiveSpecification *TimeToLiveSpecification
}

// DescribeTimeToLiveInput XXX
type DescribeTimeToLiveInput struct {
	TableName *string `required:"true" min:"1" max:"1024"`
}

// DescribeTimeToLiveOutput XXX
type DescribeTimeToLiveOutput struct {
	TimeToLiveDescription *TimeToLiveDescription
}

// TagResourceInput XXX
type TagResourceInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
	Tags        []Tag   `required:"true"`
}

// UntagResourceInput XXX
type UntagResourceInput struct {
	ResourceArn *string  `required:"true" min:"1" max:"1283"`
	TagKeys     []string `required:"true" each_min:"1" each_max:"128"`
}

// ListTagsOfResourceInput XXX
type ListTagsOfResourceInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
	NextToken   *string
}

// ListTagsOfResourceOutput XXX
type ListTagsOfResourceOutput struct {
	Tags      []Tag
	NextToken *string
}

// DescribeLimitsInput XXX
type DescribeLimitsInput struct {
}

// DescribeLimitsOutput XXX
type DescribeLimitsOutput struct {
	AccountMaxReadCapacityUnits  *int64 `min:"1"`
	AccountMaxWriteCapacityUnits *int64 `min:"1"`
	TableMaxReadCapacityUnits    *int64 `min:"1"`
	TableMaxWriteCapacityUnits   *int64 `min:"1"`
}

// DescribeEndpointsRequest XXX
type DescribeEndpointsRequest struct {
}

// DescribeEndpointsResponse XXX
type DescribeEndpointsResponse struct {
	Endpoints []Endpoint `required:"true"`
}
