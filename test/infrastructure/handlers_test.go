package infrastructure

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
)

// recordTo adds the name of each operation called by a client to a set.
func recordTo(called map[string]bool) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("record", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			called[middleware.GetOperationName(ctx)] = true
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	}
}

// into converts properties to a request, or a part of one, with members of the same names.
func (c *cloudFormation) into(properties any, request any) {
	c.t.Helper()
	data, err := json.Marshal(properties)
	if err == nil {
		err = json.Unmarshal(data, request)
	}
	c.must(err)
}

func (c *cloudFormation) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// handler is one handler, working on a table in a Region.
type handler struct {
	*cloudFormation
	client *dynamodb.Client
	table  *string
	arn    *string
}

func (c *cloudFormation) handler(name, region string, properties object) handler {
	table := properties["TableName"].(string)
	return handler{c, c.client(name, region), &table, aws.String("arn:aws:dynamodb:" + region + ":000000000000:table/" + table)}
}

func (h handler) describe() *types.TableDescription {
	h.t.Helper()
	out, err := h.client.DescribeTable(h.t.Context(), &dynamodb.DescribeTableInput{TableName: h.table})
	if _, gone := errors.AsType[*types.ResourceNotFoundException](err); gone {
		return nil
	}
	h.must(err)
	return out.Table
}

// stabilize waits until the table and everything in it is active.
func (h handler) stabilize() {
	h.t.Helper()
	provider{t: h.t}.wait("the table", "ACTIVE", []string{"CREATING", "UPDATING", "DELETING"}, func() string { return state(h.describe()) })
}

// create runs the create handler.
func (c *cloudFormation) create(p object) {
	c.t.Helper()
	_, err := c.client("list", home).ListTables(c.t.Context(), &dynamodb.ListTablesInput{})
	c.must(err)
	own := c.regional(p, home)
	h := c.handler("create", home, own)
	if source, ok := own["ImportSourceSpecification"]; ok {
		h.importTable(own, source)
		return
	}
	h.createTable(own)
	h.settings(only(own, []string{"ResourcePolicy"}), own)
	c.replicas("create", object{}, p)
	c.scale("create", p)
}

func (h handler) createTable(p object) {
	h.t.Helper()
	in := &dynamodb.CreateTableInput{}
	h.into(without(p, "ResourcePolicy", "SSESpecification"), in)
	in.StreamSpecification, in.SSESpecification = streamOf(p), encryptionOf(p)
	if p["ResourcePolicy"] != nil {
		in.ResourcePolicy = policyOf(p)
	}
	_, err := h.client.CreateTable(h.t.Context(), in)
	h.must(err)
	h.stabilize()
}

func (h handler) importTable(p object, source any) {
	h.t.Helper()
	in := &dynamodb.ImportTableInput{TableCreationParameters: &types.TableCreationParameters{}}
	h.into(source, in)
	h.into(without(p, "ImportSourceSpecification"), in.TableCreationParameters)
	out, err := h.client.ImportTable(h.t.Context(), in)
	h.must(err)
	provider{t: h.t}.wait("the import", "COMPLETED", []string{"IN_PROGRESS"}, func() string {
		now, err := h.client.DescribeImport(h.t.Context(), &dynamodb.DescribeImportInput{ImportArn: out.ImportTableDescription.ImportArn})
		h.must(err)
		return string(now.ImportTableDescription.ImportStatus)
	})
}

