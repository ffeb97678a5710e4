package apierr

import (
	"fmt"
	"strings"
)

// Sentence is AWS's wording of a fact that refuses a request, with a verb, %s or %d, for each part of it that
// depends on the request. With makes it an error.
type Sentence string

// With is the error that states a sentence of these facts, which stand for its verbs in their order.
func (s Sentence) With(facts ...any) *Error {
	code, ok := codes[s]
	if !ok {
		code = ValidationException
	}
	return New(code, fmt.Sprintf(string(s), facts...))
}

// As is With under another code: that of the operations on backups, which have their own for what others refuse
// in the same words.
func (s Sentence) As(code Code, facts ...any) *Error {
	e := s.With(facts...)
	e.Code = code
	return e
}

// The openings that many sentences share.
const (
	envelope  = "1 validation error detected: "
	invalid   = "One or more parameter values were invalid: "
	notValid  = "One or more parameter values are not valid. "
	keySchema = "Invalid KeySchema: "
	startKey  = "The provided starting key is invalid"
	limited   = "Subscriber limit exceeded: "
	inUse     = "Attempt to change a resource which is still in use: "
	notFound  = "Requested resource not found"
	badPolicy = invalid + "Invalid policy document: "
)

// The table of sentences: us-east-1, autumn 2026. Each stands on one line, so that it can be searched for; what
// follows an opening is whole.

// Requests as a whole.
const (
	Enveloped     Sentence = envelope + "%s" // around another sentence: PutItem, UpdateItem, DeleteItem, Query
	InternalFault Sentence = "Internal server error"
	Unsupported   Sentence = invalid + "This server does not support %s: %s must not be given" // not AWS's: members that need what is not built
	BodyTooLarge  Sentence = "Request body is larger than 16 MB"

	// These are not AWS's: they refuse what would take more than the server has.
	Overloaded         Sentence = "The server has no room for this request now. Try again later."
	TooManyConnections Sentence = "The server has as many connections open as it allows. Try again later."
	BodyTooSlow        Sentence = "The request body did not arrive in time."
	OutOfSpace         Sentence = "The database is out of disk space. Reads and deletes are accepted, other writes when there is room again."
	NoSpaceToDelete    Sentence = "The database is out of disk space, and has too little left for this, too. Reads, DeleteTable and DeleteBackup are accepted, everything else when there is room again."
	TimedOut           Sentence = "The request was not done within %s. A batch may have been carried out in part; any other request has not been carried out."

	// The first sentence of this is AWS's.
	RegionNotServed Sentence = "Credential should be scoped to a valid Region, not '%s'. This server serves %s: add %s to its --regions to serve it, too."

	// These two are not AWS's: they refuse what web pages send.
	HostForbidden   Sentence = "Requests to the host '%s' are refused: requests are not authenticated, so the host must be an IP address, localhost, a name without dots, or a name below .localhost or .internal. Start the server with --allowed-host %s to allow this name."
	OriginForbidden Sentence = "Requests from pages of '%s' are refused. Start the server with --cors-origin %s to allow them."
)

// Names and ARNs of tables.
const (
	NotFound         Sentence = notFound                           // item operations, and UpdateTable of an index
	TableNotFound    Sentence = notFound + ": Table: %s not found" // operations on tables
	ResourceNotFound Sentence = notFound + ": ResourcArn: %s not found"
	// InvalidName is said of names without the constraint of the API's model on them, and of those in an ARN.
	InvalidName     Sentence = "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
	NotTableOrARN   Sentence = envelope + "Value '%s' at 'tableName' failed to satisfy constraint: Member must be a table name or the ARN of a table"
	InvalidTableARN Sentence = "Invalid TableArn: Invalid ResourceArn provided as input %s" // tagging operations
	OtherRegion     Sentence = envelope + "Invalid AWS region in '%s'"
	OtherAccount    Sentence = "User is not authorized to access resource: %s because no resource-based policy allows it"
)

// The life of tables.
const (
	TableExists       Sentence = "Table already exists: %s"
	TooManyTables     Sentence = limited + "There is a limit of %d tables per subscriber"
	TableBeingCreated Sentence = inUse + "Table is being created: %s"
	TableBeingDeleted Sentence = inUse + "Table is being deleted: %s"
	TableBeingUpdated Sentence = inUse + "Table is being updated: %s"
	TableProtected    Sentence = "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
	TableUnchanged    Sentence = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"

	SSETypeWithoutSSE  Sentence = invalid + "SSEType cannot be specified when SSE is not enabled"
	SSETypeUnsupported Sentence = invalid + "SSEType %s is not supported"
)

