package server

import (
	"context"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// Engine executes operations. Inputs have passed api.Validate. An *apierr.Error is for the client, any other error is internal.
// All methods are safe for concurrent use.
type Engine interface {
	BatchExecuteStatement(context.Context, *api.BatchExecuteStatementInput) (*api.BatchExecuteStatementOutput, error)
	BatchGetItem(context.Context, *api.BatchGetItemInput) (*api.BatchGetItemOutput, error)
	BatchWriteItem(context.Context, *api.BatchWriteItemInput) (*api.BatchWriteItemOutput, error)
	CancelBulkOperation(context.Context, *api.CancelBulkOperationInput) (*api.CancelBulkOperationOutput, error)
	CreateBackup(context.Context, *api.CreateBackupInput) (*api.CreateBackupOutput, error)
	CreateGlobalTable(context.Context, *api.CreateGlobalTableInput) (*api.CreateGlobalTableOutput, error)
	DescribeGlobalTable(context.Context, *api.DescribeGlobalTableInput) (*api.DescribeGlobalTableOutput, error)
	DescribeGlobalTableSettings(context.Context, *api.DescribeGlobalTableSettingsInput) (*api.DescribeGlobalTableSettingsOutput, error)
	DescribeTableReplicaAutoScaling(context.Context, *api.DescribeTableReplicaAutoScalingInput) (*api.DescribeTableReplicaAutoScalingOutput, error)
	ListGlobalTables(context.Context, *api.ListGlobalTablesInput) (*api.ListGlobalTablesOutput, error)
	UpdateGlobalTable(context.Context, *api.UpdateGlobalTableInput) (*api.UpdateGlobalTableOutput, error)
	UpdateGlobalTableSettings(context.Context, *api.UpdateGlobalTableSettingsInput) (*api.UpdateGlobalTableSettingsOutput, error)
	UpdateTableReplicaAutoScaling(context.Context, *api.UpdateTableReplicaAutoScalingInput) (*api.UpdateTableReplicaAutoScalingOutput, error)
	CreateTable(context.Context, *api.CreateTableInput) (*api.CreateTableOutput, error)
	DeleteBackup(context.Context, *api.DeleteBackupInput) (*api.DeleteBackupOutput, error)
	DeleteItem(context.Context, *api.DeleteItemInput) (*api.DeleteItemOutput, error)
	DeleteResourcePolicy(context.Context, *api.DeleteResourcePolicyInput) (*api.DeleteResourcePolicyOutput, error)
	DeleteTable(context.Context, *api.DeleteTableInput) (*api.DeleteTableOutput, error)
	DescribeBackup(context.Context, *api.DescribeBackupInput) (*api.DescribeBackupOutput, error)
	DescribeBulkOperation(context.Context, *api.DescribeBulkOperationInput) (*api.DescribeBulkOperationOutput, error)
	DescribeContinuousBackups(context.Context, *api.DescribeContinuousBackupsInput) (*api.DescribeContinuousBackupsOutput, error)
	DescribeContributorInsights(context.Context, *api.DescribeContributorInsightsInput) (*api.DescribeContributorInsightsOutput, error)
	DescribeEndpoints(context.Context, *api.DescribeEndpointsRequest) (*api.DescribeEndpointsResponse, error)
	DescribeKinesisStreamingDestination(context.Context, *api.DescribeKinesisStreamingDestinationInput) (*api.DescribeKinesisStreamingDestinationOutput, error)
	DescribeExport(context.Context, *api.DescribeExportInput) (*api.DescribeExportOutput, error)
	DescribeImport(context.Context, *api.DescribeImportInput) (*api.DescribeImportOutput, error)
	DescribeLimits(context.Context, *api.DescribeLimitsInput) (*api.DescribeLimitsOutput, error)
	DescribeStream(context.Context, *api.DescribeStreamInput) (*api.DescribeStreamOutput, error)
	DescribeTable(context.Context, *api.DescribeTableInput) (*api.DescribeTableOutput, error)
	DescribeTimeToLive(context.Context, *api.DescribeTimeToLiveInput) (*api.DescribeTimeToLiveOutput, error)
	ExecuteStatement(context.Context, *api.ExecuteStatementInput) (*api.ExecuteStatementOutput, error)
	ExecuteTransaction(context.Context, *api.ExecuteTransactionInput) (*api.ExecuteTransactionOutput, error)
	DisableKinesisStreamingDestination(context.Context, *api.DisableKinesisStreamingDestinationInput) (*api.DisableKinesisStreamingDestinationOutput, error)
	EnableKinesisStreamingDestination(context.Context, *api.EnableKinesisStreamingDestinationInput) (*api.EnableKinesisStreamingDestinationOutput, error)
	ExportTableToPointInTime(context.Context, *api.ExportTableToPointInTimeInput) (*api.ExportTableToPointInTimeOutput, error)
	GetItem(context.Context, *api.GetItemInput) (*api.GetItemOutput, error)
	GetRecords(context.Context, *api.GetRecordsInput) (*api.GetRecordsOutput, error)
	GetResourcePolicy(context.Context, *api.GetResourcePolicyInput) (*api.GetResourcePolicyOutput, error)
	GetShardIterator(context.Context, *api.GetShardIteratorInput) (*api.GetShardIteratorOutput, error)
	ImportTable(context.Context, *api.ImportTableInput) (*api.ImportTableOutput, error)
	ListBackups(context.Context, *api.ListBackupsInput) (*api.ListBackupsOutput, error)
	ListBulkOperations(context.Context, *api.ListBulkOperationsInput) (*api.ListBulkOperationsOutput, error)
	ListContributorInsights(context.Context, *api.ListContributorInsightsInput) (*api.ListContributorInsightsOutput, error)
	ListExports(context.Context, *api.ListExportsInput) (*api.ListExportsOutput, error)
	ListImports(context.Context, *api.ListImportsInput) (*api.ListImportsOutput, error)
	ListStreams(context.Context, *api.ListStreamsInput) (*api.ListStreamsOutput, error)
	ListTables(context.Context, *api.ListTablesInput) (*api.ListTablesOutput, error)
	ListTagsOfResource(context.Context, *api.ListTagsOfResourceInput) (*api.ListTagsOfResourceOutput, error)
	PutItem(context.Context, *api.PutItemInput) (*api.PutItemOutput, error)
	PutResourcePolicy(context.Context, *api.PutResourcePolicyInput) (*api.PutResourcePolicyOutput, error)
	Query(context.Context, *api.QueryInput) (*api.QueryOutput, error)
	RestoreTableFromBackup(context.Context, *api.RestoreTableFromBackupInput) (*api.RestoreTableFromBackupOutput, error)
	RestoreTableToPointInTime(context.Context, *api.RestoreTableToPointInTimeInput) (*api.RestoreTableToPointInTimeOutput, error)
	Scan(context.Context, *api.ScanInput) (*api.ScanOutput, error)
	SearchVectors(context.Context, *api.SearchVectorsInput) (*api.SearchVectorsOutput, error)
	StartBulkPutItems(context.Context, *api.StartBulkPutItemsInput) (*api.StartBulkPutItemsOutput, error)
	TagResource(context.Context, *api.TagResourceInput) (*api.TagResourceOutput, error)
	TransactGetItems(context.Context, *api.TransactGetItemsInput) (*api.TransactGetItemsOutput, error)
	TransactWriteItems(context.Context, *api.TransactWriteItemsInput) (*api.TransactWriteItemsOutput, error)
	UntagResource(context.Context, *api.UntagResourceInput) (*api.UntagResourceOutput, error)
	UpdateContinuousBackups(context.Context, *api.UpdateContinuousBackupsInput) (*api.UpdateContinuousBackupsOutput, error)
	UpdateContributorInsights(context.Context, *api.UpdateContributorInsightsInput) (*api.UpdateContributorInsightsOutput, error)
	UpdateItem(context.Context, *api.UpdateItemInput) (*api.UpdateItemOutput, error)
	UpdateKinesisStreamingDestination(context.Context, *api.UpdateKinesisStreamingDestinationInput) (*api.UpdateKinesisStreamingDestinationOutput, error)
	UpdateTable(context.Context, *api.UpdateTableInput) (*api.UpdateTableOutput, error)
	UpdateTimeToLive(context.Context, *api.UpdateTimeToLiveInput) (*api.UpdateTimeToLiveOutput, error)
}

// operation is an entry of the API's table with the function that serves it.
type operation struct {
	api.Operation
	reads bool // changes nothing: may be rejected after it is done
	items bool // reads or writes items: is sampled
	serve serveFunc
	index int // index in OperationNames
}

// serveFunc serves a request, from its body to the operation's output.
type serveFunc func(ctx context.Context, x *exchange, body []byte) (out any, err error)

// methods are the engine's methods by operation.
var methods = map[string]serveFunc{
	"BatchExecuteStatement":               serving(Engine.BatchExecuteStatement),
	"BatchGetItem":                        serving(Engine.BatchGetItem),
	"BatchWriteItem":                      serving(Engine.BatchWriteItem),
	"CancelBulkOperation":                 serving(Engine.CancelBulkOperation),
	"CreateBackup":                        serving(Engine.CreateBackup),
	"CreateTable":                         serving(Engine.CreateTable),
	"DeleteBackup":                        serving(Engine.DeleteBackup),
	"DeleteItem":                          serving(Engine.DeleteItem),
	"DeleteTable":                         serving(Engine.DeleteTable),
	"DescribeBackup":                      serving(Engine.DescribeBackup),
	"DescribeBulkOperation":               serving(Engine.DescribeBulkOperation),
	"DescribeContinuousBackups":           serving(Engine.DescribeContinuousBackups),
	"DescribeEndpoints":                   atThisHost(serving(Engine.DescribeEndpoints)),
	"DescribeLimits":                      serving(Engine.DescribeLimits),
	"DescribeStream":                      serving(Engine.DescribeStream),
	"DescribeTable":                       serving(Engine.DescribeTable),
	"DescribeTimeToLive":                  serving(Engine.DescribeTimeToLive),
	"ExecuteStatement":                    serving(Engine.ExecuteStatement),
	"ExecuteTransaction":                  serving(Engine.ExecuteTransaction),
	"GetItem":                             serving(Engine.GetItem),
	"GetRecords":                          serving(Engine.GetRecords),
	"GetShardIterator":                    serving(Engine.GetShardIterator),
	"ListBackups":                         serving(Engine.ListBackups),
	"ListStreams":                         serving(Engine.ListStreams),
	"ListTables":                          serving(Engine.ListTables),
	"ListTagsOfResource":                  serving(Engine.ListTagsOfResource),
	"PutItem":                             serving(Engine.PutItem),
	"Query":                               serving(Engine.Query),
	"RestoreTableFromBackup":              serving(Engine.RestoreTableFromBackup),
	"RestoreTableToPointInTime":           serving(Engine.RestoreTableToPointInTime),
	"Scan":                                serving(Engine.Scan),
	"StartBulkPutItems":                   serving(Engine.StartBulkPutItems),
	"TagResource":                         serving(Engine.TagResource),
	"TransactGetItems":                    serving(Engine.TransactGetItems),
	"TransactWriteItems":                  serving(Engine.TransactWriteItems),
	"UntagResource":                       serving(Engine.UntagResource),
	"UpdateContinuousBackups":             serving(Engine.UpdateContinuousBackups),
	"UpdateItem":                          serving(Engine.UpdateItem),
	"UpdateTable":                         serving(Engine.UpdateTable),
	"UpdateTimeToLive":                    serving(Engine.UpdateTimeToLive),
	"DeleteResourcePolicy":                serving(Engine.DeleteResourcePolicy),
	"DescribeContributorInsights":         serving(Engine.DescribeContributorInsights),
	"DescribeKinesisStreamingDestination": serving(Engine.DescribeKinesisStreamingDestination),
	"DisableKinesisStreamingDestination":  serving(Engine.DisableKinesisStreamingDestination),
	"EnableKinesisStreamingDestination":   serving(Engine.EnableKinesisStreamingDestination),
	"GetResourcePolicy":                   serving(Engine.GetResourcePolicy),
	"ListBulkOperations":                  serving(Engine.ListBulkOperations),
	"ListContributorInsights":             serving(Engine.ListContributorInsights),
	"PutResourcePolicy":                   serving(Engine.PutResourcePolicy),
	"UpdateContributorInsights":           serving(Engine.UpdateContributorInsights),
	"UpdateKinesisStreamingDestination":   serving(Engine.UpdateKinesisStreamingDestination),
	"DescribeExport":                      serving(Engine.DescribeExport),
	"DescribeImport":                      serving(Engine.DescribeImport),
	"ExportTableToPointInTime":            serving(Engine.ExportTableToPointInTime),
	"ImportTable":                         serving(Engine.ImportTable),
	"ListExports":                         serving(Engine.ListExports),
	"ListImports":                         serving(Engine.ListImports),
	"SearchVectors":                       serving(Engine.SearchVectors),
	"CreateGlobalTable":                   serving(Engine.CreateGlobalTable),
	"DescribeGlobalTable":                 serving(Engine.DescribeGlobalTable),
	"DescribeGlobalTableSettings":         serving(Engine.DescribeGlobalTableSettings),
	"DescribeTableReplicaAutoScaling":     serving(Engine.DescribeTableReplicaAutoScaling),
	"ListGlobalTables":                    serving(Engine.ListGlobalTables),
	"UpdateGlobalTable":                   serving(Engine.UpdateGlobalTable),
	"UpdateGlobalTableSettings":           serving(Engine.UpdateGlobalTableSettings),
	"UpdateTableReplicaAutoScaling":       serving(Engine.UpdateTableReplicaAutoScaling),
}

// operationsByTarget returns the operations by the value of X-Amz-Target.
func operationsByTarget() map[string]*operation {
	table := make(map[string]*operation, len(methods))
	for i, o := range api.Operations() {
		if serve, ok := methods[o.Name]; ok {
			table[o.Target()] = &operation{Operation: o, reads: readsOnly(o.Name), items: sampledOperations[o.Name], serve: serve, index: i}
		}
	}
	return table
}

// readsOnly reports, by the name, whether an operation changes nothing.
func readsOnly(name string) bool {
	for _, verb := range []string{"BatchGet", "Describe", "Get", "List", "Query", "Scan", "Search", "TransactGet"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// unknownOperation serves an unknown target: a body that is not a JSON document is rejected as such first. AWS has no message for
// it.
func unknownOperation(_ context.Context, x *exchange, body []byte) (any, error) {
	if err := wire.Decode(body, new(struct{})); err != nil {
		return nil, err
	}
	return nil, apierr.UnknownOperation()
}

// serving decodes and checks the input of an engine's method, and calls it if its sender is authorized.
func serving[In, Out any](method func(Engine, context.Context, *In) (*Out, error)) serveFunc {
	return func(ctx context.Context, x *exchange, body []byte) (any, error) {
		region, engine, err := x.engine()
		if err != nil {
			return nil, err
		}
		in := new(In)
		if err := wire.Decode(body, in); err != nil {
			return nil, err
		}
		if err := api.Validate(in); err != nil {
			return nil, err
		}
		x.note(region, in)
		x.sample(body)
		if err := x.authorize(region, in); err != nil {
			return nil, err
		}
		out, err := method(engine, ctx, in)
		if err != nil {
			return nil, err
		}
		if out == nil {
			return nil, errNoOutput
		}
		return out, nil
	}
}

// atThisHost replaces the address in DescribeEndpoints with the one to which the request was sent, the only one known to work for
// the client.
func atThisHost(serve serveFunc) serveFunc {
	return func(ctx context.Context, x *exchange, body []byte) (any, error) {
		out, err := serve(ctx, x, body)
		if described, ok := out.(*api.DescribeEndpointsResponse); ok && x.r.Host != "" {
			for i := range described.Endpoints {
				described.Endpoints[i].Address = &x.r.Host
			}
		}
		return out, err
	}
}
