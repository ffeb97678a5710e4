package api

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// model are the SDK's shapes by operation: what this package must have, member for member.
var model = map[string][2]any{
	"CreateGlobalTable":                   {dynamodb.CreateGlobalTableInput{}, dynamodb.CreateGlobalTableOutput{}},
	"DescribeGlobalTable":                 {dynamodb.DescribeGlobalTableInput{}, dynamodb.DescribeGlobalTableOutput{}},
	"DescribeGlobalTableSettings":         {dynamodb.DescribeGlobalTableSettingsInput{}, dynamodb.DescribeGlobalTableSettingsOutput{}},
	"DescribeTableReplicaAutoScaling":     {dynamodb.DescribeTableReplicaAutoScalingInput{}, dynamodb.DescribeTableReplicaAutoScalingOutput{}},
	"ListGlobalTables":                    {dynamodb.ListGlobalTablesInput{}, dynamodb.ListGlobalTablesOutput{}},
	"UpdateGlobalTable":                   {dynamodb.UpdateGlobalTableInput{}, dynamodb.UpdateGlobalTableOutput{}},
	"UpdateGlobalTableSettings":           {dynamodb.UpdateGlobalTableSettingsInput{}, dynamodb.UpdateGlobalTableSettingsOutput{}},
	"UpdateTableReplicaAutoScaling":       {dynamodb.UpdateTableReplicaAutoScalingInput{}, dynamodb.UpdateTableReplicaAutoScalingOutput{}},
	"BatchExecuteStatement":               {dynamodb.BatchExecuteStatementInput{}, dynamodb.BatchExecuteStatementOutput{}},
	"BatchGetItem":                        {dynamodb.BatchGetItemInput{}, dynamodb.BatchGetItemOutput{}},
	"BatchWriteItem":                      {dynamodb.BatchWriteItemInput{}, dynamodb.BatchWriteItemOutput{}},
	"CreateTable":                         {dynamodb.CreateTableInput{}, dynamodb.CreateTableOutput{}},
	"DeleteItem":                          {dynamodb.DeleteItemInput{}, dynamodb.DeleteItemOutput{}},
	"DeleteTable":                         {dynamodb.DeleteTableInput{}, dynamodb.DeleteTableOutput{}},
	"DescribeEndpoints":                   {dynamodb.DescribeEndpointsInput{}, dynamodb.DescribeEndpointsOutput{}},
	"DescribeLimits":                      {dynamodb.DescribeLimitsInput{}, dynamodb.DescribeLimitsOutput{}},
	"DescribeStream":                      {dynamodbstreams.DescribeStreamInput{}, dynamodbstreams.DescribeStreamOutput{}},
	"DescribeTable":                       {dynamodb.DescribeTableInput{}, dynamodb.DescribeTableOutput{}},
	"DescribeTimeToLive":                  {dynamodb.DescribeTimeToLiveInput{}, dynamodb.DescribeTimeToLiveOutput{}},
	"ExecuteStatement":                    {dynamodb.ExecuteStatementInput{}, dynamodb.ExecuteStatementOutput{}},
	"ExecuteTransaction":                  {dynamodb.ExecuteTransactionInput{}, dynamodb.ExecuteTransactionOutput{}},
	"GetItem":                             {dynamodb.GetItemInput{}, dynamodb.GetItemOutput{}},
	"GetRecords":                          {dynamodbstreams.GetRecordsInput{}, dynamodbstreams.GetRecordsOutput{}},
	"GetShardIterator":                    {dynamodbstreams.GetShardIteratorInput{}, dynamodbstreams.GetShardIteratorOutput{}},
	"ListStreams":                         {dynamodbstreams.ListStreamsInput{}, dynamodbstreams.ListStreamsOutput{}},
	"ListTables":                          {dynamodb.ListTablesInput{}, dynamodb.ListTablesOutput{}},
	"ListTagsOfResource":                  {dynamodb.ListTagsOfResourceInput{}, dynamodb.ListTagsOfResourceOutput{}},
	"PutItem":                             {dynamodb.PutItemInput{}, dynamodb.PutItemOutput{}},
	"Query":                               {dynamodb.QueryInput{}, dynamodb.QueryOutput{}},
	"Scan":                                {dynamodb.ScanInput{}, dynamodb.ScanOutput{}},
	"TagResource":                         {dynamodb.TagResourceInput{}, dynamodb.TagResourceOutput{}},
	"TransactGetItems":                    {dynamodb.TransactGetItemsInput{}, dynamodb.TransactGetItemsOutput{}},
	"TransactWriteItems":                  {dynamodb.TransactWriteItemsInput{}, dynamodb.TransactWriteItemsOutput{}},
	"UntagResource":                       {dynamodb.UntagResourceInput{}, dynamodb.UntagResourceOutput{}},
	"UpdateItem":                          {dynamodb.UpdateItemInput{}, dynamodb.UpdateItemOutput{}},
	"UpdateTable":                         {dynamodb.UpdateTableInput{}, dynamodb.UpdateTableOutput{}},
	"UpdateTimeToLive":                    {dynamodb.UpdateTimeToLiveInput{}, dynamodb.UpdateTimeToLiveOutput{}},
	"CreateBackup":                        {dynamodb.CreateBackupInput{}, dynamodb.CreateBackupOutput{}},
	"DeleteBackup":                        {dynamodb.DeleteBackupInput{}, dynamodb.DeleteBackupOutput{}},
	"DescribeBackup":                      {dynamodb.DescribeBackupInput{}, dynamodb.DescribeBackupOutput{}},
	"DescribeContinuousBackups":           {dynamodb.DescribeContinuousBackupsInput{}, dynamodb.DescribeContinuousBackupsOutput{}},
	"ListBackups":                         {dynamodb.ListBackupsInput{}, dynamodb.ListBackupsOutput{}},
	"RestoreTableFromBackup":              {dynamodb.RestoreTableFromBackupInput{}, dynamodb.RestoreTableFromBackupOutput{}},
	"RestoreTableToPointInTime":           {dynamodb.RestoreTableToPointInTimeInput{}, dynamodb.RestoreTableToPointInTimeOutput{}},
	"UpdateContinuousBackups":             {dynamodb.UpdateContinuousBackupsInput{}, dynamodb.UpdateContinuousBackupsOutput{}},
	"DeleteResourcePolicy":                {dynamodb.DeleteResourcePolicyInput{}, dynamodb.DeleteResourcePolicyOutput{}},
	"GetResourcePolicy":                   {dynamodb.GetResourcePolicyInput{}, dynamodb.GetResourcePolicyOutput{}},
	"PutResourcePolicy":                   {dynamodb.PutResourcePolicyInput{}, dynamodb.PutResourcePolicyOutput{}},
	"DescribeContributorInsights":         {dynamodb.DescribeContributorInsightsInput{}, dynamodb.DescribeContributorInsightsOutput{}},
	"ListContributorInsights":             {dynamodb.ListContributorInsightsInput{}, dynamodb.ListContributorInsightsOutput{}},
	"UpdateContributorInsights":           {dynamodb.UpdateContributorInsightsInput{}, dynamodb.UpdateContributorInsightsOutput{}},
	"DescribeKinesisStreamingDestination": {dynamodb.DescribeKinesisStreamingDestinationInput{}, dynamodb.DescribeKinesisStreamingDestinationOutput{}},
	"DisableKinesisStreamingDestination":  {dynamodb.DisableKinesisStreamingDestinationInput{}, dynamodb.DisableKinesisStreamingDestinationOutput{}},
	"EnableKinesisStreamingDestination":   {dynamodb.EnableKinesisStreamingDestinationInput{}, dynamodb.EnableKinesisStreamingDestinationOutput{}},
	"UpdateKinesisStreamingDestination":   {dynamodb.UpdateKinesisStreamingDestinationInput{}, dynamodb.UpdateKinesisStreamingDestinationOutput{}},
	"DescribeExport":                      {dynamodb.DescribeExportInput{}, dynamodb.DescribeExportOutput{}},
	"DescribeImport":                      {dynamodb.DescribeImportInput{}, dynamodb.DescribeImportOutput{}},
	"ExportTableToPointInTime":            {dynamodb.ExportTableToPointInTimeInput{}, dynamodb.ExportTableToPointInTimeOutput{}},
	"ImportTable":                         {dynamodb.ImportTableInput{}, dynamodb.ImportTableOutput{}},
	"ListExports":                         {dynamodb.ListExportsInput{}, dynamodb.ListExportsOutput{}},
	"ListImports":                         {dynamodb.ListImportsInput{}, dynamodb.ListImportsOutput{}},
	"CancelBulkOperation":                 {dynamodb.CancelBulkOperationInput{}, dynamodb.CancelBulkOperationOutput{}},
	"DescribeBulkOperation":               {dynamodb.DescribeBulkOperationInput{}, dynamodb.DescribeBulkOperationOutput{}},
	"ListBulkOperations":                  {dynamodb.ListBulkOperationsInput{}, dynamodb.ListBulkOperationsOutput{}},
	"StartBulkPutItems":                   {dynamodb.StartBulkPutItemsInput{}, dynamodb.StartBulkPutItemsOutput{}},
	"SearchVectors":                       {dynamodb.SearchVectorsInput{}, dynamodb.SearchVectorsOutput{}},
}

