// Package rules holds the pages of the design rules: one Markdown file for each, named by its id. They are read here as
// files and by `monotable check --explain` from the program.
package rules

import (
	"embed"
	"io/fs"
)

//go:embed *.md
var pages embed.FS

// Page returns the page of a rule; fs.ErrNotExist where there is none.
func Page(id string) (string, error) {
	data, err := fs.ReadFile(pages, id+".md")
	return string(data), err
}
