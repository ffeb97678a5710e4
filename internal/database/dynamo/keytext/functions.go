package keytext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Apply is a function of templates with its argument, of the text that a value has by now. What the functions do says
// design.Func.
func Apply(name, arg, text string) (string, error) {
	n, _ := strconv.Atoi(arg) // 0 if it is not a number
	switch name {
	case "lower":
		return strings.ToLower(text), nil
	case "fold":
		return fold(text), nil
	case "slug":
		return slug(text), nil
	case "pad":
		return pad(text, n)
	case "desc":
		return desc(text, n)
	case "ts":
		return timestamp(text, arg)
	case "date":
		return cut(text, arg)
	case "band", "mod":
		return divided(name, text, n)
	case "shard":
		return shard(text, n), nil
	case "first":
		return first(text, n), nil
	case "hash":
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])[:min(n, hex.EncodedLen(len(sum)))], nil
	default:
		return "", fmt.Errorf("there is no function |%s", name)
	}
}

// Equates reports whether a function says which values count as equal: the reader of {name|lower} means any case, and that of
// {at|date(yyyy-MM)} the month. The functions after such ones, like the other ones, only make the key.
func Equates(name string) bool {
	return slices.Contains([]string{"lower", "fold", "slug", "date"}, name)
}

// fold takes a text apart (NFKD, Unicode Standard Annex 15), leaves the marks out and writes what remains small, with one space
// for many and none around.
func fold(text string) string {
	bare := strings.Map(func(c rune) rune {
		if unicode.Is(unicode.M, c) {
			return -1
		}
		return unicode.ToLower(c)
	}, norm.NFKD.String(text))
	return strings.Join(strings.Fields(bare), " ")
}

func slug(text string) string {
	var out strings.Builder
	dash := false
	for _, c := range fold(text) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			out.WriteRune(c)
			dash = false
		case !dash:
			out.WriteByte('-')
			dash = true
		}
	}
	return out.String()
}

// digits reports whether a text is a whole number of at least 0 that n digits can hold.
func digits(text string, n int) error {
	for _, c := range text {
		if c < '0' || c > '9' {
			return fmt.Errorf("%q is not a whole number of at least 0", text)
		}
	}
	if text == "" || len(text) > n {
		return fmt.Errorf("%q does not fit into %d digits", text, n)
	}
	return nil
}

func pad(text string, n int) (string, error) {
	if err := digits(text, n); err != nil {
		return "", err
	}
	return strings.Repeat("0", n-len(text)) + text, nil
}

func desc(text string, n int) (string, error) {
	padded, err := pad(text, n)
	if err != nil {
		return "", err
	}
	value, _ := new(big.Int).SetString(padded, 10)
	greatest := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	greatest.Sub(greatest, big.NewInt(1))
	return pad(greatest.Sub(greatest, value).String(), n)
}

func timestamp(text, unit string) (string, error) {
	at, err := ParseTime(text)
	if err != nil {
		return "", err
	}
	if unit == "s" {
		return pad(strconv.FormatInt(at.Unix(), 10), 10)
	}
	return pad(strconv.FormatInt(at.UnixMilli(), 10), 13)
}

// layouts are the arguments of date.
func layouts() []string { return []string{"yyyy", "yyyy-MM", "yyyy-MM-dd", "yyyy-MM-ddTHH"} }

// cut is date: the layouts are beginnings of the text of a time or date.
func cut(text, layout string) (string, error) {
	if !slices.Contains(layouts(), layout) || len(text) < len(layout) {
		return "", fmt.Errorf("|date(%s) does not apply to %q", layout, text)
	}
	return text[:len(layout)], nil
}

// divided is band, the quotient that is rounded down, or mod, what remains then: never negative.
func divided(name, text string, n int) (string, error) {
	value, ok := new(big.Int).SetString(text, 10)
	if !ok || n < 1 {
		return "", fmt.Errorf("%q is not a whole number", text)
	}
	quotient, rest := value.DivMod(value, big.NewInt(int64(n)), new(big.Int)) // Euclid's, which with n > 0 rounds down
	if name == "mod" {
		return rest.String(), nil
	}
	return quotient.String(), nil
}

// shard is 0 for |shard(auto), which is one partition until a number replaces it.
func shard(text string, n int) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(uint64(h.Sum32())%uint64(max(n, 1)), 10) //nolint:gosec // n is 1 or more
}

func first(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
