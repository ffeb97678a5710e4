package schema

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// The kinds, as package design has them.
const (
	KindID      Kind = "id"
	KindUUID    Kind = "uuid"
	KindULID    Kind = "ulid"
	KindKSUID   Kind = "ksuid"
	KindSlug    Kind = "slug"
	KindEmail   Kind = "email"
	KindText    Kind = "text"
	KindSecret  Kind = "secret"
	KindInt     Kind = "int"
	KindDecimal Kind = "decimal"
	KindMoney   Kind = "money"
	KindBool    Kind = "bool"
	KindTime    Kind = "time"
	KindDate    Kind = "date"
	KindTTL     Kind = "ttl"
	KindBytes   Kind = "bytes"
	KindEnum    Kind = "enum"
	KindStruct  Kind = "struct"
	KindList    Kind = "list"
	KindSet     Kind = "set"
	KindMap     Kind = "map"
)

// Numeric reports whether values of the kind are stored as N.
func (k Kind) Numeric() bool {
	return k == KindInt || k == KindDecimal || k == KindMoney || k == KindTTL
}

// textual reports whether values of the kind are stored as S.
func (k Kind) textual() bool {
	switch k {
	case KindID, KindUUID, KindULID, KindKSUID, KindSlug, KindEmail, KindText, KindSecret, KindTime, KindDate, KindEnum:
		return true
	default:
		return false
	}
}

// Collection reports whether there may be none in a value of the kind: an absent one is as good as an empty one.
func (k Kind) Collection() bool { return k == KindList || k == KindSet || k == KindMap }

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

// Contains reports whether a text, of the type's kind and stored as S, is in the kind's language, as package keylang defines it.
// The function article describes the language.
func (t Type) Contains(s string) bool {
	switch t.Kind {
	case KindID:
		return s != "" && only(s, idCharacters)
	case KindUUID:
		return isUUID(s)
	case KindULID:
		return len(s) == 26 && s[0] <= '7' && only(s, crockford)
	case KindKSUID:
		return len(s) == len(greatestKSUID) && only(s, base62) && s <= greatestKSUID
	case KindSlug:
		return s != "" && only(s, slugCharacters)
	case KindEmail:
		local, domain, _ := strings.Cut(s, "@")
		return local != "" && domain != "" && only(local, mailbox) && only(domain, host) && len(s) <= emailBytes
	case KindText, KindSecret:
		return utf8.ValidString(s)
	case KindTime:
		return inLayout(s, keytext.TimeLayout)
	case KindDate:
		return inLayout(s, keytext.DateLayout)
	case KindEnum:
		return slices.Contains(t.Enum, s)
	default:
		return false
	}
}

// described says what values of the type are, behind "is".
func (t Type) described() string {
	switch t.Kind {
	case KindID:
		return "an id: one or more of A-Z a-z 0-9 . _ : @ -"
	case KindUUID:
		return "a uuid: 36 characters in lower case"
	case KindULID:
		return "a ulid: 26 characters of Crockford's base 32"
	case KindKSUID:
		return "a ksuid: 27 characters of base 62"
	case KindSlug:
		return "a slug: one or more of a-z 0-9 -"
	case KindEmail:
		return "an email address"
	case KindText, KindSecret:
		return "a UTF-8 text"
	case KindInt, KindMoney:
		return "a whole number of 64 bits"
	case KindDecimal:
		return "a number that DynamoDB can store"
	case KindBool:
		return "true or false"
	case KindTime:
		return "a time: 2006-01-02T15:04:05.000Z"
	case KindDate:
		return "a date: 2006-01-02"
	case KindTTL:
		return "a number of seconds since 1970"
	case KindEnum:
		return "one of " + strings.Join(t.Enum, ", ")
	case KindBytes:
		return "bytes"
	case KindStruct:
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

// inLayout reports whether a text is a time in a layout. Parsing alone would accept other forms: a comma for the point, one digit
// for the hour.
func inLayout(s, layout string) bool {
	at, err := time.Parse(layout, s)
	return err == nil && at.Format(layout) == s
}
