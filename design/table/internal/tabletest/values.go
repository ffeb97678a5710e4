package tabletest

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

// AText is a value of type S.
func AText(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

// ANumber is one of type N.
func ANumber(number string) types.AttributeValue { return &types.AttributeValueMemberN{Value: number} }

// ABinary is one of type B.
func ABinary(bytes string) types.AttributeValue {
	return &types.AttributeValueMemberB{Value: []byte(bytes)}
}

// ABool is one of type BOOL.
func ABool(is bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: is} }

// ANull is one of type NULL.
func ANull() types.AttributeValue { return &types.AttributeValueMemberNULL{Value: true} }

// AList is one of type L.
func AList(elems ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: elems}
}

// AMap is one of type M.
func AMap(members schema.Item) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: members}
}

// ATextSet is one of type SS.
func ATextSet(texts ...string) types.AttributeValue {
	return &types.AttributeValueMemberSS{Value: texts}
}

// ANumberSet is one of type NS.
func ANumberSet(numbers ...string) types.AttributeValue {
	return &types.AttributeValueMemberNS{Value: numbers}
}

// ABinarySet is one of type BS.
func ABinarySet(members ...[]byte) types.AttributeValue {
	return &types.AttributeValueMemberBS{Value: members}
}

// Printed is a value for messages.
func Printed(v types.AttributeValue) string {
	if v == nil {
		return "nothing"
	}
	return sdk.Value(v).String()
}

// SameItem compares items as DynamoDB does: numbers by value, sets without order.
func SameItem(a, b schema.Item) bool { return schema.Attributes(a).Equal(schema.Attributes(b)) }

// WantValueError wants a *ValueError of a field that says so; without a field, none.
func WantValueError(t *testing.T, err error, field, reason, of string) {
	t.Helper()
	fault, is := errors.AsType[*schema.ValueError](err)
	switch {
	case field == "" && err != nil:
		t.Errorf("%s: %v; want no error", of, err)
	case field != "" && (!is || fault.Field != field || !strings.Contains(fault.Reason, reason)):
		t.Errorf("%s: %v; want an error of %s with %q", of, err, field, reason)
	}
}

// Omit are values without some.
func Omit(v schema.Values, names ...string) schema.Values {
	out := maps.Clone(v)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// Extend are values with one of them changed.
func Extend(v schema.Values, name, text string) schema.Values {
	out := maps.Clone(v)
	out[name] = AText(text)
	return out
}

// Seeded is a source of random values, with its seed for messages.
func Seeded() (r *rand.Rand, seed uint64) {
	seed = uint64(time.Now().UnixNano())        //nolint:gosec // any number is a seed
	return rand.New(rand.NewPCG(seed, 0)), seed //nolint:gosec // a test's values
}
