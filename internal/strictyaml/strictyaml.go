// Package strictyaml decodes YAML that operators write. It bounds the nesting of a text, because the library's time and memory grow
// with its square. The caller bounds the size.
package strictyaml

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// maxDepth is how many lists and maps of a text may be nested.
const maxDepth = 100

// Unmarshal decodes a text into a value. Unknown keys are errors. The library panics at some texts, such as a tag without a value of
// its kind; these are errors, too.
func Unmarshal(text []byte, into any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("this YAML is not understood: write it without tags (!) and aliases (*)")
		}
	}()
	if err := checkDepth(text); err != nil {
		return err
	}
	return yaml.UnmarshalWithOptions(text, into, append(options, yaml.Strict())...)
}

// checkDepth rejects a text with too many nested brackets, or too many lists and maps that begin in one line. Others need
// indentation, so the size of a text limits them.
func checkDepth(text []byte) error {
	var s scanner.Scanner
	s.Init(string(text))
	brackets, line, begun := 0, 0, 0
	for {
		tokens, err := s.Scan()
		if err != nil {
			return nil //nolint:nilerr // it is io.EOF
		}
		for _, t := range tokens {
			if t.Position.Line != line {
				line, begun = t.Position.Line, 0
			}
			switch t.Type { //nolint:exhaustive // the others do not nest
			case token.SequenceStartType, token.MappingStartType:
				brackets++
			case token.SequenceEndType, token.MappingEndType:
				brackets = max(0, brackets-1)
			case token.SequenceEntryType, token.MappingKeyType:
				begun++
			}
			if brackets > maxDepth || begun > maxDepth {
				return fmt.Errorf("line %d: more than %d lists and maps are nested", line, maxDepth)
			}
		}
	}
}
