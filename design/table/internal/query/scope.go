package query

import (
	"encoding/binary"
	"slices"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Scope is the canonical form of everything to which a cursor is bound: it is different for different questions. It
// contains the pattern, its place and direction, and all inputs that determine the result; of names, those that are
// used.
func (s *Source) Scope(table string, in schema.Input, names []string) []byte {
	var b []byte
	for _, text := range []string{s.pattern, table, s.index} {
		b = schema.AppendText(b, schema.TagText, text)
	}
	direction := byte(schema.TagFalse)
	if s.Reverse {
		direction = schema.TagTrue
	}
	b = append(b, direction)
	for _, attributes := range [][]schema.Attribute{s.Positioned, s.sort} {
		b = binary.AppendUvarint(b, uint64(len(attributes)))
		for _, a := range attributes {
			b = schema.AppendText(schema.AppendText(b, schema.TagText, a.Name), schema.TagText, string(a.Type))
		}
	}
	b = schema.AppendValue(schema.AppendValue(b, in.From), in.To)
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = schema.AppendValue(schema.AppendText(b, schema.TagText, name), in.Values[name])
	}
	if s.over != "" { // cursors of a walk have their own format
		b = schema.AppendText(b, schema.TagText, s.over)
	}
	return b
}
