package infrastructure

import (
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/monotabletest"
)

// TestTerraform creates a resource for each feature, plans, changes it step by step with a plan after each step, and destroys it.
// A plan reads the resource twice and must find it as it was written.
func TestTerraform(t *testing.T) {
	base := func(change func(*resource)) resource {
		r := resource{
			Billing: types.BillingModePayPerRequest, Attributes: map[string]types.ScalarAttributeType{"id": "S"}, Hash: "id", Class: types.TableClassStandard,
			Tags: map[string]string{},
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	provisioned := func(read, write int64, change func(*resource)) resource {
		return base(func(r *resource) {
			r.Billing, r.Read, r.Write = types.BillingModeProvisioned, read, write
			if change != nil {
				change(r)
			}
		})
	}
	indexed := func(names ...string) func(*resource) {
		return func(r *resource) {
			r.Global, r.Range = map[string]index{}, "at"
			r.Attributes = map[string]types.ScalarAttributeType{"id": "S", "at": "N"}
			for _, n := range names {
				r.Attributes[n] = "S"
				r.Global["by_"+n] = index{Hash: n, Range: "at", Projection: types.ProjectionTypeInclude, Include: "note"}
			}
		}
	}
	for _, c := range []struct {
		feature string
		steps   []resource
	}{
		{"nothing but a key", []resource{base(nil)}},
		{"capacity and billing mode", []resource{provisioned(5, 5, nil), provisioned(10, 3, nil), base(nil), provisioned(1, 1, nil)}},
		{"on_demand_throughput", []resource{
			base(func(r *resource) { r.MaxRead, r.MaxWrite = 100, 50 }), base(func(r *resource) { r.MaxRead, r.MaxWrite = 200, 50 }),
		}},
		{"global_secondary_index", []resource{base(indexed("a")), base(indexed("a", "b")), base(indexed("b")), base(indexed("c"))}},
		{"global_secondary_index, provisioned", []resource{
			provisioned(2, 2, func(r *resource) {
				r.Attributes, r.Global = map[string]types.ScalarAttributeType{"id": "S", "g": "B"}, map[string]index{"by_g": {Hash: "g", Projection: "KEYS_ONLY", Read: 1, Write: 1}}
			}),
			provisioned(3, 3, func(r *resource) {
				r.Attributes, r.Global = map[string]types.ScalarAttributeType{"id": "S", "g": "B"}, map[string]index{"by_g": {Hash: "g", Projection: "KEYS_ONLY", Read: 4, Write: 5}}
			}),
		}},
		{"local_secondary_index", []resource{base(func(r *resource) {
			r.Attributes, r.Range = map[string]types.ScalarAttributeType{"id": "S", "at": "N", "l": "S"}, "at"
			r.Local = map[string]index{"by_l": {Range: "l", Projection: types.ProjectionTypeAll}}
		})}},
		{"stream_view_type", []resource{
			base(nil), base(func(r *resource) { r.StreamView = types.StreamViewTypeNewImage }), base(func(r *resource) { r.StreamView = types.StreamViewTypeKeysOnly }), base(nil),
		}},
		{"ttl", []resource{base(func(r *resource) { r.TTL = "expires" })}},
		{"ttl, later", []resource{base(nil), base(func(r *resource) { r.TTL = "expires" })}},
		{"point_in_time_recovery", []resource{
			base(func(r *resource) { r.PITR, r.PITRDays = true, 35 }), base(func(r *resource) { r.PITR, r.PITRDays = true, 7 }), base(nil),
		}},
		{"server_side_encryption", []resource{base(nil), base(func(r *resource) { r.Encrypted = true }), base(nil)}},
		{"table_class", []resource{base(nil), base(func(r *resource) { r.Class = types.TableClassStandardInfrequentAccess }), base(nil)}},
		{"deletion_protection_enabled", []resource{base(func(r *resource) { r.Protected = true }), base(nil)}},
		{"warm_throughput", []resource{
			base(func(r *resource) { r.WarmRead, r.WarmWrite = 13000, 5000 }), base(func(r *resource) { r.WarmRead, r.WarmWrite = 14000, 6000 }),
		}},
		{"tags", []resource{
			base(func(r *resource) { r.Tags = map[string]string{"team": "ops", "empty": ""} }), base(func(r *resource) { r.Tags = map[string]string{"team": "dev", "new": "x"} }), base(nil),
		}},
		{"aws_dynamodb_contributor_insights", []resource{base(func(r *resource) { r.Insights = true }), base(nil)}},
		{"aws_dynamodb_resource_policy", []resource{base(func(r *resource) { r.Policy = policy("dynamodb:GetItem") }), base(func(r *resource) { r.Policy = policy("dynamodb:Query") }), base(nil)}},
	} {
		t.Run(c.feature, func(t *testing.T) {
			p := provider{t, connect(t)}
			p.create(&c.steps[0])
			p.plan(&c.steps[0])
			for i := range c.steps[1:] {
				p.change(&c.steps[i], &c.steps[i+1])
				p.plan(&c.steps[i+1])
			}
			p.destroy()
			_, err := p.client.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(arn)})
			if _, gone := errors.AsType[*types.ResourceNotFoundException](err); !gone {
				t.Errorf("tags of the table that is gone: %v, want ResourceNotFoundException", err)
			}
			p.create(&c.steps[0]) // as after terraform taint
			p.plan(&c.steps[0])
		})
	}
}

