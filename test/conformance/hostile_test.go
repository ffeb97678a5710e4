package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	hostileFor  = flag.Duration("hostile", 2*time.Second, "how long TestHostile goes on")
	hostileSeed = flag.Uint64("hostile-seed", 0, "the seed of TestHostile; 0: the time")
)

// TestHostile sends requests corrupted in one to four places: members missing or null, of another type, out of range, huge,
// duplicated. The server responds to every one promptly, with JSON: an error has a type, and none is an internal one.
func TestHostile(t *testing.T) {
	seed := *hostileSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	h := &hostile{rand.New(rand.NewPCG(seed, 0))}
	s := newServer(t)
	var sane []sample
	for _, r := range samples {
		sane = append(sane, sample{r.operation, expand(r.body)})
	}
	deadline := time.Now().Add(*hostileFor)
	sent := map[string]int{}
	for n := 0; n < 2*len(sane) || time.Now().Before(deadline); n++ { // a store over a network has only begun by then
		// The tables are recreated from time to time, because a corrupted request may delete one.
		if n%500 < len(sane) {
			s.sendHostile(t, sane[n%500])
			continue
		}
		r := sane[h.IntN(len(sane))]
		if r.operation == "DeleteTable" && h.IntN(20) > 0 {
			continue
		}
		r.body = h.corrupt(r.body)
		sent[fmt.Sprint(s.sendHostile(t, r))]++
		if t.Failed() {
			return
		}
	}
	t.Logf("answers by status: %v", sent)
	if sent["200"] == 0 || sent["400"] == 0 {
		t.Error("too few requests are valid, or too few are invalid")
	}
}

// patience is how long a response may take.
const patience = 10 * time.Second

func (s *server) sendHostile(t *testing.T, r sample) int {
	t.Helper()
	began := time.Now()
	a, err := s.request(t.Context(), plain(r.operation), r.body)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("%v for %s %.2000s", took, r.operation, r.body)
	}
	var body map[string]any
	isJSON := json.Unmarshal(a.body, &body) == nil
	switch {
	case a.status == http.StatusOK && (isJSON || len(a.body) == 0 && strings.HasSuffix(r.operation, "agResource")):
	case a.status == http.StatusBadRequest && isJSON && strings.Contains(text(body, "__type"), "#"):
	case a.status == http.StatusRequestEntityTooLarge && len(r.body) > 16<<20:
	default:
		t.Errorf("%d %.500s\nfor %s %.2000s", a.status, a.body, r.operation, r.body)
	}
	return a.status
}

// hostile corrupts requests.
type hostile struct{ *rand.Rand }

func (h *hostile) corrupt(body string) string {
	var document any
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		panic(err)
	}
	for range 1 + h.IntN(4) {
		document = h.corrupted(document)
	}
	text := compact(document)
	if h.IntN(50) == 0 {
		cut := h.IntN(len(text))
		return text[:cut] + string(rune(h.IntN(0x100))) + text[cut:]
	}
	return text
}

// corrupted changes one place in a JSON value, or all of it.
func (h *hostile) corrupted(v any) any {
	if h.IntN(4) == 0 {
		return h.replacement(v)
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return h.replacement(v)
		}
		names := slices.Sorted(maps.Keys(v))
		name := names[h.IntN(len(names))]
		switch h.IntN(8) {
		case 0:
			delete(v, name)
		case 1:
			v[name] = nil
		case 2:
			v[h.text(name)] = v[name]
		default:
			v[name] = h.corrupted(v[name])
		}
		return v
	case []any:
		if len(v) == 0 {
			return h.replacement(v)
		}
		i := h.IntN(len(v))
		switch h.IntN(8) {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			return append(v, v[i])
		case 2:
			return slices.Repeat(v, 1+h.IntN(120))
		default:
			v[i] = h.corrupted(v[i])
			return v
		}
	default:
		return h.replacement(v)
	}
}

// replacement returns another value, of v's type or of another.
func (h *hostile) replacement(v any) any {
	if s, ok := v.(string); ok && h.IntN(3) > 0 {
		return h.text(s)
	}
	switch h.IntN(10) {
	case 0:
		return nil
	case 1:
		return h.IntN(2) == 0
	case 2:
		return h.Int64() >> h.IntN(64) * int64(1-2*h.IntN(2))
	case 3:
		return h.NormFloat64() * 1e20
	case 4:
		return []any{}
	case 5:
		return map[string]any{}
	case 6:
		return []any{v, v}
	case 7:
		return map[string]any{h.text("a"): v}
	case 8:
		return h.nested()
	default:
		return h.text("")
	}
}

