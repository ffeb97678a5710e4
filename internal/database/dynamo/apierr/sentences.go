package apierr

import (
	"fmt"
	"strings"
)

// Sentence is AWS's wording of an error, with a verb, %s or %d, for each part that depends on the request. With returns it as an
// error.
type Sentence string

// With returns the error with these facts in place of the verbs, in order.
func (s Sentence) With(facts ...any) *Error {
	code, ok := codes[s]
	if !ok {
		code = ValidationException
	}
	return New(code, fmt.Sprintf(string(s), facts...))
}

// As is With with another code, for the backup operations, which have their own codes for errors with the same wording.
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
	request   = "Invalid Request: "
	startKey  = "The provided starting key is invalid"
	limited   = "Subscriber limit exceeded: "
	inUse     = "Attempt to change a resource which is still in use: "
	notFound  = "Requested resource not found"

	keyNotScalar   = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
	policyNotFound = "Resource-based policy not found for the provided ResourceArn: "
	badPolicy      = invalid + "Invalid policy document: "

	badDestination = "Table is not in a valid state to enable Kinesis Streaming Destination: "
)

// The table of sentences: us-east-1, autumn 2026. Each is on one line, so that it can be searched for; the text after an opening
// is complete.

// Requests as a whole.
const (
	Enveloped     Sentence = envelope + "%s" // around another sentence: PutItem, UpdateItem, DeleteItem, Query
	InternalFault Sentence = "Internal server error"
	Unsupported   Sentence = invalid + "This server does not support %s: %s must not be given" // not AWS's: features that are not implemented
	BodyTooLarge  Sentence = "Request body is larger than 16 MB"

	// Errors of policies; the first is confirmed for identity-based policies. The last fact of AccessDeniedBy includes its
	// article.
	AccessNotAllowed Sentence = "User: %s is not authorized to perform: %s on resource: %s because no %s allows the %s action"
	AccessDeniedBy   Sentence = "User: %s is not authorized to perform: %s on resource: %s with an explicit deny in %s"

	// PolicyLocksOut is AccessDeniedException: https://github.com/aws-controllers-k8s/dynamodb-controller, DDB-TABLE-210.
	PolicyLocksOut Sentence = "The new resource policy will not allow you to update the resource policy in the future."

	// These are not AWS's: they reject what would exceed the server's resources.
	Overloaded         Sentence = "The server has no memory left for this request. Try again later."
	TooManyConnections Sentence = "The server has reached its limit of open connections. Try again later."
	BodyTooSlow        Sentence = "The request body did not arrive in time."
	OutOfSpace         Sentence = "The database is out of disk space. Reads and deletes are accepted; other writes are rejected until there is space again."
	RuleBroken         Sentence = "The item is rejected: %s."
	DatabaseMoved      Sentence = "The database has been moved to %s: send requests to the servers there."
	NoSpaceToDelete    Sentence = "The database is out of disk space, even for deletes. Only reads, DeleteTable and DeleteBackup are accepted until there is space again."
	NoSpaceToDrop      Sentence = "The database is out of disk space, and other programs have used its reserve. Only reads are accepted until they leave some space."
	TimedOut           Sentence = "The request did not complete within %s. A batch may have been executed in part; any other request was not executed."

	// The first sentence of this is AWS's.
	RegionNotServed Sentence = "Credential should be scoped to a valid Region, not '%s'. This server serves %s: add %s to its --regions (Options.Regions) to serve it, too."

	// These two are not AWS's: they reject what web pages send.
	HostForbidden   Sentence = "Requests to the host '%s' are refused: requests are not authenticated, so the host must be an IP address, localhost, a name without dots, or a name below .localhost or .internal. Start the server with --allowed-host %s (Options.AllowedHosts) to allow this name."
	OriginForbidden Sentence = "Requests from pages of '%s' are refused. Start the server with --cors-origin %s (Options.CORSOrigins) to allow them."
)

// Signatures and keys. AWS's, from its documentation and from clients' reports, unless marked.
const (
	NotSigned               Sentence = "Request is missing Authentication Token"
	SignedTwice             Sentence = "The request is signed in its query and in its 'Authorization' header: use only one of them." // ours: AWS's is not known
	AuthorizationInvalid    Sentence = "'%s' not a valid key=value pair (missing equal-sign) in Authorization header: '%s'."
	AuthorizationLacks      Sentence = "Authorization header requires '%s' parameter. "                                        // a part of the next
	AuthorizationLacksDate  Sentence = "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. " // a part of the next
	AuthorizationIncomplete Sentence = "%sAuthorization=%s"
	QueryLacks              Sentence = "AWS query-string parameters must include '%s'. " // a part of the next
	QueryIncomplete         Sentence = "%sRe-examine the query-string parameters."
	QueryInvalid            Sentence = "The query string cannot be decoded. Re-examine the query-string parameters." // ours
	ExpiresInvalid          Sentence = "X-Amz-Expires must be a number of seconds from 1 to %d."                     // ours
	AlgorithmUnsupported    Sentence = "Unsupported AWS 'algorithm': '%s'."
	SignatureDateInvalid    Sentence = "Date must be in ISO-8601 'basic format'. Got '%s'. See http://en.wikipedia.org/wiki/ISO_8601"
	HostNotSigned           Sentence = "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
	TargetNotSigned         Sentence = "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization." // ours, modeled on the previous one
	SignedHeaderMissing     Sentence = "'%s' is named as a SignedHeader, but it does not exist in the HTTP request."
	CredentialIncomplete    Sentence = "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '%s'"
	// Errors in a credential scope; a message lists all of them.
	ScopeService Sentence = "Credential should be scoped to correct service: '%s'. "
	ScopeEnd     Sentence = "Credential should be scoped with a valid terminator: 'aws4_request', not '%s'. "
	ScopeDate    Sentence = "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '%s' != '%s', from '%s'. "

	SignatureWrong   Sentence = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.\n\nThe Canonical String for this request should have been\n'%s'\n\nThe String-to-Sign should have been\n'%s'\n"
	SignatureExpired Sentence = "Signature expired: %s is now earlier than %s (%s - %d min.)"
	SignatureEarly   Sentence = "Signature not yet current: %s is still later than %s (%s + %d min.)"
	KeyUnknown       Sentence = "The security token included in the request is invalid."
	TokenExpired     Sentence = "The security token included in the request is expired"
	PresignedExpired Sentence = "Signature expired: %s is now later than %s, when the presigned request expired" // ours
)

// Names and ARNs of tables.
const (
	NotFound         Sentence = notFound                                 // item operations, and UpdateTable of an index
	TableNotFound    Sentence = notFound + ": Table: %s not found"       // operations on tables
	ResourceNotFound Sentence = notFound + ": ResourceArn: %s not found" // tagging operations
	// InvalidName is for names without a constraint in the API's model, and for those in an ARN.
	InvalidName      Sentence = "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
	NotARN           Sentence = invalid + "ARNs must start with 'arn:': %s"
	NotDynamoDBARN   Sentence = invalid + "Provided Arn is not a DynamoDB resource arn: %s"
	NotTableOrStream Sentence = invalid + "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: %s"
	InvalidTableARN  Sentence = "Invalid TableArn: Invalid ResourceArn provided as input %s" // of another region
	// The next four are errors of the ARN in a TableName. Of InvalidARNFormat, all but the envelope is DynamoDB Local's text.
	OtherRegion       Sentence = envelope + "Invalid AWS region in '%s'"
	OtherPartition    Sentence = envelope + "Invalid AWS partition in '%s'"
	OtherResourceType Sentence = envelope + "Invalid resource type in '%s'"
	InvalidARNFormat  Sentence = envelope + "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where Resource name must have length less than or equal to 255, Resource name must have length greater than or equal to 3, Resource name must satisfyregular expression pattern: [a-zA-Z0-9_.-]+"
	OtherAccount      Sentence = "Access is denied"
)

