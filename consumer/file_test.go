package consumer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/consumer"
)

// TestFile tests that the last saved state is kept, and that no other files are left.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoints.json")
	file, err := consumer.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := consumer.Checkpoint{Since: time.UnixMilli(1_700_000_000_000).UTC()}
	for _, c := range []consumer.Checkpoint{{Sequence: "1"}, {Sequence: "2", Done: true}, want} {
		if err := file.Save(t.Context(), streamARN, "shard", c); err != nil {
			t.Fatal(err)
		}
	}
	if file, err = consumer.OpenFile(path); err != nil {
		t.Fatal(err)
	}
	if got, err := file.Load(t.Context(), streamARN); err != nil || got["shard"] != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v; want one file", entries, err)
	}
}

// TestFileFaults tests that an invalid file is not mistaken for an empty one.
func TestFileFaults(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{"{": "unexpected end", `{"format":2}`: "format 2"} {
		path := filepath.Join(dir, "checkpoints.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := consumer.OpenFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", content, err, want)
		}
	}
	file, err := consumer.OpenFile(filepath.Join(dir, "nowhere", "checkpoints.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Save(t.Context(), streamARN, "shard", consumer.Checkpoint{}); err == nil {
		t.Error("saved in a missing directory")
	}
}
