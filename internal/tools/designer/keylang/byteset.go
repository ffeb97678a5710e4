package keylang

import "math/bits"

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s byteSet) with(c byte) byteSet {
	s[c>>6] |= 1 << (c & 63)
	return s
}

func (s byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }
func (s byteSet) none() bool      { return s == byteSet{} }

func (s byteSet) and(t byteSet) byteSet {
	return byteSet{s[0] & t[0], s[1] & t[1], s[2] & t[2], s[3] & t[3]}
}

func (s byteSet) or(t byteSet) byteSet {
	return byteSet{s[0] | t[0], s[1] | t[1], s[2] | t[2], s[3] | t[3]}
}

func (s byteSet) minus(t byteSet) byteSet {
	return byteSet{s[0] &^ t[0], s[1] &^ t[1], s[2] &^ t[2], s[3] &^ t[3]}
}

func (s byteSet) size() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// least and greatest are members of a nonempty set.
func (s byteSet) least() byte {
	for i, w := range s {
		if w != 0 {
			return byte(i<<6 + bits.TrailingZeros64(w))
		}
	}
	return 0
}

func (s byteSet) greatest() byte {
	for i := 3; i >= 0; i-- {
		if s[i] != 0 {
			return byte(i<<6 + 63 - bits.LeadingZeros64(s[i]))
		}
	}
	return 0
}

// span is the set of the bytes from lo to hi.
func span(lo, hi byte) byteSet {
	var s byteSet
	for c := int(lo); c <= int(hi); c++ {
		s = s.with(byte(c))
	}
	return s
}

// setOf parses a set in the notation of a regular expression's class: "a-z0-9_-".
func setOf(spec string) byteSet {
	var s byteSet
	for i := 0; i < len(spec); i++ {
		if i+2 < len(spec) && spec[i+1] == '-' {
			s = s.or(span(spec[i], spec[i+2]))
			i += 2
			continue
		}
		s = s.with(spec[i])
	}
	return s
}

// readable is the order of preference among bytes.
const readable = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:@#/+ "

// choose returns the most readable member, preferring wishes, where 0 means none.
func (s byteSet) choose(wishes ...byte) byte {
	for _, c := range wishes {
		if c != 0 && s.has(c) {
			return c
		}
	}
	for i := range len(readable) {
		if s.has(readable[i]) {
			return readable[i]
		}
	}
	if printable := s.and(span(' ', '~')); !printable.none() {
		return printable.least()
	}
	if beyond := s.and(span(0x80, 0xff)); !beyond.none() {
		return beyond.least()
	}
	return s.least()
}

// lower replaces A-Z by a-z.
func (s byteSet) lower() byteSet {
	for c := byte('A'); c <= 'Z'; c++ {
		if s.has(c) {
			s = s.with(c - 'A' + 'a')
		}
	}
	return s.minus(span('A', 'Z'))
}

// continuation are the continuation bytes of UTF-8.
func continuation() byteSet { return span(0x80, 0xbf) }

// begins reports whether a byte of the set can start a character.
func (s byteSet) begins() bool { return s.and(continuation()) != s }