// Throughput limits, and changes of throughput.
const (
	TableThroughputExceeded Sentence = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	IndexThroughputExceeded Sentence = "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API"
	TableCapacityExceeded   Sentence = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	IndexCapacityExceeded   Sentence = "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly."
	MaximaExceeded          Sentence = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
	AccountQuotaExceeded    Sentence = "Throughput exceeds the current throughput limit for your account. Please contact AWS Support at https://aws.amazon.com/support request a limit increase"
	TooManyDecreases        Sentence = limited + "Provisioned throughput decreases are limited within a given UTC day. After the first %d decreases, each subsequent decrease in the same UTC day can be performed at most once every %d seconds. Number of decreases today: %d. Last decrease at %s. Next decrease can be made at %s"
	// The next two are ours: AWS's wording is not recorded.
	TableQuotaExceeded   Sentence = limited + "There is a limit of %d %s for a table or global secondary index: %s"
	AccountUnitsExceeded Sentence = limited + "There is a limit of %d %s for all tables and global secondary indexes of a subscriber"
)

// The life cycle of tables.
const (
	TableExists       Sentence = "Table already exists: %s"
	TooManyTables     Sentence = limited + "There is a limit of %d tables per subscriber"
	TableBeingCreated Sentence = inUse + "Table is being created: %s"
	TableBeingDeleted Sentence = inUse + "Table is being deleted: %s"
	IndexBeingUpdated Sentence = inUse + "Index is being updated. Table: %s Index: %s"
	IndexBeingDeleted Sentence = inUse + "Index is being deleted. Table: %s Index: %s"
	// IndexBeingAllocated rejects the deletion of an index whose backfill has not begun.
	IndexBeingAllocated Sentence = inUse + "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. Table: %s Index: %s"
	TableBeingUpdated   Sentence = inUse + "Table is being updated: %s"
	// The next two are DeleteTable's.
	TableChanges       Sentence = inUse + "Table: %s is in the process of being updated."
	TableIndexesChange Sentence = inUse + "Cannot delete table while indexes are being created, updated, or deleted."
	TableProtected     Sentence = "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
	TableUnchanged     Sentence = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, %sDeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"

	// Combinations that UpdateTable rejects.
	ReplicasAndOthersSet   Sentence = invalid + "Requests that modify replicas or witnesses must not also modify other fields"
	OnlyOperation          Sentence = invalid + "%s must be the only operation in the request"
	MaximaOnlyWithBilling  Sentence = invalid + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
	StreamAndThroughputSet Sentence = invalid + "You cannot modify stream status while updating table IOPS"
	IndexAndThroughputSet  Sentence = invalid + "You cannot create or delete index while updating table IOPS"
	IndexAndStreamSet      Sentence = invalid + "You cannot create or delete index while changing stream status"
	IndexAndWarmSet        Sentence = invalid + "Create global secondary index cannot be specified when updating WarmThroughput"

	TableClassInvalid Sentence = "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS]."

	SSETypeWithoutSSE  Sentence = invalid + "SSEType can not be specified if Enabled is false"
	SSEKeyWithoutSSE   Sentence = invalid + "KMSMasterKeyId can not be specified if Enabled is false"
	SSEKeyWithoutType  Sentence = invalid + "SSEType KMS is required if KMSMasterKeyId is specified"
	SSETypeUnsupported Sentence = invalid + "SSEType %s is not supported"
	SSEByDefault       Sentence = invalid + "Table is already encrypted by default"
	SSEByThatKey       Sentence = invalid + "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to change Master Key"
)

// Key schemas: CreateTable, and UpdateTable when it creates an index.
const (
	AttributeDefinedTwice Sentence = "Attribute Name is duplicated: %s"
	AttributesNotKeys     Sentence = invalid + "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"
	AttributesUnused      Sentence = invalid + "Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: %s"
	AttributesMissing     Sentence = envelope + "Value null at 'attributeDefinitions' failed to satisfy constraint: Member must not be null"
	KeySchemaMissing      Sentence = envelope + "Value null at 'keySchema' failed to satisfy constraint: Member must not be null"
	KeyUndefined          Sentence = keySchema + "Some index key attribute have no definition"
	FirstKeyNotHash       Sentence = keySchema + "The first KeySchemaElement is not a HASH key type"
	SecondKeyNotRange     Sentence = keySchema + "The second KeySchemaElement is not a RANGE key type"
	KeysEqual             Sentence = "Both the Hash Key and the Range Key element in the KeySchema have the same name"
	// The next three are about global indexes, whose keys may have several attributes with the same role.
	KeyRepeated      Sentence = "The KeySchema contains multiple key attributes with the same name"
	HashAfterRange   Sentence = invalid + "All HASH key attributes must precede RANGE key attributes in the KeySchema"
	TooManyIndexKeys Sentence = invalid + "The KeySchema exceeds the maximum allowed number of %s key attributes"
)

// Indexes: CreateTable, UpdateTable.
const (
	IndexKeysUndefined     Sentence = invalid + "Some index key attributes are not defined in AttributeDefinitions. Keys: %s, AttributeDefinitions: %s"
	IndexAttributesMissing Sentence = invalid + "AttributeDefinitions is not specified for index: %s" // UpdateTable
	AttributesRedefined    Sentence = invalid + "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[%s] New schema: Schema:[%s]"
	IndexRepeated          Sentence = invalid + "Duplicate index name: %s"
	IndexExists            Sentence = "Attempting to create an index which already exists"
	TooManyIndexesEver     Sentence = "The table has had too many indexes; copy it to a new one" // of this server
	LocalIndexesEmpty      Sentence = invalid + "List of LocalSecondaryIndexes is empty"
	LocalIndexNoTableSort  Sentence = invalid + "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
	LocalIndexNoSort       Sentence = invalid + "Index KeySchema does not have a range key for index: %s"
	LocalIndexOtherHash    Sentence = invalid + "Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. index hash key: %s, table hash key: %s"
	TooManyLocalIndexes    Sentence = invalid + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"
	GlobalIndexesEmpty     Sentence = invalid + "List of GlobalSecondaryIndexes is empty"
	// TooManyGlobalIndexes is CreateTable's, NoRoomForGlobalIndex UpdateTable's.
	TooManyGlobalIndexes Sentence = invalid + "GlobalSecondaryIndex count exceeds the per-table limit of 20"
	NoRoomForGlobalIndex Sentence = limited + "Number of global secondary indexes exceeds per-table limit of 20"

	ProjectionTypeMissing   Sentence = invalid + "Unknown ProjectionType: null"
	ProjectionTakesNoNames  Sentence = invalid + "ProjectionType is %s, but NonKeyAttributes is specified"
	ProjectionLacksNames    Sentence = invalid + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
	ProjectionRepeatsName   Sentence = invalid + "Duplicate element in NonKeyAttributes: %s"
	TooManyProjectedNames   Sentence = invalid + "Number of projected non-key attributes over all indexes exceeds the per-table limit of %d"
	IndexUpdateEmpty        Sentence = invalid + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"
	IndexUpdateAmbiguous    Sentence = invalid + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
	IndexUpdatesEmpty       Sentence = invalid + "List of GlobalSecondaryIndexUpdates is empty"
	IndexUpdatedTwice       Sentence = invalid + "Only one global secondary index update per index is allowed simultaneously. Index: %s"
	IndexUpdateUnchanged    Sentence = invalid + "At least one of ProvisionedThroughput, OnDemandThroughput or WarmThroughput is required for index: %s"
	IndexWarmthEmpty        Sentence = invalid + "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: %s"
	NotGlobalIndex          Sentence = "Cannot %s an index that is not a GlobalSecondaryIndex: %s"
	InsightsIndexNotFound   Sentence = notFound + ": Index: %s not found for table: %s" // contributor insights
	IndexNotFound           Sentence = notFound + ": Index %s for table %s"             // UpdateTable
	TooManyIndexesInTheMake Sentence = limited + "Only 1 online index can be created or deleted simultaneously per table"
)

