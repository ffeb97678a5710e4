package infrastructure

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
)

// home is the Region of the stack.
const home = "us-east-1"

// cloudFormation implements the handlers of AWS::DynamoDB::Table and AWS::DynamoDB::GlobalTable. Each handler signs its
// requests as a user that has only the DynamoDB permissions of that handler in CloudFormation's resource schema, which
// testdata/permissions.json lists.
type cloudFormation struct {
	t      *testing.T
	url    string
	kind   string
	users  map[string]aws.CredentialsProvider // by handler: create, read, update, list and delete
	called map[string]bool                    // operations called, in all stacks of the kind
}

// object is a JSON object: the properties of a resource, or some of them.
type object = map[string]any

// permissionOnly lists actions that AWS requires for adding or removing a replica. No handler calls the operations on items.
var permissionOnly = []string{
	"CreateTableReplica", "DeleteTableReplica", "Query", "Scan", "UpdateItem", "PutItem", "GetItem", "DeleteItem", "BatchWriteItem",
}

// permissions returns the actions of CloudFormation's handlers, by kind of resource and handler.
func permissions(t *testing.T) (found map[string]map[string][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "permissions.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// tables returns the tables of the template that CDK writes for cdk/app.mjs, by name.
func tables(t *testing.T, kind string) map[string]object {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "cdk.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties object
		}
	}
	if err := json.Unmarshal(data, &template); err != nil {
		t.Fatal(err)
	}
	found := map[string]object{}
	for _, r := range template.Resources {
		if r.Type == kind {
			found[r.Properties["TableName"].(string)] = r.Properties
		}
	}
	return found
}

// TestCloudFormation creates, reads, changes and deletes every table of CDK's template like CloudFormation. After each step,
// drift detection must find no difference. At the end, every operation that CloudFormation has permission for must have been
// called.
func TestCloudFormation(t *testing.T) {
	changes := map[string][]object{
		"full": {
			{
				"Tags":               []any{object{"Key": "team", "Value": "ops"}, object{"Key": "empty", "Value": ""}},
				"OnDemandThroughput": object{"MaxReadRequestUnits": 200.0, "MaxWriteRequestUnits": 60.0},
			},
			{
				"Tags": []any{object{"Key": "team", "Value": "dev"}}, "TableClass": "STANDARD", "ContributorInsightsSpecification": object{"Enabled": false},
				"KinesisStreamSpecification": object{"StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/changes", "ApproximateCreationDateTimePrecision": "MICROSECOND"},
			},
			{
				"ResourcePolicy":                   object{"PolicyDocument": document("dynamodb:Query", "full")},
				"PointInTimeRecoverySpecification": object{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 14.0},
				"WarmThroughput":                   object{"ReadUnitsPerSecond": 14000.0, "WriteUnitsPerSecond": 6000.0},
				"GlobalSecondaryIndexes":           []any{inverted("by_note", "note"), inverted("by_sk", "sk")},
				"AttributeDefinitions":             definitionsOf("pk", "S", "sk", "S", "digest", "B", "note", "S"),
			},
			{
				"ResourcePolicy": nil, "KinesisStreamSpecification": nil, "StreamSpecification": nil, "GlobalSecondaryIndexes": nil,
				"AttributeDefinitions": definitionsOf("pk", "S", "sk", "S", "digest", "B"), "SSESpecification": object{"SSEEnabled": false},
				"PointInTimeRecoverySpecification": object{"PointInTimeRecoveryEnabled": false}, "DeletionProtectionEnabled": false,
			},
		},
		"provisioned": {
			{"ProvisionedThroughput": object{"ReadCapacityUnits": 20.0, "WriteCapacityUnits": 6.0}},
			{"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": nil, "GlobalSecondaryIndexes": []any{inverted("by_kind", "kind")}},
		},
		"global": {
			{"Replicas": []any{
				object{
					"Region": home, "Tags": []any{object{"Key": "team", "Value": "dev"}}, "DeletionProtectionEnabled": false,
					"ContributorInsightsSpecification": object{"Enabled": false},
					"KinesisStreamSpecification": object{
						"StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/changes", "ApproximateCreationDateTimePrecision": "MICROSECOND",
					},
				},
				object{
					"Region": "eu-west-1", "Tags": []any{object{"Key": "new", "Value": "x"}}, "ResourcePolicy": nil,
					"PointInTimeRecoverySpecification": object{"PointInTimeRecoveryEnabled": false},
				},
			}},
			{"Replicas": []any{object{"Region": home, "KinesisStreamSpecification": nil}}},
		},
	}
	for kind, handlers := range permissions(t) {
		called := map[string]bool{}
		for name, properties := range tables(t, kind) {
			t.Run(name, func(t *testing.T) {
				c := newCloudFormation(t, kind, handlers, called)
				c.create(properties)
				c.detectDrift(object{}, properties)
				for _, change := range changes[name] {
					next := changedBy(properties, change)
					c.update(properties, next)
					c.detectDrift(properties, next)
					properties = next
				}
				c.delete(properties)
			})
		}
		for handler, actions := range handlers {
			for _, action := range actions {
				operation := strings.TrimPrefix(action, "dynamodb:")
				if !called[operation] && !strings.HasSuffix(operation, "*") && !slices.Contains(permissionOnly, operation) {
					t.Errorf("%s: the handler %s may call %s, but the test does not", kind, handler, operation)
				}
			}
		}
	}
}