// TestRequestsForEveryTable sends the requests that tools make for every table, whatever features it has. Errors must be those that the
// tools expect.
func TestRequestsForEveryTable(t *testing.T) {
	p := provider{t, connect(t)}
	p.create(&resource{Billing: types.BillingModePayPerRequest, Attributes: map[string]types.ScalarAttributeType{"id": "S"}, Hash: "id", Class: types.TableClassStandard})
	ctx := t.Context()
	_, err := p.client.GetResourcePolicy(ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: aws.String(arn)})
	if _, none := errors.AsType[*types.PolicyNotFoundException](err); !none {
		t.Errorf("GetResourcePolicy: %v, want PolicyNotFoundException", err)
	}
	kinesis, err := p.client.DescribeKinesisStreamingDestination(ctx, &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: aws.String(name)})
	if err != nil || len(kinesis.KinesisDataStreamDestinations) != 0 {
		t.Errorf("DescribeKinesisStreamingDestination: %v", err)
	}
	if _, err := p.client.DescribeLimits(ctx, &dynamodb.DescribeLimitsInput{}); err != nil {
		t.Errorf("DescribeLimits: %v", err)
	}
	if _, err := p.client.DescribeEndpoints(ctx, &dynamodb.DescribeEndpointsInput{}); err != nil {
		t.Errorf("DescribeEndpoints: %v", err)
	}
	if _, err := p.client.ListBackups(ctx, &dynamodb.ListBackupsInput{TableName: aws.String(name)}); err != nil {
		t.Errorf("ListBackups: %v", err)
	}
	_, err = p.client.DescribeTableReplicaAutoScaling(ctx, &dynamodb.DescribeTableReplicaAutoScalingInput{TableName: aws.String(name)})
	if _, none := errors.AsType[*types.ResourceNotFoundException](err); !none {
		t.Errorf("DescribeTableReplicaAutoScaling: %v, want ResourceNotFoundException", err)
	}
}

