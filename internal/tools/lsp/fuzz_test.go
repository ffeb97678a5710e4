package lsp

import (
	"io"
	"strings"
	"testing"
)

// FuzzEdits cuts a design anywhere, inserts any text there, and makes every request at every position near it: nothing panics,
// and no position is outside the text.
func FuzzEdits(f *testing.F) {
	const whole = `design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK }, indexes: { GSI1: { pk: A, sk: B } } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: 'PROFILE' } # one
    doc: |
      Somebody.
    fields:
      userId: id
      name: { type: text?, max: 3 }
reads:
  UserByID: { one: User, by: [userId], filter: "name <> 'x'" }
writes:
  Put:
    do:
    - { put: User, set: { name: ":name" } }
    - check: User
      when: "userId = :userId"
`
	for i := 0; i < len(whole); i += 7 {
		for _, with := range []string{"", "{", "\"", "\n  - ", "🛒: |", "[", ": "} {
			f.Add(whole, i, 3, with)
		}
	}
	f.Fuzz(func(t *testing.T, text string, from, length int, with string) {
		if len(text)+len(with) > 1<<14 {
			return
		}
		from = min(max(from, 0), len(text))
		to := min(from+max(length, 0), len(text))
		doc := newText("file:///x", 1, text[:from]+with+text[to:])
		s := &server{options: Options{Log: io.Discard}}
		for _, sym := range doc.scanned().symbols {
			if sym.from < 0 || sym.to > len(doc.content) || sym.from > sym.to {
				t.Fatalf("a symbol from %d to %d of %d", sym.from, sym.to, len(doc.content))
			}
			if got := doc.content[sym.from:sym.to]; !sym.small && got != sym.name {
				t.Fatalf("the symbol %q is at %q", sym.name, got)
			}
		}
		for _, offset := range []int{0, from, from + len(with)/2, from + len(with), len(doc.content)} {
			p := &place{text: doc, offset: doc.offset(doc.position(min(offset, len(doc.content)))), params: placeParams{NewName: "Zebra"}}
			_, _ = s.hover(p)
			_, _ = s.complete(p)
			_, _ = s.definition(p)
			_, _ = s.references(p)
			if !strings.ContainsAny(with, "\x00") {
				_, _ = s.rename(p)
			}
		}
	})
}
