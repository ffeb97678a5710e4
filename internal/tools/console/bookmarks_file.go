package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const bookmarksMode = 0o644

// bookmarksFile keeps the bookmarks of all principals in a file. The history stays in the browser, because it does not belong in
// git.
type bookmarksFile struct{ name string }

// bookmarksText is the format of the file and of the page's exports.
type bookmarksText struct {
	Queries []query `json:"queries"`
}

// changingFile serializes changes of the file within the process.
var changingFile sync.Mutex

func (f *bookmarksFile) read(context.Context) (*keptQueries, error) {
	queries, err := f.load()
	return &keptQueries{In: "file", Bookmarks: queries, History: []query{}}, err
}

func (f *bookmarksFile) load() ([]query, error) {
	text, err := os.ReadFile(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return []query{}, nil
	}
	var kept bookmarksText
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return nil, &refusal{"BookmarksUnreadable", "The bookmarks file cannot be read: " + err.Error()}
	}
	if kept.Queries == nil {
		kept.Queries = []query{}
	}
	return kept.Queries, nil
}

func (f *bookmarksFile) change(_ context.Context, list string, change *queryChange) error {
	if list != bookmarks {
		return &refusal{"ValidationException", "The bookmarks file only holds bookmarks."}
	}
	changingFile.Lock()
	defer changingFile.Unlock()
	queries, err := f.load()
	if err != nil {
		return err
	}
	remove := slices.Clone(change.Remove)
	for _, q := range change.Add {
		remove = append(remove, q.Address)
	}
	queries = slices.DeleteFunc(queries, func(q query) bool { return slices.Contains(remove, q.Address) })
	for _, q := range change.Add {
		queries = append(queries, query{Title: q.Title, Address: q.Address}) // without the time, which would only make diffs longer
	}
	sortQueries(queries)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(bookmarksText{queries}); err != nil {
		return err
	}
	if err := replaceFile(f.name, text.Bytes()); err != nil {
		return &refusal{"BookmarksUnwritable", "The bookmarks file cannot be written: " + err.Error()}
	}
	return nil
}

// replaceFile writes a file atomically.
func replaceFile(name string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".bookmarks-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(bookmarksMode), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}
