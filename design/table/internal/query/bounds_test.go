package query

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestGreatestText tests that no text of at most n bytes that begins with a text, or with its first n bytes, is greater
// than the result, and that the result is itself such a text.
func TestGreatestText(t *testing.T) {
	const n = 8
	endings := []string{"", "a", "~", "\x7F", "\u0080", "é", "\u07FF", "\u0800", "世", "\uFFFF", "\U00010000", "😀", "\U0010FFFF"}
	for _, head := range []string{"", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh", "abcdefghi", "abcdefg世", "abcdef世世", "😀😀", "abc😀é"} {
		got := greatestText(head, n)
		if len(got) > n || !utf8.ValidString(got) || len(head) <= n && !strings.HasPrefix(got, head) {
			t.Errorf("%q: %q is too long, is not a text, or starts differently", head, got)
		}
		for _, one := range endings {
			for _, two := range endings {
				if key := head + one + two; len(key) <= n && key > got && one != "\U0010FFFF" {
					t.Errorf("%q: %q is greater than %q", head, key, got)
				}
			}
		}
		// A text longer than a key is still a valid bound: no key lies between it and its cut.
		for _, key := range []string{wholeCharacters(head, n), wholeCharacters(head, n) + "a"} {
			if len(head) > n && len(key) <= n && key <= head && key > got {
				t.Errorf("%q: %q is not greater, but is excluded by %q", head, key, got)
			}
		}
	}
	for _, s := range []string{"", "\xFF", "\x00\x01", "12345678", "123456789"} {
		if got := greatestBytes(s, n); len(got) != n || got < s[:min(len(s), n)] || !strings.HasPrefix(got, s[:min(len(s), n)]) {
			t.Errorf("%q: %q", s, got)
		}
	}
}
