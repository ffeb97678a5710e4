package portfolio

import (
	"embed"
	"strings"
	"sync"
)

// sampleFiles are the sample's texts: posts, each with a title, an excerpt and a body, first those for the first post of a block
// and then those for the second; and readers' comments, one per line.
//
//go:embed sample
var sampleFiles embed.FS

// sampleText is the text of a sample post.
type sampleText struct{ title, excerpt, body string }

// sampleTexts cycle through the subjects in order.
var sampleTexts = sync.OnceValue(func() (texts []sampleText) {
	entries, err := sampleFiles.ReadDir("sample")
	if err != nil {
		panic(err) // they are embedded
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

// sampleRemarks are readers' comments.
var sampleRemarks = sync.OnceValue(func() []string { return strings.Split(sampleFile("remarks.txt"), "\n") })

func sampleFile(name string) string {
	text, err := sampleFiles.ReadFile("sample/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.TrimSpace(string(text))
}