// Key schemas: CreateTable, and UpdateTable where it creates an index.
const (
	AttributeDefinedTwice Sentence = "Attribute Name is duplicated: %s"
	AttributesNotKeys     Sentence = invalid + "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"
	AttributesUnused      Sentence = invalid + "Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: %s"
	KeySchemaMissing      Sentence = envelope + "Value null at 'keySchema' failed to satisfy constraint: Member must not be null"
	KeyUndefined          Sentence = keySchema + "Some index key attribute have no definition"
	FirstKeyNotHash       Sentence = keySchema + "The first KeySchemaElement is not a HASH key type"
	SecondKeyNotRange     Sentence = keySchema + "The second KeySchemaElement is not a RANGE key type"
	KeysEqual             Sentence = "Both the Hash Key and the Range Key element in the KeySchema have the same name"
	KeyRepeated           Sentence = keySchema + "The KeySchema has the attribute %s more than once"
	HashAfterRange        Sentence = keySchema + "HASH key elements must come before RANGE key elements"
	TooManyIndexKeys      Sentence = keySchema + "The KeySchema of an index may have at most %d HASH and %d RANGE elements"
)

// Indexes: CreateTable, UpdateTable.
const (
	IndexKeysUndefined    Sentence = invalid + "Some index key attributes are not defined in AttributeDefinitions. Keys: %s, AttributeDefinitions: %s"
	IndexRepeated         Sentence = invalid + "Duplicate index name: %s"
	IndexExists           Sentence = "Attempting to create an index which already exists"
	TooManyIndexesEver    Sentence = "The table has had too many indexes; copy it to a new one" // of this server
	LocalIndexesEmpty     Sentence = invalid + "List of LocalSecondaryIndexes is empty"
	LocalIndexNoTableSort Sentence = invalid + "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
	LocalIndexNoSort      Sentence = invalid + "Index KeySchema does not have a range key for index: %s"
	LocalIndexOtherHash   Sentence = invalid + "Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. index hash key: %s, table hash key: %s"
	TooManyLocalIndexes   Sentence = invalid + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"
	GlobalIndexesEmpty    Sentence = invalid + "List of GlobalSecondaryIndexes is empty"
	// TooManyGlobalIndexes is CreateTable's, NoRoomForGlobalIndex UpdateTable's.
	TooManyGlobalIndexes Sentence = invalid + "GlobalSecondaryIndex count exceeds the per-table limit of 20"
	NoRoomForGlobalIndex Sentence = limited + "GlobalSecondaryIndex count exceeds the per-table limit of 20"

	ProjectionTypeMissing   Sentence = invalid + "Unknown ProjectionType: null"
	ProjectionTakesNoNames  Sentence = invalid + "ProjectionType is %s, but NonKeyAttributes is specified"
	ProjectionLacksNames    Sentence = invalid + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
	ProjectionRepeatsName   Sentence = invalid + "Duplicate attribute in NonKeyAttributes: %s"
	TooManyProjectedNames   Sentence = invalid + "Number of projected non-key attributes over all indexes exceeds the per-table limit of %d"
	IndexUpdateEmpty        Sentence = invalid + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"
	IndexUpdateAmbiguous    Sentence = invalid + "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete may be specified"
	IndexUpdatedTwice       Sentence = invalid + "Only one global secondary index update per index is allowed simultaneously. Index: %s"
	IndexUpdateUnchanged    Sentence = invalid + "At least one of ProvisionedThroughput, OnDemandThroughput or WarmThroughput is required for index: %s"
	TooManyIndexesInTheMake Sentence = limited + "Only 1 online index can be created or deleted simultaneously per table"
)

