package monotable_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable"
)

// ownPartition grants a user access to the items whose partition key is their name, and to some attributes.
const ownPartition = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:*",
	"Resource":["arn:aws:dynamodb:*:*:table/Notes","arn:aws:dynamodb:*:*:table/Notes/*"],
	"Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["${aws:username}"]}}}}`

const someAttributes = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:*",
	"Resource":["arn:aws:dynamodb:*:*:table/Notes","arn:aws:dynamodb:*:*:table/Notes/*"],
	"Condition":{"ForAllValues:StringEquals":{"dynamodb:Attributes":["owner","id","topic","text"]}}}}`

type values = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func noteKey(owner string) values { return values{"owner": text(owner), "id": text("1")} }

// notes creates the table Notes, with an index by topic, a stream, and one note each of ann and bob.
func notes(g *guarded) {
	g.Helper()
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	table, index := "Notes", "ByTopic"
	input := &dynamodb.CreateTableInput{
		TableName: &table, KeySchema: key("owner", "id"), BillingMode: types.BillingModePayPerRequest,
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: &index, KeySchema: key("topic", "id"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: new(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}
	for _, name := range []string{"owner", "id", "topic"} {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{AttributeName: new(name), AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := g.db.Client().CreateTable(g.Context(), input); err != nil {
		g.Fatal(err)
	}
	for _, owner := range []string{"ann", "bob"} {
		item := noteKey(owner)
		item["topic"], item["secret"], item["text"] = text("tea"), text("s"), text("t")
		if _, err := g.db.Client().PutItem(g.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			g.Fatal(err)
		}
	}
}

// denied checks that a call was denied for lack of a permission, and that its response reveals nothing that is stored.
func (g *guarded) denied(what string, err error) {
	g.Helper()
	got := refusal(err)
	if !strings.HasPrefix(got, "AccessDeniedException: User: arn:aws:iam::000000000000:user/ann is not authorized to perform: dynamodb:") ||
		!strings.Contains(got, "because no identity-based policy allows the dynamodb:") {
		g.Errorf("%s: %q", what, got)
	}
}

// TestLeadingKeysCannotBeBypassed tries to reach another partition in every possible way.
func TestLeadingKeysCannotBeBypassed(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	notes(g)
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "limits", Document: ownPartition})
	ann, ctx, table := g.dynamodb(g.user("ann", "limits")), t.Context(), new("Notes")
	mine, theirs := noteKey("ann"), noteKey("bob")

	_, err := ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: mine})
	g.want("own item", refusal(err), "")
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: theirs})
	g.want("GetItem", refusal(err), "AccessDeniedException: User: arn:aws:iam::000000000000:user/ann is not authorized to perform: dynamodb:GetItem on "+
		"resource: arn:aws:dynamodb:us-east-1:000000000000:table/Notes because no identity-based policy allows the dynamodb:GetItem action")
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: new("arn:aws:dynamodb:us-east-1:000000000000:table/Notes"), Key: theirs})
	g.denied("by ARN", err)
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: theirs, AttributesToGet: []string{"id"}, ReturnConsumedCapacity: "TOTAL"})
	g.denied("legacy and capacity", err)
	_, err = ann.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: theirs})
	g.denied("PutItem", err)
	_, err = ann.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: table, Key: theirs, ConditionExpression: new("secret = :s"), ExpressionAttributeValues: values{":s": text("?")},
		ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	})
	g.denied("a condition's outcome", err)
	_, err = ann.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: theirs, ReturnValues: "ALL_OLD"})
	g.denied("DeleteItem", err)

	query := func(owner string) *dynamodb.QueryInput {
		return &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: new("#o = :o"), ExpressionAttributeNames: map[string]string{"#o": "owner"},
			ExpressionAttributeValues: values{":o": text(owner)},
		}
	}
	_, err = ann.Query(ctx, query("ann"))
	g.want("own partition", refusal(err), "")
	_, err = ann.Query(ctx, query("bob"))
	g.denied("Query", err)
	_, err = ann.Query(ctx, &dynamodb.QueryInput{TableName: table, KeyConditions: map[string]types.Condition{
		"owner": {ComparisonOperator: "EQ", AttributeValueList: []types.AttributeValue{text("bob")}},
	}})
	g.denied("legacy Query", err)
	_, err = ann.Query(ctx, &dynamodb.QueryInput{
		TableName: table, IndexName: new("ByTopic"), KeyConditionExpression: new("topic = :t"), FilterExpression: new("#o = :o"),
		ExpressionAttributeNames: map[string]string{"#o": "owner"}, ExpressionAttributeValues: values{":t": text("tea"), ":o": text("ann")},
	})
	g.denied("an index and a filter", err)
	_, err = ann.Scan(ctx, &dynamodb.ScanInput{TableName: table, Select: types.SelectCount})
	g.denied("Scan", err)

	_, err = ann.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"Notes": {Keys: []values{mine, theirs}}}})
	g.denied("BatchGetItem", err)
	_, err = ann.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"Notes": {{DeleteRequest: &types.DeleteRequest{Key: mine}}, {DeleteRequest: &types.DeleteRequest{Key: theirs}}},
	}})
	g.denied("BatchWriteItem", err)
	_, err = ann.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: table, Key: mine}}, {Get: &types.Get{TableName: table, Key: theirs}},
	}})
	g.denied("TransactGetItems", err)
	_, err = ann.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: table, Key: mine}},
		{ConditionCheck: &types.ConditionCheck{TableName: table, Key: theirs, ConditionExpression: new("attribute_exists(id)")}},
	}})
	g.denied("TransactWriteItems", err)

	for _, statement := range []string{
		`SELECT * FROM Notes WHERE "owner" = 'bob'`,
		`SELECT * FROM Notes WHERE "owner" IN ['ann', 'bob']`,
		`SELECT * FROM Notes WHERE "owner" = 'ann' OR "owner" = 'bob'`,
		`SELECT id FROM Notes WHERE "id" = '1'`,
		`SELECT * FROM "Notes"."ByTopic" WHERE topic = 'tea' AND "owner" = 'ann'`,
		`INSERT INTO Notes VALUE {'owner': 'bob', 'id': '2'}`,
		`UPDATE Notes SET text = 'x' WHERE "owner" = 'bob' AND id = '1'`,
		`DELETE FROM Notes WHERE "owner" = 'bob' AND id = '1'`,
	} {
		_, err = ann.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: new(statement)})
		g.denied(statement, err)
		allowed := `SELECT * FROM Notes WHERE "owner" = 'ann' AND id = '1'`
		if !strings.HasPrefix(statement, "SELECT") {
			allowed = `UPDATE Notes SET mood = 'x' WHERE "owner" = 'ann' AND id = '1'`
		}
		batch, err := ann.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
			{Statement: &allowed}, {Statement: &statement},
		}})
		if g.want("batch: "+statement, refusal(err), ""); err == nil {
			own, theirs := batch.Responses[0], batch.Responses[1]
			if own.Error != nil || theirs.Item != nil || theirs.Error == nil || theirs.Error.Code != types.BatchStatementErrorCodeEnumAccessDenied ||
				!strings.HasPrefix(*theirs.Error.Message, "User: arn:aws:iam::000000000000:user/ann is not authorized to perform: dynamodb:PartiQL") {
				t.Errorf("batch: %s: %+v", statement, batch.Responses)
			}
		}
		_, err = ann.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{{Statement: new(statement)}}})
		g.denied("transaction: "+statement, err)
	}
	_, err = ann.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: new(`SELECT * FROM Notes WHERE "owner" = 'ann'`)})
	g.want("own statement", refusal(err), "")

	described, err := g.db.Client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
	if err != nil {
		t.Fatal(err)
	}
	streams := g.db.StreamsClient()
	stream, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: described.Table.LatestStreamArn})
	if err != nil {
		t.Fatal(err)
	}
	iterator, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: described.Table.LatestStreamArn, ShardId: stream.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		t.Fatal(err)
	}
	over := dynamodbstreams.New(dynamodbstreams.Options{BaseEndpoint: &g.url, Region: "us-east-1", Credentials: ann.Options().Credentials})
	_, err = over.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator.ShardIterator})
	g.denied("GetRecords", err)
	_, err = ann.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: table})
	g.denied("DeleteTable", err)
}

// TestAttributeConditionsCannotBeBypassed tries to read another attribute in every possible way.
func TestAttributeConditionsCannotBeBypassed(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	notes(g)
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "limits", Document: someAttributes})
	ann, ctx, table := g.dynamodb(g.user("ann", "limits")), t.Context(), new("Notes")
	key, secret := noteKey("bob"), values{":s": text("s")}

	_, err := ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key, ProjectionExpression: new("topic")})
	g.want("a projection", refusal(err), "")
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key})
	g.denied("all attributes", err)
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: table, Key: key, ProjectionExpression: new("#x"), ExpressionAttributeNames: map[string]string{"#x": "secret"},
	})
	g.denied("an alias", err)
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key, AttributesToGet: []string{"secret"}})
	g.denied("AttributesToGet", err)
	_, err = ann.Scan(ctx, &dynamodb.ScanInput{TableName: table, Select: types.SelectCount, FilterExpression: new("secret = :s"), ExpressionAttributeValues: secret})
	g.denied("a filter that counts", err)
	_, err = ann.Scan(ctx, &dynamodb.ScanInput{TableName: table, Select: types.SelectCount, ScanFilter: map[string]types.Condition{
		"secret": {ComparisonOperator: "NOT_NULL"},
	}})
	g.denied("ScanFilter", err)
	_, err = ann.Scan(ctx, &dynamodb.ScanInput{TableName: table, IndexName: new("ByTopic"), Select: types.SelectAllProjectedAttributes})
	g.denied("an index with all attributes", err)
	_, err = ann.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: table, Key: key, ConditionExpression: new("begins_with(secret, :s)"), ExpressionAttributeValues: secret,
	})
	g.denied("a condition's outcome", err)
	_, err = ann.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: key, Expected: map[string]types.ExpectedAttributeValue{"secret": {Exists: new(false)}}})
	g.denied("Expected", err)
	_, err = ann.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: key, UpdateExpression: new("SET topic = secret")})
	g.denied("an operand", err)
	_, err = ann.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: table, Key: key, UpdateExpression: new("SET topic = :s"), ExpressionAttributeValues: secret, ReturnValues: "ALL_NEW",
	})
	g.denied("ALL_NEW", err)
	_, err = ann.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: table, Key: key, ConditionExpression: new("attribute_not_exists(id)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	})
	g.denied("the item of a failed condition", err)
	for _, statement := range []string{
		`SELECT * FROM Notes WHERE "owner" = 'bob'`,
		`SELECT topic FROM Notes WHERE "owner" = 'bob' AND secret = 's'`,
		`UPDATE Notes SET topic = secret WHERE "owner" = 'bob' AND id = '1'`,
		`DELETE FROM Notes WHERE "owner" = 'bob' AND id = '1' RETURNING ALL OLD *`,
	} {
		_, err = ann.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: new(statement)})
		g.denied(statement, err)
	}
}

// TestResourcePolicies: the policy of a table can allow a user without policies, and deny the root.
func TestResourcePolicies(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	notes(g)
	ann, ctx := g.dynamodb(g.user("ann")), t.Context()
	get := &dynamodb.GetItemInput{TableName: new("Notes"), Key: noteKey("ann")}
	_, err := ann.GetItem(ctx, get)
	g.denied("without any policy", err)
	put := func(effect string) {
		document := `{"Version":"2012-10-17","Statement":{"Effect":"` + effect + `","Principal":{"AWS":"arn:aws:iam::000000000000:user/ann"},
			"Action":"dynamodb:GetItem","Resource":"arn:aws:dynamodb:us-east-1:000000000000:table/Notes"}}`
		if _, err := g.db.Client().PutResourcePolicy(ctx, &dynamodb.PutResourcePolicyInput{
			ResourceArn: new("arn:aws:dynamodb:us-east-1:000000000000:table/Notes"), Policy: &document,
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("Allow")
	_, err = ann.GetItem(ctx, get)
	g.want("allowed by the table", refusal(err), "")
	put("Deny")
	_, err = ann.GetItem(ctx, get)
	g.want("denied by the table", refusal(err), "AccessDeniedException: User: arn:aws:iam::000000000000:user/ann is not authorized to perform: dynamodb:GetItem on "+
		"resource: arn:aws:dynamodb:us-east-1:000000000000:table/Notes with an explicit deny in a resource-based policy")
	put("allow") // as on AWS, in any case
	_, err = ann.GetItem(ctx, get)
	g.want("allowed by the table in lower case", refusal(err), "")
}

// TestPoliciesOfStreamsAndIndexes: a stream's policy applies only to the stream, and a table's policy to its indexes only if it
// names them.
func TestPoliciesOfStreamsAndIndexes(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	notes(g)
	ann, ctx := g.user("ann"), t.Context()
	streams := dynamodbstreams.New(dynamodbstreams.Options{BaseEndpoint: &g.url, Region: "us-east-1", Credentials: ann})
	described, err := g.db.Client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: new("Notes")})
	if err != nil {
		t.Fatal(err)
	}
	table, stream := *described.Table.TableArn, *described.Table.LatestStreamArn
	put := func(on, action, resource string) {
		if _, err := g.db.Client().PutResourcePolicy(ctx, &dynamodb.PutResourcePolicyInput{
			ResourceArn: &on, Policy: new(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:user/ann"},
				"Action":"dynamodb:` + action + `","Resource":"` + resource + `"}}`),
		}); err != nil {
			t.Fatal(err)
		}
	}
	describe := func() error {
		_, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &stream})
		return err
	}
	query := func(index *string, name string) error {
		_, err := g.dynamodb(ann).Query(ctx, &dynamodb.QueryInput{
			TableName: &table, IndexName: index, KeyConditionExpression: new("#k = :v"),
			ExpressionAttributeNames: map[string]string{"#k": name}, ExpressionAttributeValues: values{":v": text("tea")},
		})
		return err
	}
	put(table, "Query", table)
	g.denied("a stream without a policy", describe())
	g.want("the table", refusal(query(nil, "owner")), "")
	g.denied("an index that the table's policy does not name", query(new("ByTopic"), "topic"))
	put(table, "Query", table+"/index/ByTopic")
	g.denied("the table itself, which it does not name now", query(nil, "owner"))
	g.want("the index", refusal(query(new("ByTopic"), "topic")), "")
	put(stream, "DescribeStream", stream)
	g.want("the stream", refusal(describe()), "")
	_, err = g.db.Client().DeleteResourcePolicy(ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: &stream})
	g.want("its policy is taken away", refusal(err), "")
	g.denied("the stream afterwards", describe())
}

