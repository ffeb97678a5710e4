// Package portfolio is Portfolio, a blog's back end: posts in categories, comments and likes, and notifications.
//
// # Model
//
//	POST /posts ──▶ draft ──▶ published ──▶ archived
//	                  │           │            ╰ can be read, but accepts no more comments and likes
//	                  │           ├ comments and likes, counted in the transactions that create them
//	                  │           │     │ the table's stream
//	                  │           │     ▼
//	                  │           │   notifications ──▶ Notification of the author
//	                  │           ╰ in the indexes by status and by category
//	                  ╰ visible only to its author, in no index
//
// portfolio.design.yaml declares what is stored and how it is accessed. Package portfoliodb is generated from it and is the only
// code that accesses the data. The API is the table in routes.go, with its request types; responses.go has the response types.
// Domain functions (posts.go, comments.go, …) take the caller and a request as values, and do not depend on HTTP. Package site is
// the blog for readers.
//
// # Invariants
//
//	P1  A draft is returned only to its author: data access finds what is visible to everyone or to the caller.
//	P2  A post is changed only by its author: the write's condition ensures it.
//	P3  The numbers of likes and comments are exact; a user likes a post once.
//	P4  A request key creates one post or comment, however often and concurrently it is sent.
//	P5  A comment or like by someone else notifies the author once, however often its record is delivered.
//	P6  A comment can be deleted by its author; it can be hidden, restored and deleted by the post's author and by
//	    administrators. Other users do not see a hidden comment.
//	P7  An image used by a post or profile belongs to its author, and is kept as long as it is used. An unused one is removed
//	    after some days, then its bytes. A user has at most mostOwned images.
//	P8  An address belongs to one user, a slug to one category. Every post's category exists.
//
// The package is safe for concurrent use.
package portfolio

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/bucket"
	"github.com/monotable/monotable/systems/internal/personal"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/words"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
	"github.com/monotable/monotable/systems/portfolio/site"
)

//go:generate go run ../../cmd/monotable generate portfolio.design.yaml -o portfoliodb
//go:generate go test -run TestTemplate -update .

// Name is the system's name.
const Name = "portfolio"

// AdminGroup is the group of administrators, who manage categories, moderate comments and look up users by e-mail address.
const AdminGroup = Name + "-admin"

// bucketVariable is the environment variable for the images' location: s3://NAME or a directory. The default is a directory
// beside the database.
const bucketVariable = "PORTFOLIO_BUCKET"

//go:embed words
var wordsFiles embed.FS

// The problem codes specific to Portfolio.
const (
	CodeEmailTaken     = "email_taken"
	CodeSlugTaken      = "slug_taken"
	CodeNoSuchCategory = "no_such_category"
	CodeCategoryUsed   = "category_used"
	CodeNotUploaded    = "not_uploaded"
	CodeNotAnImage     = "not_an_image"
	CodeImageTooLarge  = "image_too_large"
	CodeNoSuchImage    = "no_such_image"
	CodeTooManyImages  = "too_many_images"
	CodeNotDraft       = "not_draft"
	CodeNotPublished   = "not_published"
	CodePostArchived   = "post_archived"
)

// service is the running system.
type service struct {
	db     *portfoliodb.DB
	files  bucket.Store // for images
	covers drawnCovers  // for samples
	clock  func() time.Time
	logger *slog.Logger
}

// System is Portfolio.
func System() system.System {
	return system.System{
		Name: Name, Title: "Portfolio", Version: "1.0.0", AdminGroup: AdminGroup,
		About:  "A blog's back end: posts in categories, comments, likes, bookmarks and notifications.",
		Tables: func(string) []system.Table { return tables() },
		Rules: problem.Rules{
			{Err: portfoliodb.ErrNotTheAuthor, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: "only the author can change a post"},
			{Err: portfoliodb.ErrNotTheCommenter, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: "only its author or the post's author can delete a comment"},
			{Err: portfoliodb.ErrNotTheModerator, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: "only the post's author can hide a comment"},
			{Err: portfoliodb.ErrNoSuchCategory, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: "the category does not exist"},
			{Err: portfoliodb.ErrCategoryUsed, Code: CodeCategoryUsed, Detail: "the category has posts: move them to another one first"},
			problem.ChangedSince(portfoliodb.ErrPostChanged),
			{Err: portfoliodb.ErrNoSuchPost, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: "the post does not exist"},
			{Err: portfoliodb.ErrNotificationOver, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: "the notification no longer exists"},
			{Err: portfoliodb.ErrPostArchived, Code: CodePostArchived, Detail: "the post is archived and read-only"},
			{
				Err: portfoliodb.ErrTooManyImages, Code: CodeTooManyImages,
				Detail: "you have the maximum of 500 images: reuse one, or wait a week until unused ones are removed",
			},
			{Err: portfoliodb.ErrNotDraft, Code: CodeNotDraft, Detail: "only a draft can be published"},
			{Err: portfoliodb.ErrNotPublished, Code: CodeNotPublished, Detail: "only a published post can be archived"},
			{Err: portfoliodb.ErrUserEmailTaken, Code: CodeEmailTaken, Detail: "the address belongs to another user"},
			{Err: portfoliodb.ErrCategorySlugTaken, Code: CodeSlugTaken, Detail: "the slug belongs to another category"},
		},
		Words:    words.Must(wordsFiles),
		Open:     open,
		Examples: examples(),
		Load:     loadPlan(),
	}
}

