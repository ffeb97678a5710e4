package cursor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/cursor"
	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestPositions tests that the content of a cursor survives encoding.
func TestPositions(t *testing.T) {
	attributes, partitions, positions := somePositions()
	for _, left := range []int{0, 1, 1 << 20} {
		text, err := EncodePositions(nil, left, positions, attributes)
		if err != nil {
			t.Fatal(err)
		}
		got, back, err := DecodePositions(append(text, 0, 0, 0), partitions, attributes)
		if err != nil || got != left || len(back) != len(positions) {
			t.Fatalf("%d, %v, %v", got, back, err)
		}
		for i, p := range positions {
			if back[i].Done != p.Done || (back[i].At == nil) != (p.At == nil) || p.At != nil && !SameItem(back[i].At, p.At) {
				t.Errorf("position %d is decoded as %v", i, back[i])
			}
		}
		for i := range text {
			if _, _, err := DecodePositions(text[:i], partitions, attributes); !errors.Is(err, ErrCursor) {
				t.Errorf("the first %d bytes are positions: %v", i, err)
			}
		}
		if _, _, err := DecodePositions(append(text, 1), partitions, attributes); !errors.Is(err, ErrCursor) {
			t.Error("a byte more is padding")
		}
	}
	if _, err := EncodePositions(nil, 0, []Position{{At: Item{"SK": AText("x")}}}, attributes); err == nil {
		t.Error("a position without its attributes is written")
	}
}

func somePositions() (attributes []Attribute, partitions []Item, positions []Position) {
	attributes = []Attribute{{Name: "SK", Type: types.ScalarAttributeTypeS}, {Name: "total", Type: types.ScalarAttributeTypeN}, {Name: "digest", Type: types.ScalarAttributeTypeB}}
	for i := range 4 {
		partitions = append(partitions, Item{"PK": AText(fmt.Sprint("FEED#", i))})
	}
	at := Item{"PK": AText("FEED#1"), "SK": AText("é"), "total": ANumber("-1.5"), "digest": &types.AttributeValueMemberB{Value: []byte{0, 255}}}
	last := Item{"PK": AText("FEED#3"), "SK": AText(strings.Repeat("x", 1024)), "total": ANumber("0"), "digest": &types.AttributeValueMemberB{Value: []byte{1}}}
	return attributes, partitions, []Position{{}, {At: at}, {Done: true}, {At: last}}
}

// FuzzPositions tests that any text decodes to positions, or to ErrCursor.
func FuzzPositions(f *testing.F) {
	attributes, partitions, positions := somePositions()
	text, err := EncodePositions(nil, 7, positions, attributes)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte{0, 0, 1, 2, 0, 0, 0, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		left, back, err := DecodePositions(text, partitions, attributes)
		if err != nil {
			if !errors.Is(err, ErrCursor) || back != nil {
				t.Errorf("%v, %v", back, err)
			}
			return
		}
		for i, p := range back {
			if p.At != nil && len(p.At) != 4 || p.At != nil && p.At["PK"] != partitions[i]["PK"] || left < 0 {
				t.Errorf("position %d is %v", i, p)
			}
		}
	})
}
