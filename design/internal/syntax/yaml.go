package syntax

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxTokens bounds the input of the YAML parser, whose time can grow quadratically.
const maxTokens = 40_000

// ParseYAML parses the strict profile of YAML: one document of maps, lists and scalars. Duplicate keys, anchors, aliases,
// merges and tags are rejected, so that the text means what it shows. Comments are returned beside the tree.
func ParseYAML(s *Source, data []byte) (*Node, []*token.Token, error) {
	if err := s.check(data, MaxTextBytes); err != nil {
		return nil, nil, err
	}
	b := treeBuilder{Faults: Faults{Source: s}}
	tokens, comments := b.tokens(data)
	if err := b.Err(); err != nil {
		return nil, nil, err
	}
	file := b.parse(tokens)
	var root *Node
	for _, document := range file.Docs {
		if document.Body == nil {
			continue
		}
		if root != nil {
			b.Fault(b.pos(document.Body.GetToken()), "a design is one YAML document: remove the second one after ---")
			break
		}
		root = b.node(document.Body, 0)
	}
	if err := b.Err(); err != nil {
		return nil, nil, err
	}
	if root == nil {
		root = &Node{Kind: NullNode, Pos: Pos{1, 1}}
	}
	return root, comments, nil
}

// treeBuilder converts the YAML library's tree to nodes.
type treeBuilder struct{ Faults }

// tokens splits a text, and rejects what the library's parser should not see: large input, deep nesting, and syntax that is
// not part of the language. It removes comments.
func (b *treeBuilder) tokens(data []byte) (tokens token.Tokens, comments []*token.Token) {
	defer b.unreadable()
	depth, dashes, line := 0, 0, 0
	if !bytes.HasSuffix(data, []byte("\n")) {
		data = append(bytes.Clone(data), '\n') // otherwise the last line of a folded text would not be folded
	}
	for _, t := range lexer.Tokenize(string(data)) {
		if t.Position.Line != line {
			dashes, line = 0, t.Position.Line
		}
		switch t.Type { //nolint:exhaustive // the others are fine
		case token.CommentType:
			comments = append(comments, t)
			continue
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			b.Hint(b.pos(t), "write the value where it is used; quote a text that starts with & or *", "anchors, aliases and merges are not part of the design language")
		case token.TagType:
			b.Hint(b.pos(t), "the field determines the type of a value; quote a text that starts with !", "tags are not part of the design language")
		case token.DirectiveType:
			b.Fault(b.pos(t), "directives are not part of the design language")
		case token.MappingKeyType:
			b.Hint(b.pos(t), "write key: value", "keys with ? are not part of the design language")
		case token.InvalidType:
			b.broken(t, cmp.Or(t.Error, "the text cannot be parsed from here on"))
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		case token.MappingValueType:
			b.colon(t)
		case token.StringType:
			b.plain(t)
		}
		tokens.Add(t)
		switch {
		case depth > maxDepth || dashes > maxDepth:
			b.Fault(b.pos(t), "the nesting is too deep")
		case len(tokens) > maxTokens:
			b.Hint(b.pos(t), "write one design for each table", "the text has more than %d YAML tokens", maxTokens)
		}
		if len(b.List) >= maxErrors || depth > maxDepth || dashes > maxDepth || len(tokens) > maxTokens {
			return tokens, comments
		}
	}
	b.tab(data, comments)
	return tokens, comments
}

// colon rejects key:value without a space. YAML reads it as a string, and the library, in brackets, as a map.
func (b *treeBuilder) colon(t *token.Token) {
	p := b.pos(t)
	rest := b.Source.line(p.Line)[p.Column-1:]
	quoted := t.Prev != nil && (t.Prev.Type == token.DoubleQuoteType || t.Prev.Type == token.SingleQuoteType)
	if len(rest) > 1 && rest[1] != ' ' && !quoted {
		b.Hint(p, "put a space after the colon of a key; quote a text that contains a colon", "a colon in brackets needs a space after it")
	}
}

// plain rejects unquoted texts that are rarely meant as they are parsed.
func (b *treeBuilder) plain(t *token.Token) {
	text := strings.TrimSpace(t.Origin)
	switch {
	case t.Prev != nil && (t.Prev.Type == token.LiteralType || t.Prev.Type == token.FoldedType):
	case strings.Contains(text, "\n"):
		b.Hint(b.pos(t), "put it on one line, in quotes, or below | or >", "a text without quotes cannot continue on the next line")
	case strings.HasPrefix(text, "?"):
		b.Fault(b.pos(t), "quote a text that starts with ?")
	}
}

// tab rejects tabs except in comments: the library drops them in places, and then miscounts columns and lines.
func (b *treeBuilder) tab(data []byte, comments []*token.Token) {
	commented := map[int]int{} // from lines to the columns of their comments
	for _, t := range comments {
		p := b.pos(t)
		commented[p.Line] = p.Column
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		at := bytes.IndexByte(line, '\t') + 1
		if at > 0 && (commented[n] == 0 || at < commented[n]) {
			b.List = nil // earlier errors may be consequences of the tab
			b.Hint(Pos{n, at}, "indent with spaces; write \\t in double quotes", "the text contains a tab")
			return
		}
	}
}

