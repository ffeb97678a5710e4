package site

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// longestSlug limits how much of a title an address contains.
const longestSlug = 60

// idLength is the length of a ULID.
const idLength = 26

var addressForm = regexp.MustCompile(`(?i)^(?:.*-)?([0-7][0-9A-HJKMNP-TV-Z]{25})$`)

// Address returns a post's path below p/: its title for people and its id, which makes it unique, for the server. An address with
// another title, such as an earlier one, is redirected to the current one.
func Address(title, postID string) string {
	id := strings.ToLower(postID)
	if slug := slug(title); slug != "" {
		return slug + "-" + id
	}
	return id
}

// postOf returns the id in an address.
func postOf(address string) (string, bool) {
	if len(address) > idLength*20 { //nolint:mnd // far more than an address ever had
		return "", false
	}
	found := addressForm.FindStringSubmatch(address)
	if found == nil {
		return "", false
	}
	return strings.ToUpper(found[1]), true
}

// slug returns a title in lower-case ASCII, with - between words, or "" if nothing is left.
func slug(title string) string {
	var out strings.Builder
	gap := false
	for _, r := range norm.NFD.String(title) {
		r = unicode.ToLower(r)
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && out.Len() > 0 {
				if out.Len() >= longestSlug {
					return out.String()
				}
				out.WriteByte('-')
			}
			gap = false
			if out.Len() < longestSlug+idLength { // in case of a very long word
				out.WriteRune(r)
			}
		case !unicode.Is(unicode.Mn, r): // a combining accent does not end a word
			gap = true
		}
	}
	return out.String()
}
