package infrastructure

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

// detectDrift runs the read handler twice and compares every property that the template sets, like CloudFormation's drift
// detection. A property removed by an update must be gone.
func (c *cloudFormation) detectDrift(old, p object) {
	c.t.Helper()
	for _, region := range append(c.others(p), home) {
		was, want := c.regional(old, region), c.regional(p, region)
		for range 2 {
			got := c.handler("read", region, p).read()
			for property, value := range want {
				if property == "ImportSourceSpecification" { // not readable
					continue
				}
				if diff := cmp.Diff(value, like(value, got[property])); diff != "" {
					c.t.Errorf("%s of %s in %s drifts:\n%s", property, *c.handler("read", region, p).table, region, diff)
				}
			}
			for property := range was {
				if _, stays := want[property]; !stays && got[property] != nil {
					c.t.Errorf("%s is still %v", property, got[property])
				}
			}
		}
	}
	c.readScaling(p)
}

// like reduces a value to the members of another one, and sorts unordered lists in the order of the other one.
func like(want, got any) any {
	switch want := want.(type) {
	case object:
		got, ok := got.(object)
		if !ok {
			return nil
		}
		reduced := object{}
		for name, value := range want {
			if member, ok := got[name]; ok {
				reduced[name] = like(value, member)
			}
		}
		return reduced
	case []any:
		got, _ := got.([]any)
		var sorted []any
		rest := slices.Clone(got)
		for _, value := range want {
			at := slices.IndexFunc(rest, func(one any) bool { return cmp.Equal(value, like(value, one)) })
			if at < 0 {
				return got
			}
			sorted, rest = append(sorted, value), slices.Delete(rest, at, at+1)
		}
		return append(sorted, rest...)
	default:
		return got
	}
}

// read runs the read handler in a Region and returns the properties.
func (h handler) read() object {
	h.t.Helper()
	ctx, d := h.t.Context(), h.describe()
	p := object{"BillingMode": "PROVISIONED", "TableClass": "STANDARD", "DeletionProtectionEnabled": false}
	described := asObject(h, d)
	for _, name := range []string{"TableName", "AttributeDefinitions", "KeySchema", "OnDemandThroughput", "WarmThroughput", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "DeletionProtectionEnabled"} {
		if described[name] != nil {
			p[name] = described[name]
		}
	}
	if d.BillingModeSummary != nil {
		p["BillingMode"] = string(d.BillingModeSummary.BillingMode)
	}
	if p["BillingMode"] == "PROVISIONED" {
		p["ProvisionedThroughput"] = described["ProvisionedThroughput"]
	}
	if d.TableClassSummary != nil {
		p["TableClass"] = string(d.TableClassSummary.TableClass)
	}
	if s := d.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		p["StreamSpecification"] = object{"StreamViewType": string(s.StreamViewType)}
	}
	p["SSESpecification"] = object{"SSEEnabled": d.SSEDescription != nil && d.SSEDescription.Status == types.SSEStatusEnabled, "SSEType": "KMS"}
	for _, x := range list(p["GlobalSecondaryIndexes"]) {
		x["ContributorInsightsSpecification"] = object{"Enabled": h.insightsStatus(aws.String(x["IndexName"].(string))) == "ENABLED"}
	}
	p["ContributorInsightsSpecification"] = object{"Enabled": h.insightsStatus(nil) == "ENABLED"}
	backups, err := h.client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: h.table})
	h.must(err)
	recovery := backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription
	p["PointInTimeRecoverySpecification"] = object{
		"PointInTimeRecoveryEnabled": recovery.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled,
		"RecoveryPeriodInDays":       float64(aws.ToInt32(recovery.RecoveryPeriodInDays)),
	}
	h.readSeparateProperties(p)
	return p
}

// readSeparateProperties reads the properties that DescribeTable does not return. The read handler of a table has no permission for
// DescribeTimeToLive; create and update do.
func (h handler) readSeparateProperties(p object) {
	h.t.Helper()
	ctx := h.t.Context()
	ttl, err := h.cloudFormation.client("update", h.client.Options().Region).DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: h.table})
	h.must(err)
	if name := ttl.TimeToLiveDescription.AttributeName; name != nil {
		p["TimeToLiveSpecification"] = object{"AttributeName": *name, "Enabled": ttl.TimeToLiveDescription.TimeToLiveStatus == types.TimeToLiveStatusEnabled}
	}
	tags, err := h.client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: h.arn})
	h.must(err)
	if len(tags.Tags) > 0 {
		p["Tags"] = asObject(h, tags)["Tags"]
	}
	kinesis, err := h.client.DescribeKinesisStreamingDestination(ctx, &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: h.table})
	h.must(err)
	for _, d := range kinesis.KinesisDataStreamDestinations {
		if d.DestinationStatus == types.DestinationStatusActive {
			p["KinesisStreamSpecification"] = asObject(h, d)
		}
	}
	policy, err := h.client.GetResourcePolicy(ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: h.arn})
	if _, none := errors.AsType[*types.PolicyNotFoundException](err); none {
		return
	}
	h.must(err)
	var document any
	h.must(json.Unmarshal([]byte(*policy.Policy), &document))
	p["ResourcePolicy"] = object{"PolicyDocument": document}
}

// asObject returns a response as JSON.
func asObject(h handler, response any) (properties object) {
	h.t.Helper()
	h.into(response, &properties)
	return properties
}

// changed reports whether a property differs.
func changed(old, p object, property string) bool { return !cmp.Equal(old[property], p[property]) }

func only(p object, names []string) object {
	some := object{}
	for _, name := range names {
		if value, ok := p[name]; ok {
			some[name] = value
		}
	}
	return some
}

func without(p object, names ...string) object {
	rest := maps.Clone(p)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

// list converts a value to a list of objects.
func list(value any) (objects []object) {
	elements, _ := value.([]any)
	for _, element := range elements {
		objects = append(objects, element.(object))
	}
	return objects
}

// find returns the object in a list whose member has a value, or nil.
func find(value any, member string, with any) object {
	objects := list(value)
	if i := slices.IndexFunc(objects, func(o object) bool { return o[member] == with }); i >= 0 {
		return objects[i]
	}
	return nil
}

func streamOf(p object) *types.StreamSpecification {
	s, ok := p["StreamSpecification"].(object)
	if !ok {
		return nil
	}
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(s["StreamViewType"].(string))}
}

func encryptionOf(p object) *types.SSESpecification {
	s, ok := p["SSESpecification"].(object)
	if !ok {
		return nil
	}
	kind, _ := s["SSEType"].(string)
	return &types.SSESpecification{Enabled: aws.Bool(s["SSEEnabled"] == true), SSEType: types.SSEType(kind)}
}

func policyOf(p object) *string {
	data, err := json.Marshal(p["ResourcePolicy"].(object)["PolicyDocument"])
	if err != nil {
		panic(err)
	}
	return aws.String(string(data))
}
