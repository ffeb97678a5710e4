package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
)

// volatile are the members that are specific to a server.
var volatile = []string{
	"TableArn", "TableId", "IndexArn", "CreationDateTime", "LatestStreamArn", "LatestStreamLabel",
	"LastUpdateToPayPerRequestDateTime", "LastIncreaseDateTime", "LastDecreaseDateTime", "LastUpdateDateTime",
}

// lineWidth is where answers break.
const lineWidth = 120

// print formats a response as in the scripts.
func (a *response) print(d *datadriven.TestData) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(a.status))
	members := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	isJSON := decoder.Decode(&members) == nil
	if isJSON && a.status != http.StatusOK {
		_, name, _ := strings.Cut(text(members, "__type"), "#")
		b.WriteString(" " + name)
		if message := text(members, "message") + text(members, "Message"); message != "" {
			b.WriteString(": " + shorten(message))
		}
		delete(members, "__type")
		delete(members, "message")
		delete(members, "Message")
	}
	b.WriteByte('\n')
	showHeaders(&b, d, a.header)
	switch {
	case d.HasArg("quiet") && a.status == http.StatusOK:
	case !isJSON || d.HasArg("raw"):
		if len(a.body) > 0 {
			b.Write(bytes.TrimRight(a.body, "\n"))
			b.WriteByte('\n')
		}
	case len(members) > 0 || a.status == http.StatusOK:
		if d.HasArg("sort") {
			sortLists(members)
		}
		layOut(&b, without(members), 0)
		b.WriteByte('\n')
	}
	return b.String()
}

func text(members map[string]any, name string) string {
	s, _ := members[name].(string)
	return s
}

func showHeaders(b *strings.Builder, d *datadriven.TestData, h http.Header) {
	for _, arg := range d.CmdArgs {
		if arg.Key != "show" {
			continue
		}
		for _, name := range arg.Vals {
			fmt.Fprintf(b, "%s: %s\n", name, h.Get(name))
		}
	}
}

// without drops the volatile members, at any depth where their values are scalars.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			_, isObject := member.(map[string]any)
			if slices.Contains(volatile, name) && !isObject {
				delete(v, name)
				continue
			}
			v[name] = without(member)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

// sortLists sorts the lists whose order AWS does not define: Items, and the tables of Responses.
func sortLists(members map[string]any) {
	byText := func(a, b any) int { return strings.Compare(compact(a), compact(b)) }
	if items, ok := members["Items"].([]any); ok {
		slices.SortFunc(items, byText)
	}
	if tables, ok := members["Responses"].(map[string]any); ok {
		for _, items := range tables {
			if items, ok := items.([]any); ok {
				slices.SortFunc(items, byText)
			}
		}
	}
}

// compact returns the canonical text of a value: sorted members, no space, no HTML escapes.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// layOut writes what fits on one line, and breaks the rest.
func layOut(b *strings.Builder, v any, indent int) {
	short := shorten(compact(v))
	inner := strings.Repeat(" ", indent+1)
	switch v := v.(type) {
	case map[string]any:
		if indent+len(short) <= lineWidth {
			break
		}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b.WriteString("{\n")
		for i, name := range names {
			b.WriteString(inner + shorten(compact(name)) + ":")
			layOut(b, v[name], indent+1)
			b.WriteString(separator(i, len(names)))
		}
		b.WriteString(inner[1:] + "}")
		return
	case []any:
		if indent+len(short) <= lineWidth {
			break
		}
		b.WriteString("[\n")
		for i, element := range v {
			b.WriteString(inner)
			layOut(b, element, indent+1)
			b.WriteString(separator(i, len(v)))
		}
		b.WriteString(inner[1:] + "]")
		return
	}
	b.WriteString(short)
}

func separator(i, n int) string {
	if i < n-1 {
		return ",\n"
	}
	return "\n"
}

// shortest is the shortest run of one byte that is abbreviated in responses.
const shortest = 30

// shorten abbreviates a long run of a letter or digit as in bodies: «a*2048».
func shorten(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		run := 1
		for i+run < len(s) && s[i+run] == s[i] {
			run++
		}
		if run >= shortest && s[i] < 0x80 {
			fmt.Fprintf(&b, "«%c*%d»", s[i], run)
		} else {
			b.WriteString(s[i : i+run])
		}
		i += run
	}
	return b.String()
}

var (
	repetition = regexp.MustCompile(`«([^«»]*)\*(\d+)»`)
	series     = regexp.MustCompile(`«(\d+)\.\.(\d+):([^«»]*)»`)
)

// expand replaces the abbreviations of a body, the innermost first.
func expand(body string) string {
	for strings.Contains(body, "«") {
		before := body
		body = repetition.ReplaceAllStringFunc(body, func(m string) string {
			parts := repetition.FindStringSubmatch(m)
			n, _ := strconv.Atoi(parts[2])
			return strings.Repeat(parts[1], n)
		})
		body = series.ReplaceAllStringFunc(body, func(m string) string {
			parts := series.FindStringSubmatch(m)
			from, _ := strconv.Atoi(parts[1])
			to, _ := strconv.Atoi(parts[2])
			var each []string
			for i := from; i <= to; i++ {
				each = append(each, strings.ReplaceAll(parts[3], "$i", strconv.Itoa(i)))
			}
			return strings.Join(each, ",")
		})
		if body == before {
			break
		}
	}
	return body
}