// Vector indexes: CreateTable, UpdateTable, restores. AWS documents the sentences on the number of indexes and on definitions;
// the others are not recorded.
const (
	TooManyVectorIndexes       Sentence = invalid + "VectorIndex count exceeds the per-table limit of %d"
	SearchSchemaUndefined      Sentence = invalid + "One element in SearchSchema is not defined in attribute definitions"
	SearchSchemaRepeats        Sentence = invalid + "SearchSchema has the attribute %s more than once"
	SearchSchemaManyKeys       Sentence = invalid + "SearchSchema may have at most one HASH element"
	SearchSchemaManyFilters    Sentence = invalid + "SearchSchema may have at most %d INLINE_FILTER elements"
	VectorIndexesEmpty         Sentence = invalid + "List of VectorIndexes is empty"
	VectorIndexProvisioned     Sentence = invalid + "Vector indexes are not supported on provisioned capacity tables"
	VectorAttributeIsKey       Sentence = invalid + "The vector attribute %s must not be in AttributeDefinitions"
	VectorDimensionsTooMany    Sentence = invalid + "Dimensions must be between 1 and %d, but is %d for index: %s"
	VectorDimensionsDiffer     Sentence = invalid + "All vector indexes on the attribute %s must have the same number of dimensions"
	VectorIndexUpdateEmpty     Sentence = invalid + "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null"
	VectorIndexUpdateAmbiguous Sentence = invalid + "Only one of VectorIndexUpdate.Create, VectorIndexUpdate.Delete may be specified"
	VectorIndexUpdatedTwice    Sentence = invalid + "Only one vector index update per index is allowed simultaneously. Index: %s"
)

// Searches of vector indexes. The first five are AWS's; the others are not recorded.
const (
	IndexTypeUnsupported      Sentence = "%s operation not supported on this index type."
	TopKOutOfRange            Sentence = "Provided TopK value '%d' is out of valid range. The value must be between 1 and %d inclusive"
	SearchConditionMissing    Sentence = "SearchConditionExpression must be provided when SearchSchema has a HASH key"
	SearchVectorOfOtherLength Sentence = "Input search vector dimension %s does not match vector index dimension %d"
	VectorIndexBackfilling    Sentence = "Cannot search backfilling vector index: %s"
	SearchConditionNoSchema   Sentence = "Invalid SearchConditionExpression: The attribute %s is not in the SearchSchema of the index"
	SearchKeyNotEqual         Sentence = "Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression"
	SearchKeyTwice            Sentence = "Invalid SearchConditionExpression: SearchConditionExpressions must only contain one condition per partition key"
	SearchVectorOfOtherType   Sentence = invalid + "Invalid type for parameter SearchVector[%d], Expected: N, Actual: %s"
	SearchVectorTooHigh       Sentence = invalid + "Invalid value for parameter SearchVector[%d], Expected: a 32-bit floating-point number, Actual: %s"
	SearchResultsTooLarge     Sentence = "The results are larger than 16 MB: lower TopK or return fewer attributes"
)

// Throughput: CreateTable, UpdateTable.
const (
	ThroughputOnDemand Sentence = invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
	// CreateTable and UpdateTable have different messages for the same errors.
	NewIndexThroughputOnDemand  Sentence = invalid + "ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST"
	IndexThroughputOnDemand     Sentence = invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: %s when BillingMode is PAY_PER_REQUEST"
	IndexUpdateOnDemand         Sentence = invalid + "The only Updates for index: %s when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
	NewThroughputMissing        Sentence = invalid + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
	ThroughputMissing           Sentence = invalid + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
	NewIndexThroughputMissing   Sentence = invalid + "ProvisionedThroughput is not specified for index: %s"
	AddedIndexThroughputMissing Sentence = invalid + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: %s"
	IndexThroughputMissing      Sentence = invalid + "ProvisionedThroughput must be specified for index: %s" // a switch to PROVISIONED

	UnitsOutOfBounds      Sentence = "Given value %d for %s is out of bounds"
	IndexUnitsOutOfBounds Sentence = "Given value %d for %s is out of bounds for index %s"

	TableThroughputUnchanged Sentence = "The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: %[1]d. Requested ReadCapacityUnits: %[1]d. Current WriteCapacityUnits provisioned for the table: %[2]d. Requested WriteCapacityUnits: %[2]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
	IndexThroughputUnchanged Sentence = "The provisioned throughput for the index %[1]s will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the index: %[2]d. Requested ReadCapacityUnits: %[2]d. Current WriteCapacityUnits provisioned for the index: %[3]d. Requested WriteCapacityUnits: %[3]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."

	NewMaximaNotOnDemand      Sentence = invalid + "%s for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."
	NewIndexMaximaNotOnDemand Sentence = invalid + "%s for OnDemandThroughput for index: %s cannot be specified when table BillingMode is PROVISIONED."
	MaximaNotOnDemand         Sentence = invalid + "%s for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
	IndexMaximaNotOnDemand    Sentence = invalid + "%s for OnDemandThroughput for index : %s cannot be specified when the table BillingMode is PROVISIONED"
	MaximaOutOfRange          Sentence = invalid + "Requested %s for OnDemandThroughput for table is outside of valid range"
	IndexMaximaOutOfRange     Sentence = invalid + "Requested %s for OnDemandThroughput for index : %s is outside of valid range"

	WarmThroughputReduced      Sentence = invalid + "Requested %s for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
	IndexWarmThroughputReduced Sentence = invalid + "Requested %s for WarmThroughput for index %s is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
	// The warm throughput of a new table or index must not be below the default.
	WarmBelowOnDemand         Sentence = invalid + "Requested %s for WarmThroughput for table is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
	IndexWarmBelowOnDemand    Sentence = invalid + "Requested %s for WarmThroughput for index %s is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
	WarmBelowProvisioned      Sentence = invalid + "Requested %s for WarmThroughput for table is lower than %s of ProvisionedThroughput"
	IndexWarmBelowProvisioned Sentence = invalid + "Requested %s for WarmThroughput for index %s is lower than %s of ProvisionedThroughput"
)

