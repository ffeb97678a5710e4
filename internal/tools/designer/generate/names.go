package generate

import (
	"strings"
	"unicode"
)

// initialisms are words that keep a uniform case in Go, with their plurals.
//
//nolint:gochecknoglobals // a table
var initialisms = map[string]string{
	"acl": "ACL", "api": "API", "ascii": "ASCII", "cpu": "CPU", "css": "CSS", "dns": "DNS", "eof": "EOF", "guid": "GUID",
	"html": "HTML", "http": "HTTP", "https": "HTTPS", "id": "ID", "ids": "IDs", "ip": "IP", "json": "JSON", "ksuid": "KSUID",
	"lhs": "LHS", "qps": "QPS", "ram": "RAM", "rhs": "RHS", "rpc": "RPC", "sla": "SLA", "smtp": "SMTP", "sql": "SQL", "ssh": "SSH",
	"tcp": "TCP", "tls": "TLS", "ttl": "TTL", "udp": "UDP", "ui": "UI", "uid": "UID", "ulid": "ULID", "uri": "URI", "url": "URL",
	"urls": "URLs", "utf8": "UTF8", "uuid": "UUID", "vm": "VM", "xml": "XML", "xmpp": "XMPP", "xsrf": "XSRF", "xss": "XSS",
}

// exported is a name as an exported Go name: createdAt is CreatedAt, txId TxID, image_url ImageURL.
func exported(name string) string {
	var out strings.Builder
	for _, word := range words(name) {
		out.WriteString(capital(word))
	}
	return out.String()
}

// unexported converts a name to an unexported Go name: TxID is txID, URLOf urlOf. It ends with suffix, so that it is not
// a keyword.
func unexported(name, suffix string) string {
	list := words(name)
	if len(list) == 0 {
		return strings.ToLower(suffix[:1]) + suffix[1:]
	}
	return strings.ToLower(list[0]) + exported(strings.Join(list[1:], "_")) + suffix
}

// constant is the part of an enumeration constant's name that stands for its value. A value of at most three capitals is
// a code and is kept: USD; a longer one is a word: PENDING is Pending.
func constant(value string) string {
	list := words(value)
	if len(list) == 1 && len(value) <= 3 && value == strings.ToUpper(value) {
		return list[0]
	}
	var out strings.Builder
	for _, word := range list {
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		out.WriteString(capital(word))
	}
	return out.String()
}

func capital(word string) string {
	if known := initialisms[strings.ToLower(word)]; known != "" {
		return known
	}
	runes := []rune(word)
	runes[0] = unicode.ToUpper(runes[0])
	return string(runes)
}

// words splits a name at capitals and at characters that are neither letters nor digits. A run of capitals is one word,
// except for the last if lower case follows: HTTPServer is HTTP, Server.
func words(name string) []string {
	var out []string
	runes := []rune(name)
	start := 0
	end := func(i int) {
		if i > start {
			out = append(out, string(runes[start:i]))
		}
		start = i
	}
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end(i)
			start = i + 1
		case i > start && unicode.IsUpper(c) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
	}
	end(len(runes))
	return out
}
