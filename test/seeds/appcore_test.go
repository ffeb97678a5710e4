package seeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const appCore = "AppCore"

func TestAppCore(t *testing.T) {
	t.Run("1.3 table and GSI1", func(t *testing.T) {
		db := open(t, "appcore")
		db.wantTables("appcore")
	})

	t.Run("1.5 sample items come back equal", func(t *testing.T) {
		db := open(t, "appcore")
		db.wantSampleItems("appcore")
	})

	t.Run("AP1 transactions of a user, newest first, in pages", func(t *testing.T) {
		db := open(t, "appcore")
		createTransactions(db, "u-123", 4)
		transactions := &dynamodb.QueryInput{
			TableName:                 aws.String(appCore),
			KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :tx)"),
			ExpressionAttributeValues: values(":pk", "USER#u-123", ":tx", "TX#"),
			ScanIndexForward:          aws.Bool(false),
			Limit:                     aws.Int32(2),
		}
		pages := db.pages(transactions)
		wantEqual(t, "sizes of the pages", pageSizes(pages), []int{2, 2, 1})
		wantStrings(t, slices.Concat(pages...), "txId", "tx-3", "tx-2", "tx-1", "tx-0", "tx-abc")

		first := db.query(transactions)
		wantItem(t, first.LastEvaluatedKey, values("pk", "USER#u-123", "sk", "TX#2024-02-01T00:00:02.000Z#tx-2"))
	})

	t.Run("AP2 transaction by id", func(t *testing.T) {
		db := open(t, "appcore")
		transaction := db.get(appCore, values("pk", "TX#tx-abc", "sk", "METADATA"))
		wantStrings(t, []item{transaction}, "userId", "u-123")
		if absent := db.get(appCore, values("pk", "TX#nobody", "sk", "METADATA")); absent != nil {
			t.Errorf("an unknown id: got %v, want no item", fromItem(absent))
		}
	})

	t.Run("AP3 notifications, newest first", func(t *testing.T) {
		db := open(t, "appcore")
		const newer = "NOTIF#2024-01-16T09:00:00.000Z#notif-2"
		db.put(appCore, values("pk", "USER#u-123", "sk", newer, "entityType", "NOTIFICATION", "read", false))
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(appCore),
			KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :notif)"),
			ExpressionAttributeValues: values(":pk", "USER#u-123", ":notif", "NOTIF#"),
			ScanIndexForward:          aws.Bool(false),
		})
		wantStrings(t, out.Items, "sk", newer, "NOTIF#2024-01-15T10:06:00.000Z#notif-xyz")
	})

	t.Run("AP3 marking a notification read needs an alias", func(t *testing.T) {
		db := open(t, "appcore")
		mark := &dynamodb.UpdateItemInput{
			TableName:                 aws.String(appCore),
			Key:                       values("pk", "USER#u-123", "sk", "NOTIF#2024-01-15T10:06:00.000Z#notif-xyz"),
			UpdateExpression:          aws.String("SET read = :yes"),
			ConditionExpression:       aws.String("attribute_exists(pk)"),
			ExpressionAttributeValues: values(":yes", true),
			ReturnValues:              types.ReturnValueUpdatedNew,
		}
		_, err := db.UpdateItem(t.Context(), mark)
		wantError(t, err, "ValidationException",
			"Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: read")

		mark.UpdateExpression = aws.String("SET #read = :yes")
		mark.ExpressionAttributeNames = map[string]string{"#read": "read"}
		out, err := db.UpdateItem(t.Context(), mark)
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, out.Attributes, values("read", true))
	})
}

