package apierr

import "net/http"

// Code is the name of an error, the part that clients see after the '#'.
type Code string

// The codes of the framework in front of the database.
const (
	ValidationException                 Code = "ValidationException"
	SerializationException              Code = "SerializationException"
	UnknownOperationException           Code = "UnknownOperationException"
	RequestEntityTooLargeException      Code = "RequestEntityTooLargeException"
	AccessDeniedException               Code = "AccessDeniedException"
	ExpiredTokenException               Code = "ExpiredTokenException"
	IncompleteSignatureException        Code = "IncompleteSignatureException"
	InvalidSignatureException           Code = "InvalidSignatureException"
	MissingAuthenticationTokenException Code = "MissingAuthenticationTokenException"
	UnrecognizedClientException         Code = "UnrecognizedClientException"
	RequestTimeoutException             Code = "RequestTimeoutException"
	ThrottlingException                 Code = "ThrottlingException"
	ServiceUnavailable                  Code = "ServiceUnavailable"
)

// The codes of the database, from the API's model.
const (
	BackupInUseException                     Code = "BackupInUseException"
	BackupNotFoundException                  Code = "BackupNotFoundException"
	ConditionalCheckFailedException          Code = "ConditionalCheckFailedException"
	ContinuousBackupsUnavailableException    Code = "ContinuousBackupsUnavailableException"
	DuplicateItemException                   Code = "DuplicateItemException"
	ExpiredIteratorException                 Code = "ExpiredIteratorException"
	ExportConflictException                  Code = "ExportConflictException"
	ExportNotFoundException                  Code = "ExportNotFoundException"
	GlobalTableAlreadyExistsException        Code = "GlobalTableAlreadyExistsException"
	GlobalTableNotFoundException             Code = "GlobalTableNotFoundException"
	IdempotentParameterMismatchException     Code = "IdempotentParameterMismatchException"
	ImportConflictException                  Code = "ImportConflictException"
	ImportNotFoundException                  Code = "ImportNotFoundException"
	IndexNotFoundException                   Code = "IndexNotFoundException"
	InternalServerError                      Code = "InternalServerError"
	InvalidEndpointException                 Code = "InvalidEndpointException"
	InvalidExportTimeException               Code = "InvalidExportTimeException"
	InvalidRestoreTimeException              Code = "InvalidRestoreTimeException"
	ItemCollectionSizeLimitExceededException Code = "ItemCollectionSizeLimitExceededException"
	LimitExceededException                   Code = "LimitExceededException"
	PointInTimeRecoveryUnavailableException  Code = "PointInTimeRecoveryUnavailableException"
	PolicyNotFoundException                  Code = "PolicyNotFoundException"
	ProvisionedThroughputExceededException   Code = "ProvisionedThroughputExceededException"
	ReplicaAlreadyExistsException            Code = "ReplicaAlreadyExistsException"
	ReplicaNotFoundException                 Code = "ReplicaNotFoundException"
	ReplicatedWriteConflictException         Code = "ReplicatedWriteConflictException"
	RequestLimitExceeded                     Code = "RequestLimitExceeded"
	ResourceInUseException                   Code = "ResourceInUseException"
	ResourceNotFoundException                Code = "ResourceNotFoundException"
	TableAlreadyExistsException              Code = "TableAlreadyExistsException"
	TableInUseException                      Code = "TableInUseException"
	TableNotFoundException                   Code = "TableNotFoundException"
	TransactionCanceledException             Code = "TransactionCanceledException"
	TransactionConflictException             Code = "TransactionConflictException"
	TransactionInProgressException           Code = "TransactionInProgressException"
	TrimmedDataAccessException               Code = "TrimmedDataAccessException"
)

// The namespaces before the '#' in __type.
const (
	database     = "com.amazonaws.dynamodb.v20120810"
	validate     = "com.amazon.coral.validate"
	service      = "com.amazon.coral.service"
	availability = "com.amazon.coral.availability"
)

// info is the catalog entry of a code.
type info struct {
	namespace    string
	status       int
	upperMessage bool // the message's member is "Message"
}

func (c Code) info() info {
	if i, ok := exceptional[c]; ok {
		return i
	}
	return info{namespace: database, status: http.StatusBadRequest}
}

// OfFramework reports whether the code belongs to the framework in front of the database. Every operation may return such a code.
func (c Code) OfFramework() bool { return c.info().namespace != database }

// exceptional are the codes that differ from plain database errors: namespace database, status 400, "message" in lower case.
var exceptional = map[Code]info{
	ValidationException: {namespace: validate, status: http.StatusBadRequest},

	SerializationException:              {namespace: service, status: http.StatusBadRequest},
	UnknownOperationException:           {namespace: service, status: http.StatusBadRequest},
	RequestEntityTooLargeException:      {namespace: service, status: http.StatusRequestEntityTooLarge},
	AccessDeniedException:               {namespace: service, status: http.StatusBadRequest, upperMessage: true},
	ExpiredTokenException:               {namespace: service, status: http.StatusBadRequest},
	IncompleteSignatureException:        {namespace: service, status: http.StatusBadRequest},
	InvalidSignatureException:           {namespace: service, status: http.StatusBadRequest},
	MissingAuthenticationTokenException: {namespace: service, status: http.StatusBadRequest},
	UnrecognizedClientException:         {namespace: service, status: http.StatusBadRequest},

	RequestTimeoutException: {namespace: service, status: http.StatusRequestTimeout},

	ThrottlingException: {namespace: availability, status: http.StatusBadRequest},
	ServiceUnavailable:  {namespace: availability, status: http.StatusServiceUnavailable},

	InternalServerError: {namespace: database, status: http.StatusInternalServerError},

	TransactionInProgressException:       {namespace: database, status: http.StatusBadRequest, upperMessage: true},
	TransactionCanceledException:         {namespace: database, status: http.StatusBadRequest, upperMessage: true},
	IdempotentParameterMismatchException: {namespace: database, status: http.StatusBadRequest, upperMessage: true},
}
