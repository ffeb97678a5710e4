package api

import (
	"reflect"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// TargetPrefix precedes the operation's name in the X-Amz-Target header: DynamoDB_20120810.GetItem. The
// operations on streams are a service of their own.
const (
	TargetPrefix        = "DynamoDB_20120810."
	streamsTargetPrefix = "DynamoDBStreams_20120810."
)

// Operation is an entry of the table of operations.
type Operation struct {
	Name string
	// Input makes an empty input: a pointer to its shape.
	Input func() any
	// Layer says how faults of the input's members are worded.
	Layer Layer
	// EmptyResponse is true if the response's body is empty rather than a JSON object.
	EmptyResponse bool
	// OfStreams is true for operations of DynamoDB Streams.
	OfStreams bool
	// Errors are the codes of the database that the operation may return. Any operation may also return the
	// codes of the framework: ValidationException, SerializationException …
	Errors []apierr.Code
}

// Target is the value of the X-Amz-Target header that calls the operation.
func (o *Operation) Target() string {
	if o.OfStreams {
		return streamsTargetPrefix + o.Name
	}
	return TargetPrefix + o.Name
}

// MayReturn reports whether the operation may return the code. Every operation may return the error for a full disk,
// see apierr.OutOfSpace.
func (o *Operation) MayReturn(code apierr.Code) bool {
	return code.OfFramework() || code == apierr.LimitExceededException || slices.Contains(o.Errors, code)
}

// The errors that groups of operations share.
var (
	anyOperation = []apierr.Code{apierr.InternalServerError}

	dataPlane = with(anyOperation, apierr.ProvisionedThroughputExceededException, apierr.RequestLimitExceeded,
		apierr.ResourceNotFoundException, apierr.ThrottlingException)

	itemWrite = with(dataPlane, apierr.ConditionalCheckFailedException,
		apierr.ItemCollectionSizeLimitExceededException, apierr.ReplicatedWriteConflictException,
		apierr.TransactionConflictException)

	tableChange = with(anyOperation, apierr.LimitExceededException, apierr.ResourceInUseException,
		apierr.ResourceNotFoundException)

	tableRead = with(anyOperation, apierr.ResourceNotFoundException)

	backupRead = with(anyOperation, apierr.BackupNotFoundException)

	restore = with(anyOperation, apierr.LimitExceededException, apierr.TableAlreadyExistsException, apierr.TableInUseException)

	shardRead = with(tableRead, apierr.TrimmedDataAccessException)
)

func with(codes []apierr.Code, more ...apierr.Code) []apierr.Code {
	return append(slices.Clip(codes), more...)
}

// operations is the table, sorted by name.
var operations = []Operation{
	{
		Name: "BatchExecuteStatement", Input: input[BatchExecuteStatementInput], Layer: Older,
		Errors: with(anyOperation, apierr.RequestLimitExceeded, apierr.ThrottlingException),
	},
	{Name: "BatchGetItem", Input: input[BatchGetItemInput], Layer: Newer, Errors: dataPlane},
	{
		Name: "BatchWriteItem", Input: input[BatchWriteItemInput], Layer: Older,
		Errors: with(dataPlane, apierr.ItemCollectionSizeLimitExceededException, apierr.ReplicatedWriteConflictException),
	},
	{Name: "CancelBulkOperation", Input: input[CancelBulkOperationInput], Layer: Older, Errors: tableRead},
	{
		Name: "CreateBackup", Input: input[CreateBackupInput], Layer: Older,
		Errors: with(anyOperation, apierr.BackupInUseException, apierr.ContinuousBackupsUnavailableException,
			apierr.LimitExceededException, apierr.TableInUseException, apierr.TableNotFoundException),
	},
	{
		Name: "CreateGlobalTable", Input: input[CreateGlobalTableInput], Layer: Older,
		Errors: with(anyOperation, apierr.GlobalTableAlreadyExistsException, apierr.LimitExceededException, apierr.TableNotFoundException),
	},
	{
		Name: "CreateTable", Input: input[CreateTableInput], Layer: Older,
		Errors: with(anyOperation, apierr.LimitExceededException, apierr.ResourceInUseException),
	},
	{
		Name: "DeleteBackup", Input: input[DeleteBackupInput], Layer: Older,
		Errors: with(backupRead, apierr.BackupInUseException, apierr.LimitExceededException),
	},
	{Name: "DeleteItem", Input: input[DeleteItemInput], Layer: Newer, Errors: itemWrite},
	{
		Name: "DeleteResourcePolicy", Input: input[DeleteResourcePolicyInput], Layer: Older,
		Errors: with(tableChange, apierr.PolicyNotFoundException),
	},
	{Name: "DeleteTable", Input: input[DeleteTableInput], Layer: Older, Errors: tableChange},
	{Name: "DescribeBackup", Input: input[DescribeBackupInput], Layer: Older, Errors: backupRead},
	{Name: "DescribeBulkOperation", Input: input[DescribeBulkOperationInput], Layer: Older, Errors: tableRead},
	{
		Name: "DescribeContinuousBackups", Input: input[DescribeContinuousBackupsInput], Layer: Older,
		Errors: with(anyOperation, apierr.TableNotFoundException),
	},
	{Name: "DescribeContributorInsights", Input: input[DescribeContributorInsightsInput], Layer: Older, Errors: tableRead},
	{Name: "DescribeEndpoints", Input: input[DescribeEndpointsRequest], Layer: Older, Errors: anyOperation},
	{
		Name: "DescribeExport", Input: input[DescribeExportInput], Layer: Older,
		Errors: with(anyOperation, apierr.ExportNotFoundException, apierr.LimitExceededException),
	},
	{
		Name: "DescribeGlobalTable", Input: input[DescribeGlobalTableInput], Layer: Older,
		Errors: with(anyOperation, apierr.GlobalTableNotFoundException),
	},
	{
		Name: "DescribeGlobalTableSettings", Input: input[DescribeGlobalTableSettingsInput], Layer: Older,
		Errors: with(anyOperation, apierr.GlobalTableNotFoundException),
	},
	{
		Name: "DescribeImport", Input: input[DescribeImportInput], Layer: Older,
		Errors: with(anyOperation, apierr.ImportNotFoundException),
	},
	{Name: "DescribeKinesisStreamingDestination", Input: input[DescribeKinesisStreamingDestinationInput], Layer: Older, Errors: tableRead},
	{Name: "DescribeLimits", Input: input[DescribeLimitsInput], Layer: Older, Errors: anyOperation},
	{Name: "DescribeStream", Input: input[DescribeStreamInput], Layer: Older, OfStreams: true, Errors: tableRead},
	{Name: "DescribeTable", Input: input[DescribeTableInput], Layer: Older, Errors: tableRead},
	{Name: "DescribeTableReplicaAutoScaling", Input: input[DescribeTableReplicaAutoScalingInput], Layer: Older, Errors: tableRead},
	{Name: "DescribeTimeToLive", Input: input[DescribeTimeToLiveInput], Layer: Older, Errors: tableRead},
	{Name: "DisableKinesisStreamingDestination", Input: input[DisableKinesisStreamingDestinationInput], Layer: Older, Errors: tableChange},
	{Name: "EnableKinesisStreamingDestination", Input: input[EnableKinesisStreamingDestinationInput], Layer: Older, Errors: tableChange},
	{
		Name: "ExecuteStatement", Input: input[ExecuteStatementInput], Layer: Older,
		Errors: with(itemWrite, apierr.DuplicateItemException),
	},
	{
		Name: "ExecuteTransaction", Input: input[ExecuteTransactionInput], Layer: Older,
		Errors: with(dataPlane, apierr.IdempotentParameterMismatchException, apierr.TransactionCanceledException,
			apierr.TransactionInProgressException),
	},
	{
		Name: "ExportTableToPointInTime", Input: input[ExportTableToPointInTimeInput], Layer: Older,
		Errors: with(anyOperation, apierr.ExportConflictException, apierr.InvalidExportTimeException, apierr.LimitExceededException,
			apierr.PointInTimeRecoveryUnavailableException, apierr.TableNotFoundException),
	},
	{Name: "GetItem", Input: input[GetItemInput], Layer: Newer, Errors: dataPlane},
	{
		Name: "GetRecords", Input: input[GetRecordsInput], Layer: Older, OfStreams: true,
		Errors: with(shardRead, apierr.ExpiredIteratorException, apierr.LimitExceededException),
	},
	{
		Name: "GetResourcePolicy", Input: input[GetResourcePolicyInput], Layer: Older,
		Errors: with(tableRead, apierr.PolicyNotFoundException),
	},
	{Name: "GetShardIterator", Input: input[GetShardIteratorInput], Layer: Older, OfStreams: true, Errors: shardRead},
	{
		Name: "ImportTable", Input: input[ImportTableInput], Layer: Older,
		Errors: with(anyOperation, apierr.ImportConflictException, apierr.LimitExceededException, apierr.ResourceInUseException),
	},
	{Name: "ListBackups", Input: input[ListBackupsInput], Layer: Older, Errors: anyOperation},
	{Name: "ListBulkOperations", Input: input[ListBulkOperationsInput], Layer: Older, Errors: anyOperation},
	{Name: "ListContributorInsights", Input: input[ListContributorInsightsInput], Layer: Older, Errors: tableRead},
	{
		Name: "ListExports", Input: input[ListExportsInput], Layer: Older,
		Errors: with(anyOperation, apierr.LimitExceededException),
	},
	{Name: "ListGlobalTables", Input: input[ListGlobalTablesInput], Layer: Older, Errors: anyOperation},
	{
		Name: "ListImports", Input: input[ListImportsInput], Layer: Older,
		Errors: with(anyOperation, apierr.LimitExceededException),
	},
	{Name: "ListStreams", Input: input[ListStreamsInput], Layer: Older, OfStreams: true, Errors: tableRead},
	{Name: "ListTables", Input: input[ListTablesInput], Layer: Older, Errors: anyOperation},
	{Name: "ListTagsOfResource", Input: input[ListTagsOfResourceInput], Layer: Older, Errors: tableRead},
	{Name: "PutItem", Input: input[PutItemInput], Layer: Newer, Errors: itemWrite},
	{
		Name: "PutResourcePolicy", Input: input[PutResourcePolicyInput], Layer: Older,
		Errors: with(tableChange, apierr.PolicyNotFoundException),
	},
	{Name: "Query", Input: input[QueryInput], Layer: Newer, Errors: dataPlane},
	{
		Name: "RestoreTableFromBackup", Input: input[RestoreTableFromBackupInput], Layer: Older,
		Errors: with(restore, apierr.BackupInUseException, apierr.BackupNotFoundException),
	},
	{
		Name: "RestoreTableToPointInTime", Input: input[RestoreTableToPointInTimeInput], Layer: Older,
		Errors: with(restore, apierr.InvalidRestoreTimeException, apierr.PointInTimeRecoveryUnavailableException,
			apierr.TableNotFoundException),
	},
	{Name: "Scan", Input: input[ScanInput], Layer: Older, Errors: dataPlane},
	{
		Name: "SearchVectors", Input: input[SearchVectorsInput], Layer: Newer,
		Errors: with(tableRead, apierr.RequestLimitExceeded, apierr.ThrottlingException),
	},
	{
		Name: "StartBulkPutItems", Input: input[StartBulkPutItemsInput], Layer: Older,
		Errors: with(tableChange, apierr.IdempotentParameterMismatchException),
	},
	{Name: "TagResource", Input: input[TagResourceInput], Layer: Older, EmptyResponse: true, Errors: tableChange},
	{
		Name: "TransactGetItems", Input: input[TransactGetItemsInput], Layer: Older,
		Errors: with(dataPlane, apierr.TransactionCanceledException),
	},
	{
		Name: "TransactWriteItems", Input: input[TransactWriteItemsInput], Layer: Older,
		Errors: with(dataPlane, apierr.IdempotentParameterMismatchException, apierr.TransactionCanceledException,
			apierr.TransactionInProgressException),
	},
	{Name: "UntagResource", Input: input[UntagResourceInput], Layer: Older, EmptyResponse: true, Errors: tableChange},
	{
		Name: "UpdateContinuousBackups", Input: input[UpdateContinuousBackupsInput], Layer: Older,
		Errors: with(anyOperation, apierr.ContinuousBackupsUnavailableException, apierr.TableNotFoundException),
	},
	{Name: "UpdateContributorInsights", Input: input[UpdateContributorInsightsInput], Layer: Older, Errors: tableRead},
	{
		Name: "UpdateGlobalTable", Input: input[UpdateGlobalTableInput], Layer: Older,
		Errors: with(anyOperation, apierr.GlobalTableNotFoundException, apierr.ReplicaAlreadyExistsException, apierr.ReplicaNotFoundException,
			apierr.TableNotFoundException),
	},
	{
		Name: "UpdateGlobalTableSettings", Input: input[UpdateGlobalTableSettingsInput], Layer: Older,
		Errors: with(anyOperation, apierr.GlobalTableNotFoundException, apierr.IndexNotFoundException, apierr.LimitExceededException,
			apierr.ReplicaNotFoundException, apierr.ResourceInUseException),
	},
	{Name: "UpdateItem", Input: input[UpdateItemInput], Layer: Newer, Errors: itemWrite},
	{Name: "UpdateKinesisStreamingDestination", Input: input[UpdateKinesisStreamingDestinationInput], Layer: Older, Errors: tableChange},
	{Name: "UpdateTable", Input: input[UpdateTableInput], Layer: Older, Errors: tableChange},
	{Name: "UpdateTableReplicaAutoScaling", Input: input[UpdateTableReplicaAutoScalingInput], Layer: Older, Errors: tableChange},
	{Name: "UpdateTimeToLive", Input: input[UpdateTimeToLiveInput], Layer: Older, Errors: tableChange},
}

func input[T any]() any { return new(T) }

// Operations returns the table of operations, sorted by name. Read only.
func Operations() []Operation { return operations }

// operationOf returns the operation that takes this input.
func operationOf(t reflect.Type) *Operation {
	for i := range operations {
		if reflect.TypeOf(operations[i].Input()).Elem() == t {
			return &operations[i]
		}
	}
	panic("api: no operation takes " + t.String())
}