// nested is an attribute value that is deeper than most.
func (h *hostile) nested() any {
	v := any(map[string]any{"S": "leaf"})
	for range h.IntN(60) {
		if h.IntN(2) == 0 {
			v = map[string]any{"L": []any{v}}
		} else {
			v = map[string]any{"M": map[string]any{"a": v}}
		}
	}
	return v
}

// odd are texts with a special meaning somewhere.
var odd = []string{
	"", " ", "a", "pk", "#p", ":v", "#", ":", "tbl", "NONE", "ALL_NEW", "INDEXES", "1", "-0", "1e125", "1e126", "1E-131", "NaN",
	"0x10", "=", "QQ==", "QQ=", "a.b[0]", "a[99999999999999999999]", "a = :v", "SET a = :v", "REMOVE a", "ADD a :v", "size(a) > :v",
	"contains(a, :v) AND NOT (a = :v OR attribute_exists(#p))", "a BETWEEN :v AND :v", "a IN (:v, :v)", "((", "arn:", "\x00",
	"arn:aws:dynamodb:us-east-1:000000000000:table/tbl", "arn:aws:dynamodb:us-east-1:000000000000:table/tbl/index/byA", "日本語",
	"\U0001F600", "\u202e", "\ufeff", "e\u0301", "S", "SS", "NULL", "byA", "byL",
}

// text returns another text: an odd one, or s extended, truncated, or repeated (its beginning, so that a request does not exceed
// 16 MB).
func (h *hostile) text(s string) string {
	switch h.IntN(6) {
	case 0:
		return strings.Repeat(s[:min(len(s), 8)]+"a", 1<<h.IntN(17))
	case 1:
		return s[:h.IntN(len(s)+1)]
	case 2:
		return s + odd[h.IntN(len(odd))]
	case 3:
		return odd[h.IntN(len(odd))] + s
	default:
		return odd[h.IntN(len(odd))]
	}
}

// sample is a valid request.
type sample struct{ operation, body string }

