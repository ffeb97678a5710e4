package table_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

func TestFromStream(t *testing.T) {
	image := map[string]streams.AttributeValue{
		"S": &streams.AttributeValueMemberS{Value: "text"}, "N": &streams.AttributeValueMemberN{Value: "1.5"},
		"B": &streams.AttributeValueMemberB{Value: []byte{0, 255}}, "BOOL": &streams.AttributeValueMemberBOOL{Value: true},
		"NULL": &streams.AttributeValueMemberNULL{Value: true}, "SS": &streams.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"NS": &streams.AttributeValueMemberNS{Value: []string{"1", "2"}}, "BS": &streams.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"M": &streams.AttributeValueMemberM{Value: map[string]streams.AttributeValue{
			"L": &streams.AttributeValueMemberL{Value: []streams.AttributeValue{
				&streams.AttributeValueMemberS{Value: "deep"}, &streams.AttributeValueMemberM{Value: map[string]streams.AttributeValue{}},
			}},
		}},
	}
	want := table.Item{
		"S": &types.AttributeValueMemberS{Value: "text"}, "N": &types.AttributeValueMemberN{Value: "1.5"},
		"B": &types.AttributeValueMemberB{Value: []byte{0, 255}}, "BOOL": &types.AttributeValueMemberBOOL{Value: true},
		"NULL": &types.AttributeValueMemberNULL{Value: true}, "SS": &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"NS": &types.AttributeValueMemberNS{Value: []string{"1", "2"}}, "BS": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"M": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"L": &types.AttributeValueMemberL{Value: []types.AttributeValue{
				&types.AttributeValueMemberS{Value: "deep"}, &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
			}},
		}},
	}
	// The SDK's values have an empty unexported member.
	empty := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".noSmithyDocumentSerde" }, cmp.Ignore())
	if diff := cmp.Diff(want, table.FromStream(image), empty); diff != "" {
		t.Error(diff)
	}
	if got := table.FromStream(nil); got != nil {
		t.Errorf("a missing image is %v, want none", got)
	}
	if got := table.FromStream(map[string]streams.AttributeValue{}); got == nil {
		t.Error("an image without attributes was accepted")
	}
}