// Streams. CreateTable and UpdateTable have different messages for the same errors.
const (
	NewStreamViewMissing  Sentence = invalid + "Table is being created with a stream enabled, UpdateViewType is required"
	NewStreamViewNeedless Sentence = invalid + "Table is being created with a stream disabled, UpdateViewType should not be specified"
	StreamViewMissing     Sentence = invalid + "If stream is being enabled then UpdateViewType is required"
	StreamViewNeedless    Sentence = invalid + "If stream is being disabled, then UpdateViewType must not be specified"
	StreamAlreadyEnabled  Sentence = "Table already has an enabled stream: TableName: %s"
	StreamAlreadyDisabled Sentence = "Table has no stream to disable: TableName: %s"
)

// Tags.
const (
	NoTags           Sentence = "Atleast one Tag needs to be provided as Input."
	NoTagKeys        Sentence = "Atleast one Tag Key needs to be provided as Input."
	TagKeyInvalid    Sentence = "The Tag Key provided is invalid, Key: %s"
	TagValueInvalid  Sentence = "The Tag Value provided is invalid, Value: %s"
	TagRepeated      Sentence = "Duplicate Tag Keys provided as input: Duplicate Tag Key found %s"
	TagReserved      Sentence = "Tag Key cannot be prefixed with aws:, Key: %s"
	TooManyTags      Sentence = "Number of Tags exceed the current limit for the provided ResourceArn"
	InvalidNextToken Sentence = "Invalid NextToken provided as input" // ListContributorInsights
)

// Resource policies. Those with a revision are recorded up to "target ta" and "has no associated"; the rest is ours. The first six,
// PolicyUnbounded, PolicyActionsInvalid, PolicyPrincipalInvalid and PolicyServiceInvalid are recorded or documented.
const (
	PolicyResourceElsewhere Sentence = invalid + "Invalid resource Arn: %s"

	PolicyStreamNotFound   Sentence = notFound + ": Stream: %s not found for Table: %s"
	PolicyNotFound         Sentence = policyNotFound + "%s"
	PolicyOtherRevision    Sentence = policyNotFound + "Requested update for policy with revision id %s, but the policy associated to target table %s did not match"
	PolicyNoRevision       Sentence = policyNotFound + "Requested update for policy with revision id %s, but table %s has no associated policy"
	PolicyTooLarge         Sentence = invalid + "Maximum policy size of 20480 bytes exceeded"
	PolicyNotObject        Sentence = badPolicy + "This policy contains invalid Json"
	PolicyVersionInvalid   Sentence = badPolicy + "Version must be 2012-10-17 or 2008-10-17"
	PolicyNull             Sentence = badPolicy + "This text appears not to be a policy"
	PolicySyntax           Sentence = badPolicy + "Syntax error at position (%d,%d)" // line and column
	PolicyNoStatement      Sentence = badPolicy + "Could not parse the policy: Statement is empty!"
	PolicyFieldMissing     Sentence = badPolicy + "Missing required field %s"
	PolicySidRepeated      Sentence = badPolicy + "The Statement Ids in the policy are not unique"
	PolicyUnbounded        Sentence = "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to ensure least-privilege form of access"
	PolicyEffectInvalid    Sentence = badPolicy + "Effect must be Allow or Deny"
	PolicyConditionInvalid Sentence = badPolicy + "Condition must be an object of objects"
	PolicyFieldUnknown     Sentence = badPolicy + "Unknown field %s"
	PolicyFieldNotString   Sentence = badPolicy + "%s must be a string"
	PolicyFieldNotStrings  Sentence = badPolicy + "%s must be a string or a list of strings"
	PolicyFieldAmbiguous   Sentence = badPolicy + "A statement must have either %[1]s or Not%[1]s"
	PolicyActionsInvalid   Sentence = badPolicy + "The following action names are invalid: %s"
	PolicyResourceInvalid  Sentence = badPolicy + `The relative-id "%s" is invalid for ARN "%s"`
	PolicyServiceInvalid   Sentence = badPolicy + "Policy contains invalid service principal"
	PolicyMalformed        Sentence = badPolicy + "%s"
	PolicyPrincipalInvalid Sentence = invalid + "Invalid principal in policy document."
)

// InsightsTableNotActive rejects contributor insights of a table that is being created.
const InsightsTableNotActive Sentence = "Table or Index is not in a valid state to update Key Access Insights: TableStatus must be ACTIVE to enable ContributorInsights."

// InsightsIndexNotActive rejects contributor insights of an index that is being created or deleted.
const InsightsIndexNotActive Sentence = "Table or Index is not in a valid state to update Key Access Insights: IndexStatus must be ACTIVE to enable ContributorInsights."

// TooManyRules is part of the description of contributor insights, not an error of a request.
const TooManyRules Sentence = "Amazon CloudWatch Contributor Insights rule limit reached. Please disable Contributor Insights for other tables/indexes OR disable other CloudWatch Contributor Insights rules before retrying."

// Kinesis destinations. The last is not AWS's: it rejects destinations for which this server was not configured.
const (
	DestinationNotDisabled  Sentence = badDestination + "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
	DestinationNotActive    Sentence = badDestination + "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
	DestinationNotUpdatable Sentence = badDestination + "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. TableName: %s"
	DestinationUnknown      Sentence = badDestination + "No streaming destination with streamArn: %s" // UpdateKinesisStreamingDestination
	DestinationConfigured   Sentence = "Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"
	PrecisionUnchanged      Sentence = "Invalid Request: Precision is already set to the desired value of %s for tableId: %s, kdsArn: %s"
	PrecisionMissing        Sentence = "Streaming destination cannot be updated with given parameters: UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
	InvalidKinesisARN       Sentence = invalid + "StreamArn is not the ARN of a Kinesis data stream: %s"
	NoDelivery              Sentence = invalid + "This server has no place to deliver records for Kinesis to: its data are in memory. Start it with --kinesis-endpoint or --kinesis-dir (Options.KinesisEndpoint or KinesisDir)"
)

// Time to live.
const (
	TTLOnOtherAttribute Sentence = "TimeToLive is active on a different AttributeName: current AttributeName is %s"
	TTLAlreadyEnabled   Sentence = "TimeToLive is already enabled"
	TTLAlreadyDisabled  Sentence = "TimeToLive is already disabled"
	TTLNotDescribed     Sentence = "Cannot describe time to live while table is in %[1]s state: Current table state is %[1]s"
	TTLOfNewTable       Sentence = inUse + "Table %s is being created"
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

	KeyNotScalar      Sentence = keyNotScalar + "Key: %s" // in expressions
	IndexKeyNotScalar Sentence = keyNotScalar + "IndexKey: %s"

	// Keys of indexes, in an item that is put.
	IndexKeyEmpty       Sentence = notValid + "A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s"
	IndexKeyTooBig      Sentence = "Aggregate size for %s key attributes %s of index %s has exceeded limit %d bytes, with actual size %d bytes" // of several attributes
	IndexKeyOfOtherType Sentence = invalid + "Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s"

	// Vectors, in an item that is put or created by an update. The wording of the length is AWS's; of the others only the opening
	// is documented.
	VectorOfOtherLength  Sentence = invalid + "Invalid size for parameter %s, Expected: %d, Actual: %s. IndexName: %s"
	VectorOfOtherType    Sentence = invalid + "Invalid type for parameter %s, Expected: %s, Actual: %s. IndexName: %s"
	VectorElementTooHigh Sentence = invalid + "Invalid value for parameter %s, Expected: a 32-bit floating-point number, Actual: %s. IndexName: %s"

	// Keys of indexes, in the result of an update.
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

// Attribute values with no type or several; BatchWriteItem says the same about its requests.
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
	TransactionTooLarge      Sentence = "Transaction payload size cannot exceed 4MB. Payload Size: %d"    // of the request; DynamoDB Local's
	TransactionItemsTooLarge Sentence = "The aggregate size of the items in the transaction exceeds 4 MB" // of the stored items
	TransactionActionCount   Sentence = "TransactItems can only contain one of Check, Put, Update or Delete"
	TokenOfOtherRequest      Sentence = "Request rejected because it was retried with a different payload but with a request token that was already used."
)

