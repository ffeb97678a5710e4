// Package infrastructure replays the requests that infrastructure tools make for tables: create, read, change, destroy. A
// resource must read back as it was written, otherwise the tool plans the same change forever. A state that its waiter does
// not know, or that is never reached, is an error.
//
// Two sets of requests are replayed: those of the Terraform AWS provider's aws_dynamodb_* resources, which OpenTofu and
// Pulumi's aws package share (TestTerraform), and those of CloudFormation's resource handlers, which CDK, SAM, Serverless
// and Pulumi's aws-native package use (TestCloudFormation). docs/infrastructure.md lists the operations and their sources.
package infrastructure

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// resource is the configuration of an aws_dynamodb_table, without computed values.
type resource struct {
	Billing             types.BillingMode
	Read, Write         int64
	MaxRead, MaxWrite   int64 // on_demand_throughput; 0 if not set
	Attributes          map[string]types.ScalarAttributeType
	Hash, Range         string
	Global              map[string]index
	Local               map[string]index
	StreamView          types.StreamViewType
	TTL                 string
	PITR                bool
	PITRDays            int32
	Encrypted           bool
	Class               types.TableClass
	Protected           bool
	WarmRead, WarmWrite int64 // 0 accepts the value computed by the server
	Tags                map[string]string
	Insights            bool
	Policy              string
}

type index struct {
	Hash, Range string
	Projection  types.ProjectionType
	Include     string
	Read, Write int64
}

const (
	name = "Terraform_table"
	arn  = "arn:aws:dynamodb:us-east-1:000000000000:table/" + name
	// waitMax bounds a waiter; the provider's own waiters take minutes.
	waitMax = 30 * time.Second
)

type provider struct {
	t      *testing.T
	client *dynamodb.Client
}

func (p provider) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// wait polls a state like the provider's waiters: a state that is neither pending nor the target is an error.
func (p provider) wait(what string, target string, pending []string, state func() string) {
	p.t.Helper()
	deadline, tick := time.NewTimer(waitMax), time.NewTicker(5*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for {
		switch s := state(); {
		case s == target:
			return
		case !slices.Contains(pending, s):
			p.t.Fatalf("%s: unexpected state %q, wanted target %q", what, s, target)
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			p.t.Fatalf("%s is not %q after %v", what, target, waitMax)
		}
	}
}

// describe returns nil if the table does not exist.
func (p provider) describe() *types.TableDescription {
	p.t.Helper()
	out, err := p.client.DescribeTable(p.t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	if _, gone := errors.AsType[*types.ResourceNotFoundException](err); gone {
		return nil
	}
	p.must(err)
	return out.Table
}

// waitTable waits until the table and everything in it is active. Parts that an update removes are DELETING for a while.
func (p provider) waitTable() {
	p.t.Helper()
	p.wait("the table", "ACTIVE", []string{"CREATING", "UPDATING", "DELETING"}, func() string { return state(p.describe()) })
}

// state returns ACTIVE if the table, its indexes, its replicas and its warm throughput are active, otherwise the state of the
// first that is not.
func state(d *types.TableDescription) string {
	states := []string{string(d.TableStatus)}
	for _, x := range d.GlobalSecondaryIndexes {
		states = append(states, string(x.IndexStatus))
	}
	for _, r := range d.Replicas {
		states = append(states, string(r.ReplicaStatus))
	}
	if w := d.WarmThroughput; w != nil {
		states = append(states, string(w.Status))
	}
	if i := slices.IndexFunc(states, func(s string) bool { return s != "ACTIVE" }); i >= 0 {
		return states[i]
	}
	return "ACTIVE"
}

func (p provider) update(in *dynamodb.UpdateTableInput) {
	p.t.Helper()
	in.TableName = aws.String(name)
	_, err := p.client.UpdateTable(p.t.Context(), in)
	p.must(err)
	p.waitTable()
}

// create creates a resource: CreateTable with everything it accepts, then the settings with separate operations.
func (p provider) create(r *resource) {
	p.t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: r.Billing, AttributeDefinitions: definitions(r), KeySchema: schema(r.Hash, r.Range), TableClass: r.Class,
		DeletionProtectionEnabled: &r.Protected, Tags: tags(r.Tags), ProvisionedThroughput: throughput(r.Billing, r.Read, r.Write),
	}
	for _, n := range slices.Sorted(maps.Keys(r.Global)) {
		x := r.Global[n]
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &n, KeySchema: schema(x.Hash, x.Range), Projection: projection(x), ProvisionedThroughput: throughput(r.Billing, x.Read, x.Write),
		})
	}
	for _, n := range slices.Sorted(maps.Keys(r.Local)) {
		x := r.Local[n]
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{IndexName: &n, KeySchema: schema(r.Hash, x.Range), Projection: projection(x)})
	}
	if r.StreamView != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: r.StreamView}
	}
	if r.Encrypted {
		in.SSESpecification = &types.SSESpecification{Enabled: aws.Bool(true)}
	}
	if r.MaxRead != 0 {
		in.OnDemandThroughput = &types.OnDemandThroughput{MaxReadRequestUnits: &r.MaxRead, MaxWriteRequestUnits: &r.MaxWrite}
	}
	if r.WarmRead != 0 {
		in.WarmThroughput = &types.WarmThroughput{ReadUnitsPerSecond: &r.WarmRead, WriteUnitsPerSecond: &r.WarmWrite}
	}
	_, err := p.client.CreateTable(p.t.Context(), in)
	p.must(err)
	p.waitTable()
	p.changeSeparateSettings(&resource{}, r)
}

