// Package portfolio is Portfolio, a blog's back end: posts in categories, what readers say of them, and the notifications of
// it.
//
// # Model
//
//	POST /posts ──▶ draft ──▶ published ──▶ archived
//	                  │           │            ╰ can be read, and takes no more comments and likes
//	                  │           ├ comments and likes, counted in the transactions that make them
//	                  │           │     │ the table's stream
//	                  │           │     ▼
//	                  │           │   notifications ──▶ Notification of the author
//	                  │           ╰ in the index by status, and in that by category
//	                  ╰ visible to its author alone, in no index
//
// What is stored, and how it is asked for, stands in portfolio.design.yaml; package portfoliodb is generated from it, and is
// the only way to the data. The API is the table in routes.go, with what requests say; answers.go lists what is shown. Domain
// functions (posts.go, comments.go, …) take the caller and such a request as values, and know no HTTP. Package site is the blog
// that readers see.
//
// # Invariants
//
//	P1  A draft is returned to its author alone: data access finds what is visible to everyone, or to the caller.
//	P2  A post is changed by its author alone: the write's condition says so.
//	P3  The numbers of likes and comments are exact; a user likes a post once.
//	P4  A request key makes one post or comment, however often and by how many at once it is sent.
//	P5  A comment or like of somebody else notifies the author once, however often its record is delivered.
//	P6  A comment is taken back by who has made it, by the author of the post, and by administrators.
//	P7  An address is one user's, a slug one category's.
//
// All of the package may be used from any number of goroutines.
package portfolio

import (
	"context"
	"crypto/rand"
	"embed"
	"log/slog"
	"net/http"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/systems/internal/auth"
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

// AdminGroup is the group of administrators, who manage the categories, take back comments and look up users by e-mail
// address.
const AdminGroup = Name + "-admin"

//go:embed words
var wordsFiles embed.FS

// The codes of problems that Portfolio has beside those of all systems.
const (
	CodeEmailTaken     = "email_taken"
	CodeSlugTaken      = "slug_taken"
	CodeNoSuchCategory = "no_such_category"
	CodeNotDraft       = "not_draft"
	CodeNotPublished   = "not_published"
	CodePostArchived   = "post_archived"
)

// service is the open system.
type service struct {
	db     *portfoliodb.DB
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
			{Err: portfoliodb.ErrNotTheAuthor, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: "a post is changed by its author"},
			{Err: portfoliodb.ErrNotTheCommenter, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: "a comment is taken back by who has made it, or by the post's author"},
			{Err: portfoliodb.ErrNoSuchPost, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: "there is no such post"},
			{Err: portfoliodb.ErrNotificationOver, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: "the notification is gone"},
			{Err: portfoliodb.ErrPostArchived, Code: CodePostArchived, Detail: "the post is archived: it can be read and no more"},
			{Err: portfoliodb.ErrNotDraft, Code: CodeNotDraft, Detail: "what is published must be a draft"},
			{Err: portfoliodb.ErrNotPublished, Code: CodeNotPublished, Detail: "what is archived must be published"},
			{Err: portfoliodb.ErrUserEmailTaken, Code: CodeEmailTaken, Detail: "the address is another user's"},
			{Err: portfoliodb.ErrCategorySlugTaken, Code: CodeSlugTaken, Detail: "the slug is another category's"},
		},
		Words:    words.Must(wordsFiles, "words"),
		Open:     func(_ context.Context, d system.Deps) (*system.Service, error) { return open(d) },
		Examples: examples(),
		Load:     loadPlan(),
	}
}

func examples() []system.Example {
	return []system.Example{
		{
			Title: "Make a category, as an administrator", Method: http.MethodPut, Path: "/categories/cat-123",
			Body: `{"slug":"go","name":"Go"}`, Groups: []string{AdminGroup},
		},
		{
			Title: "Write a post", Method: http.MethodPost, Path: "/posts", Header: map[string]string{"Idempotency-Key": "first"},
			Body: `{"title":"Primeiros passos em Go","excerpt":"Do zero ao primeiro teste.","body":"Instale o Go.","categoryId":"cat-123"}`,
		},
		{Title: "Your drafts", Method: http.MethodGet, Path: "/me/posts?status=draft"},
		{Title: "Published posts, newest first", Method: http.MethodGet, Path: "/posts?limit=5"},
		{Title: "Say who you are", Method: http.MethodPut, Path: "/me", Body: `{"email":"` + exampleEmail + `","name":"Ana Souza","bio":"Escreve sobre Go."}`},
	}
}

func tables() []system.Table {
	return system.Tables(portfoliodb.CreateTables(portfoliodb.Config{}), portfoliodb.TimeToLive(portfoliodb.Config{}))
}

func open(d system.Deps) (*system.Service, error) {
	db, err := portfoliodb.New(d.DynamoDB, portfoliodb.Config{CursorKey: d.CursorKey, Caller: auth.CursorOwner, Clock: d.Clock, Observe: d.Observe})
	if err != nil {
		return nil, err
	}
	s := &service{db: db, clock: d.Clock, logger: d.Logger}
	blog := site.New(site.Options{DB: db, Logger: d.Logger, PublicURL: d.PublicURL})
	return &system.Service{
		Register: s.routes, Pages: blog.Pages(), Front: blog.Front(),
		Personal: &personal.Data{DB: db, Kept: portfoliodb.PersonKept()},
		Streams:  []system.Stream{{Name: "notifications", Table: *tables()[0].Create.TableName, Handle: s.notifyBatch}},
		Sample:   seed.Sample{Records: sample, Load: db.Load},
	}, nil
}

// newID is a ULID of the present.
func (s *service) newID() string {
	return ulid.MustNew(ulid.Timestamp(s.clock()), rand.Reader).String() // a time of ours fits, and chance does not fail
}
