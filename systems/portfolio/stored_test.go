package portfolio_test

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

const tableName = "portfolio-backend-table"

// stored is the table's entire content.
type stored struct {
	users         map[string]portfoliodb.User
	posts, copies map[string]portfoliodb.Post // by postId
	contents      map[string]string           // by postId
	comments      map[string]portfoliodb.Comment
	likes         map[string][]string // users by postId
	categories    map[string]portfoliodb.Category
	notifications map[string]portfoliodb.Notification
	images        map[string]portfoliodb.Image
	albums        map[string]int64               // number of images by user
	requests      map[string]portfoliodb.Request // by user and key
	emails, slugs map[string]string              // users and categories by their unique values
	byStatus      map[string]string              // statuses of the posts in GSI1
	byCategory    map[string]string              // categories of the posts in GSI2
}

// scan reads the whole table and its indexes.
func scan(tb testing.TB, v *apitest.Server) stored {
	tb.Helper()
	s := stored{
		users: map[string]portfoliodb.User{}, posts: map[string]portfoliodb.Post{}, copies: map[string]portfoliodb.Post{},
		contents: map[string]string{}, comments: map[string]portfoliodb.Comment{}, likes: map[string][]string{},
		categories: map[string]portfoliodb.Category{}, notifications: map[string]portfoliodb.Notification{},
		images: map[string]portfoliodb.Image{}, albums: map[string]int64{}, requests: map[string]portfoliodb.Request{}, emails: map[string]string{}, slugs: map[string]string{},
		byStatus: map[string]string{}, byCategory: map[string]string{},
	}
	for it := range items(tb, v, "") {
		s.take(tb, it)
	}
	for it := range items(tb, v, "GSI1") {
		if status, ok := it["status"]; ok {
			s.byStatus[text(it["postId"])] = text(status)
		}
	}
	for it := range items(tb, v, "GSI2") {
		if category, ok := it["categoryId"]; ok { // not a comment
			s.byCategory[text(it["postId"])] = text(category)
		}
	}
	return s
}

// take adds an item of the table.
func (s stored) take(tb testing.TB, it table.Item) {
	tb.Helper()
	x, place, err := portfoliodb.Decode(it)
	if err != nil {
		tb.Fatal(err)
	}
	switch x := x.(type) {
	case portfoliodb.User:
		if place.Kind == table.MarkerPlace {
			s.emails[text(it["PK"])] = x.UserID
		} else {
			s.users[x.UserID] = x
		}
	case portfoliodb.Post:
		if place.Kind == table.CopyPlace {
			s.copies[x.PostID] = x
		} else {
			s.posts[x.PostID] = x
		}
	case portfoliodb.PostContent:
		s.contents[x.PostID] = x.Body
	case portfoliodb.Comment:
		s.comments[x.CommentID] = x
	case portfoliodb.Like:
		s.likes[x.PostID] = append(s.likes[x.PostID], x.UserID)
	case portfoliodb.Category:
		if place.Kind == table.MarkerPlace {
			s.slugs[text(it["PK"])] = x.CategoryID
		} else {
			s.categories[x.CategoryID] = x
		}
	case portfoliodb.Notification:
		s.notifications[x.NotificationID] = x
	case portfoliodb.Bookmark:
	case portfoliodb.Act:
	case portfoliodb.Image:
		s.images[x.ImageID] = x
	case portfoliodb.Album:
		s.albums[x.UserID] = x.Images
	case portfoliodb.Request:
		s.requests[x.UserID+" "+x.RequestKey] = x
	default:
		tb.Errorf("an item of no entity: %v", it)
	}
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// items returns a scan's items.
func items(tb testing.TB, v *apitest.Server, index string) iter.Seq[table.Item] {
	tb.Helper()
	return v.Database.Items(tb, tableName, index)
}

// sound fails the test unless the stored data is consistent.
func (s stored) sound(tb testing.TB) {
	tb.Helper()
	s.postsSound(tb)
	for id, u := range s.users {
		if got := s.emails["EMAIL#"+strings.ToLower(u.Email)]; got != id {
			tb.Errorf("the address %s of %s is %q's", u.Email, id, got)
		}
	}
	posts := map[string]int64{}
	for _, p := range s.posts {
		posts[p.CategoryID]++
	}
	for id, c := range s.categories {
		if c.PostCount != posts[id] {
			tb.Errorf("%d posts are in %s, which counts %d", posts[id], id, c.PostCount)
		}
		if got := s.slugs["CATEGORY#SLUG#"+c.Slug]; got != id {
			tb.Errorf("the slug %s of %s is %q's", c.Slug, id, got)
		}
	}
	if len(s.emails) != len(s.users) || len(s.slugs) != len(s.categories) {
		tb.Errorf("%d addresses of %d users, %d slugs of %d categories", len(s.emails), len(s.users), len(s.slugs), len(s.categories))
	}
	owned := map[string]int64{}
	for _, is := range s.images {
		owned[is.UserID]++
	}
	for user, n := range s.albums {
		if n != owned[user] {
			tb.Errorf("%s has %d images, and counts %d", user, owned[user], n)
		}
	}
	for _, n := range s.notifications {
		if p := s.posts[n.PostID]; n.UserID != p.UserID || n.ActorID == n.UserID {
			tb.Errorf("%+v, of a post of %q", n, p.UserID)
		}
	}
}

// postsSound checks posts: counts are exact, copies are equal, and indexes contain only what they may contain.
func (s stored) postsSound(tb testing.TB) {
	tb.Helper()
	comments := map[string]int64{}
	for _, c := range s.comments {
		if c.AuthorID != s.posts[c.PostID].UserID {
			tb.Errorf("%+v is of a post of %q", c, s.posts[c.PostID].UserID)
		}
		if c.HiddenAt == nil {
			comments[c.PostID]++
		}
	}
	if len(s.copies) != len(s.posts) || len(s.contents) != len(s.posts) {
		tb.Errorf("%d posts, %d copies, %d contents", len(s.posts), len(s.copies), len(s.contents))
	}
	for id, p := range s.posts {
		if p.CommentCount != comments[id] || p.LikeCount != int64(len(s.likes[id])) {
			tb.Errorf("%s has %d comments and %d likes, and says %d and %d", id, comments[id], len(s.likes[id]), p.CommentCount, p.LikeCount)
		}
		whole := p
		whole.VisibleTo, whole.LikeCount, whole.CommentCount = "", 0, 0 // not part of the copy
		for _, image := range p.Images {
			if is := s.images[image]; is.UserID != p.UserID || is.State != portfoliodb.ImageStateReady {
				tb.Errorf("%s shows %s, which is %+v", id, image, is)
			}
		}
		if p.CoverID != nil && !slices.Contains(p.Images, *p.CoverID) {
			tb.Errorf("the cover %s of %s is not among its images", *p.CoverID, id)
		}
		if !reflect.DeepEqual(s.copies[id], whole) {
			tb.Errorf("the copy of %+v is %+v", whole, s.copies[id])
		}
		status, category, visible := string(p.Status), "", "*"
		switch p.Status {
		case portfoliodb.PostStatusDraft:
			status, visible = "", p.UserID
		case portfoliodb.PostStatusPublished:
			category = p.CategoryID
		case portfoliodb.PostStatusArchived:
		}
		if s.byStatus[id] != status || s.byCategory[id] != category || p.VisibleTo != visible {
			tb.Errorf("%+v is in the indexes as %q and %q, want %q and %q, and visible to %s, want %s", p, s.byStatus[id], s.byCategory[id], status, category, p.VisibleTo, visible)
		}
	}
}
