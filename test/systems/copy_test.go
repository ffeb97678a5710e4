package systems_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// testCopy copies a table of DynamoDB Local, with indexes and values of all types, to a monotable server: once, and with changes
// that follow its items.
func testCopy(t *testing.T, local string) {
	t.Helper()
	binary := serverproc.Build(t)
	server := serverproc.Start(t, binary, "--memory")
	source, target := connect(local), connect(server.Endpoint)
	table := "copied"
	create(t, source, table)
	for i := range 40 {
		put(t, source, table, i)
	}
	state := filepath.Join(t.TempDir(), "copy.json")
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), binary, append([]string{"copy", "--from", local, "--to", server.Endpoint, "--state", state, "--table"}, args...)...).CombinedOutput() //nolint:gosec // our own binary
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := run(table); !strings.Contains(out, "compared 40 items, found no differences") {
		t.Errorf("the copy said:\n%s", out)
	}
	from, to := describe(t, source, table), describe(t, target, table)
	if !reflect.DeepEqual(from.KeySchema, to.KeySchema) || len(to.GlobalSecondaryIndexes) != 1 || len(to.LocalSecondaryIndexes) != 1 ||
		!reflect.DeepEqual(from.GlobalSecondaryIndexes[0].Projection, to.GlobalSecondaryIndexes[0].Projection) {
		t.Errorf("the table is %+v, not as at the source", to)
	}
	ttl, err := target.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "expires" {
		t.Errorf("items do not expire by expires: %v", err)
	}

	moved := table + "=moved"
	follow := exec.CommandContext(t.Context(), binary, "copy", "--from", local, "--to", server.Endpoint, "--state", state, "--table", moved, "--follow") //nolint:gosec // our own binary
	out, err := follow.StdoutPipe()
	if err == nil {
		err = follow.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "following its changes") {
			if err := follow.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := follow.Wait(); err != nil {
		t.Fatalf("the copy that was interrupted ended with %v", err)
	}
	for i := range 60 { // written after the command was interrupted
		put(t, source, table, i)
	}
	if _, err := source.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: keyOf(3)}); err != nil {
		t.Fatal(err)
	}
	if out := run(moved, "--finish"); !strings.Contains(out, "compared 59 items, found no differences") {
		t.Errorf("the end of the copy said:\n%s", out)
	}
}

func connect(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("monotable", "monotable", ""),
	})
}

func create(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	definition := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	key := func(names ...string) []types.KeySchemaElement {
		out := []types.KeySchemaElement{{AttributeName: &names[0], KeyType: types.KeyTypeHash}}
		for _, name := range names[1:] {
			out = append(out, types.KeySchemaElement{AttributeName: &name, KeyType: types.KeyTypeRange})
		}
		return out
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest, KeySchema: key("PK", "SK"),
		AttributeDefinitions: []types.AttributeDefinition{definition("PK", "S"), definition("SK", "N"), definition("b", "B")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byNumber"), KeySchema: key("SK"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"s"}},
		}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{IndexName: aws.String("byBinary"), KeySchema: key("PK", "b"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}},
		StreamSpecification:   &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &table, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func keyOf(i int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: fmt.Sprintf("P#%d", i%4)}, "SK": &types.AttributeValueMemberN{Value: fmt.Sprintf("%d.50", i)},
	}
}

// put writes an item with values of all types. DynamoDB Local's stream omits the empty map.
func put(t *testing.T, client *dynamodb.Client, table string, i int) {
	t.Helper()
	item := keyOf(i)
	item["s"] = &types.AttributeValueMemberS{Value: "ü 日本 😀"}
	item["n"] = &types.AttributeValueMemberN{Value: "-12345678901234567890123456789012345678"}
	item["b"] = &types.AttributeValueMemberB{Value: []byte{0, 255, byte(i)}}
	item["bool"] = &types.AttributeValueMemberBOOL{Value: true}
	item["null"] = &types.AttributeValueMemberNULL{Value: true}
	item["ss"] = &types.AttributeValueMemberSS{Value: []string{"b", "a"}}
	item["ns"] = &types.AttributeValueMemberNS{Value: []string{"2", "1E-130"}}
	item["bs"] = &types.AttributeValueMemberBS{Value: [][]byte{{1}, {0}}}
	item["l"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{
		&types.AttributeValueMemberL{Value: []types.AttributeValue{}}, &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
	}}
	item["m"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"S": &types.AttributeValueMemberS{}}}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

func describe(t *testing.T, client *dynamodb.Client, table string) *types.TableDescription {
	t.Helper()
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	return out.Table
}
