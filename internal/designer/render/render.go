// Package render makes keys: it puts the values of an item into the templates of a design.
//
// # Model
//
//	sample's value ──Text──▶ the value's one text ──Apply──▶ … ──Apply──▶ its text in the key
//	                                      Key puts those between the literals
//
// A value has one text by its kind: a time is 2006-01-02T15:04:05.000Z in UTC, a number its shortest decimal form without
// an exponent, and so on (design.Kind). A function takes a text and gives one; design.Func says what each is for.
//
// # Invariants
//
//	I1  What Key makes of an item is in the language that package keylang gives its template. A value that is outside
//	    its kind's language is refused, as far as a function or the key itself depends on it.
//	I2  Equal values make equal keys, on every machine and in every version: keys are stored. The functions that
//	    are no standard of their own are FNV-1a of 32 bits (shard) and NFKD without marks (fold).
//
// Everything is a pure function and may be called from any number of goroutines. Errors are sentences for the author
// of the values.
package render

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/dynamo/decimal"
)

// The times that texts hold: those of which milliseconds have 13 digits at most and years four.
const (
	timeLayout = "2006-01-02T15:04:05.000Z"
	dateLayout = "2006-01-02"
)

// Text is the one text that a value of a type has in a key, before functions. Of bytes, which a design writes in base
// 64, it is the bytes.
func Text(t design.Type, value design.Literal) (string, error) {
	s := value.Text
	switch {
	case value.Null || value.List != nil || value.Map != nil || !t.Scalar():
		return "", fmt.Errorf("a value of type %s has no text that could stand in a key", t)
	case !utf8.ValidString(s):
		return "", fmt.Errorf("%q is not UTF-8", s)
	}
	switch t.Kind {
	case design.KindInt, design.KindMoney, design.KindTTL:
		return whole(t.Kind, s)
	case design.KindDecimal:
		n, err := decimal.Parse(s)
		if err != nil {
			return "", fmt.Errorf("%q is not a number that DynamoDB holds", s)
		}
		return n.String(), nil
	case design.KindBool:
		if s != "true" && s != "false" {
			return "", fmt.Errorf("%q is neither true nor false", s)
		}
		return s, nil
	case design.KindTime:
		at, err := parseTime(s)
		if err != nil {
			return "", err
		}
		return at.Format(timeLayout), nil
	case design.KindDate:
		if _, err := time.Parse(dateLayout, s); err != nil {
			return "", fmt.Errorf("%q is not a date: write 2024-01-15", s)
		}
		return s, nil
	case design.KindBytes:
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return "", fmt.Errorf("%q is not base 64", s)
		}
		return string(b), nil
	default:
		return s, nil
	}
}

// whole is the text of a whole number; a ttl may also be written as a time.
func whole(kind design.Kind, s string) (string, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if kind == design.KindTTL && err != nil {
		at, fault := parseTime(s)
		n, err = at.Unix(), fault
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not a whole number", s)
	case kind == design.KindTTL && n < 0:
		return "", fmt.Errorf("%q is before 1970", s)
	}
	return strconv.FormatInt(n, 10), nil
}

func parseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if at = at.UTC(); err == nil && at.Year() >= 0 && at.Year() <= 9999 {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2024-01-15T10:00:00.000Z", s)
}

// Key is a template with an entity's values, for a key attribute of a type. An attribute of type N gets the shortest
// form of its number. It fails where a value is missing, or is none that the template's functions take, or the key
// would be empty.
func Key(e *design.Entity, t *design.Template, kind design.KeyType, values map[string]design.Literal) (string, error) {
	var out strings.Builder
	for _, p := range t.Parts {
		if p.Field == "" {
			out.WriteString(p.Literal)
			continue
		}
		text, err := part(e, p, values)
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.Field, err)
		}
		out.WriteString(text)
	}
	key := out.String()
	switch {
	case key == "":
		return "", fmt.Errorf("the key %q would be empty", t)
	case kind == design.KeyNumber:
		n, err := decimal.Parse(key)
		if err != nil {
			return "", fmt.Errorf("the key %q is not a number that DynamoDB holds", key)
		}
		return n.String(), nil
	}
	return key, nil
}

// part is the text of a field after its functions.
func part(e *design.Entity, p design.Part, values map[string]design.Literal) (string, error) {
	f := e.Field(p.Field)
	if f == nil {
		return "", fmt.Errorf("%s has no such field", e.Name)
	}
	value, given := values[p.Field]
	if !given {
		return "", fmt.Errorf("there is no value")
	}
	text, err := Text(f.Type, value)
	if err != nil {
		return "", err
	}
	if err := fits(f, text); err != nil {
		return "", err
	}
	for _, fn := range p.Funcs {
		if text, err = Apply(fn, text); err != nil {
			return "", err
		}
		switch fn.Name {
		case "lower", "fold", "slug": // these can make a text longer
			if err := fits(f, text); err != nil {
				return "", err
			}
		default:
		}
	}
	return text, nil
}

// fits holds a text to the field's limit, which is what bounds keys.
func fits(f *design.Field, text string) error {
	if f.MaxBytes > 0 && len(text) > f.MaxBytes {
		return fmt.Errorf("%q has %d bytes, more than the %d that the field may have in a key", text, len(text), f.MaxBytes)
	}
	return nil
}
