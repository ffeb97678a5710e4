package web

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// pageHTML is the content of a page's HTML.
type pageHTML struct {
	Lang, Name string
	About      about
	Icon       string
	Files      Files
	Meta       string // JSON for the element meta page
	Data       string // JSON for the element meta data; omitted if empty
}

// String returns the HTML with every value escaped.
//
// It deliberately avoids html/template: a program that links a template engine keeps every exported method of every type, since
// a template may call any, which makes monotable 30 MB larger (see docs/decisions/0052-delivery.md).
func (p pageHTML) String() string {
	var b strings.Builder
	line := func(format string, values ...string) {
		escaped := make([]any, len(values))
		for i, value := range values {
			escaped[i] = html.EscapeString(value)
		}
		fmt.Fprintf(&b, format+"\n", escaped...)
	}
	line(`<!doctype html>`)
	line(`<html lang="%s" data-product="%s">`, p.Lang, p.Name)
	line(`<head>`)
	line(`<meta charset="utf-8">`)
	line(`<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">`)
	line(`<title>%s</title>`, p.About.Title)
	line(`<meta name="description" content="%s">`, p.About.Description)
	line(`<meta name="color-scheme" content="light dark">`)
	line(`<meta name="theme-color" content="%s">`, p.About.Colour)
	line(`<link rel="icon" href="%s">`, p.Icon)
	line(`<meta name="page" content="%s">`, p.Meta)
	if p.Data != "" {
		line(`<meta name="data" content="%s">`, p.Data)
	}
	for _, style := range p.Files.Styles {
		line(`<link rel="stylesheet" href="%s">`, style)
	}
	for _, module := range p.Files.Preload {
		line(`<link rel="modulepreload" href="%s">`, module)
	}
	line(`<script type="module" src="%s"></script>`, p.Files.Script)
	line(`</head>`)
	line(`<body>`)
	line(`<div id="app"></div>`)
	line(`<noscript>%s: %s (JavaScript)</noscript>`, p.About.Title, p.About.Description)
	line(`</body>`)
	line(`</html>`)
	return b.String()
}

// icon is the tab's icon: the product's first letter on its color.
func icon(title, colour string) string {
	return "data:image/svg+xml," + url.PathEscape(fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="%s"/>`+
			`<text x="16" y="23" font-family="sans-serif" font-weight="700" font-size="20" text-anchor="middle" fill="#fff">%s</text></svg>`, colour, title[:1]))
}