func examples() []system.Example {
	return []system.Example{
		{
			Title: "Create a category, as an administrator", Method: http.MethodPut, Path: "/categories/notas",
			Body: `{"slug":"notas","name":"Notas"}`, Groups: []string{AdminGroup},
		},
		{
			Title: "Write a post", Method: http.MethodPost, Path: "/posts", Header: map[string]string{"Idempotency-Key": "first"},
			Body: `{"title":"Primeiros passos em Go","excerpt":"Do zero ao primeiro teste.","body":"Instale o Go.","categoryId":"notas"}`,
		},
		{Title: "Your drafts", Method: http.MethodGet, Path: "/me/posts?status=draft"},
		{Title: "Published posts, newest first", Method: http.MethodGet, Path: "/posts?limit=5"},
		{Title: "Say who you are", Method: http.MethodPut, Path: "/me", Body: `{"email":"` + exampleEmail + `","name":"` + exampleName + `","bio":"Escreve sobre Go."}`},
	}
}

func tables() []system.Table {
	return system.Tables(portfoliodb.CreateTables(portfoliodb.Config{}), portfoliodb.TimeToLive(portfoliodb.Config{}), portfoliodb.Decode)
}

func open(ctx context.Context, d system.Deps) (*system.Service, error) {
	db, err := portfoliodb.New(d.DynamoDB, portfoliodb.Config{CursorKey: d.CursorKey, Caller: auth.CursorOwner, Clock: d.Clock, Observe: d.Observe})
	if err != nil {
		return nil, err
	}
	files, shut, err := bucket.Open(ctx, bucket.Options{Place: d.Getenv(bucketVariable), Dir: d.Dir, Secret: d.CursorKey, Clock: d.Clock})
	if err != nil {
		return nil, err
	}
	s := &service{db: db, files: files, clock: d.Clock, logger: d.Logger}
	blog := site.New(site.Options{DB: db, Logger: d.Logger, PublicURL: d.PublicURL})
	pages := blog.Pages()
	pages["GET /images/{id}"], pages["GET /images/{id}/small"] = s.serveImage(imageKey), s.serveImage(smallKey)
	var page system.Page
	if uploads, ok := files.(http.Handler); ok {
		pages["PUT /uploads/{id}"] = uploads
	} else {
		page.Uploads = []string{files.Origin()}
	}
	return &system.Service{
		Register: s.routes, Pages: pages, Front: blog.Front(), Page: page, Close: shut,
		Acts:      api.KeepActs(db.Op.KeepAct, db.Tx),
		Personal:  &personal.Data{DB: db, Kept: portfoliodb.PersonKept()},
		Streams:   []system.Stream{{Name: "changes", Table: *tables()[0].Create.TableName, Handle: s.follow}},
		Schedules: []system.Schedule{{Name: "images", Every: checkEvery, Run: s.checkImages}},
		Sample:    seed.Sample{Records: sample, Load: db.Load},
	}, nil
}

// follow handles changes of the table.
func (s *service) follow(ctx context.Context, b consumer.Batch) error {
	return errors.Join(s.notifyBatch(ctx, b), s.deleteFiles(ctx, b))
}

// newID returns a ULID of the current time.
func (s *service) newID() string {
	return ulid.MustNew(ulid.Timestamp(s.clock()), rand.Reader).String() // our times fit, and the random source does not fail
}