// settings changes everything that has separate operations, and waits for each change.
func (h handler) settings(old, p object) {
	h.t.Helper()
	ctx := h.t.Context()
	if changed(old, p, "TimeToLiveSpecification") {
		in := &dynamodb.UpdateTimeToLiveInput{TableName: h.table, TimeToLiveSpecification: &types.TimeToLiveSpecification{}}
		h.into(p["TimeToLiveSpecification"], in.TimeToLiveSpecification)
		_, err := h.client.UpdateTimeToLive(ctx, in)
		h.must(err)
		provider{t: h.t}.wait("time to live", "ENABLED", []string{"DISABLED", "ENABLING"}, func() string {
			out, err := h.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: h.table})
			h.must(err)
			return string(out.TimeToLiveDescription.TimeToLiveStatus)
		})
	}
	if changed(old, p, "PointInTimeRecoverySpecification") {
		in := &dynamodb.UpdateContinuousBackupsInput{TableName: h.table, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{}}
		h.into(p["PointInTimeRecoverySpecification"], in.PointInTimeRecoverySpecification)
		_, err := h.client.UpdateContinuousBackups(ctx, in)
		h.must(err)
	}
	h.insights(nil, old, p)
	for _, x := range list(p["GlobalSecondaryIndexes"]) {
		h.insights(aws.String(x["IndexName"].(string)), find(old["GlobalSecondaryIndexes"], "IndexName", x["IndexName"]), x)
	}
	h.kinesis(old["KinesisStreamSpecification"], p["KinesisStreamSpecification"])
	switch {
	case !changed(old, p, "ResourcePolicy"):
	case p["ResourcePolicy"] == nil:
		_, err := h.client.DeleteResourcePolicy(ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: h.arn})
		h.must(err)
	default:
		_, err := h.client.PutResourcePolicy(ctx, &dynamodb.PutResourcePolicyInput{ResourceArn: h.arn, Policy: policyOf(p)})
		h.must(err)
	}
}

// insights enables or disables the insights of the table or of an index, and waits until the change is complete.
func (h handler) insights(index *string, old, p object) {
	h.t.Helper()
	on := func(of object) bool {
		s, _ := of["ContributorInsightsSpecification"].(object)
		return s["Enabled"] == true
	}
	if on(old) == on(p) {
		return
	}
	action, pending, target := types.ContributorInsightsActionEnable, "ENABLING", "ENABLED"
	if !on(p) {
		action, pending, target = types.ContributorInsightsActionDisable, "DISABLING", "DISABLED"
	}
	_, err := h.client.UpdateContributorInsights(h.t.Context(), &dynamodb.UpdateContributorInsightsInput{TableName: h.table, IndexName: index, ContributorInsightsAction: action})
	h.must(err)
	provider{t: h.t}.wait("contributor insights", target, []string{pending}, func() string { return h.insightsStatus(index) })
}

func (h handler) insightsStatus(index *string) string {
	h.t.Helper()
	out, err := h.client.DescribeContributorInsights(h.t.Context(), &dynamodb.DescribeContributorInsightsInput{TableName: h.table, IndexName: index})
	h.must(err)
	return string(out.ContributorInsightsStatus)
}

// kinesis switches between destinations, enables or disables one, and waits until the change is complete.
func (h handler) kinesis(old, now any) {
	h.t.Helper()
	ctx := h.t.Context()
	was, _ := old.(object)
	is, _ := now.(object)
	stream := func(of object) *string { arn, _ := of["StreamArn"].(string); return &arn }
	precision := func(of object) types.ApproximateCreationDateTimePrecision {
		if p, ok := of["ApproximateCreationDateTimePrecision"].(string); ok {
			return types.ApproximateCreationDateTimePrecision(p)
		}
		return types.ApproximateCreationDateTimePrecisionMillisecond
	}
	await := func(arn *string, target types.DestinationStatus, pending ...string) {
		provider{t: h.t}.wait("the Kinesis destination", string(target), pending, func() string { return string(h.destination(*arn).DestinationStatus) })
	}
	switch {
	case cmp.Equal(was, is):
	case *stream(was) == *stream(is):
		_, err := h.client.UpdateKinesisStreamingDestination(ctx, &dynamodb.UpdateKinesisStreamingDestinationInput{
			TableName: h.table, StreamArn: stream(is), UpdateKinesisStreamingConfiguration: &types.UpdateKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: precision(is)},
		})
		h.must(err)
		await(stream(is), types.DestinationStatusActive, "UPDATING")
	case was != nil:
		_, err := h.client.DisableKinesisStreamingDestination(ctx, &dynamodb.DisableKinesisStreamingDestinationInput{TableName: h.table, StreamArn: stream(was)})
		h.must(err)
		await(stream(was), types.DestinationStatusDisabled, "DISABLING")
		h.kinesis(nil, now)
	default:
		_, err := h.client.EnableKinesisStreamingDestination(ctx, &dynamodb.EnableKinesisStreamingDestinationInput{
			TableName: h.table, StreamArn: stream(is), EnableKinesisStreamingConfiguration: &types.EnableKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: precision(is)},
		})
		h.must(err)
		await(stream(is), types.DestinationStatusActive, "ENABLING")
	}
}