// TestAppCoreGlobal is the document's fourth pattern, whose result differs from the document's promise.
func TestAppCoreGlobal(t *testing.T) {
	t.Run("AP4 the last 10 are 5 transactions, each twice", func(t *testing.T) {
		db := open(t, "appcore")
		createTransactions(db, "u-123", 10)
		out := db.query(lastGlobal("GLOBAL_TX"))
		wantEqual(t, "count", out.Count, 10)
		var ids []string
		for _, id := range []string{"tx-9", "tx-8", "tx-7", "tx-6", "tx-5"} {
			ids = append(ids, id, id)
		}
		wantStrings(t, out.Items, "txId", ids...)
	})

	t.Run("AP4 the two copies of one transaction disagree", func(t *testing.T) {
		db := open(t, "appcore")
		out := db.query(lastGlobal("GLOBAL_TX"))
		wantStrings(t, out.Items, "txId", "tx-abc", "tx-abc")
		statuses := column(out.Items, "status")
		slices.Sort(statuses) // the order of equal index keys is undefined
		wantEqual(t, "statuses of tx-abc", statuses, []string{"COMPLETED", "PENDING"})
	})

	t.Run("AP4 next page starts behind both keys", func(t *testing.T) {
		db := open(t, "appcore")
		createTransactions(db, "u-123", 3)
		last := lastGlobal("GLOBAL_TX")
		last.Limit = aws.Int32(3)
		pages := db.pages(last)
		keys := column(slices.Concat(pages...), "pk")
		slices.Sort(keys)
		wantEqual(t, "every entry once", len(slices.Compact(keys)), 5) // USER#u-123 four times
		wantEqual(t, "entries", len(slices.Concat(pages...)), 8)

		first := db.query(last)
		var names []string
		for name := range first.LastEvaluatedKey {
			names = append(names, name)
		}
		slices.Sort(names)
		wantEqual(t, "attributes of LastEvaluatedKey", names, []string{"GSI1PK", "GSI1SK", "pk", "sk"})
	})

	t.Run("1.3 ten shards, merged", func(t *testing.T) {
		db := open(t, "appcore")
		for n := range 30 {
			createdAt := fmt.Sprintf("2024-03-01T00:00:%02d.000Z", n)
			db.put(appCore, values("pk", fmt.Sprintf("TX#tx-%02d", n), "sk", "METADATA",
				"GSI1PK", fmt.Sprintf("GLOBAL_TX#%d", n*7%10), "GSI1SK", createdAt))
		}
		var merged []string
		for shard := range 10 {
			out := db.query(lastGlobal(fmt.Sprintf("GLOBAL_TX#%d", shard)))
			wantEqual(t, "count of one shard", out.Count, 3)
			merged = append(merged, column(out.Items, "GSI1SK")...)
		}
		slices.Sort(merged)
		slices.Reverse(merged)
		wantEqual(t, "newest of all shards", merged[0], "2024-03-01T00:00:29.000Z")
		wantEqual(t, "tenth of all shards", merged[9], "2024-03-01T00:00:20.000Z")
	})

	t.Run("a global index has no consistent reads", func(t *testing.T) {
		db := open(t, "appcore")
		last := lastGlobal("GLOBAL_TX")
		last.ConsistentRead = aws.Bool(true)
		_, err := db.Query(t.Context(), last)
		wantError(t, err, "ValidationException", "Consistent reads are not supported on global secondary indexes")
	})
}