// outputs are this package's outputs by operation.
var outputs = map[string]any{
	"CreateGlobalTable":               CreateGlobalTableOutput{},
	"DescribeGlobalTable":             DescribeGlobalTableOutput{},
	"DescribeGlobalTableSettings":     DescribeGlobalTableSettingsOutput{},
	"DescribeTableReplicaAutoScaling": DescribeTableReplicaAutoScalingOutput{},
	"ListGlobalTables":                ListGlobalTablesOutput{},
	"UpdateGlobalTable":               UpdateGlobalTableOutput{},
	"UpdateGlobalTableSettings":       UpdateGlobalTableSettingsOutput{},
	"UpdateTableReplicaAutoScaling":   UpdateTableReplicaAutoScalingOutput{},
	"BatchExecuteStatement":           BatchExecuteStatementOutput{}, "ExecuteStatement": ExecuteStatementOutput{},
	"ExecuteTransaction": ExecuteTransactionOutput{},
	"BatchGetItem":       BatchGetItemOutput{}, "BatchWriteItem": BatchWriteItemOutput{}, "CreateTable": CreateTableOutput{},
	"DeleteItem": DeleteItemOutput{}, "DeleteTable": DeleteTableOutput{}, "DescribeEndpoints": DescribeEndpointsResponse{},
	"DescribeLimits": DescribeLimitsOutput{}, "DescribeStream": DescribeStreamOutput{}, "GetRecords": GetRecordsOutput{},
	"GetShardIterator": GetShardIteratorOutput{}, "ListStreams": ListStreamsOutput{}, "DescribeTable": DescribeTableOutput{},
	"DescribeTimeToLive": DescribeTimeToLiveOutput{}, "GetItem": GetItemOutput{}, "ListTables": ListTablesOutput{},
	"ListTagsOfResource": ListTagsOfResourceOutput{}, "PutItem": PutItemOutput{}, "Query": QueryOutput{},
	"Scan": ScanOutput{}, "SearchVectors": SearchVectorsOutput{}, "TagResource": TagResourceOutput{}, "TransactGetItems": TransactGetItemsOutput{},
	"TransactWriteItems": TransactWriteItemsOutput{}, "UntagResource": UntagResourceOutput{},
	"UpdateItem": UpdateItemOutput{}, "UpdateTable": UpdateTableOutput{}, "UpdateTimeToLive": UpdateTimeToLiveOutput{},
	"CreateBackup": CreateBackupOutput{}, "DeleteBackup": DeleteBackupOutput{},
	"DescribeBackup": DescribeBackupOutput{}, "DescribeContinuousBackups": DescribeContinuousBackupsOutput{},
	"ListBackups": ListBackupsOutput{}, "RestoreTableFromBackup": RestoreTableFromBackupOutput{},
	"RestoreTableToPointInTime": RestoreTableToPointInTimeOutput{}, "UpdateContinuousBackups": UpdateContinuousBackupsOutput{},
	"DeleteResourcePolicy":                DeleteResourcePolicyOutput{},
	"GetResourcePolicy":                   GetResourcePolicyOutput{},
	"PutResourcePolicy":                   PutResourcePolicyOutput{},
	"DescribeContributorInsights":         DescribeContributorInsightsOutput{},
	"ListContributorInsights":             ListContributorInsightsOutput{},
	"UpdateContributorInsights":           UpdateContributorInsightsOutput{},
	"DescribeKinesisStreamingDestination": DescribeKinesisStreamingDestinationOutput{},
	"DisableKinesisStreamingDestination":  DisableKinesisStreamingDestinationOutput{},
	"EnableKinesisStreamingDestination":   EnableKinesisStreamingDestinationOutput{},
	"UpdateKinesisStreamingDestination":   UpdateKinesisStreamingDestinationOutput{},
	"DescribeExport":                      DescribeExportOutput{}, "DescribeImport": DescribeImportOutput{},
	"ExportTableToPointInTime": ExportTableToPointInTimeOutput{}, "ImportTable": ImportTableOutput{},
	"ListExports": ListExportsOutput{}, "ListImports": ListImportsOutput{},
	"CancelBulkOperation": CancelBulkOperationOutput{}, "DescribeBulkOperation": DescribeBulkOperationOutput{},
	"ListBulkOperations": ListBulkOperationsOutput{}, "StartBulkPutItems": StartBulkPutItemsOutput{},
}

