package api

// ProvisionedThroughput is the throughput of a table or index in capacity units a second. AWS looks at the writes first.
type ProvisionedThroughput struct {
	WriteCapacityUnits *int64 `required:"true" min:"1"`
	ReadCapacityUnits  *int64 `required:"true" min:"1"`
}

// OnDemandThroughput is the most that an on-demand table or index serves, in request units a second; -1
// takes the bound away.
type OnDemandThroughput struct {
	MaxReadRequestUnits  *int64
	MaxWriteRequestUnits *int64
}

// WarmThroughput is the throughput that a table or index is to serve at once, in units a second.
type WarmThroughput struct {
	ReadUnitsPerSecond  *int64
	WriteUnitsPerSecond *int64
}

// StreamSpecification turns a table's stream on or off; StreamViewType goes with on only.
type StreamSpecification struct {
	StreamEnabled  *bool   `required:"true"`
	StreamViewType *string `enum:"OLD_IMAGE|KEYS_ONLY|NEW_AND_OLD_IMAGES|NEW_IMAGE"`
}

// SSESpecification asks for encryption at rest with a key of AWS KMS.
type SSESpecification struct {
	Enabled        *bool
	SSEType        *string `enum:"AES256|KMS"`
	KMSMasterKeyId *string `min:"1"` //nolint:revive // the API spells it so
}

// TimeToLiveSpecification turns the expiry of items on or off. The attribute is a top-level number: the time
// of expiry in seconds since the epoch.
type TimeToLiveSpecification struct {
	Enabled       *bool   `required:"true"`
	AttributeName *string `required:"true" min:"1" max:"255"`
}

// UpdateTimeToLiveInput turns a table's expiry on or off.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTimeToLive.html
type UpdateTimeToLiveInput struct {
	TableName               *string                  `required:"true" min:"1" max:"1024" name:"table"`
	TimeToLiveSpecification *TimeToLiveSpecification `required:"true"`
}

// UpdateTimeToLiveOutput repeats the request's specification.
type UpdateTimeToLiveOutput struct {
	TimeToLiveSpecification *TimeToLiveSpecification
}

// DescribeTimeToLiveInput asks for a table's expiry.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTimeToLive.html
type DescribeTimeToLiveInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
}

// DescribeTimeToLiveOutput is the output of DescribeTimeToLive.
type DescribeTimeToLiveOutput struct {
	TimeToLiveDescription *TimeToLiveDescription
}

// TimeToLiveDescription is the state of a table's expiry: ENABLING, DISABLING, ENABLED or DISABLED.
type TimeToLiveDescription struct {
	TimeToLiveStatus *string
	AttributeName    *string
}