// TestAppCoreIdempotency is the document's POST /transactions.
func TestAppCoreIdempotency(t *testing.T) {
	t.Run("1.6 a creation writes three items or none", func(t *testing.T) {
		db := open(t, "appcore")
		db.transact(createTransaction("req-1", "u-123", "tx-1", "2024-02-01T00:00:00.000Z"))
		for _, key := range []item{
			values("pk", "IDE#req-1", "sk", "METADATA"),
			values("pk", "TX#tx-1", "sk", "METADATA"),
			values("pk", "USER#u-123", "sk", "TX#2024-02-01T00:00:00.000Z#tx-1"),
		} {
			wantStrings(t, []item{db.get(appCore, key)}, "txId", "tx-1")
		}
	})

	t.Run("2.5 a retry is cancelled, not ConditionalCheckFailed", func(t *testing.T) {
		db := open(t, "appcore")
		db.transact(createTransaction("req-1", "u-123", "tx-1", "2024-02-01T00:00:00.000Z"))
		_, err := db.TransactWriteItems(t.Context(),
			createTransaction("req-1", "u-123", "tx-2", "2024-02-01T00:00:09.000Z"))
		wantError(t, err, "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons "+
			"for specific reasons [ConditionalCheckFailed, None, None]")
		reasons := wantCanceled(t, err, "ConditionalCheckFailed", "None", "None")
		wantEqual(t, "reason", aws.ToString(reasons[0].Message), "The conditional request failed")
		if reasons[0].Item != nil {
			t.Errorf("an item nobody asked for: %v", fromItem(reasons[0].Item))
		}

		if lost := db.get(appCore, values("pk", "TX#tx-2", "sk", "METADATA")); lost != nil {
			t.Error("the cancelled transaction left its lookup item")
		}
		marker := db.get(appCore, values("pk", "IDE#req-1", "sk", "METADATA"))
		original := db.get(appCore, values("pk", "TX#"+column([]item{marker}, "txId")[0], "sk", "METADATA"))
		wantStrings(t, []item{original}, "createdAt", "2024-02-01T00:00:00.000Z")
	})

	t.Run("2.5 ConditionalCheckFailed is the error of a single put", func(t *testing.T) {
		db := open(t, "appcore")
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName:           aws.String(appCore),
			Item:                values("pk", "IDE#req-uuid-xxxx", "sk", "METADATA"),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		wantError(t, err, "ConditionalCheckFailedException", "The conditional request failed")
	})

	t.Run("2.6 the key is not the user's own", func(t *testing.T) {
		db := open(t, "appcore")
		db.transact(createTransaction("req-1", "u-123", "tx-1", "2024-02-01T00:00:00.000Z"))
		replay := createTransaction("req-1", "u-456", "tx-2", "2024-02-01T00:00:09.000Z")
		replay.TransactItems[0].Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		_, err := db.TransactWriteItems(t.Context(), replay)
		reasons := wantCanceled(t, err, "ConditionalCheckFailed", "None", "None")
		wantStrings(t, []item{reasons[0].Item}, "userId", "u-123") // the item is another user's transaction
	})

	t.Run("a creation costs 8 write units", func(t *testing.T) {
		db := open(t, "appcore")
		in := createTransaction("req-1", "u-123", "tx-1", "2024-02-01T00:00:00.000Z")
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		out := db.transact(in)
		if len(out.ConsumedCapacity) != 1 {
			t.Fatalf("capacity of %d tables, want 1", len(out.ConsumedCapacity))
		}
		consumed := out.ConsumedCapacity[0]
		wantEqual(t, "units of all", aws.ToFloat64(consumed.CapacityUnits), 8)
		wantEqual(t, "units of the table", aws.ToFloat64(consumed.Table.CapacityUnits), 6)
		wantEqual(t, "units of GSI1", aws.ToFloat64(consumed.GlobalSecondaryIndexes["GSI1"].CapacityUnits), 2)
	})
}

// createTransaction is the document's TransactWrite: the idempotency marker with a condition, the transaction under its user, and
// its lookup item.
func createTransaction(requestID, userID, txID, createdAt string) *dynamodb.TransactWriteItemsInput {
	transaction := values("entityType", "TRANSACTION", "txId", txID, "userId", userID, "amount", 500,
		"currency", "ARS", "status", "PENDING", "createdAt", createdAt, "GSI1PK", "GLOBAL_TX", "GSI1SK", createdAt)
	marker := values("pk", "IDE#"+requestID, "sk", "METADATA", "entityType", "IDEMPOTENCY",
		"txId", txID, "userId", userID, "createdAt", createdAt)
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: aws.String(appCore), Item: marker, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}},
		{Put: &types.Put{
			TableName: aws.String(appCore),
			Item:      with(transaction, "pk", "USER#"+userID, "sk", strings.Join([]string{"TX", createdAt, txID}, "#")),
		}},
		{Put: &types.Put{
			TableName: aws.String(appCore), Item: with(transaction, "pk", "TX#"+txID, "sk", "METADATA"),
		}},
	}}
}

// createTransactions creates tx-0, tx-1, … one second apart.
func createTransactions(db database, userID string, count int) {
	db.t.Helper()
	for n := range count {
		db.transact(createTransaction(fmt.Sprintf("req-%d", n), userID, fmt.Sprintf("tx-%d", n),
			fmt.Sprintf("2024-02-01T00:00:%02d.000Z", n)))
	}
}

// lastGlobal is the document's GET /transactions/global.
func lastGlobal(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(appCore),
		IndexName:                 aws.String("GSI1"),
		KeyConditionExpression:    aws.String("GSI1PK = :global"),
		ExpressionAttributeValues: values(":global", partition),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(10),
	}
}
