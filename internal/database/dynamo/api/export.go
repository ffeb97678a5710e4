package api

import "github.com/monotable/monotable/internal/database/dynamo/attr"

// ExportTableToPointInTimeInput writes a table as it was at one second, or its changes between two, to a bucket.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExportTableToPointInTime.html
type ExportTableToPointInTimeInput struct {
	TableArn *string `required:"true" max:"1024"`
	// ExportTime is now by default.
	ExportTime                     *Timestamp
	ClientToken                    *string `pattern:"^[^\\$]+$"`
	S3Bucket                       *string `required:"true" max:"255" pattern:"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$"`
	S3BucketOwner                  *string `pattern:"[0-9]{12}"`
	S3Prefix                       *string `max:"1024"`
	S3SseAlgorithm                 *string `enum:"AES256|KMS"`
	S3SseKmsKeyId                  *string `min:"1" max:"2048"` //nolint:revive // the API spells it so
	ExportFormat                   *string `enum:"DYNAMODB_JSON|ION"`
	ExportType                     *string `enum:"FULL_EXPORT|INCREMENTAL_EXPORT"`
	IncrementalExportSpecification *IncrementalExportSpecification
	FilterSpecification            *FilterSpecification
}

// ExportTableToPointInTimeOutput shows the export as it starts: IN_PROGRESS.
type ExportTableToPointInTimeOutput struct {
	ExportDescription *ExportDescription
}

// IncrementalExportSpecification says which changes are exported: ExportFromTime <= time < ExportToTime.
type IncrementalExportSpecification struct {
	ExportFromTime *Timestamp
	ExportToTime   *Timestamp
	// ExportViewType is NEW_AND_OLD_IMAGES by default.
	ExportViewType *string `enum:"NEW_IMAGE|NEW_AND_OLD_IMAGES"`
}

// FilterSpecification says which items are exported, and which of their attributes.
type FilterSpecification struct {
	KeyConditionExpression    *string
	FilterExpression          *string
	ProjectionExpression      *string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attr.Item
}

// DescribeExportInput asks how far an export is.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeExport.html
type DescribeExportInput struct {
	ExportArn *string `required:"true" min:"37" max:"1024"`
}

// DescribeExportOutput is the output of DescribeExport.
type DescribeExportOutput struct {
	ExportDescription *ExportDescription
}

// ListExportsInput asks for a page of the exports of the last 90 days, the newest first.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListExports.html
type ListExportsInput struct {
	TableArn *string `min:"1" max:"1024"`
	// MaxResults is 25 by default.
	MaxResults *int64 `integer:"32" min:"1" max:"25"`
	NextToken  *string
}

// ListExportsOutput is one page.
type ListExportsOutput struct {
	ExportSummaries []ExportSummary
	// NextToken is absent on the last page.
	NextToken *string
}

// ExportDescription is an export.
type ExportDescription struct {
	ExportArn *string
	// ExportStatus is IN_PROGRESS, COMPLETED or FAILED.
	ExportStatus   *string
	StartTime      *Timestamp
	EndTime        *Timestamp
	ExportManifest *string
	TableArn       *string
	TableId        *string //nolint:revive // the API spells it so
	ExportTime     *Timestamp
	ClientToken    *string
	S3Bucket       *string
	S3BucketOwner  *string
	S3Prefix       *string
	S3SseAlgorithm *string
	S3SseKmsKeyId  *string //nolint:revive // the API spells it so
	FailureCode    *string
	FailureMessage *string
	ExportFormat   *string
	// BilledSizeBytes and ItemCount say how far an export in progress is.
	BilledSizeBytes                *int64
	ItemCount                      *int64
	ExportType                     *string
	IncrementalExportSpecification *IncrementalExportSpecification
	FilterSpecification            *FilterSpecification
}

// ExportSummary is an export in a list.
type ExportSummary struct {
	ExportArn    *string
	ExportStatus *string
	ExportType   *string
}
