package api

// ImportTableInput makes a table of the objects in a bucket.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ImportTable.html
type ImportTableInput struct {
	ClientToken        *string         `pattern:"^[^\\$]+$"`
	S3BucketSource     *S3BucketSource `required:"true"`
	InputFormat        *string         `required:"true" enum:"DYNAMODB_JSON|ION|CSV"`
	InputFormatOptions *InputFormatOptions
	// InputCompressionType is NONE by default.
	InputCompressionType    *string                  `enum:"ZSTD|NONE|GZIP"`
	TableCreationParameters *TableCreationParameters `required:"true"`
}

// ImportTableOutput shows the import as it starts: IN_PROGRESS.
type ImportTableOutput struct {
	ImportTableDescription *ImportTableDescription
}

// S3BucketSource are the objects of a bucket whose keys begin with a prefix.
type S3BucketSource struct {
	S3BucketOwner *string `pattern:"[0-9]{12}"`
	S3Bucket      *string `required:"true" max:"255" pattern:"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$"`
	S3KeyPrefix   *string `max:"1024"`
}

// InputFormatOptions say how the objects are written.
type InputFormatOptions struct {
	Csv *CsvOptions
}

// CsvOptions say how objects of format CSV are written. Without a HeaderList the first line of each is its header.
type CsvOptions struct {
	// Delimiter is a comma by default.
	Delimiter  *string  `min:"1" max:"1" pattern:"[,;:|\\t ]"`
	HeaderList []string `min:"1" max:"255" each_min:"1" each_max:"65536"`
}

// TableCreationParameters are those of a CreateTable that an import can set.
type TableCreationParameters struct {
	TableName              *string               `required:"true" min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	AttributeDefinitions   []AttributeDefinition `required:"true"`
	KeySchema              []KeySchemaElement    `required:"true" min:"1" max:"2"`
	BillingMode            *string               `enum:"PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput  *ProvisionedThroughput
	OnDemandThroughput     *OnDemandThroughput
	SSESpecification       *SSESpecification
	GlobalSecondaryIndexes []GlobalSecondaryIndex
	VectorIndexes          []VectorIndex
}

// DescribeImportInput asks how far an import is.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeImport.html
type DescribeImportInput struct {
	ImportArn *string `required:"true" min:"37" max:"1024"`
}

// DescribeImportOutput is the output of DescribeImport.
type DescribeImportOutput struct {
	ImportTableDescription *ImportTableDescription
}

// ListImportsInput asks for a page of the imports of the last 90 days, the newest first.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListImports.html
type ListImportsInput struct {
	TableArn *string `min:"1" max:"1024"`
	// PageSize is 25 by default.
	PageSize  *int64  `integer:"32" min:"1" max:"25"`
	NextToken *string `min:"112" max:"1024" pattern:"([0-9a-f]{16})+"`
}

// ListImportsOutput is one page.
type ListImportsOutput struct {
	ImportSummaryList []ImportSummary
	// NextToken is absent on the last page.
	NextToken *string
}

// ImportTableDescription is an import.
type ImportTableDescription struct {
	ImportArn *string
	// ImportStatus is IN_PROGRESS, COMPLETED, CANCELLING, CANCELLED or FAILED.
	ImportStatus            *string
	TableArn                *string
	TableId                 *string //nolint:revive // the API spells it so
	ClientToken             *string
	S3BucketSource          *S3BucketSource
	ErrorCount              *int64
	CloudWatchLogGroupArn   *string
	InputFormat             *string
	InputFormatOptions      *InputFormatOptions
	InputCompressionType    *string
	TableCreationParameters *TableCreationParameters
	StartTime               *Timestamp
	EndTime                 *Timestamp
	ProcessedSizeBytes      *int64
	ProcessedItemCount      *int64
	ImportedItemCount       *int64
	FailureCode             *string
	FailureMessage          *string
}

// ImportSummary is an import in a list.
type ImportSummary struct {
	ImportArn             *string
	ImportStatus          *string
	TableArn              *string
	S3BucketSource        *S3BucketSource
	CloudWatchLogGroupArn *string
	InputFormat           *string
	StartTime             *Timestamp
	EndTime               *Timestamp
}
