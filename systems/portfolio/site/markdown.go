package site

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// wordsAMinute is a typical reading speed on screens.
const wordsAMinute = 220

// lowestHeading is HTML's smallest heading.
const lowestHeading = 6

// Markdown renders a post's text as sanitised HTML, and drops HTML in the text. Headings begin at the second level, because the
// title is the first, and no level is skipped. An image from another origin becomes a link, because pages load nothing from other
// origins.
func Markdown(source string) template.HTML {
	var out bytes.Buffer
	if err := converter().Convert([]byte(source), &out); err != nil {
		return template.HTML("<p>" + template.HTMLEscapeString(source) + "</p>") //nolint:gosec // it is escaped
	}
	clean := policy().SanitizeBytes(out.Bytes())
	return template.HTML(scrollable.Replace(string(clean))) //nolint:gosec // it is sanitised
}

// Images returns the ids in a text of images that are stored here.
func Images(source string) (ids []string) {
	document := converter().Parser().Parse(text.NewReader([]byte(source)))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			if found := imageForm.FindStringSubmatch(addressOf(image)); found != nil {
				ids = append(ids, found[1])
			}
		}
		return ast.WalkContinue, nil
	})
	return ids
}

// addressOf returns an image's address as it is rendered: without escapes such as &#58; or \:.
func addressOf(image *ast.Image) string { return string(util.URLEscape(image.Destination, true)) }

var imageForm = regexp.MustCompile(`^\.\./images/([0-7][0-9A-HJKMNP-TV-Z]{25})$`)

// Minutes returns a text's reading time, which is at least one.
func Minutes(source string) int {
	return max(1, (len(strings.Fields(source))+wordsAMinute/2)/wordsAMinute)
}

// scrollable makes wide content scrollable by keyboard and lets images load lazily. In sanitised HTML, < only begins tags.
var scrollable = strings.NewReplacer("<img ", `<img loading="lazy" decoding="async" `, "<pre>", `<pre tabindex="0">`, "<table>", `<div class="prose-wide" tabindex="0"><table>`, "</table>", "</table></div>")

var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(fitted{}, 1))),
	)
})

var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "em", "strong", "del", "blockquote", "ul", "ol", "li", "pre", "code",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9+#-]{1,30}$`)).OnElements("code")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	return p
})

// fitted adapts a text to a page that has its own title.
type fitted struct{}

// Transform implements parser.ASTTransformer.
func (fitted) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var foreign []*ast.Image
	var headings []*ast.Heading
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings = append(headings, n)
		case *ast.Image:
			if to := addressOf(n); strings.Contains(to, ":") || strings.HasPrefix(to, "//") {
				foreign = append(foreign, n)
			}
		}
		return ast.WalkContinue, nil
	})
	fitHeadings(headings)
	for _, image := range foreign {
		link := ast.NewLink()
		link.Destination = image.Destination
		for child := image.FirstChild(); child != nil; child = image.FirstChild() {
			link.AppendChild(link, child)
		}
		if link.FirstChild() == nil {
			link.AppendChild(link, ast.NewString(image.Destination))
		}
		parent := image.Parent()
		parent.ReplaceChild(parent, image, link)
	}
}

// fitHeadings shifts headings so that the highest is at the second level, and none is more than one level below its predecessor.
func fitHeadings(headings []*ast.Heading) {
	highest := lowestHeading
	for _, h := range headings {
		highest = min(highest, h.Level)
	}
	before := 1
	for _, h := range headings {
		h.Level = min(h.Level-highest+2, before+1, lowestHeading) //nolint:mnd // the second level
		before = h.Level
	}
}
