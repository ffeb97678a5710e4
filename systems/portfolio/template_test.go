package portfolio_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/portfolio"
)

// template describes the deployment: which patterns each function calls.
func template(v *apitest.Server) sam.Template {
	const get, put, remove = "s3:GetObject", "s3:PutObject", "s3:DeleteObject"
	return sam.Template{
		Name: portfolio.Name, AdminGroup: portfolio.AdminGroup, Title: "Portfolio", Design: "portfolio.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData":        {"ExportPerson"},
			"eraseOwnData":         {"ErasePerson"},
			"getProfile":           {"UserByID"},
			"putProfile":           {"ImageByID", "CheckImageLater", "SaveProfile"},
			"listOwnImages":        {"ImagesOfUser"},
			"uploadImage":          {"AwaitImage"},
			"keepImage":            {"ImageByID", "KeepImage"},
			"findUser":             {"UserByEmail"},
			"getUser":              {"UserByID"},
			"listCategories":       {"Categories"},
			"getCategory":          {"CategoryByID"},
			"findCategory":         {"CategoryBySlug"},
			"putCategory":          {"SaveCategory", "KeepAct"},
			"placeCategory":        {"PlaceCategory", "CategoryByID", "KeepAct"},
			"deleteCategory":       {"DeleteCategory", "KeepAct"},
			"listPosts":            {"PostsByStatus"},
			"listCategoryPosts":    {"PostsByCategory"},
			"listOwnPosts":         {"PostsByAuthor"},
			"writePost":            {"ImageByID", "CheckImageLater", "WritePost"},
			"getPost":              {"PostPage", "CommentsUntil"},
			"editPost":             {"ImageByID", "CheckImageLater", "EditPost"},
			"putPostStatus":        {"PublishPost", "ArchivePost"},
			"previewPost":          {},
			"getMine":              {"LikeOfUser", "BookmarkOfPost", "UserByID"},
			"listComments":         {"CommentsOfPost", "PostMetadata"},
			"addComment":           {"PostMetadata", "AddComment"},
			"deleteComment":        {"DeleteComment", "KeepAct"},
			"hideComment":          {"HideComment", "KeepAct"},
			"showComment":          {"ShowComment", "KeepAct"},
			"listActs":             {"ActsOfDay"},
			"listReceivedComments": {"CommentsOfAuthor", "UserByID", "PostMetadata"},
			"listAllComments":      {"AllComments", "UserByID", "PostMetadata"},
			"listUserComments":     {"CommentsOfUser"},
			"getLike":              {"LikeOfUser"},
			"putLike":              {"LikePost"},
			"deleteLike":           {"UnlikePost"},
			"listLikes":            {"LikesOfPost", "PostMetadata"},
			"listOwnLikes":         {"LikesOfUser"},
			"listBookmarks":        {"Bookmarks"},
			"getBookmark":          {"BookmarkOfPost"},
			"putBookmark":          {"PostMetadata", "AddBookmark"},
			"deleteBookmark":       {"RemoveBookmark"},
			"listNotifications":    {"Notifications", "UserByID", "PostMetadata"},
			"patchNotification":    {"MarkNotification"},
		},
		Streams: []sam.Stream{{
			Name: "changes", Table: "portfolio-backend-table", Patterns: []string{"PostMetadata", "Notify"},
			Filter: `{"eventName":["INSERT","REMOVE"],"dynamodb":{"Keys":{"SK":{"S":[{"prefix":"COMMENT#"},{"prefix":"LIKE#"},{"prefix":"IMAGE#"}]}}}}`,
		}},
		Pages: &sam.Pages{
			Paths:    append(pagePaths(v), "/", "/assets/{file+}", "/studio", "/studio/{file+}"),
			Patterns: []string{"PostsByStatus", "PostsByCategory", "CategoryBySlug", "Categories", "PostPage", "PostMetadata", "CommentsUntil", "UserByID"},
		},
		Bucket: &sam.Bucket{
			Variable: "PORTFOLIO_BUCKET", Uploads: "uploads",
			Access: map[string]map[string][]string{
				"uploadImage": {"uploads": {put}},
				"keepImage":   {"uploads": {get, remove}, "images": {put, remove}, "small": {put, remove}},
				"changes":     {"uploads": {remove}, "images": {remove}, "small": {remove}},
				"":            {"images": {get}, "small": {get}},
			},
		},
		Memory: map[string]int{"keepImage": 1024}, // decoding photographs
		Schedules: []sam.Schedule{{
			Name: "images", Every: time.Hour, Patterns: []string{"ImagesToCheck", "UserByID", "PostsByAuthor", "CheckImageLater", "RemoveImage"},
		}},
	}
}

// pagePaths returns the paths of the pages except for the front page, without redirecting directories. It returns none if nothing
// is served, because roles do not depend on the paths.
func pagePaths(v *apitest.Server) (paths []string) {
	if v.Host == nil {
		return nil
	}
	for pattern := range v.Host.Service(portfolio.Name).Pages {
		if path, ok := strings.CutPrefix(pattern, "GET "); ok && !strings.Contains(path, "$") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// TestTemplate: the files in lambda are generated from the design and the API.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template(apitest.Open(t, portfolio.System())).Compare(t, "lambda")
}

// TestMain runs every test with the permissions that the template gives to each function.
func TestMain(m *testing.M) { apitest.Main(m, template, portfolio.System) }
