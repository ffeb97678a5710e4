package generate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// source is a file being generated.
type source struct {
	doc string          // the package comment, in the one file that has it
	out strings.Builder // the text after the imports
}

func (s *source) empty() bool { return s.out.Len() == 0 }

// print adds lines. Text may be indented like the code around it, because go/format lays it out.
func (s *source) print(format string, args ...any) {
	fmt.Fprintf(&s.out, format, args...)
	s.out.WriteByte('\n')
}

// comment adds a comment of paragraphs.
func (s *source) comment(paragraphs ...string) { s.out.WriteString(comment(paragraphs...)) }

// comment formats a comment of paragraphs, skipping empty ones. A line that starts with a tab is code.
func comment(paragraphs ...string) string {
	var out strings.Builder
	for _, p := range paragraphs {
		if strings.TrimSpace(p) == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("//\n")
		}
		for line := range strings.Lines(p) {
			line = strings.TrimRight(line, " \t\r\n")
			switch {
			case line == "":
				out.WriteString("//\n")
			case strings.HasPrefix(line, "\t"):
				out.WriteString("//" + line + "\n")
			default:
				for _, part := range wrapped(line) {
					if rest, constrains := strings.CutPrefix(part, "+build"); constrains { // go/format would treat it as a build constraint
						part = `"+build"` + rest
					}
					out.WriteString("// " + part + "\n")
				}
			}
		}
	}
	return out.String()
}

// commentWidth is the maximum length of a comment line.
const commentWidth = 117

// wrapped wraps a line of words.
func wrapped(line string) []string {
	var out []string
	current := ""
	for word := range strings.FieldsSeq(line) {
		if current != "" && len([]rune(current))+1+len([]rune(word)) > commentWidth {
			out, current = append(out, current), ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(out, current)
}

// packages are the import paths of generated code, by package name.
//
//nolint:gochecknoglobals // a table
var packages = map[string]string{
	"cmp": "cmp", "context": "context", "errors": "errors", "fmt": "fmt", "iter": "iter", "maps": "maps", "time": "time",
	"aws":      "github.com/aws/aws-sdk-go-v2/aws",
	"dynamodb": "github.com/aws/aws-sdk-go-v2/service/dynamodb",
	"types":    "github.com/aws/aws-sdk-go-v2/service/dynamodb/types",
	"table":    "github.com/monotable/monotable/design/table",
}

// file is the whole file, formatted, with the required imports.
func (s *source) file(header, name string) ([]byte, error) {
	clause, text := s.doc+"package "+name+"\n", s.out.String()
	parsed, err := parser.ParseFile(token.NewFileSet(), "", clause+text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("the generated code is not valid Go: %w", err)
	}
	var std, others []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		selector, is := n.(*ast.SelectorExpr)
		if !is {
			return true
		}
		x, is := selector.X.(*ast.Ident)
		if !is || packages[x.Name] == "" {
			return true
		}
		list := &std
		if strings.Contains(packages[x.Name], ".") {
			list = &others
		}
		if spec := fmt.Sprintf("%q", packages[x.Name]); !slices.Contains(*list, spec) {
			*list = append(*list, spec)
		}
		return true
	})
	slices.Sort(std)
	slices.Sort(others)
	var own []string
	if i := slices.IndexFunc(others, func(spec string) bool { return strings.Contains(spec, "monotable") }); i >= 0 {
		own = append(own, others[i])
		others = slices.Delete(others, i, i+1)
	}
	var out bytes.Buffer
	out.WriteString(header + "\n\n" + clause)
	var groups []string
	for _, list := range [][]string{std, others, own} {
		if len(list) > 0 {
			groups = append(groups, strings.Join(list, "\n"))
		}
	}
	switch {
	case len(std)+len(others)+len(own) == 1:
		out.WriteString("\nimport " + groups[0] + "\n")
	case len(groups) > 0:
		out.WriteString("\nimport (\n" + strings.Join(groups, "\n\n") + "\n)\n")
	}
	out.WriteString(text)
	return format.Source(out.Bytes())
}
