package gallery_test

import (
	"errors"
	"testing"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/gallery"
)

// TestComments: a comment on a post or on a photo is made only where what it names is there.
func TestComments(t *testing.T) {
	ctx := t.Context()
	server, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	for _, in := range gallery.CreateTables(gallery.Config{}) {
		if _, err := server.Client().CreateTable(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	db, err := gallery.New(server.Client(), gallery.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const post, photo, first, second = "01HV6X3Z5Q8Y9W2T4R6P8N0M1K", "01HV6X3Z5Q8Y9W2T4R6P8N0M1N", "01HV6X3Z5Q8Y9W2T4R6P8N0M1P", "01HV6X3Z5Q8Y9W2T4R6P8N0M1Q"
	if err := db.Tx(ctx, db.Op.Publish(gallery.PublishInput{PostID: post, AuthorID: "u-1", Text: "x"})); !errors.Is(err, gallery.ErrNoSuchUser) {
		t.Errorf("a post of nobody: %v", err)
	}
	if _, err := db.Join(ctx, gallery.JoinInput{UserID: "u-1", Name: "Ana"}); err != nil {
		t.Fatal(err)
	}
	err = db.Tx(ctx,
		db.Op.Upload(gallery.UploadInput{PhotoID: photo, OwnerID: "u-1", URL: "x"}),
		db.Op.Publish(gallery.PublishInput{PostID: post, AuthorID: "u-1", Text: "x"}))
	if !errors.Is(err, table.ErrOverlap) { // both ask for the user
		t.Errorf("two that check one user: %v", err)
	}
	if _, err := db.Upload(ctx, gallery.UploadInput{PhotoID: photo, OwnerID: "u-1", URL: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.CommentOnPost(ctx, gallery.CommentOnPostInput{TargetID: photo, CommentID: first, WriterID: "u-1", Text: "x"}); !errors.Is(err, gallery.ErrPostNotFound) {
		t.Errorf("a comment on a photo as on a post: %v", err)
	}
	if _, err := db.CommentOnPhoto(ctx, gallery.CommentOnPhotoInput{TargetID: photo, CommentID: second, WriterID: "u-1", Text: "x"}); err != nil {
		t.Error(err)
	}
	page, err := db.CommentsOn(ctx, gallery.CommentsOnInput{TargetID: photo}, table.PageOptions{})
	if err != nil || len(page.Items) != 1 || page.Items[0].CommentID != second {
		t.Errorf("the photo's comments are %v, %v", page, err)
	}
}
