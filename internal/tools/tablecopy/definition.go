package tablecopy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/monotable/monotable/internal/plural"
)

// activeWait is the time limit for a table to become active.
const activeWait = 30 * time.Minute

// create creates the target table, or checks an existing one.
func (c *copier) create(ctx context.Context, t *tableState) error {
	source, err := describe(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return err
	}
	if source == nil {
		return fmt.Errorf("it does not exist at %s", c.o.From.Name)
	}
	target, err := describe(ctx, c.o.To.Client, t.Target)
	if err != nil {
		return err
	}
	switch {
	case target != nil && !t.Creating && !t.Existed && !c.o.Existing:
		return fmt.Errorf("table %[2]s already exists at %[1]s: use --existing to write to it, or --table %[3]s=NEW for another name", c.o.To.Name, t.Target, t.Source)
	case target != nil && keysOf(source.KeySchema, source.AttributeDefinitions) != keysOf(target.KeySchema, target.AttributeDefinitions):
		return fmt.Errorf("its key is (%s), but that of %s at %s is (%s)", keysOf(source.KeySchema, source.AttributeDefinitions),
			t.Target, c.o.To.Name, keysOf(target.KeySchema, target.AttributeDefinitions))
	case target != nil && !t.Creating:
		t.Existed = true
		return c.state.save()
	case target == nil:
		t.Creating = true
		if err := c.state.save(); err != nil {
			return err
		}
		if err := c.createAs(ctx, t, source); err != nil {
			return err
		}
	}
	_, err = c.waitActive(ctx, c.o.To.Client, t.Target)
	return err
}

func (c *copier) createAs(ctx context.Context, t *tableState, source *types.TableDescription) error {
	in := requestOf(source, t.Target)
	tags, err := tagsOf(ctx, c.o.From.Client, aws.ToString(source.TableArn))
	if err != nil {
		c.logf("%s: not copied: the tags: %s", t.Source, shortly(err))
	}
	in.Tags = tags
	if _, err := c.o.To.Client.CreateTable(ctx, in); err != nil {
		if neverCreated(err) {
			err = errors.Join(err, c.state.update(func() { t.Creating = false }))
		}
		return fmt.Errorf("create %s at %s: %w", t.Target, c.o.To.Name, err)
	}
	c.logf("%s: created %s with %s and %s", t.Source, t.Target,
		plural.Of(len(in.GlobalSecondaryIndexes)+len(in.LocalSecondaryIndexes)+len(in.VectorIndexes), "index"), plural.Of(len(tags), "tag"))
	for _, left := range notCopied(source) {
		c.logf("%s: not copied: %s", t.Source, left)
	}
	return nil
}

// neverCreated reports whether a table that is found after this error of CreateTable is someone else's. A name in use may be due to an
// earlier attempt of the same request.
func neverCreated(err error) bool {
	response, is := errors.AsType[*smithyhttp.ResponseError](err)
	_, used := errors.AsType[*types.ResourceInUseException](err)
	return is && !used && response.HTTPStatusCode() < http.StatusInternalServerError
}

// requestOf returns the request that creates a table like another, without the settings that are turned on at the end.
func requestOf(d *types.TableDescription, name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: &name, AttributeDefinitions: d.AttributeDefinitions, KeySchema: d.KeySchema, BillingMode: types.BillingModeProvisioned,
		OnDemandThroughput: d.OnDemandThroughput,
	}
	if d.BillingModeSummary != nil && d.BillingModeSummary.BillingMode == types.BillingModePayPerRequest {
		in.BillingMode = types.BillingModePayPerRequest
	} else {
		in.ProvisionedThroughput = throughputOf(d.ProvisionedThroughput)
	}
	if d.TableClassSummary != nil {
		in.TableClass = d.TableClassSummary.TableClass
	}
	for _, x := range d.GlobalSecondaryIndexes {
		index := types.GlobalSecondaryIndex{IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection, OnDemandThroughput: x.OnDemandThroughput}
		if in.BillingMode == types.BillingModeProvisioned {
			index.ProvisionedThroughput = throughputOf(x.ProvisionedThroughput)
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, index)
	}
	for _, x := range d.LocalSecondaryIndexes {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection})
	}
	for i := range d.VectorIndexes {
		x := &d.VectorIndexes[i]
		in.VectorIndexes = append(in.VectorIndexes, types.VectorIndex{
			IndexName: x.IndexName, VectorAttribute: x.VectorAttribute, Dimensions: x.Dimensions, DistanceFunction: x.DistanceFunction,
			Projection: x.Projection, SearchSchema: x.SearchSchema,
		})
	}
	return in
}

func throughputOf(d *types.ProvisionedThroughputDescription) *types.ProvisionedThroughput {
	if d == nil {
		return nil
	}
	return &types.ProvisionedThroughput{ReadCapacityUnits: d.ReadCapacityUnits, WriteCapacityUnits: d.WriteCapacityUnits}
}

