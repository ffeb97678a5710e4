package migrate

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestCursor tests that a key of any types survives encoding.
func TestCursor(t *testing.T) {
	key := map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberB{Value: []byte{0, 255, '"'}}, "SK": &types.AttributeValueMemberN{Value: "-1.5"}, "ID": &types.AttributeValueMemberS{Value: "\x00é"},
	}
	c := keyToCursor(key)
	if got, err := c.key(); err != nil || c.Done || !cmp.Equal(got, key, cmpopts.IgnoreUnexported(types.AttributeValueMemberB{}, types.AttributeValueMemberN{}, types.AttributeValueMemberS{})) {
		t.Errorf("got %v, %v of %v", got, err, c)
	}
	if c := keyToCursor(nil); !c.Done {
		t.Error("a segment without a last key is done")
	}
}
