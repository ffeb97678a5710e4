package apitest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// What a test itself reads from the tables, as their owner, and what functions have requested.

// Asked lists what an operation's function has done to a partition of a table or index: "GetItem", "Query GSI1".
func (v *Server) Asked(operation, partition string) []string {
	var actions []string
	for _, a := range v.Accesses()[operation] {
		if a.Leading == partition {
			actions = append(actions, strings.TrimSpace(strings.TrimPrefix(a.Action, "dynamodb:")+" "+a.Index))
		}
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

// ExpectAsked fails the test unless all of an operation's requests to a partition are of one kind.
func (v *Server) ExpectAsked(tb testing.TB, operation, partition, want string) {
	tb.Helper()
	if got := v.Asked(operation, partition); !slices.Equal(got, []string{want}) {
		tb.Errorf("%s does %v to %s, want %s", operation, got, partition, want)
	}
}

// Never fails the test if any function has sent a kind of request, such as "Scan".
func (v *Server) Never(tb testing.TB, action string) {
	tb.Helper()
	for operation, accesses := range v.Accesses() {
		for _, a := range accesses {
			if a.Action == "dynamodb:"+action {
				tb.Errorf("%s does %+v", operation, a)
			}
		}
	}
}

// Described describes a table.
func (v *Server) Described(tb testing.TB, table string) *types.TableDescription {
	tb.Helper()
	out, err := v.Database.DynamoDB.DescribeTable(tb.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		tb.Fatal(err)
	}
	return out.Table
}

// Item returns an item by its key (alternating names and values), or an empty map if there is none.
func (v *Server) Item(tb testing.TB, table string, key ...string) map[string]string {
	tb.Helper()
	in := &dynamodb.GetItemInput{TableName: &table, Key: item{}, ConsistentRead: aws.Bool(true)}
	for _, a := range v.Described(tb, table).AttributeDefinitions {
		if i := slices.Index(key, *a.AttributeName); i < 0 {
			continue // part of an index key
		} else if a.AttributeType == types.ScalarAttributeTypeN {
			in.Key[key[i]] = &types.AttributeValueMemberN{Value: key[i+1]}
		} else {
			in.Key[key[i]] = &types.AttributeValueMemberS{Value: key[i+1]}
		}
	}
	out, err := v.Database.DynamoDB.GetItem(tb.Context(), in)
	if err != nil {
		tb.Fatal(err)
	}
	return Plain(out.Item)
}

// Query returns a page of a Query with string values on a table or index.
func (v *Server) Query(tb testing.TB, table, index, condition string, values map[string]string) []map[string]string {
	tb.Helper()
	in := &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &condition, ExpressionAttributeValues: item{}}
	if index != "" {
		in.IndexName = &index
	}
	for name, value := range values {
		in.ExpressionAttributeValues[name] = &types.AttributeValueMemberS{Value: value}
	}
	out, err := v.Database.DynamoDB.Query(tb.Context(), in)
	if err != nil {
		tb.Fatal(err)
	}
	var found []map[string]string
	for _, it := range out.Items {
		found = append(found, Plain(it))
	}
	return found
}

// Plain converts an item's strings, numbers and booleans to strings; other values to their type.
func Plain(it map[string]types.AttributeValue) map[string]string {
	out := map[string]string{}
	for name, value := range it {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			out[name] = value.Value
		case *types.AttributeValueMemberN:
			out[name] = value.Value
		case *types.AttributeValueMemberBOOL:
			out[name] = strconv.FormatBool(value.Value)
		default:
			out[name] = fmt.Sprintf("%T", value)
		}
	}
	return out
}

// TemplateText returns the content of the system's deployment template.
func TemplateText(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("lambda/template.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
