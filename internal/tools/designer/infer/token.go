package infer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// piece is a part of a key between separators, with the separator that follows it.
type piece struct {
	text, separator string
	label           bool // the name of the next value
}

// typed matches values that contain what may be separators elsewhere: times, UUIDs.
var typed = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // compiled once
	return regexp.MustCompile(`^(?:\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})`)
})

// labelled matches a value with its name in front, as in "state_oregon".
var labelled = regexp.MustCompile(`^([$A-Za-z][$A-Za-z0-9]*_)(.+)$`) //nolint:gochecknoglobals // compiled once

// separators are the usual separators of keys, the least ambiguous first.
func separators() []string { return []string{"#", "|", "/", "::", ":", "~"} }

// split divides a key into pieces. Values of the row's fields are not divided; the row may be nil.
func split(key string, r *row) []piece {
	if r != nil && r.known[key] {
		return []piece{{text: key}}
	}
	all := separators()
	i := slices.IndexFunc(all, func(s string) bool {
		return strings.Contains(typed().ReplaceAllString(key, ""), s)
	})
	separator := ""
	switch {
	case i >= 0:
		separator = all[i]
	case r != nil:
		if out := dashed(key, r); out != nil {
			return out
		}
	default:
	}
	var out []piece
	for rest := key; ; {
		n := len(typed().FindString(rest))
		if n > 0 && n < len(rest) && (separator == "" || !strings.HasPrefix(rest[n:], separator)) {
			n = 0
		}
		if n == 0 {
			n = len(rest)
			if before, _, found := strings.Cut(rest, separator); found && separator != "" {
				n = len(before)
			}
		}
		p := piece{text: rest[:n]}
		if n < len(rest) {
			p.separator = separator
		}
		out = append(out, named(p, r)...)
		if n == len(rest) {
			return out
		}
		if rest = rest[n+len(separator):]; rest == "" {
			return out // the key ends with a separator, which stays with the last piece
		}
	}
}

// dashed divides a key by dashes, nil if they do not seem to be separators, because many values contain some. All
// pieces must be words in capitals or values of the row, and at least one a value; or the first is a word, and all
// others are values.
func dashed(key string, r *row) []piece {
	var out []piece
	values, small := 0, false
	for rest := key; ; {
		n := r.knownBefore(rest)
		value := n > 0
		if !value {
			if n = strings.Index(rest, "-"); n < 0 {
				n = len(rest)
			}
		}
		text := rest[:n]
		switch {
		case value:
			values++
		case len(out) == 0 && !shouted(text) && wordLike(text):
			small = true
		case !shouted(text):
			return nil
		}
		if n == len(rest) {
			if out = append(out, piece{text: text}); values == 0 || small && values < len(out)-1 {
				return nil
			}
			return out
		}
		out, rest = append(out, piece{text: text, separator: "-"}), rest[n+1:]
	}
}

// knownBefore is the length of the longest value of the row that equals the text, or precedes a dash in it; 0 if there
// is none.
func (r *row) knownBefore(text string) int {
	for n := len(text); n > 0; n = strings.LastIndexByte(text[:n], '-') {
		if r.known[text[:n]] {
			return n
		}
	}
	return 0
}

// named divides a piece into a name and a value, if the value is one of the row's.
func named(p piece, r *row) []piece {
	m := labelled.FindStringSubmatch(p.text)
	if m == nil || r == nil || r.known[p.text] || !r.known[m[2]] {
		return []piece{p}
	}
	return []piece{{text: strings.TrimSuffix(m[1], "_"), separator: "_", label: true}, {text: m[2], separator: p.separator}}
}

// wordLike reports whether a text may be a literal: letters and word separators.
func wordLike(s string) bool {
	if s == "" {
		return false
	}
	letters := 0
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		case c != '_' && c != '-' && c != '$' && c != '@' && c != '.' && c != ' ':
			return false
		}
	}
	return letters > 0
}

// shouted reports whether a text is in capitals, like a constant.
func shouted(s string) bool { return wordLike(s) && s == strings.ToUpper(s) && len(s) > 1 }

// customary reports whether a text is a common constant in sort keys.
func customary(s string) bool {
	return slices.Contains([]string{
		"metadata", "meta", "profile", "info", "details", "detail", "data", "main", "root", "self", "unique", "settings", "config",
		"current", "latest", "actual", "header", "summary", "item", "v0", "a", "default",
	}, strings.ToLower(s))
}
