package portfolio_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/portfolio"
)

// template is how Portfolio is deployed: the patterns that each function calls.
func template(v *apitest.Server) sam.Template {
	return sam.Template{
		Name: portfolio.Name, AdminGroup: portfolio.AdminGroup, Title: "Portfolio", Design: "portfolio.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData":     {"ExportPerson"},
			"eraseOwnData":      {"ErasePerson"},
			"getProfile":        {"UserByID"},
			"putProfile":        {"SaveProfile"},
			"findUser":          {"UserByEmail"},
			"getUser":           {"UserByID"},
			"listCategories":    {"Categories"},
			"getCategory":       {"CategoryByID"},
			"findCategory":      {"CategoryBySlug"},
			"putCategory":       {"SaveCategory"},
			"listPosts":         {"PostsByStatus"},
			"listCategoryPosts": {"PostsByCategory"},
			"listOwnPosts":      {"PostsByAuthor"},
			"writePost":         {"WritePost"},
			"getPost":           {"PostPage"},
			"editPost":          {"EditPost"},
			"putPostStatus":     {"PublishPost", "ArchivePost"},
			"previewPost":       {},
			"getMine":           {"LikeOfUser", "BookmarkOfPost", "UserByID"},
			"listComments":      {"CommentsOfPost", "PostMetadata"},
			"addComment":        {"AddComment"},
			"deleteComment":     {"DeleteComment", "PostMetadata"},
			"listUserComments":  {"CommentsOfUser"},
			"getLike":           {"LikeOfUser"},
			"putLike":           {"LikePost"},
			"deleteLike":        {"UnlikePost"},
			"listLikes":         {"LikesOfPost", "PostMetadata"},
			"listOwnLikes":      {"LikesOfUser"},
			"listBookmarks":     {"Bookmarks"},
			"getBookmark":       {"BookmarkOfPost"},
			"putBookmark":       {"PostMetadata", "AddBookmark"},
			"deleteBookmark":    {"RemoveBookmark"},
			"listNotifications": {"Notifications", "UserByID", "PostMetadata"},
			"patchNotification": {"MarkNotification"},
		},
		Streams: []sam.Stream{{
			Name: "notifications", Table: "portfolio-backend-table", Patterns: []string{"PostMetadata", "Notify"},
			Filter: `{"eventName":["INSERT"],"dynamodb":{"NewImage":{"entityType":{"S":["COMMENT","LIKE"]}}}}`,
		}},
	}
}

// TestTemplate: lambda/template.yaml is what the design and the API make it.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template(apitest.Open(t, portfolio.System())).Compare(t, "lambda/template.yaml")
}
