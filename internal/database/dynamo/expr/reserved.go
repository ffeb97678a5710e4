package expr

import (
	_ "embed"
	"strings"
	"sync"
)

// reservedText has AWS's 573 reserved words, one a line ("Reserved words in DynamoDB", Developer Guide).
//
//go:embed reserved.txt
var reservedText string

var reservedWords = sync.OnceValue(func() map[string]struct{} {
	words := strings.Fields(reservedText)
	set := make(map[string]struct{}, len(words))
	for _, w := range words {
		set[w] = struct{}{}
	}
	return set
})

// Reserved reports whether name is a reserved word, in any case of letters: an expression can then mention
// the attribute by an alias only.
func Reserved(name string) bool {
	_, ok := reservedWords()[strings.ToUpper(name)]
	return ok
}