// PartiQL. Errors in a statement's text are in package partiql. Those about parameters, ORDER BY, batches and tokens could not be
// compared with a recorded response.
const (
	DuplicateItem         Sentence = "Duplicate primary key exists in table"
	StatementParameters   Sentence = "Number of parameters in request and statement don't match."
	StatementLacksKey     Sentence = "Where clause does not contain a mandatory equality on all key attributes"
	StatementTwoKeys      Sentence = "Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported"
	BatchSelectLacksKey   Sentence = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
	ExistsLacksCondition  Sentence = "EXISTS() must contain a single item read with additional condition"
	OrderWithoutWhere     Sentence = "Must have WHERE clause in the statement when using ORDER BY clause."
	OrderWithoutPartition Sentence = "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
	OrderOnOther          Sentence = "Variable reference %s in ORDER BY clause must be part of the primary key."
	StatementToken        Sentence = "Invalid NextToken"
	StatementOtherToken   Sentence = "NextToken does not match request"

	// These are those of DynamoDB Local, as are those of package partiql about what DynamoDB does not support.
	InTransactStatement     Sentence = "Validation failed in TransactStatements[%d]: %s"
	TransactSelectLacksKey  Sentence = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
	TransactReadOfIndex     Sentence = "Reads on indices are not supported within transactions."
	TransactExistsOfIndex   Sentence = "Operations on indices are not supported in transactions"
	ReturningInTransaction  Sentence = "RETURNING clause is not supported in ExecuteTransaction."
	TransactStatementsMixed Sentence = "ExecuteTransaction API does not support both read and write operations in the same request."
	BatchStatementsMixed    Sentence = "Read and write requests together in the same batch is not supported."
	WriteOfIndex            Sentence = "This operation is not supported on an index"
	InsertIntoIndex         Sentence = "FROM clause may only contain a single table name in data manipulation statements"
	ReturningOnlyAllOld     Sentence = "Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements."
	ExistsNotInTransaction  Sentence = "EXISTS can only be used in ExecuteTransaction write requests."
	ColumnTwice             Sentence = "Duplicate identifiers in select clause: %s"
	SetOfOther              Sentence = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
	InOfOther               Sentence = "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member"
	WhereNoCondition        Sentence = "WHERE clause must contain an expression that resolves to a boolean"
	TermNoCondition         Sentence = "The arguments to AND/OR must be Expressions"
	NotOfOther              Sentence = "The argument to NOT must be a Type or Expression"
	ConditionOperator       Sentence = "Unsupported operator in Condition Expression. Operator: %s"
	FunctionUnknown         Sentence = "Unrecognized function: %s"
	FunctionInUpdate        Sentence = "The function is not allowed in an update expression; function: %s"
	FunctionInCondition     Sentence = "The function is not allowed in a condition expression; function: %s"
	SetFunctionOfOtherPath  Sentence = "The first argument to %s must equal the assignment value"
	SetFunctionOfNoSet      Sentence = "The second argument to %s must be a value with type SET"

	// These are not AWS's, whose wording is not known.
	OrderBeginsElsewhere Sentence = "ORDER BY must begin with the partition key %s when the WHERE clause selects several partitions"
	OrderOfKey           Sentence = "ORDER BY must name the sort key attributes %s in this order and in one direction"
	PartitionsOfLongKey  Sentence = "Only the last of the partition key attributes %s can have several values in the WHERE clause"
	InsertOfOther        Sentence = "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement."
	MapNameTwice         Sentence = "Duplicate attribute name in a map: %s"
	StatementNoOperand   Sentence = "A condition cannot be used as an operand"
	StatementNoValue     Sentence = "A list, set or map can only contain values"
)

// Key conditions and filters of Query.
const (
	KeyConditionMissing      Sentence = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
	KeyConditionLacksKey     Sentence = "Query condition missed key schema element: %s"
	KeyConditionCount        Sentence = "The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)"
	KeyConditionLacksHash    Sentence = "HASH key attributes %s must have equality conditions specified in the query"
	KeyConditionLacksRange   Sentence = "RANGE key attributes %s must have equality conditions specified in the query because a condition is present on key attribute %s"
	KeyConditionNotSupported Sentence = "Query key condition not supported"
	KeyConditionOfOtherType  Sentence = invalid + "Condition parameter type does not match schema type"
	FilterOnKey              Sentence = "Filter Expression can only contain non-primary key attributes: Primary key attribute: %s"
	QueryFilterOnKey         Sentence = "QueryFilter can only contain non-primary key attributes: Primary key attribute: %s"
)

// What Query and Scan select.
const (
	SelectProjectedOfTable Sentence = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName" // Scan, too
	SelectSpecificOfNone   Sentence = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
	SelectWithNames        Sentence = "Cannot specify the %s when choosing to get %s"
	SelectCountWithNames   Sentence = "Cannot specify the %s when choosing to get only the Count"
	IndexNotInTable        Sentence = "The table does not have the specified index: %s"
	IndexBackfilling       Sentence = "Cannot read from backfilling global secondary index: %s"
	GlobalIndexConsistent  Sentence = "Consistent reads are not supported on global secondary indexes"
	GlobalIndexNotAll      Sentence = invalid + "Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL"
	GlobalIndexLacks       Sentence = invalid + "Global secondary index %s does not project %s"
	IndexLacksFiltered     Sentence = invalid + "Secondary index %s does not project one or more filter attributes: %s"
)

// Pages and segments of Query and Scan.
const (
	StartKeyInvalid       Sentence = startKey
	StartKeyFault         Sentence = startKey + ": %s"                                                                         // before the sentence that says why
	StartKeyOfHashTable   Sentence = "The provided exclusive start key is invalid: ExclusiveStartKey: {%s=AttributeValue: %s}" // Query of a table without sort key
	StartKeyOtherSegment  Sentence = startKey + ": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d"
	StartKeyOutside       Sentence = "The provided starting key is outside query boundaries based on provided conditions"
	StartKeyOutsideRange  Sentence = "The provided starting key does not match the range key predicate"
	StartKeyOfSingleItem  Sentence = "The query can return at most one row and cannot be restarted"
	TotalSegmentsMissing  Sentence = "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
	SegmentMissing        Sentence = "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"
	SegmentBeyondSegments Sentence = "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d"
)