func (h handler) destination(arn string) types.KinesisDataStreamDestination {
	h.t.Helper()
	out, err := h.client.DescribeKinesisStreamingDestination(h.t.Context(), &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: h.table})
	h.must(err)
	i := slices.IndexFunc(out.KinesisDataStreamDestinations, func(d types.KinesisDataStreamDestination) bool { return *d.StreamArn == arn })
	if i < 0 {
		h.t.Fatalf("no destination %s among %v", arn, out.KinesisDataStreamDestinations)
	}
	return out.KinesisDataStreamDestinations[i]
}

// update runs the update handler.
func (c *cloudFormation) update(old, p object) {
	c.t.Helper()
	c.replicas("update", old, p)
	h := c.handler("update", home, p)
	was, is := c.regional(old, home), c.regional(p, home)
	h.updateTable(was, is)
	h.settings(was, is)
}

// updateTable makes one kind of change per request, as UpdateTable requires.
func (h handler) updateTable(old, p object) {
	h.t.Helper()
	update := func(in *dynamodb.UpdateTableInput) {
		h.t.Helper()
		in.TableName = h.table
		_, err := h.client.UpdateTable(h.t.Context(), in)
		h.must(err)
		h.stabilize()
	}
	for _, together := range [][]string{{"BillingMode", "ProvisionedThroughput"}, {"OnDemandThroughput"}, {"WarmThroughput"}, {"TableClass"}, {"DeletionProtectionEnabled"}} {
		if some := only(p, together); !cmp.Equal(only(old, together), some) && len(some) > 0 {
			in := &dynamodb.UpdateTableInput{}
			h.into(some, in)
			update(in)
		}
	}
	if changed(old, p, "StreamSpecification") {
		if old["StreamSpecification"] != nil {
			update(&dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)}})
		}
		if s := streamOf(p); s != nil {
			update(&dynamodb.UpdateTableInput{StreamSpecification: s})
		}
	}
	if changed(old, p, "SSESpecification") {
		update(&dynamodb.UpdateTableInput{SSESpecification: encryptionOf(p)})
	}
	for _, u := range h.indexUpdates(old, p) {
		in := &dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{u}}
		h.into(p["AttributeDefinitions"], &in.AttributeDefinitions)
		update(in)
	}
	h.tag(old, p)
}

// indexUpdates returns the changes of indexes: first the removals, then the additions.
func (h handler) indexUpdates(old, p object) (updates []types.GlobalSecondaryIndexUpdate) {
	h.t.Helper()
	for _, x := range list(old["GlobalSecondaryIndexes"]) {
		if find(p["GlobalSecondaryIndexes"], "IndexName", x["IndexName"]) == nil {
			updates = append(updates, types.GlobalSecondaryIndexUpdate{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String(x["IndexName"].(string))}})
		}
	}
	for _, x := range list(p["GlobalSecondaryIndexes"]) {
		if find(old["GlobalSecondaryIndexes"], "IndexName", x["IndexName"]) == nil {
			create := &types.CreateGlobalSecondaryIndexAction{}
			h.into(x, create)
			updates = append(updates, types.GlobalSecondaryIndexUpdate{Create: create})
		}
	}
	return updates
}

func (h handler) tag(old, p object) {
	h.t.Helper()
	for _, tag := range list(old["Tags"]) {
		if find(p["Tags"], "Key", tag["Key"]) == nil {
			_, err := h.client.UntagResource(h.t.Context(), &dynamodb.UntagResourceInput{ResourceArn: h.arn, TagKeys: []string{tag["Key"].(string)}})
			h.must(err)
		}
	}
	if changed(old, p, "Tags") && p["Tags"] != nil {
		in := &dynamodb.TagResourceInput{ResourceArn: h.arn}
		h.into(p["Tags"], &in.Tags)
		_, err := h.client.TagResource(h.t.Context(), in)
		h.must(err)
	}
}

// delete runs the delete handler. For a global table, it deletes the other replicas first.
func (c *cloudFormation) delete(p object) {
	c.t.Helper()
	for _, region := range append(c.others(p), home) {
		h := c.handler("delete", region, p)
		_, err := h.client.DeleteTable(c.t.Context(), &dynamodb.DeleteTableInput{TableName: h.table})
		c.must(err)
		provider{t: c.t}.wait("the deleted table", "", []string{"ACTIVE", "DELETING"}, func() string {
			if d := h.describe(); d != nil {
				return string(d.TableStatus)
			}
			return ""
		})
	}
}
