// Package keylang decides which texts the key templates of a design can render: whether two keys can be equal, whether a
// begins_with finds more than it should, whether a key is ambiguous, how many texts there are, how long they are and how they
// sort. An answer that reports a defect comes with a witness, a shortest text that shows it.
//
// # Model
//
// The texts of a value are a regular language over bytes, by the value's kind and then by each function; a template is their
// concatenation with its literals. A language is a finite automaton that labels states instead of edges, so that a state also
// identifies the part of the template to which a byte belongs.
//
//	id       A-Z a-z 0-9 . _ : @ -, one or more          text     any UTF-8, empty too, separators too
//	uuid     36, lower case                               email    local@domain of ASCII; local may have a #
//	ulid     26 of Crockford's base 32                    enum     the values
//	ksuid    27 of base 62                                bool     false, true
//	slug     a-z 0-9 -, one or more                       time     2006-01-02T15:04:05.000Z
//	int      0, or up to 19 digits without zeros before   date     2006-01-02
//	money    as int                                       ttl      as int, never negative
//	decimal  shortest form without exponent               bytes    any, in attributes of type B only
//
// Field.MinBytes and MaxBytes bound the field's text in the key, also after lower, fold and slug; the code that renders keys
// must enforce them. An attribute of type N is one number, compared as the text of its shortest form; of type B, bytes;
// languages of different types have nothing in common.
//
// # Algorithms
//
// For automata of m and n states; a template has about one state for each byte of its literals and fixed-width values, and
// some twenty for a text:
//
//   - Two keys are equal (Intersect): the product automaton, breadth first; O(mn) pairs. The first text found is a shortest one.
//   - A begins_with finds a key (IntersectPrefix): prefix·any* and the key, in the same way. A value is a prefix
//     of another (PrefixFree): l·any+ and l.
//   - Two lists of values render one text (Ambiguous): the product of the automaton with itself, remembering whether a byte was
//     in different parts. Lists differ exactly if some byte is. Across several attributes, a value that one
//     attribute determines is known in the others: walks that have been alike must leave such a part together. This repeats
//     until nothing more becomes known, forwards and backwards, so that "last # decides" is found as
//     "first # decides" is.
//   - Counts and lists: the subset construction, then a walk. Lengths: the shortest and longest path.
//
// # Over-approximations
//
// No defect is missed; these can report a false one, and then Certain is false:
//
//   - Values of one item are independent: a field that occurs in both attributes, twice in one, or with different functions,
//     may have a different text in each. A collision or ambiguity is certain when such values were found to agree.
//   - A MaxBytes, or first(n), is in the automaton up to some 512 bytes of an id and 34 characters of a text; a longer one
//     only affects Language.MaxBytes, and first(n) then makes prefixes of any length.
//   - lower and fold keep all letters beyond ASCII; fold and slug of a text, or of an enumeration beyond ASCII, are any text
//     that they can make of any.
//   - An enumeration of more than 2 KB is any text of its characters; a template of more than 128 parts, or 4,096 states,
//     any text.
//   - A question examines about a million pairs of moves, a fraction of a second. If it is still undecided, it reports the
//     defect, without a text: a design cannot hang the tool, and nothing is called safe without proof.
//
// Some witnesses are not real values although Certain: the 31st of February, a UUID of no version, the int
// 9999999999999999999. They only occur if there is nothing shorter.
//
// All values are immutable and safe for concurrent use. The functions themselves are implemented where keys are rendered;
// their results must be in these languages.
package keylang

import (
	"math"
	"strings"

	"github.com/monotable/monotable/design"
)

// Language is the set of texts of a value, or of a whole key attribute. The zero Language is empty.
type Language struct {
	kind   design.KeyType
	texts  automaton
	plain  automaton // more readable texts, in which no value is empty
	most   float64   // a bound on the number of texts that the automaton does not show; +Inf if there is none
	bound  int       // the maximum number of bytes, if the automaton does not show it; 0 if there is none
	rough  bool      // contains texts that do not occur
	beyond bool      // the same for texts that are not pure ASCII
}

// sure reports whether a text of the automaton is certain to belong to some value.
func (l Language) sure(text string) bool {
	ascii := strings.IndexFunc(text, func(c rune) bool { return c > 0x7f }) < 0
	return !l.rough && (ascii || !l.beyond) && (l.bound == 0 || len(text) <= l.bound)
}

// Witness is the proof of an answer: if possible a text in which no value is empty, then a shortest one, then one of letters,
// digits and realistic values.
type Witness struct {
	Text string
	// Certain means that real values have the text. Otherwise the answer is "not proved impossible", because of one of the
	// over-approximations in the package comment; Text is "" if the search was given up.
	Certain bool
}