// Backups and point-in-time recovery.
const (
	BackupTableNotFound  Sentence = "Table not found: %s"
	BackupNotFound       Sentence = "Backup not found: %s"
	BackupsNotYetKept    Sentence = "Backups are being enabled for the table: %s. Please retry later"
	RecoveryNotEnabled   Sentence = "Point in time recovery is not enabled for table '%s'"
	RecoveryDaysNeedless Sentence = request + "Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
	// RestoreTimeOutside contains both ends of the recovery period.
	RestoreTimeOutside Sentence = "RestoreDateTime '%s' must be within EarliestRestorableDateTime '%s' and LatestRestorableDateTime '%s'"

	RestoreTimeMissing     Sentence = request + "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
	RestoreTimeAmbiguous   Sentence = request + "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. Please specify only one of them" // the last sentence is not recorded whole
	RestoreSourceMissing   Sentence = "The parameter 'TableName' is required but was not present in the request"
	RestoreSourceAmbiguous Sentence = "Must provide exactly one of: sourceTableArn, sourceTableName"
	RestoreSourceNotARN    Sentence = "sourceTableArn is not a valid ARN"
	RestoreSourceForeign   Sentence = "This action is only supported by accounts that match the resource owner’s account."
	TableBeingRestored     Sentence = "Table: %s is already being restored from backup: %s"
	TableBeingRecovered    Sentence = "Table: %s is already being restored from table: %s" // not recorded: the source is a table
	NameOfRestore          Sentence = inUse + "Table is being used: %s"                    // CreateTable
	TooManyRestores        Sentence = limited + "Only %d restore operations can be done simultaneously"

	RestoreAcrossRegions Sentence = request + "sseSpecificationOverride must be provided for cross-region restores"
	InvalidBackupARN     Sentence = "Invalid Backup ARN"
	BackupARNNotValid    Sentence = request + "BackupArn is not valid" // of another service or partition
	BackupsOutOfOrder    Sentence = invalid + "Time range lower bound must be less than or equal to upper bound"
	BackupCursorForeign  Sentence = request + "The supplied ExclusiveStartBackupArn does not match the region"
	BackupBeingCreated   Sentence = "Backup is being created: %s"
	BackupBeingRestored  Sentence = "Backup is being used to restore table: %s"         // DeleteBackup
	BackupOfOtherRestore Sentence = "Backup is being used to restore another table: %s" // RestoreTableFromBackup
	BackupOfSystem       Sentence = request + "User is not allowed to delete the system backup with arn %s. It will automatically expire on %s"

	OverrideUnknownIndex            Sentence = request + "Index %s does not match a secondary index that existed in the source table and cannot be created during the restore operation"
	OverrideThroughputOnDemand      Sentence = request + "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST"
	OverrideThroughputOfOnDemand    Sentence = request + "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"
	OverrideThroughputMissing       Sentence = request + "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"
	OverrideIndexThroughputOnDemand Sentence = request + "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for index %s"
	OverrideIndexThroughputMissing  Sentence = request + "Must specify provisioned throughput for index %s"
	OverrideMaximaNotOnDemand       Sentence = request + "Cannot override %s for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST"
	OverrideMaximaOutOfRange        Sentence = request + "Requested %s for OnDemandThroughput is outside of valid range"
	OverrideWarmIndex               Sentence = invalid + "WarmThroughput is not supported for a restore to a point in time. Index: %s" // not recorded
)

// Exports, imports and bulk operations.
const (
	ExportTimeOutside   Sentence = "Export Time is invalid"
	ExportPeriodOutside Sentence = "ExportFromTime and ExportToTime must be between EarliestRestorableDateTime and LatestRestorableDateTime" // not recorded
	ExportPeriodOfOther Sentence = "Incremental export period from time cannot be less than the table creation time : %s"
	ExportPeriodToCome  Sentence = "Incremental export period to time cannot be greater than the current time : %s"
	ExportPeriodShort   Sentence = "Difference between export period from time and export period to time is less than 15 minutes"
	ExportPeriodLong    Sentence = "Difference between export period from time and export period to time is greater than 24 hours" // not recorded
	ExportPeriodMissing Sentence = request + "Incremental Export Specification expected when export type is set as Incremental Export"
	ExportFromMissing   Sentence = request + "ExportFromTime must be provided in IncrementalExportSpecification"
	ExportPeriodOfNone  Sentence = request + "Export Type expected to be Incremental Export when incremental export specification is provided"
	ExportPeriodOfFull  Sentence = request + "When Export Type is Full Export , Incremental Export Specification should not be provided"
	ExportOfNoARN       Sentence = invalid + "tableArn is not a valid ARN"
	ExportOfNothing     Sentence = "Invalid TableArn: Invalid Table ARN" // an empty one
	ExportOfNoTable     Sentence = request + "Table ARN is invalid."
	FilterEmpty         Sentence = request + "Invalid FilterSpecification: The specification can not be empty"
	ExportTimeOfPeriod  Sentence = invalid + "ExportTime can only be specified for an export of type FULL_EXPORT"
	FilterOfPeriod      Sentence = invalid + "FilterSpecification can only be specified for an export of type FULL_EXPORT"
	KMSKeyWithoutKMS    Sentence = request + "KMS Key Id is not supported for this encryption type"
	ExportTokenReused   Sentence = "Export conflict: Duplicate request detected with conflicting parameters"
	ImportTokenReused   Sentence = "Import conflict: Duplicate request detected with conflicting parameters"
	BulkTokenReused     Sentence = "The request was retried with the same client token and other parameters"
	ExportNotFound      Sentence = "Export not found: Export not found: %s"
	ExportElsewhere     Sentence = "Export not found: Invalid export arn" // of another region
	ImportNotFound      Sentence = "Import not found: %s"                 // not recorded
	InvalidExportARN    Sentence = "Invalid Export ARN"
	InvalidImportARN    Sentence = "Invalid Import ARN"
	BulkNotFound        Sentence = "Bulk operation not found: %s"
	InvalidBulkARN      Sentence = invalid + "Invalid BulkOperationArn provided as input %s"
	InvalidPageToken    Sentence = request + "Provided nextToken is invalid: %s"
	TooManyExports      Sentence = limited + "There is a limit of %d concurrent exports per subscriber"
	TooManyImports      Sentence = limited + "There is a limit of %d concurrent imports per subscriber"
	TooManyBulk         Sentence = limited + "There is a limit of %d concurrent bulk operations per subscriber"
	BulkOutputMissing   Sentence = invalid + "OutputS3Configuration.S3Bucket must be specified"
	BulkOutputTypes     Sentence = invalid + "OutputS3Configuration.OutputType must contain ERROR, CONDITION_CHECK_FAILURE or both, each once"
	BulkTableNotActive  Sentence = "A bulk operation cannot start while an index of the table is being created: %s"
	BulkOver            Sentence = invalid + "The bulk operation is not in progress: its status is %s"
	UnknownMember       Sentence = invalid + "The record has an unknown member: %s"
	CSVOptionsOfOther   Sentence = request + "Unsupported InputFormatOptions for the given input format: %s."
	NoBuckets           Sentence = "This server has no buckets: start it with --s3-dir or --s3-endpoint (Options.S3Dir or S3Endpoint)" // not AWS's
	UnusableKey         Sentence = invalid + "%s cannot be part of a key in this server's buckets: %s"                                 // not AWS's
)

