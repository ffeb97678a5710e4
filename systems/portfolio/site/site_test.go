package site

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMarkdown: any text becomes HTML that a page can show.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"# One\n\n## Two":                     "<h2>One</h2>\n<h3>Two</h3>\n",
		"### One\n\n##### Two\n\n### Three":   "<h2>One</h2>\n<h3>Two</h3>\n<h2>Three</h2>\n",
		"### One\n\n# Two":                    "<h2>One</h2>\n<h2>Two</h2>\n",
		"`x` **y** ~~z~~":                     "<p><code>x</code> <strong>y</strong> <del>z</del></p>\n",
		"```go\nx < y\n```":                   "<pre tabindex=\"0\"><code class=\"language-go\">x &lt; y\n</code></pre>\n",
		"<script>alert(1)</script>":           "\n",
		"a <b onclick=x>b</b>":                "<p>a b</p>\n",
		"[x](javascript:alert(1))":            "<p>x</p>\n",
		"[x](https://example.com)":            "<p><a href=\"https://example.com\" rel=\"nofollow noreferrer\">x</a></p>\n",
		"![x](https://example.com/a.png)":     "<p><a href=\"https://example.com/a.png\" rel=\"nofollow noreferrer\">x</a></p>\n",
		"![x](//example.com/a.png)":           "<p><a href=\"//example.com/a.png\" rel=\"nofollow noreferrer\">x</a></p>\n",
		"![x](https&#58;//example.com/a.png)": "<p><a href=\"https://example.com/a.png\" rel=\"nofollow noreferrer\">x</a></p>\n",
		"![x](https\\://example.com/a.png)":   "<p><a href=\"https://example.com/a.png\" rel=\"nofollow noreferrer\">x</a></p>\n",
		"![x](&#x2f;&sol;example.com/a.png)":  "<p><a href=\"//example.com/a.png\" rel=\"nofollow noreferrer\">x</a></p>\n",
		"![x](data:image/png;base64,AA)":      "<p>x</p>\n",
		"![x](../images/a.png)":               "<p><img loading=\"lazy\" decoding=\"async\" src=\"../images/a.png\" alt=\"x\"></p>\n",
		"|a|\n|-|\n|b|":                       "<div class=\"prose-wide\" tabindex=\"0\"><table>",
		"<pre>":                               "",
	} {
		got := string(Markdown(source))
		if strings.HasPrefix(source, "|") {
			got = got[:min(len(got), len(want))]
		}
		if got != want && strings.TrimSpace(got+want) != "" {
			t.Errorf("%q became %q, want %q", source, got, want)
		}
	}
}

// TestImages: an image of this site is found however its address is written, so that it is kept.
func TestImages(t *testing.T) {
	t.Parallel()
	const id = "01KDZ2CN800000000000000001"
	for _, source := range []string{"![x](../images/" + id + ")", "![x](..&#47;images/" + id + ")", "![x][1]\n\n[1]: \\../images/" + id} {
		if got := Images(source); !slices.Equal(got, []string{id}) || !strings.Contains(string(Markdown(source)), `src="../images/`+id) {
			t.Errorf("%q shows %q: %s", source, got, Markdown(source))
		}
	}
}

// TestAddress: an address contains the title for people, but finds its post whatever the title.
func TestAddress(t *testing.T) {
	t.Parallel()
	const id = "01KDZ2CN800000000000000001"
	for title, want := range map[string]string{
		"¿Qué es una caché?": "que-es-una-cache-", "  Go 1.26: lo nuevo ": "go-1-26-lo-nuevo-", "日本語": "", "—": "", "Ñandú": "nandu-",
		strings.Repeat("palabra ", 30): strings.Repeat("palabra-", 8),
	} {
		got := Address(title, id)
		if got != want+strings.ToLower(id) {
			t.Errorf("%q is at %s, want %s", title, got, want)
		}
		if back, ok := postOf(got); !ok || back != id {
			t.Errorf("%s leads to %q", got, back)
		}
	}
	for _, bad := range []string{"", "x", "que-es", "81kdz2cn800000000000000001", "x01kdz2cn800000000000000001", strings.Repeat("x", 10_000)} {
		if id, ok := postOf(bad); ok {
			t.Errorf("%.40q leads to %s", bad, id)
		}
	}
}

// TestWords: all languages have the same messages and placeholders, and pages use only these.
func TestWords(t *testing.T) {
	t.Parallel()
	all := readCatalogues()
	places := regexp.MustCompile(`\{\w+\}`)
	keys := slices.Sorted(maps.Keys(all["en"].messages))
	for language, c := range all {
		if got := slices.Sorted(maps.Keys(c.messages)); !slices.Equal(got, keys) {
			t.Errorf("%s has other messages than en", language)
		}
		for key, text := range c.messages {
			in, want := places.FindAllString(text, -1), places.FindAllString(all["en"].messages[key], -1)
			slices.Sort(in)
			slices.Sort(want)
			if text == "" || !slices.Equal(in, want) {
				t.Errorf("%s: %s has the places %v, want %v", language, key, in, want)
			}
		}
	}
	used := regexp.MustCompile(`Say "([\w.]+)"|Count "([\w.]+)"`)
	entries, _ := pageFiles.ReadDir("pages")
	for _, e := range entries {
		text, _ := pageFiles.ReadFile("pages/" + e.Name())
		for _, found := range used.FindAllStringSubmatch(string(text), -1) {
			key := found[1]
			if found[2] != "" {
				key = found[2] + ".other"
			}
			if _, ok := all["en"].messages[key]; !ok {
				t.Errorf("%s says %q, which is no message", e.Name(), key)
			}
		}
	}
}
