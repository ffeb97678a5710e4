package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Curl formats the example for a shell: base is the system's address, and token an access token or "".
func (e Example) Curl(base, token string) string {
	var line strings.Builder
	line.WriteString("curl -sS")
	if e.Method != http.MethodGet {
		line.WriteString(" -X " + e.Method)
	}
	line.WriteString(" " + quote(base+e.Path))
	if token != "" {
		line.WriteString(" -H " + quote("Authorization: Bearer "+token))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Header)) {
		line.WriteString(" -H " + quote(name+": "+e.Header[name]))
	}
	if e.Body != "" {
		line.WriteString(" -H " + quote("Content-Type: application/json") + " -d " + quote(e.Body))
	}
	return line.String()
}

// quote quotes a text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
