// Package words has the translations of the texts that services show to people: titles and details of problems, and messages
// about fields.
package words

import (
	"embed"
	"io/fs"

	"github.com/monotable/monotable/internal/words"
)

//go:embed es.json pt.json
var own embed.FS

// Platform has the texts common to all systems.
var Platform = words.Must(own, ".")

// Catalogue translates from English.
type Catalogue = words.Catalogue

// Must returns the catalogue of a system: LANGUAGE.json in the folder words, for each language except English.
func Must(files fs.FS) *Catalogue { return words.Must(files, "words") }
