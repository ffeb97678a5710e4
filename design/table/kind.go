package table

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// The kinds, as package design has them.
const (
	kindID      Kind = "id"
	kindUUID    Kind = "uuid"
	kindULID    Kind = "ulid"
	kindKSUID   Kind = "ksuid"
	kindSlug    Kind = "slug"
	kindEmail   Kind = "email"
	kindText    Kind = "text"
	kindSecret  Kind = "secret"
	kindInt     Kind = "int"
	kindDecimal Kind = "decimal"
	kindMoney   Kind = "money"
	kindBool    Kind = "bool"
	kindTime    Kind = "time"
	kindDate    Kind = "date"
	kindTTL     Kind = "ttl"
	kindBytes   Kind = "bytes"
	kindEnum    Kind = "enum"
	kindStruct  Kind = "struct"
	kindList    Kind = "list"
	kindSet     Kind = "set"
	kindMap     Kind = "map"
)

// numeric reports whether values of the kind are stored as N.
func (k Kind) numeric() bool {
	return k == kindInt || k == kindDecimal || k == kindMoney || k == kindTTL
}

// textual reports whether values of the kind are stored as S.
func (k Kind) textual() bool {
	switch k {
	case kindID, kindUUID, kindULID, kindKSUID, kindSlug, kindEmail, kindText, kindSecret, kindTime, kindDate, kindEnum:
		return true
	default:
		return false
	}
}

// collection reports whether there may be none in a value of the kind: an absent one is as good as an empty one.
func (k Kind) collection() bool { return k == kindList || k == kindSet || k == kindMap }

// The characters of ids, and the longest address.
const (
	digits         = "0123456789"
	lowerCase      = "abcdefghijklmnopqrstuvwxyz"
	upperCase      = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	base62         = digits + upperCase + lowerCase
	crockford      = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	idCharacters   = base62 + "._:@-"
	slugCharacters = lowerCase + digits + "-"
	mailbox        = base62 + "!#$%&'*+/=?^_`{|}~.-" // RFC 5322's atext and the dot
	host           = base62 + ".-"

	emailBytes    = 254                           // RFC 5321: a path of 256 with its brackets
	greatestKSUID = "aWgEPTl1tmebfsQzFP4bxwgy80V" // 2^160 - 1
)

// contains reports whether a text, of the type's kind and stored as S, is in the kind's language, which package keylang says of
// it. What is wrong with one that is not is what article says.
func (t Type) contains(s string) bool {
	switch t.Kind {
	case kindID:
		return s != "" && only(s, idCharacters)
	case kindUUID:
		return isUUID(s)
	case kindULID:
		return len(s) == 26 && s[0] <= '7' && only(s, crockford)
	case kindKSUID:
		return len(s) == len(greatestKSUID) && only(s, base62) && s <= greatestKSUID
	case kindSlug:
		return s != "" && only(s, slugCharacters)
	case kindEmail:
		local, domain, _ := strings.Cut(s, "@")
		return local != "" && domain != "" && only(local, mailbox) && only(domain, host) && len(s) <= emailBytes
	case kindText, kindSecret:
		return utf8.ValidString(s)
	case kindTime:
		return inLayout(s, keytext.TimeLayout)
	case kindDate:
		return inLayout(s, keytext.DateLayout)
	case kindEnum:
		return slices.Contains(t.Enum, s)
	default:
		return false
	}
}

// described says what values of the type are, behind "is".
func (t Type) described() string {
	switch t.Kind {
	case kindID:
		return "an id: one or more of A-Z a-z 0-9 . _ : @ -"
	case kindUUID:
		return "a uuid: 36 characters in lower case"
	case kindULID:
		return "a ulid: 26 characters of Crockford's base 32"
	case kindKSUID:
		return "a ksuid: 27 characters of base 62"
	case kindSlug:
		return "a slug: one or more of a-z 0-9 -"
	case kindEmail:
		return "an email address"
	case kindText, kindSecret:
		return "a text of UTF-8"
	case kindInt, kindMoney:
		return "a whole number of 64 bits"
	case kindDecimal:
		return "a number that DynamoDB holds"
	case kindBool:
		return "true or false"
	case kindTime:
		return "a time: 2006-01-02T15:04:05.000Z"
	case kindDate:
		return "a date: 2006-01-02"
	case kindTTL:
		return "a number of seconds since 1970"
	case kindEnum:
		return "one of " + strings.Join(t.Enum, ", ")
	case kindBytes:
		return "bytes"
	case kindStruct:
		return "a structure"
	default:
		return "a " + string(t.Kind)
	}
}

// only reports whether a text has no other characters than these, which are of ASCII.
func only(s, characters string) bool {
	for i := range len(s) {
		if strings.IndexByte(characters, s[i]) < 0 {
			return false
		}
	}
	return true
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if strings.IndexByte("0123456789abcdef", s[i]) < 0 {
				return false
			}
		}
	}
	return true
}

// inLayout reports whether a text is what a time has in a layout. Parsing alone would let other forms pass: a comma for
// the point, one digit for the hour.
func inLayout(s, layout string) bool {
	at, err := time.Parse(layout, s)
	return err == nil && at.Format(layout) == s
}
