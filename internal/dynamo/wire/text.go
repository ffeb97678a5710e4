package wire

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string. Text is UTF-8 and goes out as it is; only what JSON forbids inside a
// string is escaped.
func appendText[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for done := 0; ; {
		i := plainEnd(text, done)
		dst = append(dst, text[done:i]...)
		if i == len(text) {
			return append(dst, '"')
		}
		dst = appendEscaped(dst, text[i])
		done = i + 1
	}
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

// plainEnd returns the index of the first byte from i on that must be escaped, or the text's length. It goes
// eight bytes at a time: most text has nothing to escape.
func plainEnd[T string | []byte](text T, i int) int {
	for ; i+8 <= len(text); i += 8 {
		w := uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
			uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
		if mayEscape(w) {
			break
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}

// mayEscape reports whether one of a word's bytes may have to be escaped; it is never wrongly false. The
// three terms find bytes below ' ', quotes, and backslashes: a byte's high bit is set where the subtraction
// borrows.
func mayEscape(w uint64) bool {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	quote, backslash := w^ones*'"', w^ones*'\\'
	return ((w-ones*' ')&^w|(quote-ones)&^quote|(backslash-ones)&^backslash)&high != 0
}
