package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/query"
)

// TestGreatestText: of all texts of at most n bytes that begin with a text, or with what is left of it in n bytes, none is
// greater; and the text itself has n bytes at most, and is one.
func TestGreatestText(t *testing.T) {
	const n = 8
	endings := []string{"", "a", "~", "\x7F", "\u0080", "é", "\u07FF", "\u0800", "世", "\uFFFF", "\U00010000", "😀", "\U0010FFFF"}
	for _, head := range []string{"", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh", "abcdefghi", "abcdefg世", "abcdef世世", "😀😀", "abc😀é"} {
		got := query.GreatestText(head, n)
		if len(got) > n || !utf8.ValidString(got) || len(head) <= n && !strings.HasPrefix(got, head) {
			t.Errorf("%q: %q is too long, or no text, or begins otherwise", head, got)
		}
		for _, one := range endings {
			for _, two := range endings {
				if key := head + one + two; len(key) <= n && key > got && one != "\U0010FFFF" {
					t.Errorf("%q: %q is greater than %q", head, key, got)
				}
			}
		}
		// What is longer than a key is a bound all the same: no key between it and its cut is left out.
		for _, key := range []string{query.WholeCharacters(head, n), query.WholeCharacters(head, n) + "a"} {
			if len(head) > n && len(key) <= n && key <= head && key > got {
				t.Errorf("%q: %q is not greater, but is left out by %q", head, key, got)
			}
		}
	}
	for _, s := range []string{"", "\xFF", "\x00\x01", "12345678", "123456789"} {
		if got := query.GreatestBytes(s, n); len(got) != n || got < s[:min(len(s), n)] || !strings.HasPrefix(got, s[:min(len(s), n)]) {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// TestPositions: what a cursor holds comes back as it was.
func TestPositions(t *testing.T) {
	attributes, partitions, positions := somePositions()
	for _, left := range []int{0, 1, 1 << 20} {
		text, err := cursor.EncodePositions(nil, left, positions, attributes)
		if err != nil {
			t.Fatal(err)
		}
		got, back, err := cursor.DecodePositions(append(text, 0, 0, 0), partitions, attributes)
		if err != nil || got != left || len(back) != len(positions) {
			t.Fatalf("%d, %v, %v", got, back, err)
		}
		for i, p := range positions {
			if back[i].Done != p.Done || (back[i].At == nil) != (p.At == nil) || p.At != nil && !sameItem(back[i].At, p.At) {
				t.Errorf("position %d comes back as %v", i, back[i])
			}
		}
		for i := range text {
			if _, _, err := cursor.DecodePositions(text[:i], partitions, attributes); !errors.Is(err, ErrCursor) {
				t.Errorf("the first %d bytes are positions: %v", i, err)
			}
		}
		if _, _, err := cursor.DecodePositions(append(text, 1), partitions, attributes); !errors.Is(err, ErrCursor) {
			t.Error("a byte more is padding")
		}
	}
	if _, err := cursor.EncodePositions(nil, 0, []cursor.Position{{At: Item{"SK": aText("x")}}}, attributes); err == nil {
		t.Error("a position without its attributes is written")
	}
}

func somePositions() (attributes []Attribute, partitions []Item, positions []cursor.Position) {
	attributes = []Attribute{{Name: "SK", Type: types.ScalarAttributeTypeS}, {Name: "total", Type: types.ScalarAttributeTypeN}, {Name: "digest", Type: types.ScalarAttributeTypeB}}
	for i := range 4 {
		partitions = append(partitions, Item{"PK": aText(fmt.Sprint("FEED#", i))})
	}
	at := Item{"PK": aText("FEED#1"), "SK": aText("é"), "total": aNumber("-1.5"), "digest": &types.AttributeValueMemberB{Value: []byte{0, 255}}}
	last := Item{"PK": aText("FEED#3"), "SK": aText(strings.Repeat("x", 1024)), "total": aNumber("0"), "digest": &types.AttributeValueMemberB{Value: []byte{1}}}
	return attributes, partitions, []cursor.Position{{}, {At: at}, {Done: true}, {At: last}}
}

// FuzzPositions: whatever stands in a cursor is positions, or ErrCursor.
func FuzzPositions(f *testing.F) {
	attributes, partitions, positions := somePositions()
	text, err := cursor.EncodePositions(nil, 7, positions, attributes)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte{0, 0, 1, 2, 0, 0, 0, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		left, back, err := cursor.DecodePositions(text, partitions, attributes)
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