// TestMembers compares the shapes with the SDK's: a member that is missing would be skipped without any error.
func TestMembers(t *testing.T) {
	for _, o := range Operations() {
		sdk, ok := model[o.Name]
		if !ok {
			t.Errorf("%s: not in the SDK's model", o.Name)
			continue
		}
		compareShapes(t, o.Name+" input", reflect.TypeOf(o.Input()).Elem(), reflect.TypeOf(sdk[0]))
		compareShapes(t, o.Name+" output", reflect.TypeOf(outputs[o.Name]), reflect.TypeOf(sdk[1]))
	}
	for _, e := range []struct{ ours, sdk any }{
		{ConditionalCheckFailedDetails{}, types.ConditionalCheckFailedException{}},
		{TransactionCanceledDetails{}, types.TransactionCanceledException{}},
		{ThrottlingDetails{}, types.ProvisionedThroughputExceededException{}},
	} {
		compareShapes(t, reflect.TypeOf(e.ours).Name(), reflect.TypeOf(e.ours), reflect.TypeOf(e.sdk))
	}
}

func compareShapes(t *testing.T, where string, ours, sdk reflect.Type) {
	t.Helper()
	theirs := make(map[string]reflect.Type)
	for f := range sdk.Fields() {
		switch f.Name {
		case "ResultMetadata", "noSmithyDocumentSerde", "Message", "ErrorCodeOverride":
			if _, own := ours.FieldByName(f.Name); !own {
				continue
			}
		}
		theirs[f.Name] = f.Type
	}
	for f := range ours.Fields() {
		if !f.IsExported() {
			continue
		}
		sdkType, ok := theirs[f.Name]
		if !ok {
			t.Errorf("%s: %s is not in the SDK's model", where, f.Name)
			continue
		}
		delete(theirs, f.Name)
		compareTypes(t, where+"."+f.Name, f.Type, sdkType)
		if strings.Contains(where, " input") {
			compareWidths(t, where+"."+f.Name, f, sdkType)
		}
	}
	for name := range theirs {
		t.Errorf("%s: %s is missing", where, name)
	}
}

