package query

import (
	"encoding/binary"
	"slices"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Scope is the canonical form of what a cursor is bound to: no two questions have the same. It has the pattern, where it
// asks and in which direction, and all inputs that say what the answer is; of names, those that are used.
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
	if s.over != "" { // a walk has cursors of a form of its own
		b = schema.AppendText(b, schema.TagText, s.over)
	}
	return b
}