// Throughput: CreateTable, UpdateTable.
const (
	ThroughputOnDemand      Sentence = invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
	IndexThroughputOnDemand Sentence = invalid + "ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST"
	// ThroughputMissing is said where the request names the billing mode, ThroughputNotGiven where it does not.
	ThroughputMissing      Sentence = invalid + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
	ThroughputNotGiven     Sentence = "No provisioned throughput specified for the table"
	IndexThroughputMissing Sentence = invalid + "ProvisionedThroughput must be specified for index: %s"

	UnitsOutOfBounds      Sentence = "Given value %d for %s is out of bounds"
	IndexUnitsOutOfBounds Sentence = "Given value %d for %s is out of bounds for index %s"

	TableThroughputUnchanged Sentence = "The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: %[1]d. Requested ReadCapacityUnits: %[1]d. Current WriteCapacityUnits provisioned for the table: %[2]d. Requested WriteCapacityUnits: %[2]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
	IndexThroughputUnchanged Sentence = "The provisioned throughput for the index %[1]s will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the index: %[2]d. Requested ReadCapacityUnits: %[2]d. Current WriteCapacityUnits provisioned for the index: %[3]d. Requested WriteCapacityUnits: %[3]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."

	MaximaNotOnDemand      Sentence = invalid + "OnDemandThroughput cannot be specified when BillingMode is PROVISIONED"
	IndexMaximaNotOnDemand Sentence = invalid + "OnDemandThroughput should not be specified for index: %s when BillingMode is PROVISIONED"

	WarmThroughputEmpty        Sentence = invalid + "At least one of ReadUnitsPerSecond or WriteUnitsPerSecond must be specified in WarmThroughput for table"
	IndexWarmThroughputEmpty   Sentence = invalid + "At least one of ReadUnitsPerSecond or WriteUnitsPerSecond must be specified in WarmThroughput for index: %s"
	WarmThroughputReduced      Sentence = invalid + "Requested %s for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
	IndexWarmThroughputReduced Sentence = invalid + "Requested %s for WarmThroughput for index: %s is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
)

// Streams. CreateTable and UpdateTable word the same faults differently.
const (
	NewStreamViewMissing   Sentence = invalid + "Table is being created with a stream enabled, but StreamViewType is not specified"
	NewStreamViewNeedless  Sentence = invalid + "Table is being created with a stream disabled, UpdateViewType should not be specified"
	StreamViewMissing      Sentence = invalid + "If stream is being enabled, then UpdateViewType must be specified"
	StreamViewNeedless     Sentence = invalid + "If stream is being disabled, then UpdateViewType must not be specified"
	StreamAlreadyEnabled   Sentence = "Table already has an enabled stream: TableName: %s"
	StreamAlreadyDisabled  Sentence = "Table has no stream to disable: TableName: %s"
	StreamAndThroughputSet Sentence = invalid + "You cannot modify stream status while updating table IOPS"
)

// Tags.
const (
	NoTags           Sentence = "Atleast one Tag needs to be provided as Input."
	NoTagKeys        Sentence = "Atleast one Tag Key needs to be provided as Input."
	TagRepeated      Sentence = invalid + "Duplicate Tag Keys are not allowed: %s"
	TagReserved      Sentence = invalid + "Tag keys starting with 'aws:' are reserved for system use"
	TooManyTags      Sentence = invalid + "Too many tags: a resource can have at most 50 tags"
	InvalidNextToken Sentence = "Invalid NextToken provided as input" // ListTagsOfResource
)

// Resource policies. AWS words PolicyActionsInvalid, PolicyPrincipalInvalid and PolicyServiceInvalid so; of the others no
// answer is recorded.
const (
	PolicyNotFound         Sentence = "Resource-based policy not found for the provided ResourceArn: %s"
	PolicyTooLarge         Sentence = invalid + "Policy document exceeds the maximum size of 20 KB"
	PolicyNotObject        Sentence = badPolicy + "The document is not a JSON object"
	PolicyVersionInvalid   Sentence = badPolicy + "Version must be 2012-10-17 or 2008-10-17"
	PolicyStatementInvalid Sentence = badPolicy + "Statement must be an object or a list of objects"
	PolicyEffectInvalid    Sentence = badPolicy + "Effect must be Allow or Deny"
	PolicyConditionInvalid Sentence = badPolicy + "Condition must be an object of objects"
	PolicyFieldUnknown     Sentence = badPolicy + "Unknown field %s"
	PolicyFieldNotString   Sentence = badPolicy + "%s must be a string"
	PolicyFieldNotStrings  Sentence = badPolicy + "%s must be a string or a list of strings"
	PolicyFieldAmbiguous   Sentence = badPolicy + "A statement must have either %[1]s or Not%[1]s"
	PolicyActionsInvalid   Sentence = badPolicy + "The following action names are invalid: %s"
	PolicyResourceInvalid  Sentence = badPolicy + "Policy has a resource that it is not attached to: %s"
	PolicyServiceInvalid   Sentence = badPolicy + "Policy contains invalid service principal"
	PolicyPrincipalInvalid Sentence = invalid + "Invalid principal in policy document."
)