// parse calls the library's parser.
func (b *treeBuilder) parse(tokens token.Tokens) (file *ast.File) {
	file = &ast.File{}
	defer b.unreadable()
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates get our own messages, all of them
	if err == nil {
		return parsed
	}
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &located) {
		b.broken(located.GetToken(), located.GetMessage())
	} else {
		b.Fault(Pos{1, 1}, "invalid YAML: %v", err)
	}
	return file
}

// broken reports an error of the library, in our words if its own help little.
func (b *treeBuilder) broken(t *token.Token, message string) {
	p, hint := b.pos(t), ""
	if strings.HasPrefix(message, "mapping value is not allowed") {
		message, hint = "unexpected second key: value", "start the keys of a map in the same column; quote a text that contains a colon and a space"
	}
	b.Hint(p, hint, "invalid YAML: %s", message)
}

// unreadable turns a panic of the library, which cannot parse some texts, into an error.
func (b *treeBuilder) unreadable() {
	if r := recover(); r != nil {
		b.Fault(Pos{1, 1}, "invalid YAML: the text cannot be parsed")
	}
}

func (b *treeBuilder) node(n ast.Node, depth int) *Node {
	p := b.pos(n.GetToken())
	if depth > maxDepth {
		b.Fault(p, "the nesting is too deep")
		return &Node{Kind: NullNode, Pos: p}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out := b.mapping(n.Values, p, depth)
		if n.IsFlowStyle {
			out.end = b.pos(n.End)
		} else if len(n.Values) > 0 {
			out.Pos = b.pos(n.Values[0].Key.GetToken())
		}
		return out
	case *ast.MappingValueNode:
		return b.mapping([]*ast.MappingValueNode{n}, b.pos(n.Key.GetToken()), depth)
	case *ast.SequenceNode:
		out := &Node{Kind: ListNode, Pos: p}
		if n.IsFlowStyle {
			out.end = b.pos(n.End)
		}
		for _, item := range n.Values {
			out.Items = append(out.Items, b.node(item, depth+1))
		}
		return out
	case *ast.NullNode:
		return &Node{Kind: NullNode, Pos: p}
	case *ast.LiteralNode:
		return &Node{Text: strings.TrimSuffix(n.Value.Value, "\n"), quoted: true, Pos: p}
	case *ast.StringNode:
		t := n.GetToken()
		return &Node{Text: n.Value, quoted: t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType, Pos: p}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &Node{Text: n.GetToken().Value, Pos: p}
	default:
		b.Fault(p, "this is not part of the design language")
		return &Node{Kind: NullNode, Pos: p}
	}
}

func (b *treeBuilder) mapping(values []*ast.MappingValueNode, p Pos, depth int) *Node {
	out := &Node{Kind: MapNode, Pos: p}
	first := make(map[string]Pos, len(values))
	for _, v := range values {
		at := b.pos(v.Key.GetToken())
		switch v.Key.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.BoolNode, *ast.NullNode, *ast.FloatNode:
		default:
			b.Fault(at, "a key must be a plain name")
			continue
		}
		key := v.Key.GetToken().Value
		if before, twice := first[key]; twice {
			b.Hint(at, "", "duplicate key %q: already on line %d", key, before.Line)
			continue
		}
		first[key] = at
		value := b.node(v.Value, depth+1)
		if value.Kind == NullNode && !b.written(value.Pos) {
			value.Pos = at
		}
		out.Entries = append(out.Entries, Entry{Key: key, Pos: at, Value: value})
	}
	return out
}

// written reports whether the null at p was written, as opposed to an omitted value, which has no position.
func (b *treeBuilder) written(p Pos) bool {
	line := b.Source.line(p.Line)
	return p.Column <= len(line) && strings.IndexByte("nN~", line[p.Column-1]) >= 0
}

// pos is the position of a token. The library counts columns in characters, and is off by a line or some columns if white
// space ends a line: the text there decides.
func (b *treeBuilder) pos(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{1, 1}
	}
	line, column := b.Source.line(t.Position.Line), 1
	for range t.Position.Column - 1 {
		_, n := utf8.DecodeRuneInString(line[column-1:])
		column += n
	}
	p := Pos{max(t.Position.Line, 1), column}
	word, _, _ := strings.Cut(strings.TrimSpace(t.Origin), "\n")
	if word == "" || strings.HasPrefix(line[column-1:], word) {
		return p
	}
	for n := p.Line; n > max(p.Line-3, 0); n-- {
		if at := strings.LastIndex(b.Source.line(n), word); at >= 0 {
			return Pos{n, at + 1}
		}
	}
	return p
}