func connect(t *testing.T) *dynamodb.Client {
	t.Helper()
	server := httptest.NewServer(monotabletest.New(t).Handler())
	t.Cleanup(server.Close)
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// plan reads the resource like the provider and compares it with what was written.
func (p provider) plan(want *resource) {
	p.t.Helper()
	for range 2 {
		got := p.read(want)
		if diff := cmp.Diff(want, got); diff != "" {
			p.t.Errorf("the plan is not empty:\n%s", diff)
		}
	}
}

// read returns the resource according to the descriptions of the table.
func (p provider) read(want *resource) *resource {
	p.t.Helper()
	d := p.describe()
	r := &resource{
		Billing: types.BillingModeProvisioned, Attributes: map[string]types.ScalarAttributeType{}, Class: types.TableClassStandard,
		Protected: aws.ToBool(d.DeletionProtectionEnabled), Tags: map[string]string{}, Insights: p.insights() == "ENABLED",
	}
	if d.BillingModeSummary != nil {
		r.Billing = d.BillingModeSummary.BillingMode
	}
	if d.ProvisionedThroughput != nil { // both are zero with PAY_PER_REQUEST
		r.Read, r.Write = *d.ProvisionedThroughput.ReadCapacityUnits, *d.ProvisionedThroughput.WriteCapacityUnits
	}
	if o := d.OnDemandThroughput; o != nil {
		r.MaxRead, r.MaxWrite = aws.ToInt64(o.MaxReadRequestUnits), aws.ToInt64(o.MaxWriteRequestUnits)
	}
	for _, a := range d.AttributeDefinitions {
		r.Attributes[*a.AttributeName] = a.AttributeType
	}
	r.Hash, r.Range = keys(d.KeySchema)
	for _, x := range d.GlobalSecondaryIndexes {
		one := index{Projection: x.Projection.ProjectionType, Include: first(x.Projection.NonKeyAttributes)}
		one.Hash, one.Range = keys(x.KeySchema)
		if x.ProvisionedThroughput != nil {
			one.Read, one.Write = *x.ProvisionedThroughput.ReadCapacityUnits, *x.ProvisionedThroughput.WriteCapacityUnits
		}
		put(&r.Global, *x.IndexName, one)
	}
	for _, x := range d.LocalSecondaryIndexes {
		one := index{Projection: x.Projection.ProjectionType, Include: first(x.Projection.NonKeyAttributes)}
		_, one.Range = keys(x.KeySchema)
		put(&r.Local, *x.IndexName, one)
	}
	if s := d.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		r.StreamView = s.StreamViewType
	}
	r.Encrypted = d.SSEDescription != nil && d.SSEDescription.Status == types.SSEStatusEnabled
	if d.TableClassSummary != nil {
		r.Class = d.TableClassSummary.TableClass
	}
	if w := d.WarmThroughput; want.WarmRead != 0 && w != nil { // otherwise the value is computed
		r.WarmRead, r.WarmWrite = *w.ReadUnitsPerSecond, *w.WriteUnitsPerSecond
	}
	p.readSeparateProperties(r)
	return r
}

func (p provider) readSeparateProperties(r *resource) {
	p.t.Helper()
	ctx := p.t.Context()
	pitr := p.backups()
	r.PITR, r.PITRDays = pitr.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled, aws.ToInt32(pitr.RecoveryPeriodInDays)
	ttl, err := p.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(name)})
	p.must(err)
	r.TTL = aws.ToString(ttl.TimeToLiveDescription.AttributeName)
	tagged, err := p.client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(arn)})
	p.must(err)
	for _, tag := range tagged.Tags {
		r.Tags[*tag.Key] = *tag.Value
	}
	policy, err := p.client.GetResourcePolicy(ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: aws.String(arn)})
	if _, none := errors.AsType[*types.PolicyNotFoundException](err); !none {
		p.must(err)
		r.Policy = aws.ToString(policy.Policy)
	}
}

func policy(action string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:root"},"Action":"` + action + `","Resource":"` + arn + `"}]}`
}

func put(m *map[string]index, name string, x index) {
	if *m == nil {
		*m = map[string]index{}
	}
	(*m)[name] = x
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func keys(schema []types.KeySchemaElement) (hash, sort string) {
	for _, k := range schema {
		if k.KeyType == types.KeyTypeHash {
			hash = *k.AttributeName
		} else {
			sort = *k.AttributeName
		}
	}
	return hash, sort
}

func schema(hash, sort string) []types.KeySchemaElement {
	out := []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}}
	if sort != "" {
		out = append(out, types.KeySchemaElement{AttributeName: &sort, KeyType: types.KeyTypeRange})
	}
	return out
}

func definitions(r *resource) []types.AttributeDefinition {
	var out []types.AttributeDefinition
	for _, n := range slices.Sorted(maps.Keys(r.Attributes)) {
		out = append(out, types.AttributeDefinition{AttributeName: aws.String(n), AttributeType: r.Attributes[n]})
	}
	return out
}

func projection(x index) *types.Projection {
	out := &types.Projection{ProjectionType: x.Projection}
	if x.Include != "" {
		out.NonKeyAttributes = []string{x.Include}
	}
	return out
}

func throughput(mode types.BillingMode, read, write int64) *types.ProvisionedThroughput {
	if mode != types.BillingModeProvisioned {
		return nil
	}
	return &types.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write}
}

func tags(m map[string]string) []types.Tag {
	var out []types.Tag
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(m[k])})
	}
	return out
}
