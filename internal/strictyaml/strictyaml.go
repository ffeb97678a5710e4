// Package strictyaml decodes YAML that operators write. It trusts them not to write a file that exhausts memory.
package strictyaml

import (
	"errors"

	"github.com/goccy/go-yaml"
)

// Unmarshal decodes a text into a value. Unknown keys are errors. The library panics at some texts, such as a tag without a value of
// its kind; these are errors, too.
func Unmarshal(text []byte, into any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("this YAML is not understood: write it without tags (!) and aliases (*)")
		}
	}()
	return yaml.UnmarshalWithOptions(text, into, append(options, yaml.Strict())...)
}
