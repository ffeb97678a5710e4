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

// Must reads LANGUAGE.json from a folder for each language except English. It panics if one is missing or damaged, because they
// are part of the program.
func Must(files fs.FS, folder string) *Catalogue { return words.Must(files, folder) }