// changeSeparateSettings changes the settings with separate operations.
func (p provider) changeSeparateSettings(old, r *resource) {
	p.t.Helper()
	ctx := p.t.Context()
	if old.TTL != r.TTL {
		_, err := p.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: aws.String(name), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &r.TTL, Enabled: aws.Bool(true)},
		})
		p.must(err)
		p.wait("time to live", "ENABLED", []string{"DISABLED", "ENABLING"}, func() string {
			out, err := p.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(name)})
			p.must(err)
			return string(out.TimeToLiveDescription.TimeToLiveStatus)
		})
	}
	if old.PITR != r.PITR || old.PITRDays != r.PITRDays {
		in := &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: &r.PITR}
		if r.PITRDays != 0 {
			in.RecoveryPeriodInDays = &r.PITRDays
		}
		_, err := p.client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: aws.String(name), PointInTimeRecoverySpecification: in})
		p.must(err)
		target := map[bool]string{true: "ENABLED", false: "DISABLED"}
		p.wait("point-in-time recovery", target[r.PITR], []string{target[!r.PITR], "ENABLING"}, func() string {
			return string(p.backups().PointInTimeRecoveryStatus)
		})
	}
	if old.Insights != r.Insights {
		action, pending, target := types.ContributorInsightsActionEnable, "ENABLING", "ENABLED"
		if !r.Insights {
			action, pending, target = types.ContributorInsightsActionDisable, "DISABLING", "DISABLED"
		}
		_, err := p.client.UpdateContributorInsights(ctx, &dynamodb.UpdateContributorInsightsInput{TableName: aws.String(name), ContributorInsightsAction: action})
		p.must(err)
		p.wait("contributor insights", target, []string{pending}, p.insights)
	}
	switch {
	case r.Policy != "" && old.Policy != r.Policy:
		_, err := p.client.PutResourcePolicy(ctx, &dynamodb.PutResourcePolicyInput{ResourceArn: aws.String(arn), Policy: &r.Policy})
		p.must(err)
	case r.Policy == "" && old.Policy != "":
		_, err := p.client.DeleteResourcePolicy(ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: aws.String(arn)})
		p.must(err)
	}
}

func (p provider) backups() *types.PointInTimeRecoveryDescription {
	p.t.Helper()
	out, err := p.client.DescribeContinuousBackups(p.t.Context(), &dynamodb.DescribeContinuousBackupsInput{TableName: aws.String(name)})
	p.must(err)
	return out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
}

func (p provider) insights() string {
	p.t.Helper()
	out, err := p.client.DescribeContributorInsights(p.t.Context(), &dynamodb.DescribeContributorInsightsInput{TableName: aws.String(name)})
	p.must(err)
	return string(out.ContributorInsightsStatus)
}

