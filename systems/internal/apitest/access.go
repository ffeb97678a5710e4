package apitest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/monotable/monotable/systems/internal/sam"
)

type item = map[string]types.AttributeValue

// watched returns the database clients for a system's functions. Each request is signed by the function that sends it, and its
// effect on partitions is recorded.
func (v *Server) watched() (*dynamodb.Client, *dynamodbstreams.Client) {
	tables, streams := v.Database.Signed(v)
	return dynamodb.New(tables.Options(), func(o *dynamodb.Options) {
			o.APIOptions = append(slices.Clone(o.APIOptions), v.watch(true))
		}), dynamodbstreams.New(streams.Options(), func(o *dynamodbstreams.Options) {
			o.APIOptions = append(slices.Clone(o.APIOptions), v.watch(false))
		})
}

// watch observes a client's requests to tables.
func (v *Server) watch(tables bool) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("accesses",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				if tables {
					v.note(ctx, middleware.GetOperationName(ctx), v.accesses(in.Parameters))
				}
				out, metadata, err := next.HandleInitialize(ctx, in)
				if _, result := errors.AsType[smithy.APIError](err); result {
					_ = v.refuse(err)
				}
				return out, metadata, err
			}), middleware.Before)
	}
}

// note records a request for the function that sends it.
func (v *Server) note(ctx context.Context, request string, list []sam.Access) {
	of := v.function(ctx)
	if of == "" {
		return // sent by the test itself
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests[of] = append(v.requests[of], request)
	for _, a := range list {
		if !slices.Contains(v.reached[of], a) {
			v.reached[of] = append(v.reached[of], a)
			deployed.note(of, a)
		}
	}
}

// Accesses returns what each function has done to the tables, as IAM sees it.
func (v *Server) Accesses() map[string][]sam.Access {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.reached)
}

// Requests returns the sorted names of the requests that a function has sent to the tables since the last call.
func (v *Server) Requests(function string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	sent := v.requests[function]
	delete(v.requests, function)
	slices.Sort(sent)
	return sent
}

// Stage is the stage whose tables the system uses.
func (v *Server) Stage() string { return stage }

// accesses returns what a request does, as IAM sees it.
func (v *Server) accesses(parameters any) []sam.Access {
	one := func(action string, table *string, at item) sam.Access {
		return sam.Access{Action: "dynamodb:" + action, Table: aws.ToString(table), Leading: text(at[v.hash(aws.ToString(table), "")])}
	}
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		return []sam.Access{one("GetItem", in.TableName, in.Key)}
	case *dynamodb.PutItemInput:
		return []sam.Access{one("PutItem", in.TableName, in.Item)}
	case *dynamodb.UpdateItemInput:
		return []sam.Access{one("UpdateItem", in.TableName, in.Key)}
	case *dynamodb.DeleteItemInput:
		return []sam.Access{one("DeleteItem", in.TableName, in.Key)}
	case *dynamodb.QueryInput:
		return []sam.Access{v.query(in)}
	case *dynamodb.BatchGetItemInput:
		var list []sam.Access
		for table, of := range in.RequestItems {
			for _, key := range of.Keys {
				list = append(list, one("BatchGetItem", &table, key))
			}
		}
		return list
	case *dynamodb.BatchWriteItemInput:
		var list []sam.Access
		for table, requests := range in.RequestItems {
			for _, r := range requests {
				if r.DeleteRequest != nil {
					list = append(list, one("BatchWriteItem", &table, r.DeleteRequest.Key))
				} else {
					list = append(list, one("BatchWriteItem", &table, r.PutRequest.Item))
				}
			}
		}
		return list
	case *dynamodb.TransactWriteItemsInput:
		var list []sam.Access
		for _, action := range in.TransactItems {
			switch {
			case action.Put != nil:
				list = append(list, one("PutItem", action.Put.TableName, action.Put.Item))
			case action.Update != nil:
				list = append(list, one("UpdateItem", action.Update.TableName, action.Update.Key))
			case action.Delete != nil:
				list = append(list, one("DeleteItem", action.Delete.TableName, action.Delete.Key))
			case action.ConditionCheck != nil:
				list = append(list, one("ConditionCheckItem", action.ConditionCheck.TableName, action.ConditionCheck.Key))
			}
		}
		return list
	default:
		return []sam.Access{{Action: fmt.Sprintf("dynamodb:%s", strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input"))}}
	}
}

var equality = regexp.MustCompile(`(#?\w+)\s*=\s*(:\w+)`)

// query returns the access of a Query, whose partition key is the one that a key condition compares for equality.
func (v *Server) query(in *dynamodb.QueryInput) sam.Access {
	a := sam.Access{Action: "dynamodb:Query", Table: aws.ToString(in.TableName), Index: aws.ToString(in.IndexName)}
	hash := v.hash(a.Table, a.Index)
	for _, found := range equality.FindAllStringSubmatch(aws.ToString(in.KeyConditionExpression), -1) {
		name := found[1]
		if alias, ok := in.ExpressionAttributeNames[name]; ok {
			name = alias
		}
		if name == hash {
			a.Leading = text(in.ExpressionAttributeValues[found[2]])
		}
	}
	return a
}

// hash returns the name of the partition key's first attribute.
func (v *Server) hash(table, index string) string {
	for _, t := range v.system.Tables(stage) {
		if *t.Create.TableName != table {
			continue
		}
		schema := t.Create.KeySchema
		for _, x := range t.Create.GlobalSecondaryIndexes {
			if *x.IndexName == index {
				schema = x.KeySchema
			}
		}
		return *schema[0].AttributeName
	}
	return ""
}

func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	default:
		return ""
	}
}