// Contributor insights: a part of a description, and no error of a request.
const TooManyRules Sentence = "Per-account Amazon CloudWatch Contributor Insights rule limit reached: %d rules. Please disable Contributor Insights for other tables/indexes OR disable Contributor Insights rules before retrying."

// Kinesis destinations. The first four are AWS's; the last is not, it refuses what this server was not started for.
const (
	DestinationNotDisabled  Sentence = "Table is not in a valid state to enable Kinesis Streaming Destination: EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
	DestinationNotActive    Sentence = "Table is not in a valid state to disable Kinesis Streaming Destination: DisableKinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
	DestinationNotUpdatable Sentence = "Table is not in a valid state to update Kinesis Streaming Destination: UpdateKinesisStreamingDestination must be ACTIVE to perform UPDATE operation."
	PrecisionUnchanged      Sentence = "Invalid Request: Precision is already set to the desired value of %s for tableId: %s"
	PrecisionMissing        Sentence = envelope + "Value null at 'updateKinesisStreamingConfiguration.approximateCreationDateTimePrecision' failed to satisfy constraint: Member must not be null"
	InvalidKinesisARN       Sentence = invalid + "StreamArn is not the ARN of a Kinesis data stream: %s"
	NoDelivery              Sentence = invalid + "This server has no place to deliver records for Kinesis to: its data are in memory. Start it with --kinesis-endpoint or --kinesis-dir"
)

// Time to live.
const (
	TTLOnOtherAttribute Sentence = "TimeToLive is active on a different AttributeName: current AttributeName is %s"
	TTLAlreadyEnabled   Sentence = "TimeToLive is already enabled"
	TTLAlreadyDisabled  Sentence = "TimeToLive is already disabled"
	TTLChangedJustNow   Sentence = "Time to live has been modified multiple times within a fixed interval"
)

// Keys of items.
const (
	KeyMismatch        Sentence = "The provided key element does not match the schema"         // for a Key, and BatchWriteItem's puts
	KeyMissing         Sentence = invalid + "Missing the key %s in the item"                   // for an item that is put
	KeyOfOtherType     Sentence = invalid + "Type mismatch for key %s expected: %s actual: %s" // for an item that is put
	KeyEmpty           Sentence = notValid + "The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s"
	PartitionKeyTooBig Sentence = invalid + "Size of hashkey has exceeded the maximum size limit of2048 bytes" // without the space
	SortKeyTooBig      Sentence = invalid + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"

	// Keys of indexes, in an item that is put.
	IndexKeyEmpty       Sentence = notValid + "A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s"
	IndexKeyOfOtherType Sentence = invalid + "Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s"

	// Keys of indexes, in what an update makes of an item.
	UpdatedIndexKeyEmpty       Sentence = notValid + "The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty %s value."
	UpdatedIndexKeyOfOtherType Sentence = "The update expression attempted to update the secondary index key to unsupported type"
	UpdatedIndexKeyTooBig      Sentence = "The update expression attempted to update the secondary index key beyond allowed size limits"
)

// Items and their writes.
const (
	ConditionFailed        Sentence = "The conditional request failed"
	ItemTooLarge           Sentence = "Item size has exceeded the maximum allowed size"
	UpdatedItemTooLarge    Sentence = "Item size to update has exceeded the maximum allowed size"
	ItemCollectionTooLarge Sentence = "Collection size exceeded."
	UpdateOfKey            Sentence = invalid + "Cannot update attribute %s. This attribute is part of the key"
	ReturnsOnlyOld         Sentence = "ReturnValues can only be ALL_OLD or NONE" // PutItem, DeleteItem
)

// Attribute values that hold none of the types, or several; BatchWriteItem says the same of its requests.
const (
	NoType    Sentence = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	ManyTypes Sentence = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
)

// Batches.
const (
	TooManyBatchGets   Sentence = "Too many items requested for the BatchGetItem call"
	TooManyBatchWrites Sentence = "Too many items requested for the BatchWriteItem call"
	BatchRepeatsKey    Sentence = "Provided list of item keys contains duplicates"
)