func compareTypes(t *testing.T, where string, ours, sdk reflect.Type) {
	t.Helper()
	switch ours {
	case itemType, reflect.TypeFor[itemenc.Item](), valueType, reflect.TypeFor[*attr.Value]():
		return
	}
	inner, sdkInner := innerStruct(ours), innerStruct(sdk)
	switch {
	case inner == nil && sdkInner == nil, inner == nil && sdkInner.String() == "time.Time":
	case inner == nil || sdkInner == nil:
		t.Errorf("%s: %s, the SDK has %s", where, ours, sdk)
	default:
		compareShapes(t, where, inner, sdkInner)
	}
}

// compareWidths: what is an Integer in AWS's model has to be marked as one, or numbers beyond it are accepted.
func compareWidths(t *testing.T, where string, ours reflect.StructField, sdk reflect.Type) {
	t.Helper()
	if sdk.Kind() == reflect.Pointer {
		sdk = sdk.Elem()
	}
	if marked := ours.Tag.Get("integer") == "32"; marked != (sdk.Kind() == reflect.Int32) {
		t.Errorf("%s: marked as an Integer: %t; the SDK has %s", where, marked, sdk)
	}
}

// TestShapes compiles every input, and measures how deep its paths go.
func TestShapes(t *testing.T) {
	names := make([]string, 0, len(operations))
	for _, o := range operations {
		names = append(names, o.Name)
		if err := Validate(o.Input()); err != nil && shapeOf(reflect.TypeOf(o.Input()).Elem()).operation.Name != o.Name {
			t.Errorf("%s: %v", o.Name, err)
		}
		if n := depth(shapeOf(reflect.TypeOf(o.Input()).Elem())); n > pathMax {
			t.Errorf("%s: paths of %d steps", o.Name, n)
		}
	}
	if !slices.IsSorted(names) {
		t.Error("the table of operations is not sorted")
	}
}

func depth(s *shape) int {
	deepest := 0
	for _, m := range s.members {
		steps := 1
		if m.inner != nil {
			steps += depth(m.inner) + 2 // at most a key and an element
		}
		deepest = max(deepest, steps)
	}
	return deepest
}
