package api

// StartBulkPutItemsInput puts the items in the objects of a bucket into a table that is there.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_StartBulkPutItems.html
type StartBulkPutItemsInput struct {
	InputS3Configuration  *InputS3Configuration  `required:"true"`
	OutputS3Configuration *OutputS3Configuration `required:"true"`
	TableName             *string                `required:"true" min:"1" max:"1024"`
	ClientToken           *string                `pattern:"^[^\\$]+$"`
	// MaxWriteRequestUnits are a second; without it the operation is as fast as it can be.
	MaxWriteRequestUnits *int64 `min:"1024"`
	// PerformanceTier is STANDARD by default.
	PerformanceTier *string `enum:"STANDARD|ACCELERATED"`
}

// StartBulkPutItemsOutput shows the operation as it starts: IN_PROGRESS.
type StartBulkPutItemsOutput struct {
	BulkOperationDescription *BulkOperationDescription
}

// InputS3Configuration are the objects of a bucket whose keys begin with a prefix, and how they are written.
type InputS3Configuration struct {
	S3BucketOwner *string `pattern:"[0-9]{12}"`
	S3Bucket      *string `required:"true" max:"255" pattern:"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$"`
	S3KeyPrefix   *string `max:"1024"`
	InputFormat   *string `required:"true" enum:"DYNAMODB_JSON|ION"`
	// InputCompressionType is NONE by default.
	InputCompressionType *string `enum:"ZSTD|NONE|GZIP"`
}

// OutputS3Configuration is the destination and the content of the reports.
type OutputS3Configuration struct {
	S3BucketOwner  *string `pattern:"[0-9]{12}"`
	S3Bucket       *string `max:"255" pattern:"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$"`
	S3KeyPrefix    *string `max:"1024"`
	S3SseAlgorithm *string `enum:"AES256|KMS"`
	S3SseKmsKeyId  *string `min:"1" max:"2048"` //nolint:revive // the API spells it so
	// OutputType has ERROR, CONDITION_CHECK_FAILURE or both.
	OutputType []string `required:"true" each_enum:"ERROR|CONDITION_CHECK_FAILURE"`
}

// DescribeBulkOperationInput asks how far a bulk operation is.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeBulkOperation.html
type DescribeBulkOperationInput struct {
	BulkOperationArn *string `required:"true" min:"37" max:"1024"`
}

// DescribeBulkOperationOutput is the output of DescribeBulkOperation.
type DescribeBulkOperationOutput struct {
	BulkOperationDescription *BulkOperationDescription
}

// CancelBulkOperationInput ends a bulk operation that is under way.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CancelBulkOperation.html
type CancelBulkOperationInput struct {
	BulkOperationArn *string `required:"true" min:"37" max:"1024"`
}

// CancelBulkOperationOutput shows the operation as it ends: CANCELLING.
type CancelBulkOperationOutput struct {
	BulkOperationArn    *string
	BulkOperationStatus *string
}

// ListBulkOperationsInput asks for a page of the bulk operations of the last 90 days, the newest first.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBulkOperations.html
type ListBulkOperationsInput struct {
	// MaxResults is 10 by default.
	MaxResults *int64  `integer:"32" min:"1" max:"25"`
	NextToken  *string `min:"1" max:"1024" pattern:"([0-9a-f]{16})+"`
}

// ListBulkOperationsOutput is one page.
type ListBulkOperationsOutput struct {
	BulkOperationsSummaryList []BulkOperationSummary
	// NextToken is absent on the last page.
	NextToken *string
}

// BulkOperationDescription is a bulk operation.
type BulkOperationDescription struct {
	BulkOperationArn *string
	// BulkOperationStatus is IN_PROGRESS, COMPLETED, COMPLETED_WITH_ERRORS, CANCELLING, CANCELLED or FAILED.
	BulkOperationStatus   *string
	TableDetails          []BulkOperationTableDetail
	ClientToken           *string
	InputS3Configuration  *InputS3Configuration
	OutputS3Configuration *OutputS3Configuration
	StartTime             *Timestamp
	EndTime               *Timestamp
	// ProcessedItemCount has the items that were put, the FailedItemCount and those whose condition was false.
	ProcessedItemCount   *int64
	ProcessedInputBytes  *int64
	TotalInputBytes      *int64
	BulkOperationUsage   []BulkOperationUsage
	FailedItemCount      *int64
	FailureCode          *string
	FailureMessage       *string
	MaxWriteRequestUnits *int64
	PerformanceTier      *string
}

// BulkOperationTableDetail names the table of a bulk operation.
type BulkOperationTableDetail struct {
	TableName *string
	TableId   *string //nolint:revive // the API spells it so
}

// BulkOperationUsage are the bytes that a bulk operation has put.
type BulkOperationUsage struct {
	TableName              *string
	BulkPutBytes           *int64
	Table                  *BulkOperationBytes
	LocalSecondaryIndexes  map[string]BulkOperationBytes
	GlobalSecondaryIndexes map[string]BulkOperationBytes
	VectorIndexes          map[string]BulkOperationVectorBytes
}

// BulkOperationBytes are bytes put into a table or an index.
type BulkOperationBytes struct {
	BulkPutBytes *int64
}

// BulkOperationVectorBytes are bytes put into a vector index.
type BulkOperationVectorBytes struct {
	BulkPutVectorBytes *int64
}

// BulkOperationSummary is a bulk operation in a list.
type BulkOperationSummary struct {
	BulkOperationArn    *string
	BulkOperationStatus *string
	StartTime           *Timestamp
	EndTime             *Timestamp
}