// Transactions.
const (
	TransactionCanceled      Sentence = "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]"
	TransactionConflict      Sentence = "Transaction is ongoing for the item" // single writes, and as a reason
	TransactionInProgress    Sentence = "Transaction from previous request is still in progress"
	TransactionRepeatsItem   Sentence = "Transaction request cannot include multiple operations on one item"
	TransactionTooLarge      Sentence = "Transaction request size exceeds the maximum allowed size of 4 MB" // TransactWriteItems
	TransactionItemsTooLarge Sentence = "The aggregate size of the items in the transaction exceeds 4 MB"   // of the stored items
	TransactionActionCount   Sentence = "TransactItems can only contain one of Check, Put, Update or Delete"
	TokenOfOtherRequest      Sentence = "Request rejected because it was retried with a different payload but with a request token that was already used."
)

// Key conditions and filters of Query.
const (
	KeyConditionMissing      Sentence = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
	KeyConditionLacksKey     Sentence = "Query condition missed key schema element: %s"
	KeyConditionNotSupported Sentence = "Query key condition not supported"
	KeyConditionOfOtherType  Sentence = invalid + "Condition parameter type does not match schema type"
	FilterOnKey              Sentence = "Filter Expression can only contain non-primary key attributes: Primary key attribute: %s"
	QueryFilterOnKey         Sentence = "QueryFilter can only contain non-primary key attributes: Primary key attribute: %s"
)

// What Query and Scan select.
const (
	SelectProjectedOfTable   Sentence = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName" // Scan, too
	SelectSpecificOfNone     Sentence = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
	SelectWithNames          Sentence = "Cannot specify the %s when choosing to get %s"
	SelectCountWithNames     Sentence = "Cannot specify the %s when choosing to get only the Count"
	IndexNotInTable          Sentence = "The table does not have the specified index: %s"
	IndexBackfilling         Sentence = "Cannot read from backfilling global secondary index: %s"
	GlobalIndexConsistent    Sentence = "Consistent reads are not supported on global secondary indexes"
	GlobalIndexNotAll        Sentence = invalid + "Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL"
	GlobalIndexLacks         Sentence = invalid + "Global secondary index %s does not project %s"
	GlobalIndexLacksFiltered Sentence = invalid + "Global secondary index %s does not project one or more filter attributes: %s"
)

// Pages and segments of Query and Scan.
const (
	StartKeyEmpty         Sentence = "Exclusive Start Key must have same size as table's key schema"
	StartKeyInvalid       Sentence = startKey
	StartKeyFault         Sentence = startKey + ": %s" // before the sentence that says why
	StartKeyOtherSegment  Sentence = startKey + ": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d"
	StartKeyOutside       Sentence = "The provided starting key is outside query boundaries based on provided conditions"
	StartKeyOutsideRange  Sentence = "The provided starting key does not match the range key predicate"
	StartKeyOfSingleItem  Sentence = "The query can return at most one row and cannot be restarted"
	TotalSegmentsMissing  Sentence = "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
	SegmentMissing        Sentence = "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"
	SegmentBeyondSegments Sentence = "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d"
)

// Backups and point-in-time recovery. AWS words the first four so; of the others no answer is recorded.
const (
	BackupTableNotFound Sentence = "Table not found: %s"
	BackupNotFound      Sentence = "Backup not found: %s"
	BackupsNotYetKept   Sentence = "Backups are being enabled for the table: %s. Please retry later"
	RecoveryNotEnabled  Sentence = "Point in time recovery is not enabled for table '%s'"
	RestoreTimeOutside  Sentence = "RestoreDateTime must be between EarliestRestorableDateTime and LatestRestorableDateTime"

	RestoreTimeMissing     Sentence = invalid + "One of RestoreDateTime and UseLatestRestorableTime must be specified"
	RestoreTimeAmbiguous   Sentence = invalid + "Only one of RestoreDateTime and UseLatestRestorableTime may be specified"
	RestoreSourceMissing   Sentence = invalid + "One of SourceTableName and SourceTableArn must be specified"
	RestoreSourceAmbiguous Sentence = invalid + "Only one of SourceTableName and SourceTableArn may be specified"
	TooManyRestores        Sentence = limited + "There is a limit of %d concurrent restores per subscriber"

	InvalidBackupARN    Sentence = invalid + "Invalid BackupArn provided as input %s"
	BackupBeingCreated  Sentence = "Backup is being created: %s"
	BackupBeingRestored Sentence = "Backup is being restored to a table: %s"
	BackupOfSystem      Sentence = invalid + "A backup of type SYSTEM cannot be deleted: %s"

	OverrideUnknownIndex Sentence = invalid + "The source table has no such index: %s"
	OverrideChangesIndex Sentence = invalid + "Key schema and projection of an index cannot be changed by a restore. Index: %s"
	OverrideWarmIndex    Sentence = invalid + "WarmThroughput is not supported for a restore to a point in time. Index: %s"
)