// TestPutResourcePolicyPreventsLockout: a caller who would lock themselves out must confirm it, and the root is never locked out.
func TestPutResourcePolicyPreventsLockout(t *testing.T) {
	const root, secret = "AKIDROOT", "root-secret-of-a-test"
	g := openGuarded(t, t.TempDir(), monotable.Options{Auth: &monotable.Auth{RootAccessKeyID: root, RootSecretAccessKey: secret}})
	notes(g)
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	ann, ctx, arn := g.dynamodb(g.user("ann", "all")), t.Context(), new("arn:aws:dynamodb:us-east-1:000000000000:table/Notes")
	put := func(c *dynamodb.Client, principal string, confirm bool) string {
		_, err := c.PutResourcePolicy(ctx, &dynamodb.PutResourcePolicyInput{
			ResourceArn: arn, ConfirmRemoveSelfResourceAccess: confirm,
			Policy: new(`{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":` + principal + `,"Action":"dynamodb:*","Resource":"` + *arn + `"}}`),
		})
		return refusal(err)
	}
	g.want("someone else", put(ann, `{"AWS":"arn:aws:iam::000000000000:user/bob"}`, false), "")
	g.want("herself", put(ann, `"*"`, false), "AccessDeniedException: The new resource policy will not allow you to update the resource policy in the future.")
	g.want("herself, confirmed", put(ann, `"*"`, true), "")
	if got := put(ann, `{"AWS":"arn:aws:iam::000000000000:user/bob"}`, false); !strings.HasPrefix(got, "AccessDeniedException") {
		t.Errorf("locked out: %q", got)
	}
	owner := g.dynamodb(credentials.NewStaticCredentialsProvider(root, secret, ""))
	_, err := owner.GetItem(ctx, &dynamodb.GetItemInput{TableName: new("Notes"), Key: noteKey("ann")})
	if got := refusal(err); !strings.HasPrefix(got, "AccessDeniedException") {
		t.Errorf("the root can read a table that denies reads to everyone: %q", got)
	}
	_, err = owner.GetResourcePolicy(ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: arn})
	g.want("the root looks", refusal(err), "")
	g.want("the root changes it, to another that denies all", put(owner, `"*"`, false), "")
	_, err = owner.DeleteResourcePolicy(ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: arn})
	g.want("the root takes it away", refusal(err), "")
	_, err = ann.GetItem(ctx, &dynamodb.GetItemInput{TableName: new("Notes"), Key: noteKey("ann")})
	g.want("afterwards", refusal(err), "")
}

