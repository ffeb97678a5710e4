package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
)

const (
	bookmarksMax  = 1 << 20
	bookmarksMode = 0o644
)

// bookmarks is the file of saved queries. Its JSON is only interpreted by the page.
func (c *Console) bookmarks(w http.ResponseWriter, _ *http.Request) {
	text, err := os.ReadFile(c.options.Bookmarks)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(`{"queries":[]}`), nil
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "BookmarksUnreadable", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text)
}

func (c *Console) setBookmarks(w http.ResponseWriter, r *http.Request) {
	if c.options.ReadOnly {
		refuse(w, http.StatusForbidden, "ReadOnly", "The console is read-only: it does not change bookmarks.")
		return
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, bookmarksMax+1))
	switch {
	case err != nil || len(text) > bookmarksMax:
		refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLarge", fmt.Sprintf("The bookmarks could not be read, or have more than %d MB.", bookmarksMax>>20))
		return
	case !json.Valid(text):
		refuse(w, http.StatusBadRequest, "ValidationException", "The bookmarks are not JSON.")
		return
	}
	if err := replaceFile(c.options.Bookmarks, text); err != nil {
		refuse(w, http.StatusInternalServerError, "BookmarksUnwritable", err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
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
