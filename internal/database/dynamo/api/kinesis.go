package api

// EnableKinesisStreamingDestinationInput makes the changes of a table go to a Kinesis data stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_EnableKinesisStreamingDestination.html
type EnableKinesisStreamingDestinationInput struct {
	TableName                           *string `required:"true" min:"1" max:"1024" name:"table"`
	StreamArn                           *string `required:"true" min:"37" max:"1024"`
	EnableKinesisStreamingConfiguration *EnableKinesisStreamingConfiguration
}

// EnableKinesisStreamingConfiguration has the precision of times in records, MILLISECOND by default.
type EnableKinesisStreamingConfiguration struct {
	ApproximateCreationDateTimePrecision *string `enum:"MILLISECOND|MICROSECOND"`
}

// EnableKinesisStreamingDestinationOutput shows the destination as it starts: ENABLING.
type EnableKinesisStreamingDestinationOutput struct {
	TableName                           *string
	StreamArn                           *string
	DestinationStatus                   *string
	EnableKinesisStreamingConfiguration *EnableKinesisStreamingConfiguration
}

// DisableKinesisStreamingDestinationInput ends the delivery to a Kinesis data stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DisableKinesisStreamingDestination.html
type DisableKinesisStreamingDestinationInput struct {
	TableName                           *string `required:"true" min:"1" max:"1024" name:"table"`
	StreamArn                           *string `required:"true" min:"37" max:"1024"`
	EnableKinesisStreamingConfiguration *EnableKinesisStreamingConfiguration
}

// DisableKinesisStreamingDestinationOutput shows the destination as it ends: DISABLING.
type DisableKinesisStreamingDestinationOutput struct {
	TableName                           *string
	StreamArn                           *string
	DestinationStatus                   *string
	EnableKinesisStreamingConfiguration *EnableKinesisStreamingConfiguration
}

// UpdateKinesisStreamingDestinationInput changes the precision of times in records.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateKinesisStreamingDestination.html
type UpdateKinesisStreamingDestinationInput struct {
	TableName                           *string `required:"true" min:"1" max:"1024" name:"table"`
	StreamArn                           *string `required:"true" min:"37" max:"1024"`
	UpdateKinesisStreamingConfiguration *UpdateKinesisStreamingConfiguration
}

// UpdateKinesisStreamingConfiguration has the new precision.
type UpdateKinesisStreamingConfiguration struct {
	ApproximateCreationDateTimePrecision *string `enum:"MILLISECOND|MICROSECOND"`
}

// UpdateKinesisStreamingDestinationOutput shows the destination under change: UPDATING.
type UpdateKinesisStreamingDestinationOutput struct {
	TableName                           *string
	StreamArn                           *string
	DestinationStatus                   *string
	UpdateKinesisStreamingConfiguration *UpdateKinesisStreamingConfiguration
}

// DescribeKinesisStreamingDestinationInput asks for the destinations of a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeKinesisStreamingDestination.html
type DescribeKinesisStreamingDestinationInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
}

// DescribeKinesisStreamingDestinationOutput has the destinations, those that are DISABLED among them.
type DescribeKinesisStreamingDestinationOutput struct {
	TableName                     *string
	KinesisDataStreamDestinations []KinesisDataStreamDestination
}

// KinesisDataStreamDestination is the state of a destination.
type KinesisDataStreamDestination struct {
	StreamArn                            *string
	DestinationStatus                    *string
	DestinationStatusDescription         *string
	ApproximateCreationDateTimePrecision *string
}