// changedBy returns properties after a change; nil removes a property. Listed replicas are changed, the others removed.
func changedBy(properties, change object) object {
	next := maps.Clone(properties)
	for name, value := range change {
		switch {
		case value == nil:
			delete(next, name)
		case name == "Replicas":
			var replicas []any
			for _, replica := range list(value) {
				replicas = append(replicas, changedBy(find(properties[name], "Region", replica["Region"]), replica))
			}
			next[name] = replicas
		default:
			next[name] = value
		}
	}
	return next
}

// newCloudFormation opens a database with a user for each handler.
func newCloudFormation(t *testing.T, kind string, handlers map[string][]string, called map[string]bool) *cloudFormation {
	t.Helper()
	buckets := t.TempDir()
	write := filepath.Join(buckets, "uploads", "items", "data.csv")
	if err := os.MkdirAll(filepath.Dir(write), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(write, []byte("1,tea\n2,cake\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := monotabletest.NewWith(t, &monotable.Options{
		Regions: []string{"eu-west-1"}, Auth: &monotable.Auth{Required: true}, S3Dir: buckets, KinesisDir: t.TempDir(),
	})
	server := httptest.NewServer(db.Handler())
	t.Cleanup(server.Close)
	c := &cloudFormation{t, server.URL, kind, map[string]aws.CredentialsProvider{}, called}
	manage := func(r monotable.IAMRequest) monotable.IAMResult {
		result, err := db.IAM(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	for handler, actions := range handlers {
		statement, err := json.Marshal(object{"Version": "2012-10-17", "Statement": object{"Effect": "Allow", "Action": actions, "Resource": "*"}})
		if err != nil {
			t.Fatal(err)
		}
		manage(monotable.IAMRequest{Action: "policy create", Name: handler, Document: string(statement)})
		manage(monotable.IAMRequest{Action: "user create", Name: handler, Policies: []string{handler}})
		key := manage(monotable.IAMRequest{Action: "key create", User: handler}).Keys[0]
		c.users[handler] = credentials.NewStaticCredentialsProvider(key.ID, key.Secret, "")
	}
	return c
}

func (c *cloudFormation) client(handler, region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &c.url, Region: region, Credentials: c.users[handler], Retryer: aws.NopRetryer{},
		APIOptions: []func(*middleware.Stack) error{recordTo(c.called)},
	})
}

// document returns a resource policy for a table.
func document(action, table string) object {
	return object{"Version": "2012-10-17", "Statement": []any{object{
		"Effect": "Allow", "Principal": object{"AWS": "arn:aws:iam::000000000000:root"}, "Action": action,
		"Resource": "arn:aws:dynamodb:us-east-1:000000000000:table/" + table,
	}}}
}

// inverted returns an index with one key attribute.
func inverted(name, attribute string) object {
	return object{
		"IndexName": name, "KeySchema": []any{object{"AttributeName": attribute, "KeyType": "HASH"}}, "Projection": object{"ProjectionType": "ALL"},
	}
}

// definitionsOf returns attribute definitions from pairs of names and types.
func definitionsOf(pairs ...string) (list []any) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, object{"AttributeName": pair[0], "AttributeType": pair[1]})
	}
	return list
}