// change changes a resource from old to r, in the provider's order: billing mode and stream, indexes one by one, the rest.
func (p provider) change(old, r *resource) {
	p.t.Helper()
	if old.Billing != r.Billing || old.Read != r.Read || old.Write != r.Write {
		in := &dynamodb.UpdateTableInput{BillingMode: r.Billing, ProvisionedThroughput: throughput(r.Billing, r.Read, r.Write)}
		for n, x := range r.Global {
			if before, is := old.Global[n]; is && before != x && r.Billing == types.BillingModeProvisioned {
				in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
					Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: &n, ProvisionedThroughput: throughput(r.Billing, x.Read, x.Write)},
				})
			}
		}
		p.update(in)
	}
	if old.MaxRead != r.MaxRead || old.MaxWrite != r.MaxWrite {
		p.update(&dynamodb.UpdateTableInput{OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: &r.MaxRead, MaxWriteRequestUnits: &r.MaxWrite}})
	}
	if old.StreamView != r.StreamView {
		if old.StreamView != "" { // another view type requires a new stream
			p.update(&dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)}})
		}
		if r.StreamView != "" {
			p.update(&dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: r.StreamView}})
		}
	}
	for n := range old.Global {
		if _, stays := r.Global[n]; !stays {
			p.update(&dynamodb.UpdateTableInput{AttributeDefinitions: definitions(r), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
				Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &n},
			}}})
		}
	}
	for n, x := range r.Global {
		if _, was := old.Global[n]; !was {
			p.update(&dynamodb.UpdateTableInput{AttributeDefinitions: definitions(r), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
				Create: &types.CreateGlobalSecondaryIndexAction{IndexName: &n, KeySchema: schema(x.Hash, x.Range), Projection: projection(x), ProvisionedThroughput: throughput(r.Billing, x.Read, x.Write)},
			}}})
		}
	}
	if old.Encrypted != r.Encrypted {
		p.update(&dynamodb.UpdateTableInput{SSESpecification: &types.SSESpecification{Enabled: &r.Encrypted}})
		p.wait("encryption", map[bool]string{true: "ENABLED", false: "DISABLED"}[r.Encrypted], []string{"DISABLED", "ENABLING", "DISABLING", "UPDATING"}, func() string {
			if sse := p.describe().SSEDescription; sse != nil {
				return string(sse.Status)
			}
			return "DISABLED"
		})
	}
	if old.Class != r.Class {
		p.update(&dynamodb.UpdateTableInput{TableClass: r.Class})
	}
	if old.Protected != r.Protected {
		p.update(&dynamodb.UpdateTableInput{DeletionProtectionEnabled: &r.Protected})
	}
	if old.WarmRead != r.WarmRead || old.WarmWrite != r.WarmWrite {
		p.update(&dynamodb.UpdateTableInput{WarmThroughput: &types.WarmThroughput{ReadUnitsPerSecond: &r.WarmRead, WriteUnitsPerSecond: &r.WarmWrite}})
	}
	p.retag(old, r)
	p.changeSeparateSettings(old, r)
}

func (p provider) retag(old, r *resource) {
	p.t.Helper()
	var gone []string
	for k := range old.Tags {
		if _, stays := r.Tags[k]; !stays {
			gone = append(gone, k)
		}
	}
	if len(gone) > 0 {
		_, err := p.client.UntagResource(p.t.Context(), &dynamodb.UntagResourceInput{ResourceArn: aws.String(arn), TagKeys: gone})
		p.must(err)
	}
	if len(r.Tags) > 0 && !maps.Equal(old.Tags, r.Tags) {
		_, err := p.client.TagResource(p.t.Context(), &dynamodb.TagResourceInput{ResourceArn: aws.String(arn), Tags: tags(r.Tags)})
		p.must(err)
	}
}

// destroy deletes the table and waits until it is gone.
func (p provider) destroy() {
	p.t.Helper()
	_, err := p.client.DeleteTable(p.t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(name)})
	p.must(err)
	p.wait("the table that is deleted", "", []string{"ACTIVE", "DELETING"}, func() string {
		if d := p.describe(); d != nil {
			return string(d.TableStatus)
		}
		return ""
	})
}
