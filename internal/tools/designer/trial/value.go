package trial

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// equal compares two values: numbers by value, sets without order. An empty value equals an absent one.
func equal(a, b types.AttributeValue) bool {
	if x, is := a.(*types.AttributeValueMemberS); is { // most are texts
		y, is := b.(*types.AttributeValueMemberS)
		return is && x.Value == y.Value
	}
	if empty(a) || empty(b) {
		return empty(a) && empty(b)
	}
	return sdk.Value(a).Equal(sdk.Value(b))
}

// empty reports whether a value is absent, or an empty list, set or map.
func empty(v types.AttributeValue) bool {
	switch v := v.(type) {
	case nil, *types.AttributeValueMemberNULL:
		return true
	case *types.AttributeValueMemberL:
		return len(v.Value) == 0
	case *types.AttributeValueMemberM:
		return len(v.Value) == 0
	case *types.AttributeValueMemberSS:
		return len(v.Value) == 0
	case *types.AttributeValueMemberNS:
		return len(v.Value) == 0
	case *types.AttributeValueMemberBS:
		return len(v.Value) == 0
	default:
		return false
	}
}

// compare orders two values of one field: numbers by value, false before true, everything else by bytes, which is
// also the order of times and dates. ok is false if one of them is absent or has no order.
func compare(a, b types.AttributeValue) (order int, ok bool) {
	if x, is := a.(*types.AttributeValueMemberBOOL); is {
		y, is := b.(*types.AttributeValueMemberBOOL)
		if !is {
			return 0, false
		}
		return strings.Compare(strconv.FormatBool(x.Value), strconv.FormatBool(y.Value)), true
	}
	if a == nil || b == nil {
		return 0, false
	}
	return sdk.Value(a).Compare(sdk.Value(b))
}

// scalarText is the canonical text of a scalar, to which templates apply their functions.
func scalarText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		if d, err := decimal.Parse(v.Value); err == nil {
			return d.String()
		}
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberB:
		return string(v.Value)
	default:
		return ""
	}
}

func textValue(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func numberValue(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func boolValue(b bool) types.AttributeValue     { return &types.AttributeValueMemberBOOL{Value: b} }

// ofText is the value of a scalar type with the canonical text s.
func ofText(t design.Type, s string) types.AttributeValue {
	switch {
	case t.Numeric():
		return numberValue(s)
	case t.Kind == design.KindBool:
		return boolValue(s == "true")
	case t.Kind == design.KindBytes:
		return &types.AttributeValueMemberB{Value: []byte(s)}
	default:
		return textValue(s)
	}
}

// shownBytes is the maximum size of a value in a message.
const shownBytes = 60

// show formats a value for messages.
func show(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "(absent)"
	case *types.AttributeValueMemberS:
		return quoted(v.Value)
	case *types.AttributeValueMemberB:
		return "base64 " + cut(base64.StdEncoding.EncodeToString(v.Value))
	case *types.AttributeValueMemberN, *types.AttributeValueMemberBOOL:
		return scalarText(v)
	default:
		return cut(sdk.Value(v).String())
	}
}

func quoted(s string) string {
	if whole := cut(s); whole != s {
		return strconv.Quote(whole) + " (" + strconv.Itoa(len(s)) + " bytes)"
	}
	return strconv.Quote(s)
}

// cut shortens a text that is too long to be shown.
func cut(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	n := shownBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// showFields formats those of an entity's values that are set, ordered by name.
func showFields(values table.Values, names []string) string {
	var out []string
	for _, name := range names {
		if v := values[name]; v != nil {
			out = append(out, name+": "+show(v))
		}
	}
	return strings.Join(out, ", ")
}