// Global tables.
const (
	ReplicaExists           Sentence = "Failed to create a the new replica of table with name: ‘%s’ because one or more replicas already existed as tables."
	ReplicaMissing          Sentence = "Update global table operation failed because one or more replicas were not part of the global table. Please retry the request without these replicas: [%s]."
	ReplicaIsLocal          Sentence = "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, DeleteTable, or UpdateTable as required."
	LocalReplicaUpdate      Sentence = "Cannot add, delete, or update the local region through ReplicaUpdates. Use CreateTable, DeleteTable, or UpdateTable as required."
	ReplicaIsSource         Sentence = "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the table in the last 24 hours."
	ReplicaProtected        Sentence = "Cannot delete table %s in region %s because it has deletion protection enabled. Disable deletion protection first."
	ReplicaActionMissing    Sentence = "There are no actions specified in the Replica Update Action of the request."
	ReplicaActionsDiffer    Sentence = "Update table operation with more than one type of replica actions not allowed."
	ReplicasOneByOne        Sentence = "Update table operation with more than one create or delete replica actions not allowed"
	ReplicaActions          Sentence = invalid + "Each element of ReplicaUpdates must have exactly one of Create, Update, Delete and Disassociate"
	ReplicaRepeated         Sentence = invalid + "ReplicaUpdates must name each Region once. Region: %s"
	DisassociationAlone     Sentence = invalid + "Disassociate must be the only replica update of the request"
	DisassociationOther     Sentence = invalid + "Disassociate must be sent to the Region of the replica. Region: %s"
	DisassociationMode      Sentence = invalid + "DisassociationMode must be WAIT_FOR_REPLICATION"
	DisassociationNeedsMREC Sentence = invalid + "The table is not a replica of a global table of version 2019.11.21 with multi-Region eventual consistency: %s"
	DisassociationBarred    Sentence = invalid + "The replica is protected against disassociation. Disable disassociation protection and try again"
	NotAReplica             Sentence = invalid + "The table is not a replica of a global table of version 2019.11.21: %s"
	StreamOfReplica         Sentence = invalid + "Disabling Stream is not allowed for a Global Table replica."
	OverrideNotProvisioned  Sentence = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
	OverrideNotOnDemand     Sentence = "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
	OverrideIndexMissing    Sentence = invalid + "The table has no global secondary index of the name %s"
	TTLOfStrong             Sentence = "Time to live is not supported for global tables of multi-Region strong consistency. Table: %s"
	ConsistencyFixed        Sentence = "MultiRegionConsistency parameter is unsupported on existing global table"
	StrongIsWhole           Sentence = "Cannot add replicas to a global table with strong MultiRegionConsistency"
	StrongEndsWhole         Sentence = "Deletion of only one table replica is not supported for global tables with MultiRegionConsistency set to STRONG."
	StrongNeedsThree        Sentence = "Unsupported replica count for global tables with MultiRegionConsistency set to STRONG."
	StrongRegions           Sentence = "Unsupported Region(s) specified for global tables with MultiRegionConsistency set to STRONG: [%s]."
	StrongRegionRepeated    Sentence = "Cannot target multiple regions with the same action"
	ConsistencyOfNew        Sentence = "Only Replica Create actions are supported when MultiRegionConsistency parameter is provided."
	StrongNeedsEmpty        Sentence = invalid + "A table must be empty to become a global table of multi-Region strong consistency. Table: %s"
	StrongLocalIndexes      Sentence = invalid + "Local secondary indexes are not supported for global tables of multi-Region strong consistency. Table: %s"
	TransactionOfStrong     Sentence = invalid + "Transactions are not supported for global tables of multi-Region strong consistency. Table: %s"
	WitnessNeedsStrong      Sentence = "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present."
	WitnessIsLocal          Sentence = "Cannot add a witness in the same region as an existing replica when creating a global table with MultiRegionConsistency set to STRONG."
	WitnessStays            Sentence = "Update table delete operation does not include all witnesses."
	WitnessMissing          Sentence = "Update global table operation failed because one or more witnesses were not part of the global table. Please retry the request without these witnesses: [%s]."
	WitnessActions          Sentence = invalid + "An element of GlobalTableWitnessUpdates must have either Create or Delete"
	ReplicatedWriteConflict Sentence = "The item is being modified by a request in another Region. Retry the request"
	GlobalTableMissing      Sentence = "Global table not found: Global table with name: '%s' does not exist."
	GlobalSettingsMissing   Sentence = "Global table with name: '%s' does not exist." // operations on settings and on auto scaling
	ScalingAbsent           Sentence = "Failed to update settings for global table with name: ‘%s’ because at least one update parameter must be specified."
	ScalingOfRegionAbsent   Sentence = "Failed to update settings for global table with name: ‘%s’ because at least one update parameter must be specified for region: ‘%s’."
	ScalingRegionRepeated   Sentence = "Failed to update settings for global table with name: ‘%s’ because the regions: ‘[%s]’ were specified more than once."
	ScalingRegionMissing    Sentence = "Failed to update settings for global table with name: ‘%s’ because a replica does not exist in regions: ‘[%s]’."
	ScalingOnDemand         Sentence = "Failed to update global table with name ‘%s‘. Replicas %s BillingMode is PayPerRequest. You must convert table's BillingMode to PROVISIONED to set parameters: %s."
	ScalingIncomplete       Sentence = "Failed to update settings for global table with name: ‘%s’: Parameters %s are required unless auto scaling is being disabled."
	ScalingNotOff           Sentence = "Failed to update settings for global table with name ‘%s’: Parameters %s must be left blank when disabling auto scaling."
	ScalingIndexMissing     Sentence = "Failed to update settings for global table with name: ‘%s’ because the global secondary indexes with names: ‘[%s]’ do not exist."
	ScalingReadsMissing     Sentence = "Failed to update settings for global table with name: ‘%s’ because a global secondary index with name: ‘%s’ does not exist in region: ‘%s’."
	ScalingBounds           Sentence = "Maximum capacity cannot be less than minimum capacity" // on AWS followed by the id of a request to Application Auto Scaling
	ScalingTarget           Sentence = "For predefined metric type %s, target value must be between '10.0' and '90.0', but was '%s'."
	ScalingTargetTooLow     Sentence = "For target tracking scaling, target value must be between '8.51592E-109' and '1.174271E108', but was '%s'."
	GlobalTableExists       Sentence = "Global table with name: '%s' already exists"
	ReplicaOfGlobalExists   Sentence = "Replica with name: '%s' already exists in Region: %s"
	ReplicaOfGlobalMissing  Sentence = "Replica with name: '%s' does not exist in Region: %s"
	GlobalReplicaDiffers    Sentence = invalid + "The replicas of a global table must have the same key schema and the same indexes. Table: %s, Region: %s"
	GlobalReplicaStream     Sentence = invalid + "A replica of a global table needs a stream with view type NEW_AND_OLD_IMAGES. Table: %s, Region: %s"
	GlobalReplicaFilled     Sentence = invalid + "The replicas of a global table must be empty when one is added. Table: %s, Region: %s"
	GlobalIndexMissing      Sentence = "Index not found: %s"
	GlobalVersionOther      Sentence = invalid + "The table %s belongs to a global table of version %s"

	// Not AWS's.
	ReplicaRegionUnserved Sentence = invalid + "This server does not serve the Region %s. It serves %s; start it with --regions (Options.Regions) to have others"
)

