package portfolio

import (
	"embed"
	"strings"
	"sync"
)

// sampleFiles are posts, each a title, an excerpt and the text; what readers say, a line each; and the text of second posts.
//
//go:embed sample
var sampleFiles embed.FS

// sampleText is what a post of the sample says.
type sampleText struct{ title, excerpt, body string }

// sampleTexts are of the subjects in their order, and again from the first.
var sampleTexts = sync.OnceValue(func() (texts []sampleText) {
	entries, err := sampleFiles.ReadDir("sample")
	if err != nil {
		panic(err) // they are in the program
	}
	for _, e := range entries {
		title, rest, ok := strings.Cut(strings.TrimPrefix(sampleFile(e.Name()), "# "), "\n\n")
		if !ok || e.Name()[0] < '0' || e.Name()[0] > '9' {
			continue
		}
		excerpt, body, _ := strings.Cut(rest, "\n\n")
		texts = append(texts, sampleText{title, excerpt, body})
	}
	return texts
})

// sampleRemarks are what readers say.
var sampleRemarks = sync.OnceValue(func() []string { return strings.Split(sampleFile("remarks.txt"), "\n") })

// sampleBody is the text of a post of a block; that of a second post answers questions on the first.
func sampleBody(block int, second bool) string {
	texts := sampleTexts()
	text := texts[block%len(texts)]
	if second {
		return strings.ReplaceAll(sampleFile("answers.md"), "{title}", text.title)
	}
	return text.body
}

func sampleFile(name string) string {
	text, err := sampleFiles.ReadFile("sample/" + name)
	if err != nil {
		panic(err) // it is in the program
	}
	return strings.TrimSpace(string(text))
}
