// Package render renders keys: it inserts the values of an item into the templates of a design.
//
// # Model
//
//	sample's value ──Text──▶ the value's canonical text ──keytext.Apply──▶ … ──▶ its text in the key
//	                                      Key inserts these between the literals
//
// A value has a canonical text that depends on its kind: a time is 2006-01-02T15:04:05.000Z in UTC, a number its shortest
// decimal form without an exponent, and so on (design.Kind). A function maps a text to a text; design.Func says what each
// is for. Package keytext makes the texts, also those in the keys that applications write.
//
// # Invariants
//
//	I1  The result of Key is in the language that package keylang computes for the template. A value that is outside
//	    its kind's language is rejected, as far as a function or the key itself depends on it.
//	I2  Equal values make equal keys.
//
// All functions are pure and safe for concurrent use. Errors are sentences for the author of the values.
package render

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Text is the canonical text of a value in a key, before functions. For bytes, which a design writes in base64, it is the
// bytes.
func Text(t design.Type, value design.Literal) (string, error) {
	s := value.Text
	switch {
	case value.Null || value.List != nil || value.Map != nil || !t.Scalar():
		return "", fmt.Errorf("a value of type %s cannot be used in a key", t)
	case !utf8.ValidString(s):
		return "", fmt.Errorf("%q is not UTF-8", s)
	}
	switch t.Kind {
	case design.KindInt, design.KindMoney:
		return keytext.Whole(s)
	case design.KindTTL:
		return seconds(s)
	case design.KindDecimal:
		return keytext.Decimal(s)
	case design.KindBool:
		if s != "true" && s != "false" {
			return "", fmt.Errorf("%q is neither true nor false", s)
		}
		return s, nil
	case design.KindTime:
		return keytext.Time(s)
	case design.KindDate:
		return keytext.Date(s)
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

// seconds is the text of a ttl value, which may also be written as a time.
func seconds(s string) (string, error) {
	if at, err := keytext.ParseTime(s); err == nil {
		s = strconv.FormatInt(at.Unix(), 10)
	}
	text, err := keytext.Whole(s)
	if err == nil && strings.HasPrefix(text, "-") {
		return "", fmt.Errorf("%q is before 1970", s)
	}
	return text, err
}

// Key renders a template with an entity's values, for a key attribute of a type. An attribute of type N gets the shortest
// form of its number. Key fails if a value is missing, if a function of the template does not accept a value, or if the
// key would be empty.
func Key(e *design.Entity, t *design.Template, kind design.KeyType, values map[string]design.Literal) (string, error) {
	var out strings.Builder
	for _, p := range t.Parts {
		if p.Field == "" {
			out.WriteString(p.Literal)
			continue
		}
		text, err := Part(e, p, values)
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
		number, err := keytext.Decimal(key)
		if err != nil {
			return "", fmt.Errorf("the key: %w", err)
		}
		return number, nil
	}
	return key, nil
}

// Part is the text of a template's field after its functions.
func Part(e *design.Entity, p design.Part, values map[string]design.Literal) (string, error) {
	f := e.Field(p.Field)
	if f == nil {
		return "", fmt.Errorf("%s has no such field", e.Name)
	}
	value, given := values[p.Field]
	if !given {
		return "", fmt.Errorf("the value is missing")
	}
	text, err := Text(f.Type, value)
	if err != nil {
		return "", err
	}
	if err := fits(f, text); err != nil {
		return "", err
	}
	for _, fn := range p.Funcs {
		if text, err = keytext.Apply(fn.Name, fn.Arg, text); err != nil {
			return "", err
		}
		switch fn.Name {
		case "lower", "fold", "slug": // these can make a text longer, or empty
			if err := fits(f, text); err != nil {
				return "", err
			}
		default:
		}
	}
	return text, nil
}

// fits checks a text against the field's limits, which bound keys.
func fits(f *design.Field, text string) error {
	if len(text) < f.MinBytes {
		return fmt.Errorf("%q has %d bytes, fewer than the field's minimum of %d", text, len(text), f.MinBytes)
	}
	if f.MaxBytes > 0 && len(text) > f.MaxBytes {
		return fmt.Errorf("%q has %d bytes, more than the field's maximum of %d in a key", text, len(text), f.MaxBytes)
	}
	return nil
}
