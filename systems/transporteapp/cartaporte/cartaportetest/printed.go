package cartaportetest

import (
	"bytes"
	"compress/zlib"
	"io"
	"unicode/utf16"
)

// Printed returns how often a PDF of cartaporte.Imprimir has a text within one of its lines.
func Printed(document []byte, text string) int {
	var coded []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		coded = append(coded, byte(unit>>8), byte(unit))
	}
	found := 0
	for part := range bytes.SplitSeq(document, []byte("stream\n")) {
		r, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil { // not a stream
			continue
		}
		content, _ := io.ReadAll(r) // what can be read is enough
		found += bytes.Count(content, coded)
	}
	return found
}
