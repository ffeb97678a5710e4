package site

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// longestSlug is how much of a title an address has.
const longestSlug = 60

// idLength is that of a ULID.
const idLength = 26

var addressForm = regexp.MustCompile(`(?i)^(?:.*-)?([0-7][0-9A-HJKMNP-TV-Z]{25})$`)

// Address is a post's place below p/: its title for people, its id for the server. The id makes it unique. An address with
// another title, an older one say, leads to the same post, which sends the reader to where it is now.
func Address(title, postID string) string {
	id := strings.ToLower(postID)
	if slug := slug(title); slug != "" {
		return slug + "-" + id
	}
	return id
}

// postOf is the id in an address.
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

// slug is a title in small letters of ASCII, with - between words; "" where it has none.
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
			if out.Len() < longestSlug+idLength { // a word without an end
				out.WriteRune(r)
			}
		case !unicode.Is(unicode.Mn, r): // an accent ends no word
			gap = true
		}
	}
	return out.String()
}