// codes are the codes of the sentences that are not those of a ValidationException.
var codes = map[Sentence]Code{
	InternalFault:           InternalServerError,
	BodyTooLarge:            RequestEntityTooLargeException,
	OutOfSpace:              LimitExceededException,
	NoSpaceToDelete:         LimitExceededException,
	NotFound:                ResourceNotFoundException,
	TableNotFound:           ResourceNotFoundException,
	ResourceNotFound:        ResourceNotFoundException,
	OtherAccount:            AccessDeniedException,
	Overloaded:              ThrottlingException,
	TooManyConnections:      ThrottlingException,
	BodyTooSlow:             RequestTimeoutException,
	TimedOut:                ServiceUnavailable,
	HostForbidden:           AccessDeniedException,
	OriginForbidden:         AccessDeniedException,
	RegionNotServed:         InvalidSignatureException,
	TableExists:             ResourceInUseException,
	TooManyTables:           LimitExceededException,
	TableBeingCreated:       ResourceInUseException,
	TableBeingDeleted:       ResourceInUseException,
	TableBeingUpdated:       ResourceInUseException,
	TooManyIndexesEver:      LimitExceededException,
	NoRoomForGlobalIndex:    LimitExceededException,
	TooManyIndexesInTheMake: LimitExceededException,
	ConditionFailed:         ConditionalCheckFailedException,
	ItemCollectionTooLarge:  ItemCollectionSizeLimitExceededException,
	TransactionCanceled:     TransactionCanceledException,
	TransactionConflict:     TransactionConflictException,
	TransactionInProgress:   TransactionInProgressException,
	TokenOfOtherRequest:     IdempotentParameterMismatchException,
	StreamNotFound:          ResourceNotFoundException,
	ShardNotFound:           ResourceNotFoundException,
	RecordTrimmed:           TrimmedDataAccessException,
	IteratorExpired:         ExpiredIteratorException,
	TooManyRecords:          LimitExceededException,

	BackupTableNotFound: TableNotFoundException,
	BackupNotFound:      BackupNotFoundException,
	BackupBeingCreated:  BackupInUseException,
	BackupBeingRestored: BackupInUseException,
	BackupsNotYetKept:   ContinuousBackupsUnavailableException,
	RecoveryNotEnabled:  PointInTimeRecoveryUnavailableException,
	RestoreTimeOutside:  InvalidRestoreTimeException,
	TooManyRestores:     LimitExceededException,

	PolicyNotFound: PolicyNotFoundException,
	TooManyRules:   LimitExceededException,
}

// Reading streams.
const (
	StreamNotFound        Sentence = notFound + ": Stream: %s not found"
	ShardNotFound         Sentence = notFound + ": Shard does not exist"
	RecordTrimmed         Sentence = "The data you are trying to access has been trimmed"
	IteratorExpired       Sentence = "Shard iterator has expired"
	TooManyRecords        Sentence = "The limit must not exceed %d records"
	InvalidStreamARN      Sentence = "Invalid StreamArn: %s"
	InvalidShardID        Sentence = "Invalid ShardId: %s"
	InvalidShardIterator  Sentence = "Invalid ShardIterator"
	InvalidSequenceNumber Sentence = "Invalid SequenceNumber: %s"
	SequenceNumberMissing Sentence = invalid + "SequenceNumber must be specified for ShardIteratorType %s"
	TimestampMissing      Sentence = invalid + "Timestamp must be specified for ShardIteratorType %s"
	TimestampInFuture     Sentence = invalid + "Timestamp must not be in the future"
	ShardFilterIncomplete Sentence = invalid + "ShardFilter must have both Type and ShardId"
)

// List is the fact of a sentence that has a list in it, as AWS prints it.
func List(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