// Extension proves that a text begins with another.
type Extension struct {
	Shorter, Longer string
	Certain         bool // as in Witness
}

// Type is the type of the attribute. Numbers and bytes are separate languages: a number is represented by its shortest decimal
// form, so that equal numbers are equal texts, and bytes by themselves.
func (l Language) Type() design.KeyType { return l.kind }

// Contains reports whether a text is in the language.
func (l Language) Contains(text string) bool {
	if len(l.texts) == 0 {
		return false
	}
	at := []int{0}
	mark := make([]int, len(l.texts))
	for i := range len(text) {
		var to []int
		for _, s := range at {
			for _, n := range l.texts[s].next {
				if mark[n] != i+1 && l.texts[n].in.has(text[i]) {
					mark[n] = i + 1
					to = append(to, n)
				}
			}
		}
		at = to
	}
	for _, s := range at {
		if l.texts[s].final {
			return true
		}
	}
	return false
}

// Intersect reports whether two key attributes can be equal. Attributes of different types never are.
func Intersect(a, b Language) (Witness, bool) {
	if len(a.texts) == 0 || len(b.texts) == 0 || a.kind != b.kind {
		return Witness{}, false
	}
	left := effort
	walk, found := intersection(a.texts, b.texts, &left)
	if found != yes {
		return Witness{}, found == cut
	}
	if better, ok := intersection(a.plain, b.plain, &left); ok == yes {
		walk = better
	}
	text := textOf(walk)
	return Witness{text, a.sure(text) && b.sure(text)}, true
}

// IntersectPrefix reports whether some text of b begins with one of prefix, so that begins_with finds it. DynamoDB supports
// that only for strings and bytes, so for numbers the answer is no.
func IntersectPrefix(prefix, b Language) (Extension, bool) {
	if len(prefix.texts) == 0 || len(b.texts) == 0 || prefix.kind != b.kind || b.kind == design.KeyNumber {
		return Extension{}, false
	}
	return extension(prefix, b, star(anyByte()))
}

// PrefixFree reports whether no text of the language begins with another. If so, a begins_with may end after such a value;
// "USER#1", by contrast, also finds "USER#12". Otherwise the pair is the proof. Numbers count as prefix-free, because no
// request asks for their prefixes.
func (l Language) PrefixFree() (Extension, bool) {
	if len(l.texts) == 0 || l.kind == design.KeyNumber {
		return Extension{}, true
	}
	x, found := extension(l, l, plus(anyByte()))
	return x, !found
}

func anyByte() automaton { return one(span(0, 0xff), 0) }

// extension looks for a text of b that consists of one of prefix and one of rest.
func extension(prefix, b Language, rest automaton) (Extension, bool) {
	left := effort
	a := seq(inPart(prefix.texts, 0), inPart(rest, 1))
	walk, found := intersection(a, b.texts, &left)
	if found != yes {
		return Extension{}, found == cut
	}
	plain := seq(inPart(prefix.plain, 0), inPart(rest, 1))
	if better, ok := intersection(plain, b.plain, &left); ok == yes {
		a, walk = plain, better
	}
	n := 0
	for n < len(walk) && a[walk[n].p].part == 0 {
		n++
	}
	text := textOf(walk)
	return Extension{text[:n], text, prefix.sure(text[:n]) && b.sure(text)}, true
}

// Count is the number of texts, and so the maximum number of partitions. It may be too high if fields of a template depend on
// each other, but never too low. finite is false if the number is infinite.
func (l Language) Count() (n float64, finite bool) {
	if len(l.texts) == 0 {
		return 0, true
	}
	n = min(countTexts(l.texts), l.most)
	return n, !math.IsInf(n, 1)
}

// Values are the texts in byte order, false if there are more than limit.
func (l Language) Values(limit int) ([]string, bool) {
	if len(l.texts) == 0 {
		return nil, true
	}
	return list(l.texts, limit)
}

// MinBytes is the length of the shortest text. DynamoDB rejects a key attribute of 0 bytes.
func (l Language) MinBytes() int {
	if len(l.texts) == 0 {
		return 0
	}
	shortest, _ := lengths(l.texts)
	return shortest
}

// MaxBytes is the length of the longest text, false if it is unbounded. DynamoDB accepts 2,048 bytes in a partition key and
// 1,024 in a sort key.
func (l Language) MaxBytes() (n int, bounded bool) {
	if len(l.texts) == 0 {
		return 0, true
	}
	_, n = lengths(l.texts)
	if l.bound > 0 {
		n = min(n, l.bound)
	}
	return n, n < math.MaxInt
}
