package cartaporte

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// Persona is the kind of taxpayer that an RFC belongs to.
type Persona string

// The kinds of taxpayers.
const (
	Fisica Persona = "fisica"
	Moral  Persona = "moral"
	// Generico is the kind of the RFCs for taxpayers without one of their own.
	Generico Persona = "generico"
)

// The generic RFCs: for the general public, and for foreigners.
const (
	RFCPublico    = "XAXX010101000"
	RFCExtranjero = "XEXX010101000"
)

// Faults of an RFC or CURP.
var (
	ErrEstructura  = errors.New("has the wrong structure")
	ErrFecha       = errors.New("has an invalid date")
	ErrVerificador = errors.New("has the wrong check digit")
)

var (
	rfcForm  = regexp.MustCompile(`^([A-ZÑ&]{3,4})([0-9]{6})[A-Z0-9]{2}[0-9A]$`)
	curpForm = regexp.MustCompile(`^[A-ZÑ][AEIOUX][A-ZÑ]{2}([0-9]{6})[HMX]` +
		`(?:AS|BC|BS|CC|CL|CM|CS|CH|DF|DG|GT|GR|HG|JC|MC|MN|MS|NT|NL|OC|PL|QT|QR|SP|SL|SR|TC|TS|TL|VZ|YN|ZS|NE)` +
		`[B-DF-HJ-NP-TV-ZÑ]{3}([0-9A-Z])[0-9]$`)
)

const (
	rfcAlphabet  = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ"
	curpAlphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"

	rfcLength   = 13
	rfcModulus  = 11
	curpModulus = 10
	lettersOf   = 4 // of a person's RFC
)

// RFC checks a taxpayer's key: its format, its date and, unless it is generic, its check digit.
func RFC(text string) (Persona, error) {
	if text == RFCPublico || text == RFCExtranjero {
		return Generico, nil
	}
	parts := rfcForm.FindStringSubmatch(text)
	if parts == nil {
		return "", ErrEstructura
	}
	persona := Moral
	if len([]rune(parts[1])) == lettersOf {
		persona = Fisica
	}
	if !anyCentury(parts[2]) {
		return "", ErrFecha
	}
	runes := []rune(text)
	if runes[len(runes)-1] != rfcCheck(runes[:len(runes)-1]) {
		return "", ErrVerificador
	}
	return persona, nil
}

// rfcCheck computes an RFC's check digit from the other characters. Positions count down from 13; a company's RFC has a leading
// blank.
func rfcCheck(runes []rune) rune {
	for len(runes) < rfcLength-1 {
		runes = append([]rune{' '}, runes...)
	}
	sum := 0
	for i, r := range runes {
		sum += placeIn(rfcAlphabet, r) * (rfcLength - i)
	}
	switch digit := rfcModulus - sum%rfcModulus; digit {
	case rfcModulus:
		return '0'
	case rfcModulus - 1:
		return 'A'
	default:
		return rune('0' + digit)
	}
}

// CURP checks a person's key: its format, its date and its check digit.
func CURP(text string) error {
	parts := curpForm.FindStringSubmatch(text)
	if parts == nil {
		return ErrEstructura
	}
	century := "19" // a digit disambiguates equal keys up to 1999, a letter from 2000
	if parts[2] >= "A" {
		century = "20"
	}
	if _, err := time.Parse("20060102", century+parts[1]); err != nil {
		return ErrFecha
	}
	runes := []rune(text)
	last := len(runes) - 1
	sum := 0
	for i, r := range runes[:last] {
		sum += placeIn(curpAlphabet, r) * (last + 1 - i)
	}
	if runes[last] != rune('0'+(curpModulus-sum%curpModulus)%curpModulus) {
		return ErrVerificador
	}
	return nil
}

// placeIn returns a character's value.
func placeIn(alphabet string, r rune) int {
	before, _, _ := strings.Cut(alphabet, string(r))
	return len([]rune(before))
}

// anyCentury reports whether six digits are a date in the last or the current century.
func anyCentury(digits string) bool {
	_, last := time.Parse("20060102", "19"+digits)
	_, this := time.Parse("20060102", "20"+digits)
	return last == nil || this == nil
}