// codes are the codes of sentences other than ValidationException.
var codes = map[Sentence]Code{
	ReplicatedWriteConflict: ReplicatedWriteConflictException,
	GlobalTableMissing:      GlobalTableNotFoundException,
	GlobalSettingsMissing:   GlobalTableNotFoundException,
	GlobalTableExists:       GlobalTableAlreadyExistsException,
	ReplicaOfGlobalExists:   ReplicaAlreadyExistsException,
	ReplicaOfGlobalMissing:  ReplicaNotFoundException,
	GlobalIndexMissing:      IndexNotFoundException,
	InternalFault:           InternalServerError,
	DatabaseMoved:           InternalServerError,
	BodyTooLarge:            RequestEntityTooLargeException,
	OutOfSpace:              LimitExceededException,
	NoSpaceToDelete:         LimitExceededException,
	NoSpaceToDrop:           LimitExceededException,
	NotFound:                ResourceNotFoundException,
	TableNotFound:           ResourceNotFoundException,
	ResourceNotFound:        ResourceNotFoundException,
	OtherAccount:            AccessDeniedException,
	PolicyLocksOut:          AccessDeniedException,
	Overloaded:              ThrottlingException,
	TooManyConnections:      ThrottlingException,
	BodyTooSlow:             RequestTimeoutException,
	TimedOut:                ServiceUnavailable,
	HostForbidden:           AccessDeniedException,
	OriginForbidden:         AccessDeniedException,
	RegionNotServed:         InvalidSignatureException,
	NotSigned:               MissingAuthenticationTokenException,
	SignedTwice:             InvalidSignatureException,
	AuthorizationInvalid:    IncompleteSignatureException,
	AuthorizationIncomplete: IncompleteSignatureException,
	QueryIncomplete:         IncompleteSignatureException,
	QueryInvalid:            IncompleteSignatureException,
	ExpiresInvalid:          IncompleteSignatureException,
	AlgorithmUnsupported:    IncompleteSignatureException,
	SignatureDateInvalid:    IncompleteSignatureException,
	HostNotSigned:           InvalidSignatureException,
	TargetNotSigned:         InvalidSignatureException,
	SignedHeaderMissing:     IncompleteSignatureException,
	CredentialIncomplete:    IncompleteSignatureException,
	SignatureWrong:          InvalidSignatureException,
	SignatureExpired:        InvalidSignatureException,
	SignatureEarly:          InvalidSignatureException,
	PresignedExpired:        InvalidSignatureException,
	KeyUnknown:              UnrecognizedClientException,
	TokenExpired:            ExpiredTokenException,
	TableExists:             ResourceInUseException,
	TooManyTables:           LimitExceededException,
	TableThroughputExceeded: ProvisionedThroughputExceededException,
	IndexThroughputExceeded: ProvisionedThroughputExceededException,
	TableCapacityExceeded:   ThrottlingException,
	IndexCapacityExceeded:   ThrottlingException,
	MaximaExceeded:          ThrottlingException,
	AccountQuotaExceeded:    RequestLimitExceeded,
	TooManyDecreases:        LimitExceededException,
	TableQuotaExceeded:      LimitExceededException,
	AccountUnitsExceeded:    LimitExceededException,
	TableBeingCreated:       ResourceInUseException,
	TableBeingDeleted:       ResourceInUseException,
	TableBeingUpdated:       ResourceInUseException,
	IndexBeingUpdated:       ResourceInUseException,
	IndexBeingDeleted:       ResourceInUseException,
	IndexBeingAllocated:     ResourceInUseException,
	TableChanges:            ResourceInUseException,
	TableIndexesChange:      ResourceInUseException,
	TTLOfNewTable:           ResourceInUseException,
	TooManyIndexesEver:      LimitExceededException,
	NoRoomForGlobalIndex:    LimitExceededException,
	TooManyIndexesInTheMake: LimitExceededException,
	ConditionFailed:         ConditionalCheckFailedException,
	ItemCollectionTooLarge:  ItemCollectionSizeLimitExceededException,
	DuplicateItem:           DuplicateItemException,
	TransactionCanceled:     TransactionCanceledException,
	TransactionConflict:     TransactionConflictException,
	TransactionInProgress:   TransactionInProgressException,
	TokenOfOtherRequest:     IdempotentParameterMismatchException,
	StreamNotFound:          ResourceNotFoundException,
	ShardNotFound:           ResourceNotFoundException,
	RecordTrimmed:           TrimmedDataAccessException,
	IteratorExpired:         ExpiredIteratorException,
	TooManyRecords:          LimitExceededException,

	IndexNotFound:         ResourceNotFoundException,
	PolicyStreamNotFound:  ResourceNotFoundException,
	InsightsIndexNotFound: ResourceNotFoundException,

	NameOfRestore:       ResourceInUseException,
	TableBeingRestored:  TableInUseException,
	TableBeingRecovered: TableInUseException,

	BackupTableNotFound:  TableNotFoundException,
	BackupNotFound:       BackupNotFoundException,
	BackupBeingCreated:   BackupInUseException,
	BackupBeingRestored:  BackupInUseException,
	BackupOfOtherRestore: BackupInUseException,
	BackupsNotYetKept:    ContinuousBackupsUnavailableException,
	RecoveryNotEnabled:   PointInTimeRecoveryUnavailableException,
	RestoreTimeOutside:   InvalidRestoreTimeException,
	TooManyRestores:      LimitExceededException,

	AccessNotAllowed:     AccessDeniedException,
	AccessDeniedBy:       AccessDeniedException,
	PolicyNotFound:       PolicyNotFoundException,
	PolicyOtherRevision:  PolicyNotFoundException,
	PolicyNoRevision:     PolicyNotFoundException,
	ScalingIndexMissing:  ResourceNotFoundException,
	ScalingRegionMissing: ResourceNotFoundException,
	ScalingReadsMissing:  ResourceNotFoundException,
	TooManyRules:         LimitExceededException,
	ExportTimeOutside:    InvalidExportTimeException,
	ExportPeriodOutside:  InvalidExportTimeException,
	ExportPeriodOfOther:  InvalidExportTimeException,
	ExportPeriodToCome:   InvalidExportTimeException,
	ExportPeriodShort:    InvalidExportTimeException,
	ExportPeriodLong:     InvalidExportTimeException,
	ExportTokenReused:    ExportConflictException,
	ImportTokenReused:    ImportConflictException,
	BulkTokenReused:      IdempotentParameterMismatchException,
	ExportNotFound:       ExportNotFoundException,
	ExportElsewhere:      ExportNotFoundException,
	ImportNotFound:       ImportNotFoundException,
	BulkNotFound:         ResourceNotFoundException,
	BulkTableNotActive:   ResourceInUseException,
	TooManyBulk:          LimitExceededException,
	TooManyExports:       LimitExceededException,
	TooManyImports:       LimitExceededException,
}

// Reading streams.
const (
	StreamNotFound         Sentence = notFound + ": Stream: %s not found"
	ShardNotFound          Sentence = notFound + ": Shard does not exist"
	RecordTrimmed          Sentence = "The data you are trying to access has been trimmed"
	IteratorExpired        Sentence = "Shard iterator has expired"
	TooManyRecords         Sentence = "The limit must not exceed %d records"
	InvalidStreamARN       Sentence = "Invalid StreamArn: %s"
	InvalidShardID         Sentence = "Invalid ShardId: %s"
	InvalidShardIterator   Sentence = "Invalid ShardIterator"
	InvalidSequenceNumber  Sentence = "Invalid SequenceNumber: %s"
	SequenceNumberNeedless Sentence = invalid + "SequenceNumber must not be specified for ShardIteratorType %s" // the type is AWS's, the words are not
	SequenceNumberMissing  Sentence = invalid + "SequenceNumber must be specified for ShardIteratorType %s"
	TimestampMissing       Sentence = invalid + "Timestamp must be specified for ShardIteratorType %s"
	TimestampInFuture      Sentence = invalid + "Timestamp must not be in the future"
	ShardFilterIncomplete  Sentence = invalid + "ShardFilter must have both Type and ShardId"
)

// List formats a list as a fact of a sentence, as AWS prints it.
func List(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
