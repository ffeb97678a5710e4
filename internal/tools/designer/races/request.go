package races

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// request is one atomic request of a process.
type request struct {
	operation string
	pattern   string // the pattern that makes it
	// key identifies the request: equal requests have the same effect.
	key string
	// send makes the request.
	send func(context.Context, *dynamodb.Client) (any, error)
	// touched are the keys of the items that it may change, by table; nil for a read.
	touched map[string][]map[string]types.AttributeValue
	// eventual means that the response may show an earlier moment.
	eventual bool
	// repeatable means that the process retries its write if the response is lost.
	repeatable bool
}

// response is the response to a request, as a process sees it.
type response struct {
	output any
	err    error
	key    string // identifies the response
	words  string
}

// errLost is what a process gets instead of a lost response.
var errLost = errors.New("the response was lost")

func newResponse(output any, err error) *response {
	a := &response{output: output, err: err}
	if err != nil {
		a.key, a.words = "error "+faultKey(err), refusalWords(err)
		return a
	}
	var out strings.Builder
	encode(&out, reflect.ValueOf(output))
	a.key, a.words = out.String(), outputWords(output)
	return a
}

// serviceError is an error returned by DynamoDB.
type serviceError interface {
	error
	ErrorCode() string
	ErrorMessage() string
}

// faultKey is everything in an error that a process can see, without request IDs.
func faultKey(err error) string {
	if cancelled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		var out strings.Builder
		encode(&out, reflect.ValueOf(cancelled.CancellationReasons))
		return out.String()
	}
	if failed, is := errors.AsType[*types.ConditionalCheckFailedException](err); is {
		var out strings.Builder
		encode(&out, reflect.ValueOf(failed.Item))
		return "condition " + out.String()
	}
	if api, is := errors.AsType[serviceError](err); is {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	return err.Error()
}

// refusalWords says why a request was rejected.
func refusalWords(err error) string {
	if cancelled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		var codes []string
		for i, r := range cancelled.CancellationReasons {
			if code := aws.ToString(r.Code); code != "None" {
				codes = append(codes, fmt.Sprintf("%s of item %d", code, i+1))
			}
		}
		return "refused: " + strings.Join(codes, ", ")
	}
	if api, is := errors.AsType[serviceError](err); is {
		return "refused: " + strings.TrimSuffix(api.ErrorCode(), "Exception")
	}
	return "refused: " + err.Error()
}

// outputWords describes a response.
func outputWords(output any) string {
	count := func(n int) string {
		switch n {
		case 0:
			return "nothing"
		case 1:
			return "1 item"
		default:
			return fmt.Sprintf("%d items", n)
		}
	}
	switch o := output.(type) {
	case *dynamodb.GetItemOutput:
		return count(min(len(o.Item), 1))
	case *dynamodb.QueryOutput:
		return count(len(o.Items))
	case *dynamodb.BatchGetItemOutput:
		n := 0
		for _, items := range o.Responses {
			n += len(items)
		}
		return count(n)
	default:
		return "ok"
	}
}

// encode writes a request's input, or a response, so that different ones have different texts. Metadata is left out.
func encode(out *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			out.WriteString("~")
			return
		}
		encode(out, v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			out.WriteString("~")
			return
		}
		out.WriteString(strings.TrimPrefix(v.Elem().Type().String(), "*types.AttributeValueMember"))
		encode(out, v.Elem())
	case reflect.Struct:
		out.WriteByte('{')
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "ResultMetadata" || f.Name == "ClientRequestToken" || !f.IsExported() || v.Field(i).IsZero() {
				continue
			}
			out.WriteString(f.Name + ":")
			encode(out, v.Field(i))
			out.WriteByte(';')
		}
		out.WriteByte('}')
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(out, "%q", v.Bytes())
			return
		}
		out.WriteByte('[')
		for i := range v.Len() {
			encode(out, v.Index(i))
			out.WriteByte(',')
		}
		out.WriteByte(']')
	case reflect.Map:
		out.WriteByte('<')
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			fmt.Fprintf(out, "%q=", key.String())
			encode(out, v.MapIndex(key))
			out.WriteByte(',')
		}
		out.WriteByte('>')
	case reflect.String:
		fmt.Fprintf(out, "%q", v.String())
	default:
		fmt.Fprint(out, v.Interface())
	}
}

// copied is a response that the process may change: its attribute maps are copies.
func copied(output any) any {
	switch o := output.(type) {
	case *dynamodb.GetItemOutput:
		c := *o
		c.Item = maps.Clone(o.Item)
		return &c
	case *dynamodb.QueryOutput:
		c := *o
		c.Items, c.LastEvaluatedKey = clones(o.Items), maps.Clone(o.LastEvaluatedKey)
		return &c
	case *dynamodb.BatchGetItemOutput:
		c := *o
		c.Responses = map[string][]map[string]types.AttributeValue{}
		for name, items := range o.Responses {
			c.Responses[name] = clones(items)
		}
		return &c
	case *dynamodb.UpdateItemOutput:
		c := *o
		c.Attributes = maps.Clone(o.Attributes)
		return &c
	case *dynamodb.PutItemOutput:
		c := *o
		c.Attributes = maps.Clone(o.Attributes)
		return &c
	case *dynamodb.DeleteItemOutput:
		c := *o
		c.Attributes = maps.Clone(o.Attributes)
		return &c
	default:
		return output
	}
}

func clones(items []map[string]types.AttributeValue) []map[string]types.AttributeValue {
	out := make([]map[string]types.AttributeValue, len(items))
	for i, it := range items {
		out[i] = maps.Clone(it)
	}
	return out
}