// notCopied lists features of a table that are not copied.
func notCopied(d *types.TableDescription) []string {
	var out []string
	for _, r := range d.Replicas {
		out = append(out, "the replica in "+aws.ToString(r.RegionName))
	}
	if d.SSEDescription != nil && d.SSEDescription.SSEType == types.SSETypeKms {
		out = append(out, "the KMS key for encryption")
	}
	return out
}

// tagsOf lists the tags of a table, without AWS's own, which cannot be set.
func tagsOf(ctx context.Context, client *dynamodb.Client, arn string) ([]types.Tag, error) {
	var tags []types.Tag
	in := &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn}
	for {
		out, err := client.ListTagsOfResource(ctx, in)
		if err != nil {
			return nil, err
		}
		tags = append(tags, slices.DeleteFunc(out.Tags, func(tag types.Tag) bool { return strings.HasPrefix(aws.ToString(tag.Key), "aws:") })...)
		if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
			return tags, nil
		}
	}
}

// settings turns on the source's settings at the target, and turns off the source's stream if the copy has turned it on.
func (c *copier) settings(ctx context.Context, t *tableState) error {
	source, err := describe(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return err
	}
	if source == nil {
		return errSourceDeleted
	}
	if !t.Existed {
		if err := c.copyExpiry(ctx, t); err != nil {
			return err
		}
		if err := c.copyUpdates(ctx, t, source); err != nil {
			return err
		}
	}
	if s := source.StreamSpecification; t.EnabledStream && s != nil && aws.ToBool(s.StreamEnabled) { // not by a run that was then killed
		_, err := c.o.From.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &t.Source, StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)},
		})
		if err != nil {
			return fmt.Errorf("turn the stream of the source off again: %w", err)
		}
		c.logf("%s: turned the stream of the source off again", t.Source)
	}
	return nil
}

func (c *copier) copyExpiry(ctx context.Context, t *tableState) error {
	ttl, err := c.o.From.Client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.Source})
	if err != nil {
		return err
	}
	d := ttl.TimeToLiveDescription
	if d == nil || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled && d.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return nil
	}
	there, err := c.o.To.Client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.Target})
	if err != nil {
		return err
	}
	if own := there.TimeToLiveDescription; own != nil && aws.ToString(own.AttributeName) == aws.ToString(d.AttributeName) {
		return nil // done by an earlier run
	}
	_, err = c.o.To.Client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &t.Target, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: d.AttributeName, Enabled: aws.Bool(true)},
	})
	if err == nil {
		c.logf("%s: items of %s expire by %s", t.Source, t.Target, aws.ToString(d.AttributeName))
	}
	return err
}

// copyUpdates turns on the stream and deletion protection.
func (c *copier) copyUpdates(ctx context.Context, t *tableState, source *types.TableDescription) error {
	target, err := describe(ctx, c.o.To.Client, t.Target)
	if err != nil || target == nil {
		return err
	}
	if s := source.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) && !t.EnabledStream && target.StreamSpecification == nil {
		_, err := c.o.To.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &t.Target, StreamSpecification: s})
		if err != nil {
			return fmt.Errorf("turn the stream on: %w", err)
		}
		c.logf("%s: turned the stream of %s on (%s)", t.Source, t.Target, s.StreamViewType)
		if _, err := c.waitActive(ctx, c.o.To.Client, t.Target); err != nil {
			return err
		}
	}
	if aws.ToBool(source.DeletionProtectionEnabled) && !aws.ToBool(target.DeletionProtectionEnabled) {
		_, err := c.o.To.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &t.Target, DeletionProtectionEnabled: aws.Bool(true)})
		if err != nil {
			return fmt.Errorf("turn deletion protection on: %w", err)
		}
		c.logf("%s: turned deletion protection of %s on", t.Source, t.Target)
	}
	return nil
}

// shortly returns a server's error without the request it belongs to.
func shortly(err error) string {
	if coded, is := errors.AsType[smithy.APIError](err); is {
		return coded.ErrorMessage()
	}
	return err.Error()
}

// describe returns nil if the table does not exist.
func describe(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
		return nil, nil //nolint:nilnil // no such table
	}
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func (c *copier) waitActive(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := dynamodb.NewTableExistsWaiter(client, func(w *dynamodb.TableExistsWaiterOptions) {
		w.MinDelay, w.MaxDelay = 50*time.Millisecond, 5*time.Second
	}).WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &name}, activeWait)
	if err != nil {
		return nil, fmt.Errorf("wait for %s: %w", name, err)
	}
	return out.Table, nil
}

// keysOf returns a primary key as text: its attributes with types and roles.
func keysOf(schema []types.KeySchemaElement, definitions []types.AttributeDefinition) string {
	var parts []string
	for _, k := range schema {
		for _, d := range definitions {
			if aws.ToString(d.AttributeName) == aws.ToString(k.AttributeName) {
				parts = append(parts, fmt.Sprintf("%s %s %s", aws.ToString(k.AttributeName), d.AttributeType, k.KeyType))
			}
		}
	}
	return strings.Join(parts, ", ")
}