// samples use every operation and nearly every member.
var samples = []sample{
	{"CreateTable", `{"TableName":"tbl","BillingMode":"PAY_PER_REQUEST","DeletionProtectionEnabled":false,
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},
			{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"B"}],
		"LocalSecondaryIndexes":[{"IndexName":"byL","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"}],
			"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[{"IndexName":"byA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
			"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["c"]},"OnDemandThroughput":{"MaxReadRequestUnits":5},
			"WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000}}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"TableClass":"STANDARD",
		"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"alias/x"},"Tags":[{"Key":"k","Value":"v"}],
		"OnDemandThroughput":{"MaxReadRequestUnits":5,"MaxWriteRequestUnits":7}}`},
	{"CreateTable", `{"TableName":"old","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"B"}]}`},
	{"PutItem", `{"TableName":"tbl","Item":{"pk":{"S":"p"},"sk":{"N":"1"},"a":{"S":"x"},"b":{"B":"QQ=="},"c":{"L":[{"N":"1.5"},{"NULL":true}]},
		"d":{"M":{"e":{"BOOL":false},"f":{"SS":["g","h"]}}},"n":{"NS":["1","2"]},"bs":{"BS":["QQ==","Qg=="]}},
		"ConditionExpression":"attribute_not_exists(#p) OR size(a) > :v","ExpressionAttributeNames":{"#p":"pk"},
		"ExpressionAttributeValues":{":v":{"N":"0"}},"ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"INDEXES",
		"ReturnItemCollectionMetrics":"SIZE","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`},
	{"PutItem", `{"TableName":"tbl","Item":{"pk":{"S":"p"},"sk":{"N":"2"}},"Expected":{"pk":{"Exists":false},"q":{"ComparisonOperator":"BETWEEN",
		"AttributeValueList":[{"N":"1"},{"N":"2"}]}},"ConditionalOperator":"OR"}`},
	{"GetItem", `{"TableName":"tbl","Key":{"pk":{"S":"p"},"sk":{"N":"1"}},"ConsistentRead":true,"ProjectionExpression":"#c[0],d.e",
		"ExpressionAttributeNames":{"#c":"c"},"ReturnConsumedCapacity":"TOTAL"}`},
	{"GetItem", `{"TableName":"tbl","Key":{"pk":{"S":"p"},"sk":{"N":"1"}},"AttributesToGet":["a","b"]}`},
	{"UpdateItem", `{"TableName":"tbl","Key":{"pk":{"S":"p"},"sk":{"N":"1"}},"UpdateExpression":"SET a = if_not_exists(a, :s), c[3] = :n, d.e = list_append(:l, :l) REMOVE c[0] ADD n :ns DELETE d.f :ss",
		"ConditionExpression":"attribute_exists(pk) AND NOT contains(a, :s)","ReturnValues":"UPDATED_NEW",
		"ExpressionAttributeValues":{":s":{"S":"x"},":n":{"N":"1"},":l":{"L":[{"S":"y"}]},":ns":{"NS":["3"]},":ss":{"SS":["g"]}}}`},
	{"UpdateItem", `{"TableName":"tbl","Key":{"pk":{"S":"p"},"sk":{"N":"1"}},"AttributeUpdates":{"x":{"Action":"ADD","Value":{"N":"1"}},
		"y":{"Action":"PUT","Value":{"S":"z"}},"n":{"Action":"DELETE","Value":{"NS":["1"]}}},"ReturnValues":"ALL_NEW"}`},
	{"DeleteItem", `{"TableName":"tbl","Key":{"pk":{"S":"p"},"sk":{"N":"2"}},"ConditionExpression":"sk BETWEEN :a AND :b",
		"ExpressionAttributeValues":{":a":{"N":"1"},":b":{"N":"3"}},"ReturnValues":"ALL_OLD"}`},
	{"Query", `{"TableName":"tbl","KeyConditionExpression":"#p = :p AND sk > :s","FilterExpression":"a IN (:p, :s)","Limit":3,"Select":"SPECIFIC_ATTRIBUTES",
		"ProjectionExpression":"a,b","ScanIndexForward":false,"ExpressionAttributeNames":{"#p":"pk"},
		"ExpressionAttributeValues":{":p":{"S":"p"},":s":{"N":"0"}},"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"9"}}}`},
	{"Query", `{"TableName":"tbl","IndexName":"byA","KeyConditionExpression":"a = :a AND begins_with(b, :b)","ReturnConsumedCapacity":"INDEXES",
		"ExpressionAttributeValues":{":a":{"S":"x"},":b":{"B":"QQ=="}},"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"9"},"a":{"S":"x"},"b":{"B":"QQ=="}}}`},
	{"Query", `{"TableName":"tbl","IndexName":"byL","ConsistentRead":true,"KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"p"}]},
		"a":{"ComparisonOperator":"BEGINS_WITH","AttributeValueList":[{"S":"x"}]}},"QueryFilter":{"q":{"ComparisonOperator":"NULL"}},"AttributesToGet":["a"]}`},
	{"Scan", `{"TableName":"tbl","Segment":1,"TotalSegments":4,"Limit":5,"FilterExpression":"attribute_type(a, :t)","Select":"COUNT",
		"ExpressionAttributeValues":{":t":{"S":"S"}},"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"9"}}}`},
	{"Scan", `{"TableName":"tbl","IndexName":"byA","ScanFilter":{"a":{"ComparisonOperator":"IN","AttributeValueList":[{"S":"x"},{"N":"1"}]}}}`},
	{"BatchGetItem", `{"RequestItems":{"tbl":{"Keys":[{"pk":{"S":"p"},"sk":{"N":"1"}},{"pk":{"S":"p"},"sk":{"N":"2"}}],"ConsistentRead":true,
		"ProjectionExpression":"a"},"old":{"Keys":[{"pk":{"B":"QQ=="}}],"AttributesToGet":["a"]}},"ReturnConsumedCapacity":"TOTAL"}`},
	{"BatchWriteItem", `{"RequestItems":{"tbl":[{"PutRequest":{"Item":{"pk":{"S":"p"},"sk":{"N":"3"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"p"},"sk":{"N":"4"}}}}],
		"old":[{"PutRequest":{"Item":{"pk":{"B":"QQ=="}}}}]},"ReturnItemCollectionMetrics":"SIZE"}`},
	{"TransactWriteItems", `{"ClientRequestToken":"token","TransactItems":[{"Put":{"TableName":"tbl","Item":{"pk":{"S":"t"},"sk":{"N":"1"}}}},
		{"Update":{"TableName":"tbl","Key":{"pk":{"S":"t"},"sk":{"N":"2"}},"UpdateExpression":"SET a = :a","ExpressionAttributeValues":{":a":{"S":"x"}}}},
		{"Delete":{"TableName":"old","Key":{"pk":{"B":"QQ=="}}}},
		{"ConditionCheck":{"TableName":"tbl","Key":{"pk":{"S":"t"},"sk":{"N":"3"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`},
	{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tbl","Key":{"pk":{"S":"t"},"sk":{"N":"1"}},"ProjectionExpression":"a"}},
		{"Get":{"TableName":"old","Key":{"pk":{"B":"QQ=="}}}}],"ReturnConsumedCapacity":"TOTAL"}`},
	{"ExecuteStatement", `{"Statement":"SELECT a, c[0] FROM \"tbl\".\"byA\" WHERE a = ? AND b > ? AND NOT d.e IN [1, ?] ORDER BY b DESC",
		"Parameters":[{"S":"x"},{"B":"QQ=="},{"BOOL":true}],"Limit":2,"NextToken":"AAAAAAAAAAAAAAAAAAAAAAACAQFhAgEy","ReturnConsumedCapacity":"INDEXES"}`},
	{"ExecuteStatement", `{"Statement":"UPDATE tbl SET a = 'x', n = set_add(n, <<1, 2>>), c = list_append(c, ?) REMOVE d.f WHERE pk = 'p' AND sk = 1 RETURNING MODIFIED NEW *",
		"Parameters":[{"L":[{"S":"y"}]}],"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`},
	{"BatchExecuteStatement", `{"Statements":[{"Statement":"INSERT INTO tbl VALUE {'pk': ?, 'sk': 7, 'd': {'e': [1, <<'x'>>]}}","Parameters":[{"S":"b"}]},
		{"Statement":"DELETE FROM tbl WHERE pk = 'b' AND sk = 7 AND size(d) > 0 RETURNING ALL OLD *","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}]}`},
	{"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM tbl WHERE pk = 'p' AND sk = ?","Parameters":[{"N":"1"}],"ConsistentRead":true}],
		"ReturnConsumedCapacity":"TOTAL"}`},
	{"ExecuteTransaction", `{"ClientRequestToken":"statements","TransactStatements":[{"Statement":"EXISTS(SELECT * FROM tbl WHERE pk = 'p' AND sk = 1 AND gone IS MISSING)"},
		{"Statement":"UPDATE tbl SET a = ? WHERE pk = 'p' AND sk = 2","Parameters":[{"S":"z"}],"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}]}`},
	{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"SELECT a FROM tbl WHERE pk = 'p' AND sk = 1"}],"ReturnConsumedCapacity":"INDEXES"}`},
	{"UpdateTable", `{"TableName":"tbl","AttributeDefinitions":[{"AttributeName":"z","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"byZ",
		"KeySchema":[{"AttributeName":"z","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`},
	{"UpdateTable", `{"TableName":"tbl","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"byZ"}}]}`},
	{"UpdateTable", `{"TableName":"old","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":2},
		"TableClass":"STANDARD_INFREQUENT_ACCESS","DeletionProtectionEnabled":false,"StreamSpecification":{"StreamEnabled":false}}`},
	{"UpdateTimeToLive", `{"TableName":"tbl","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`},
	{"DescribeTimeToLive", `{"TableName":"tbl"}`},
	{"DescribeTable", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl"}`},
	{"ListTables", `{"Limit":1,"ExclusiveStartTableName":"old"}`},
	{"TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","Tags":[{"Key":"k","Value":"v"}]}`},
	{"UntagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","TagKeys":["k"]}`},
	{"ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","NextToken":"k"}`},
	{"PutResourcePolicy", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","ExpectedRevisionId":"NO_POLICY","ConfirmRemoveSelfResourceAccess":true,
		"Policy":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"123456789012\"},\"Action\":[\"dynamodb:GetItem\"],\"Resource\":\"*\"}]}"}`},
	{"GetResourcePolicy", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl"}`},
	{"DeleteResourcePolicy", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","ExpectedRevisionId":"1"}`},
	{"UpdateContributorInsights", `{"TableName":"tbl","IndexName":"byA","ContributorInsightsAction":"ENABLE","ContributorInsightsMode":"THROTTLED_KEYS"}`},
	{"UpdateContributorInsights", `{"TableName":"tbl","ContributorInsightsAction":"ENABLE"}`},
	{"DescribeContributorInsights", `{"TableName":"tbl","IndexName":"byA"}`},
	{"ListContributorInsights", `{"TableName":"tbl","MaxResults":1,"NextToken":"dGJsLw"}`},
	{"EnableKinesisStreamingDestination", `{"TableName":"tbl","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s","EnableKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}}`},
	{"UpdateKinesisStreamingDestination", `{"TableName":"tbl","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s","UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MILLISECOND"}}`},
	{"DescribeKinesisStreamingDestination", `{"TableName":"tbl"}`},
	{"DisableKinesisStreamingDestination", `{"TableName":"tbl","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s"}`},
	{"DescribeLimits", `{}`},
	{"DescribeEndpoints", `{}`},
	{"UpdateContinuousBackups", `{"TableName":"tbl","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":2}}`},
	{"DescribeContinuousBackups", `{"TableName":"tbl"}`},
	{"CreateBackup", `{"TableName":"tbl","BackupName":"daily"}`},
	{"ListBackups", `{"TableName":"tbl","Limit":2,"TimeRangeLowerBound":1.5e9,"TimeRangeUpperBound":4e9,"BackupType":"ALL",
		"ExclusiveStartBackupArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/backup/00000000000000-00000000"}`},
	{"DescribeBackup", `{"BackupArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/backup/01700000000000-00000000"}`},
	{"DeleteBackup", `{"BackupArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/backup/01700000000000-00000000"}`},
	{"RestoreTableFromBackup", `{"TargetTableName":"old","BackupArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/backup/01700000000000-00000000"}`},
	{"RestoreTableToPointInTime", `{"SourceTableName":"tbl","TargetTableName":"rst","UseLatestRestorableTime":true,"BillingModeOverride":"PROVISIONED",
		"ProvisionedThroughputOverride":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},"SSESpecificationOverride":{"Enabled":false},
		"LocalSecondaryIndexOverride":[{"IndexName":"byL","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"}],
			"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexOverride":[{"IndexName":"byA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
			"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["c"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}]}`},
	{"RestoreTableToPointInTime", `{"SourceTableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","TargetTableName":"rst","RestoreDateTime":1.7e9,
		"OnDemandThroughputOverride":{"MaxReadRequestUnits":5}}`},
	{"ExportTableToPointInTime", `{"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","S3Bucket":"bucket","S3Prefix":"p","ExportTime":1.7e9,"ClientToken":"t",
		"S3BucketOwner":"000000000000","S3SseAlgorithm":"KMS","S3SseKmsKeyId":"k","ExportFormat":"DYNAMODB_JSON","ExportType":"FULL_EXPORT",
		"FilterSpecification":{"KeyConditionExpression":"#p = :v","FilterExpression":"a > :v","ProjectionExpression":"#p, b.c[0]",
			"ExpressionAttributeNames":{"#p":"pk"},"ExpressionAttributeValues":{":v":{"S":"x"}}}}`},
	{"ExportTableToPointInTime", `{"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","S3Bucket":"bucket","ExportType":"INCREMENTAL_EXPORT",
		"IncrementalExportSpecification":{"ExportFromTime":1.7e9,"ExportToTime":1.7e9,"ExportViewType":"NEW_IMAGE"}}`},
	{"DescribeExport", `{"ExportArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/export/01700000000000-00000000"}`},
	{"ListExports", `{"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl","MaxResults":2,"NextToken":"61726e3a61777300"}`},
	{"ImportTable", `{"ClientToken":"t","S3BucketSource":{"S3BucketOwner":"000000000000","S3Bucket":"bucket","S3KeyPrefix":"p"},"InputFormat":"CSV",
		"InputFormatOptions":{"Csv":{"Delimiter":";","HeaderList":["pk"]}},"InputCompressionType":"GZIP",
		"TableCreationParameters":{"TableName":"imp","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST","SSESpecification":{"Enabled":false},
			"GlobalSecondaryIndexes":[{"IndexName":"byP","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}}`},
	{"DescribeImport", `{"ImportArn":"arn:aws:dynamodb:us-east-1:000000000000:table/imp/import/01700000000000-00000000"}`},
	{"ListImports", `{"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/imp","PageSize":2}`},
	{"StartBulkPutItems", `{"TableName":"tbl","ClientToken":"t","MaxWriteRequestUnits":2000,"PerformanceTier":"STANDARD",
		"InputS3Configuration":{"S3BucketOwner":"000000000000","S3Bucket":"bucket","S3KeyPrefix":"p","InputFormat":"DYNAMODB_JSON","InputCompressionType":"GZIP"},
		"OutputS3Configuration":{"S3BucketOwner":"000000000000","S3Bucket":"bucket","S3KeyPrefix":"p","S3SseAlgorithm":"KMS","S3SseKmsKeyId":"k",
			"OutputType":["ERROR","CONDITION_CHECK_FAILURE"]}}`},
	{"DescribeBulkOperation", `{"BulkOperationArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/bulk-operation/01700000000000-00000000"}`},
	{"CancelBulkOperation", `{"BulkOperationArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/bulk-operation/01700000000000-00000000"}`},
	{"ListBulkOperations", `{"MaxResults":2,"NextToken":"61726e3a61777300"}`},
	{"UpdateTable", `{"TableName":"tbl","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"f","AttributeType":"N"}],
		"VectorIndexUpdates":[{"Create":{"IndexName":"vec","Dimensions":2,"DistanceFunction":"COSINE","VectorAttribute":{"AttributeName":"v"},
			"SearchSchema":[{"AttributeName":"a","SearchSchemaElementType":"HASH"},{"AttributeName":"f","SearchSchemaElementType":"INLINE_FILTER"}],
			"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`},
	{"SearchVectors", `{"TableName":"tbl","IndexName":"vec","SearchVector":[{"N":"1"},{"N":"-0.5"}],"TopK":3,"SearchConditionExpression":"a = :a AND #f = :f",
		"ProjectionExpression":"pk, v[0]","ExpressionAttributeNames":{"#f":"f"},"ExpressionAttributeValues":{":a":{"S":"x"},":f":{"N":"1"}},
		"ReturnConsumedCapacity":"TOTAL"}`},
	{"ListStreams", `{"TableName":"tbl","Limit":1,"ExclusiveStartStreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/stream/2026-11-20T12:00:00.000"}`},
	{"DescribeStream", `{"StreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/stream/2026-11-20T12:00:00.000","Limit":1,
		"ExclusiveStartShardId":"shardId-00000001795176000000-00000000","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"shardId-00000001795176000000-00000000"}}`},
	{"GetShardIterator", `{"StreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/stream/2026-11-20T12:00:00.000",
		"ShardId":"shardId-00000001795176000000-00000000","ShardIteratorType":"AFTER_SEQUENCE_NUMBER","SequenceNumber":"100000000000000000001"}`},
	{"GetRecords", `{"ShardIterator":"arn:aws:dynamodb:us-east-1:000000000000:table/tbl/stream/2026-11-20T12:00:00.000|1|AAAA","Limit":5}`},
	{"CreateGlobalTable", `{"GlobalTableName":"old","ReplicationGroup":[{"RegionName":"us-east-1"}]}`},
	{"DescribeGlobalTable", `{"GlobalTableName":"old"}`},
	{"ListGlobalTables", `{"ExclusiveStartGlobalTableName":"abc","Limit":1,"RegionName":"us-east-1"}`},
	{"UpdateGlobalTable", `{"GlobalTableName":"old","ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}},{"Delete":{"RegionName":"us-east-1"}}]}`},
	{"DescribeGlobalTableSettings", `{"GlobalTableName":"old"}`},
	{"UpdateGlobalTableSettings", `{"GlobalTableName":"old","GlobalTableBillingMode":"PROVISIONED","GlobalTableProvisionedWriteCapacityUnits":5,
		"ReplicaSettingsUpdate":[{"RegionName":"us-east-1","ReplicaProvisionedReadCapacityUnits":5,"ReplicaTableClass":"STANDARD"}]}`},
	{"DescribeTableReplicaAutoScaling", `{"TableName":"old"}`},
	{"UpdateTableReplicaAutoScaling", `{"TableName":"old","ProvisionedWriteCapacityAutoScalingUpdate":{"MinimumUnits":1,"MaximumUnits":9,
		"ScalingPolicyUpdate":{"PolicyName":"p","TargetTrackingScalingPolicyConfiguration":{"TargetValue":70.0}}},"ReplicaUpdates":[{"RegionName":"us-east-1"}]}`},
	{"DeleteTable", `{"TableName":"rst"}`},
	{"DeleteTable", `{"TableName":"old"}`},
}
