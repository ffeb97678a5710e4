package table

import (
	"encoding/binary"
	"slices"
)

// scope is the canonical form of what a cursor is bound to: no two questions have the same. It has the pattern, where it
// asks and in which direction, and all inputs that say what the answer is; of names, those that are used.
func (s *source) scope(table string, in Input, names []string) []byte {
	var b []byte
	for _, text := range []string{s.pattern, table, s.index} {
		b = appendText(b, tagText, text)
	}
	direction := byte(tagFalse)
	if s.reverse {
		direction = tagTrue
	}
	b = append(b, direction)
	for _, attributes := range [][]Attribute{s.positioned, s.sort} {
		b = binary.AppendUvarint(b, uint64(len(attributes)))
		for _, a := range attributes {
			b = appendText(appendText(b, tagText, a.Name), tagText, string(a.Type))
		}
	}
	b = appendValue(appendValue(b, in.From), in.To)
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendValue(appendText(b, tagText, name), in.Values[name])
	}
	return b
}
