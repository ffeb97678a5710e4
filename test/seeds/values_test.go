package seeds

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// values builds an item, a key or expression values from alternating names and plain Go values.
func values(namesAndValues ...any) item {
	if len(namesAndValues)%2 != 0 {
		panic("values: a name without a value")
	}
	built := item{}
	for n := 0; n < len(namesAndValues); n += 2 {
		built[namesAndValues[n].(string)] = toValue(namesAndValues[n+1])
	}
	return built
}

// with returns a copy of an item with some attributes set.
func with(original item, namesAndValues ...any) item {
	changed := values(namesAndValues...)
	for name, value := range original {
		if _, ok := changed[name]; !ok {
			changed[name] = value
		}
	}
	return changed
}

func toItem(t *testing.T, plain map[string]any) item {
	t.Helper()
	return toValue(plain).(*types.AttributeValueMemberM).Value
}

// toValue converts the types of encoding/json, and a few other Go types, to an attribute value.
func toValue(plain any) types.AttributeValue {
	switch v := plain.(type) {
	case types.AttributeValue:
		return v
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case int:
		return &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
	case json.Number:
		return &types.AttributeValueMemberN{Value: v.String()}
	case []string:
		list := make([]types.AttributeValue, len(v))
		for n, member := range v {
			list[n] = toValue(member)
		}
		return &types.AttributeValueMemberL{Value: list}
	case []any:
		list := make([]types.AttributeValue, len(v))
		for n, member := range v {
			list[n] = toValue(member)
		}
		return &types.AttributeValueMemberL{Value: list}
	case map[string]any:
		members := make(item, len(v))
		for name, member := range v {
			members[name] = toValue(member)
		}
		return &types.AttributeValueMemberM{Value: members}
	default:
		panic(fmt.Sprintf("toValue: %T", plain))
	}
}

// fromValue is the inverse of toValue: a form that go-cmp compares and prints well.
func fromValue(value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for n, member := range v.Value {
			list[n] = fromValue(member)
		}
		return list
	case *types.AttributeValueMemberM:
		return fromItem(v.Value)
	default:
		panic(fmt.Sprintf("fromValue: %T", value))
	}
}

func fromItem(i item) map[string]any {
	plain := make(map[string]any, len(i))
	for name, value := range i {
		plain[name] = fromValue(value)
	}
	return plain
}

// equalNumbers compares by value: the documents write 3500.0, and DynamoDB returns 3500.
var equalNumbers = cmp.Comparer(func(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
})

func wantItem(t *testing.T, got, want item) {
	t.Helper()
	if diff := cmp.Diff(fromItem(want), fromItem(got), equalNumbers); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}

// wantStrings compares one attribute of the items, in order.
func wantStrings(t *testing.T, items []item, attribute string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, column(items, attribute)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", attribute, diff)
	}
}

// column returns one attribute of the items as text; "-" if an item does not have it.
func column(items []item, attribute string) []string {
	var texts []string
	for _, i := range items {
		if value, ok := i[attribute]; ok {
			texts = append(texts, fmt.Sprint(fromValue(value)))
		} else {
			texts = append(texts, "-")
		}
	}
	return texts
}

// wantEqual compares plain values.
func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantError checks the error's code and a part of its message that AWS has not changed in years; the rest of the message differs
// by Region and operation.
func wantError(t *testing.T, err error, code, message string) {
	t.Helper()
	var answered smithy.APIError
	if !errors.As(err, &answered) {
		t.Fatalf("got %v, want %s: %s", err, code, message)
	}
	if answered.ErrorCode() != code || !strings.Contains(answered.ErrorMessage(), message) {
		t.Errorf("got %s: %s\nwant %s: …%s…", answered.ErrorCode(), answered.ErrorMessage(), code, message)
	}
}

// wantCanceled expects a canceled transaction with these reasons, one per action.
func wantCanceled(t *testing.T, err error, codes ...string) []types.CancellationReason {
	t.Helper()
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatalf("got %v, want a cancelled transaction", err)
	}
	var got []string
	for _, reason := range canceled.CancellationReasons {
		got = append(got, *reason.Code)
	}
	wantEqual(t, "cancellation reasons", got, codes)
	return canceled.CancellationReasons
}

// conflictingItem returns the item returned by a failed condition.
func conflictingItem(t *testing.T, err error) item {
	t.Helper()
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a failed condition", err)
	}
	return failed.Item
}
