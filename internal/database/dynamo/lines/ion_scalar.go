package lines

import (
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// isSymbolID reports whether an identifier is a symbol's number.
func isSymbolID(name string) bool {
	return len(name) > 1 && name[0] == '$' && strings.Trim(name[1:], "0123456789") == ""
}

func isOperator(c byte) bool { return strings.IndexByte("!#%&*+-./;<=>?@^`|~", c) >= 0 }

// identifier reads letters, digits, _ and $.
func (r *ionReader) identifier() (string, error) {
	r.text = r.text[:0]
	for {
		c, err := r.peek()
		if errors.Is(err, io.EOF) || err == nil && !isIdentifierPart(c) {
			return string(r.text), nil
		}
		if err != nil {
			return "", err
		}
		if _, err := r.read(); err != nil {
			return "", err
		}
		r.text = append(r.text, c)
	}
}

// quoted reads a string or a symbol: up to the quote that it begins with.
func (r *ionReader) quoted() (string, error) {
	quote, err := r.read()
	if err != nil {
		return "", err
	}
	r.text = r.text[:0]
	for {
		c, err := r.read()
		switch {
		case err != nil:
			return "", err
		case c == quote:
			return r.utf8()
		case c == '\\':
			if err := r.escape(); err != nil {
				return "", err
			}
		case c < ' ' && c != '\t' && c != '\v' && c != '\f':
			return "", r.fault("a string contains the control character %q", c)
		default:
			r.text = append(r.text, c)
		}
	}
}

// long reads a string in three quotes, and those that follow it.
func (r *ionReader) long() (string, error) {
	r.text = r.text[:0]
	for {
		if r.take("'''") {
			if _, err := r.token(); err != nil && !errors.Is(err, io.EOF) {
				return "", err
			}
			if !r.take("'''") {
				return r.utf8()
			}
			continue
		}
		c, err := r.read()
		switch {
		case err != nil:
			return "", err
		case c == '\\':
			if err := r.escape(); err != nil {
				return "", err
			}
		case c == '\r': // ends of lines are \n
			r.take("\n")
			r.text = append(r.text, '\n')
		case c < ' ' && (c < '\t' || c > '\r'):
			return "", r.fault("a string contains the control character %q", c)
		default:
			r.text = append(r.text, c)
		}
	}
}

func (r *ionReader) utf8() (string, error) {
	if !utf8.Valid(r.text) {
		return "", r.fault("a string is not valid UTF-8")
	}
	return string(r.text), nil
}

// escape reads what follows a backslash.
func (r *ionReader) escape() error {
	c, err := r.read()
	if err != nil {
		return err
	}
	if at := strings.IndexByte(ionEscapes, c); at >= 0 {
		r.text = append(r.text, ionEscaped[at])
		return nil
	}
	const x, u, wide = 2, 4, 8 // digits
	var code rune
	switch c {
	case '\n': // the line goes on
		return nil
	case '\r':
		r.take("\n")
		return nil
	case 'x':
		code, err = r.hex(x)
	case 'u':
		if code, err = r.hex(u); err == nil && utf16.IsSurrogate(code) {
			if !r.take(`\u`) {
				return r.fault("unpaired UTF-16 surrogate")
			}
			var second rune
			second, err = r.hex(u)
			code = utf16.DecodeRune(code, second)
			if err == nil && code == utf8.RuneError {
				return r.fault("unpaired UTF-16 surrogate")
			}
		}
	case 'U':
		code, err = r.hex(wide)
	default:
		return r.fault(`\%c is not an escape sequence`, c)
	}
	if err == nil && !utf8.ValidRune(code) {
		err = r.fault("%X is not a character", code)
	}
	r.text = utf8.AppendRune(r.text, code)
	return err
}

func (r *ionReader) hex(digits int) (rune, error) {
	var text [8]byte
	for i := range digits {
		c, err := r.read()
		if err != nil {
			return 0, err
		}
		text[i] = c
	}
	n, err := strconv.ParseUint(string(text[:digits]), 16, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, r.fault("%q is not a character code", text[:digits])
	}
	return rune(n), nil
}

// lob reads a blob, or a clob, after its braces.
func (r *ionReader) lob() (attr.Value, error) {
	if c, err := r.lobToken(); err != nil {
		return attr.Value{}, err
	} else if c == '"' || c == '\'' {
		return attr.Value{}, r.clob(c)
	}
	var encoded []byte
	for {
		c, err := r.lobToken()
		if err != nil {
			return attr.Value{}, err
		}
		if c == '}' {
			break
		}
		if _, err := r.read(); err != nil {
			return attr.Value{}, err
		}
		encoded = append(encoded, c)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(encoded))
	if err != nil {
		return attr.Value{}, r.fault("a blob is not valid base64: %v", err)
	}
	return attr.Binary(string(raw)), r.endLob()
}

// lobToken skips white space, for lobs have no comments, and returns what follows.
func (r *ionReader) lobToken() (byte, error) {
	for {
		c, err := r.peek()
		if err != nil {
			return 0, r.within(err)
		}
		if c != ' ' && (c < '\t' || c > '\r') {
			return c, nil
		}
		if _, err := r.read(); err != nil {
			return 0, err
		}
	}
}

func (r *ionReader) endLob() error {
	if !r.take("}}") {
		return r.fault("want }}")
	}
	return nil
}

func (r *ionReader) clob(c byte) (err error) {
	r.refuse("an Ion clob has no DynamoDB type: write a blob")
	if r.take("'''") {
		_, err = r.long()
	} else if c == '"' {
		_, err = r.quoted()
	}
	if err == nil {
		_, err = r.lobToken()
	}
	if err != nil {
		return err
	}
	return r.endLob()
}

// number reads a decimal, or what else begins with a digit or a sign.
func (r *ionReader) number() (attr.Value, error) {
	r.text = r.text[:0]
	for {
		c, err := r.peek()
		if err != nil && !errors.Is(err, io.EOF) {
			return attr.Value{}, err
		}
		if err != nil || !isIdentifierPart(c) && strings.IndexByte("+-.:", c) < 0 {
			break
		}
		if _, err := r.read(); err != nil {
			return attr.Value{}, err
		}
		r.text = append(r.text, c)
	}
	text := string(r.text)
	number, ok := decimalOf(text)
	switch {
	case ok:
		return attr.ParseNumber(number), nil
	case isInt(text):
		r.refuse("an Ion int has no DynamoDB type: write a decimal, %.100s.", text)
	case text == "+inf", text == "-inf", strings.ContainsAny(text, "eE") && isFloat(text):
		r.refuse("an Ion float has no DynamoDB type: write a decimal")
	case isTimestamp(text):
		r.refuse("an Ion timestamp has no DynamoDB type: write a string or a decimal")
	default:
		return attr.Value{}, r.fault("%.100q is not a number", text)
	}
	return attr.Value{}, nil
}

// decimalOf takes a decimal apart and writes it as DynamoDB has numbers; ok is false for what is none.
func decimalOf(text string) (number string, ok bool) {
	mantissa, exponent := text, ""
	if at := strings.IndexAny(text, "dD"); at >= 0 {
		mantissa, exponent = text[:at], text[at+1:]
		sign := strings.TrimLeft(exponent, "+-")
		if len(exponent)-len(sign) > 1 || sign == "" || strings.Trim(sign, "0123456789") != "" {
			return "", false
		}
	}
	unsigned := strings.TrimPrefix(mantissa, "-")
	whole, fraction, point := strings.Cut(unsigned, ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || fraction != "" && !isDigits(fraction) || !point && exponent == "" {
		return "", false
	}
	number = strings.ReplaceAll(whole, "_", "")
	if fraction != "" {
		number += "." + strings.ReplaceAll(fraction, "_", "")
	}
	if len(unsigned) < len(mantissa) {
		number = "-" + number
	}
	if exponent != "" {
		number += "E" + exponent
	}
	return number, true
}

// isDigits reports whether a text is digits, with underscores between them.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789_") == "" && text[0] != '_' && text[len(text)-1] != '_' && !strings.Contains(text, "__")
}

func isInt(text string) bool {
	text = strings.TrimPrefix(text, "-")
	if len(text) > 2 && text[0] == '0' && strings.IndexByte("xXbB", text[1]) >= 0 {
		_, err := strconv.ParseUint("0"+text[len(text)-1:], 16, 64)
		return err == nil && strings.Trim(strings.ToLower(text[2:]), "0123456789abcdef_") == ""
	}
	return isDigits(text) && (len(text) == 1 || text[0] != '0')
}

// isFloat reports whether a text with an e would be a decimal with a d.
func isFloat(text string) bool {
	_, ok := decimalOf(strings.NewReplacer("e", "d", "E", "d").Replace(text))
	return ok
}

// isTimestamp reports whether a text looks like a time, which is refused in any case.
func isTimestamp(text string) bool {
	const year = 4
	return len(text) > year && isDigits(text[:year]) && (text[year] == 'T' || text[year] == '-') &&
		strings.Trim(text[year:], "0123456789T:.+-Z") == ""
}
