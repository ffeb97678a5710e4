package sdk_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

func TestValue(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for name, c := range map[string]struct {
		from types.AttributeValue
		want attr.Value
	}{
		"text":    {text("é"), attr.String("é")},
		"number":  {&types.AttributeValueMemberN{Value: "1.50"}, attr.ParseNumber("1.5")},
		"bytes":   {&types.AttributeValueMemberB{Value: []byte{0, 255}}, attr.Binary("\x00\xff")},
		"boolean": {&types.AttributeValueMemberBOOL{Value: true}, attr.Bool(true)},
		"null":    {&types.AttributeValueMemberNULL{Value: true}, attr.Null()},
		"list": {
			&types.AttributeValueMemberL{Value: []types.AttributeValue{text("a"), &types.AttributeValueMemberL{}}},
			attr.List([]attr.Value{attr.String("a"), attr.List(nil)}),
		},
		"map": {
			&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": text("v")}},
			attr.Map(attr.Item{{Name: "k", Value: attr.String("v")}}),
		},
		"texts":   {&types.AttributeValueMemberSS{Value: []string{"b", "a"}}, attr.Set(attr.KindStringSet, []attr.Value{attr.String("a"), attr.String("b")})},
		"numbers": {&types.AttributeValueMemberNS{Value: []string{"2"}}, attr.Set(attr.KindNumberSet, []attr.Value{attr.ParseNumber("2")})},
		"binary":  {&types.AttributeValueMemberBS{Value: [][]byte{{1}}}, attr.Set(attr.KindBinarySet, []attr.Value{attr.Binary("\x01")})},
	} {
		if got := sdk.Value(c.from); got.Kind() != c.want.Kind() || !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestFaulty(t *testing.T) {
	for name, from := range map[string]types.AttributeValue{
		"nil":                     nil,
		"a number that is none":   &types.AttributeValueMemberN{Value: "one"},
		"an empty set":            &types.AttributeValueMemberSS{},
		"a set that repeats":      &types.AttributeValueMemberNS{Value: []string{"1", "1.0"}},
		"a set with no number":    &types.AttributeValueMemberNS{Value: []string{"1", "one"}},
		"a type of another world": &types.UnknownUnionMember{},
	} {
		if got := sdk.Value(from); got.Kind() != attr.KindInvalid {
			t.Errorf("%s: %v, want a faulty value", name, got)
		}
	}
}

func TestItem(t *testing.T) {
	it := sdk.Item(map[string]types.AttributeValue{"sk": &types.AttributeValueMemberS{Value: "b"}, "pk": &types.AttributeValueMemberS{Value: "a"}})
	want := attr.Item{{Name: "pk", Value: attr.String("a")}, {Name: "sk", Value: attr.String("b")}}
	if !it.Equal(want) {
		t.Errorf("%v, want %v", it, want)
	}
}