// TestReplicasNeedPermissionsInTheirRegions: who may do everything in one Region cannot reach another by a global table.
func TestReplicasNeedPermissionsInTheirRegions(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{Regions: []string{ireland}})
	notes(g)
	for name, regions := range map[string]string{"here": `"us-east-1"`, "both": `"us-east-1", "eu-west-1"`} {
		g.manage(monotable.IAMRequest{Action: "policy create", Name: name, Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow",
			"Action":"dynamodb:*","Resource":"*","Condition":{"StringEquals":{"aws:RequestedRegion":[` + regions + `]}}}}`})
	}
	ann, bob, ctx, table := g.dynamodb(g.user("ann", "here")), g.dynamodb(g.user("bob", "both")), t.Context(), new("Notes")
	update := func(c *dynamodb.Client, u types.ReplicationGroupUpdate) error {
		_, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: table, ReplicaUpdates: []types.ReplicationGroupUpdate{u}})
		return err
	}
	added := types.ReplicationGroupUpdate{Create: &types.CreateReplicationGroupMemberAction{RegionName: new(ireland)}}
	removed := types.ReplicationGroupUpdate{Delete: &types.DeleteReplicationGroupMemberAction{RegionName: new(ireland)}}
	expires := func(c *dynamodb.Client) error {
		_, err := c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: table, TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("at")},
		})
		return err
	}
	_, err := ann.CreateGlobalTable(ctx, &dynamodb.CreateGlobalTableInput{GlobalTableName: table, ReplicationGroup: []types.Replica{{RegionName: new(ireland)}}})
	g.denied("CreateGlobalTable", err)
	_, err = ann.UpdateGlobalTable(ctx, &dynamodb.UpdateGlobalTableInput{
		GlobalTableName: table, ReplicaUpdates: []types.ReplicaUpdate{{Create: &types.CreateReplicaAction{RegionName: new(ireland)}}},
	})
	g.denied("UpdateGlobalTable", err)
	g.denied("a new replica", update(ann, added))
	g.want("a new replica, where it is allowed", refusal(update(bob, added)), "")
	(&regional{T: t}).eventually("the replica is active", func(context.Context) bool {
		out, err := bob.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
		return err == nil && out.Table.TableStatus == types.TableStatusActive && len(out.Table.Replicas) == 1 &&
			out.Table.Replicas[0].ReplicaStatus == types.ReplicaStatusActive
	})
	g.denied("UpdateTimeToLive", expires(ann))
	g.want("UpdateTimeToLive, where it is allowed", refusal(expires(bob)), "")
	g.denied("a replica's removal", update(ann, removed))
	g.want("a replica's removal, where it is allowed", refusal(update(bob, removed)), "")
}

// TestConditionsOfOtherServices: conditions on the request and the table also apply to CloudWatch's and the server's own operations.
func TestConditionsOfOtherServices(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	notes(g)
	if _, err := g.db.Client().TagResource(t.Context(), &dynamodb.TagResourceInput{
		ResourceArn: new("arn:aws:dynamodb:us-east-1:000000000000:table/Notes"), Tags: []types.Tag{{Key: new("Team"), Value: new("blue")}},
	}); err != nil {
		t.Fatal(err)
	}
	const compare, key = `{"TableName":"Notes","At":1}`, `{"TableName":"Notes","Key":{"owner":{"S":"bob"},"id":{"S":"1"}}}`
	for name, c := range map[string]struct {
		statements             string // in addition to allowing everything, unless they allow something themselves
		metrics, server, table bool   // whether they are allowed
	}{
		"from here":        {`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"127.0.0.1"}}}`, true, true, true},
		"from elsewhere":   {`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"192.0.2.1"}}}`, false, false, false},
		"over plain HTTP":  {`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}`, false, false, false},
		"not from here":    {`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"127.0.0.0/8"}}}`, true, true, true},
		"later":            {`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"2999-01-01T00:00:00Z"}}}`, false, false, false},
		"the table's tag":  {`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/team":"blue"}}}`, true, true, false},
		"the Region":       {`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:RequestedRegion":"us-east-1"}}}`, true, true, false},
		"own partition":    {`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"ann"}}}`, true, true, false},
		"some attributes":  {`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringEquals":{"dynamodb:Attributes":"id"}}}`, true, true, false},
		"the user's agent": {`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringLike":{"aws:UserAgent":"*o*"}}}`, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := *g
			g.T = t
			statements := c.statements
			if strings.Contains(statements, "Deny") {
				statements += `,{"Effect":"Allow","Action":"*","Resource":"*"}`
			}
			user := strings.Map(func(r rune) rune {
				if r < 'A' {
					return '-'
				}
				return r
			}, name)
			g.manage(monotable.IAMRequest{Action: "policy create", Name: user, Document: `{"Version":"2012-10-17","Statement":[` + statements + `]}`})
			who := g.user(user, user)
			allowed := func(what, got string, want bool) {
				if strings.Contains(got, "not authorized") == want {
					t.Errorf("%s: %q, want it allowed: %t", what, got, want)
				}
			}
			metrics := cloudwatch.New(cloudwatch.Options{BaseEndpoint: &g.url, Region: "us-east-1", Credentials: who, Retryer: aws.NopRetryer{}})
			_, err := metrics.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{})
			allowed("ListMetrics", refusal(err), c.metrics)
			var out any
			allowed("DescribeServer", g.inspect(who, "DescribeServer", `{}`, &out), c.server)
			allowed("ListWarnings", g.inspect(who, "ListWarnings", `{}`, &out), c.server)
			allowed("CompareTable", g.inspect(who, "CompareTable", compare, &out), c.table)
			allowed("ListItemChanges", g.inspect(who, "ListItemChanges", key, &out), c.table)
			allowed("ListRequests", g.inspect(who, "ListRequests", `{"TableName":"Notes"}`, &out), c.table)
		})
	}
}
