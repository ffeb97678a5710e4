package portfolio_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
)

// asks matches the parts of the document that contain requirements: the table with its attributes, the entities, the indexes, the
// queries, and billing.
var asks = regexp.MustCompile(`^### (Tabela: .*|Usuários|Posts|Comentários|Likes|Categorias|Notificações|Bookmarks|GSI\d|\d\. .*)|` +
	"^- `\\w+` \\(.*|" + `^- \*\*(Uso|PK|SK|Modo)\*\*: .*`)

// TestDocument checks every line of the document. The README explains where keys differ.
func TestDocument(t *testing.T) {
	t.Parallel()
	apitest.EachLine(t, portfolio.System(), asks, func(t *testing.T, v *apitest.Server) []apitest.Line {
		t.Helper()
		call[struct{}](t, v, request(http.MethodPut, "/me", ana, map[string]any{"email": "user@example.com", "name": "Ana"}))
		p := published(t, v, ana, "post")
		comment(t, v, bruno, p.PostID, "comment", "Hello")
		like(t, v, bruno, p.PostID)
		call[struct{}](t, v, request(http.MethodPut, "/bookmarks/"+p.PostID, bruno))
		v.Deliver(t)
		write(t, v, ana, "draft", "cat-123")
		var lines []apitest.Line
		for _, e := range documentEntities() {
			lines = append(lines, e.line(v))
		}
		return slices.Concat(lines, tableLines(v), attributeLines(v), queryLines(v, p))
	})
}

// tableLines are the table, its indexes and billing.
func tableLines(v *apitest.Server) []apitest.Line {
	keys := func(index string, schema func(*types.TableDescription) []types.KeySchemaElement) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if k := schema(v.Described(t, tableName)); len(k) != 2 || *k[0].AttributeName != index+"PK" || *k[1].AttributeName != index+"SK" {
				t.Errorf("%q has the keys %+v", index, k)
			}
		}
	}
	index := func(name string) func(*testing.T) {
		return keys(name, func(is *types.TableDescription) []types.KeySchemaElement {
			for _, x := range is.GlobalSecondaryIndexes {
				if *x.IndexName == name {
					return x.KeySchema
				}
			}
			return nil
		})
	}
	return []apitest.Line{
		{Says: "Tabela: portfolio-backend-table", Holds: keys("", func(is *types.TableDescription) []types.KeySchemaElement { return is.KeySchema })},
		{Says: "GSI1", Holds: index("GSI1")},
		{Says: "PK: GSI1PK", Holds: index("GSI1")},
		{Says: "SK: GSI1SK", Holds: index("GSI1")},
		{Says: "GSI2", Holds: index("GSI2")},
		{Says: "PK: GSI2PK", Holds: index("GSI2")},
		{Says: "SK: GSI2SK", Holds: index("GSI2")},
		{Says: "Modo: PAY_PER_REQUEST (paga pelo consumo)", Holds: func(t *testing.T) {
			t.Helper()
			if b := v.Described(t, tableName).BillingModeSummary; b == nil || b.BillingMode != types.BillingModePayPerRequest {
				t.Errorf("billed by %+v", b)
			}
		}},
		{Says: "Uso: Consultas por usuário, status, email", Instead: "by user and status; the marker of an address finds its user", Holds: func(t *testing.T) {
			t.Helper()
			for _, pk := range []string{"POST#STATUS#published", "COMMENT#" + bruno, "USER#" + bruno} {
				if found := v.Query(t, tableName, "GSI1", "GSI1PK = :pk", map[string]string{":pk": pk}); len(found) == 0 {
					t.Errorf("nothing is under %s", pk)
				}
			}
		}},
		{Says: "Uso: Consultas por categoria", Holds: func(t *testing.T) {
			t.Helper()
			if list := call[page[portfolio.PostSummary]](t, v, get("/categories/cat-123/posts", "")).Items; len(list) != 1 || list[0].Title != "post" {
				t.Errorf("shown %+v", list)
			}
		}},
	}
}

// attributeLines are the attributes that all items must have.
func attributeLines(v *apitest.Server) []apitest.Line {
	each := func(has func(table.Item) bool) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for it := range items(t, v, "") {
				if !has(it) {
					t.Errorf("an item is %v", it)
				}
			}
		}
	}
	texts := func(names ...string) func(*testing.T) {
		return each(func(it table.Item) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return text(it[name]) == "" })
		})
	}
	// some checks an index key: items in the index have the attribute, others do not.
	some := func(names ...string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			with := 0
			for it := range items(t, v, "") {
				if text(it[names[0]]) != "" {
					with++
				}
				if (text(it[names[0]]) == "") != (text(it[names[1]]) == "") {
					t.Errorf("an item has half a key: %v", it)
				}
			}
			if with == 0 {
				t.Errorf("no item has %v", names)
			}
		}
	}
	// timed checks the kinds of items that have a time.
	timed := func(name string, kinds ...string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for it := range items(t, v, "") {
				if kind := text(it["entityType"]); slices.Contains(kinds, kind) && !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(text(it[name])) {
					t.Errorf("%s of a %s is %q", name, kind, text(it[name]))
				}
			}
		}
	}
	return []apitest.Line{
		{Says: "PK (String) - Partition Key", Holds: texts("PK")},
		{Says: "SK (String) - Sort Key", Holds: texts("SK")},
		{Says: "GSI1PK (String) - Global Secondary Index 1 PK", Holds: some("GSI1PK", "GSI1SK")},
		{Says: "GSI1SK (String) - Global Secondary Index 1 SK", Holds: some("GSI1SK", "GSI1PK")},
		{Says: "GSI2PK (String) - Global Secondary Index 2 PK", Holds: some("GSI2PK", "GSI2SK")},
		{Says: "GSI2SK (String) - Global Secondary Index 2 SK", Holds: some("GSI2SK", "GSI2PK")},
		{Says: "entityType (String) - Tipo da entidade", Instead: "a marker of what is unique is no entity, and has none", Holds: each(func(it table.Item) bool {
			return (text(it["entityType"]) == "") == (text(it["SK"]) == "UNIQUE")
		})},
		{Says: "createdAt (String) - ISO timestamp", Holds: timed("createdAt", "USER", "POST", "COMMENT", "LIKE", "CATEGORY", "NOTIFICATION", "BOOKMARK")},
		{Says: "updatedAt (String) - ISO timestamp", Instead: "of what changes: a like, a bookmark and a comment never do, and a hidden comment has hiddenAt", Holds: func(t *testing.T) {
			t.Helper()
			timed("updatedAt", "USER", "POST", "CATEGORY", "NOTIFICATION")(t)
			for it := range items(t, v, "") {
				if slices.Contains([]string{"COMMENT", "LIKE", "BOOKMARK"}, text(it["entityType"])) && it["updatedAt"] != nil {
					t.Errorf("an immutable item has updatedAt: %v", it)
				}
			}
		}},
		{Says: "data (Map) - Atributos específicos da entidade", Instead: "they are attributes of the item: no index can be made of what is inside a map", Holds: each(func(it table.Item) bool { return it["data"] == nil })},
	}
}

// queryLines are the document's queries.
func queryLines(v *apitest.Server, p portfolio.Post) []apitest.Line {
	return []apitest.Line{
		{Says: "1. Buscar usuário por email", Instead: "a marker of the address: an index refuses no second user, and follows late", Holds: func(t *testing.T) {
			t.Helper()
			for _, address := range []string{"user@example.com", "USER@example.com"} {
				r := get("/users?email="+address, admin)
				r.Groups = []string{adminGroup}
				if u := call[portfolio.Profile](t, v, r); u.UserID != ana {
					t.Errorf("%s is %+v", address, u)
				}
			}
			if found := v.Query(t, tableName, "GSI1", "GSI1PK = :pk", map[string]string{":pk": "USER#user@example.com"}); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		}},
		{Says: "2. Listar posts por categoria", Holds: func(t *testing.T) {
			t.Helper()
			found := v.Query(t, tableName, "GSI2", "GSI2PK = :pk AND begins_with(GSI2SK, :sk)", map[string]string{":pk": "CATEGORY#cat-123", ":sk": "POST#"})
			if len(found) != 1 || found[0]["postId"] != p.PostID { // the draft is in no index
				t.Errorf("found %v", found)
			}
		}},
		{Says: "3. Listar notificações do usuário", Holds: func(t *testing.T) {
			t.Helper()
			found := v.Query(t, tableName, "", "PK = :pk AND begins_with(SK, :sk)", map[string]string{":pk": "USER#" + ana, ":sk": "NOTIFICATION#"})
			list := call[page[portfolio.Notification]](t, v, get("/notifications", ana)).Items
			if len(found) != 2 || len(list) != 2 { // one for the comment and one for the like
				t.Errorf("found %v, shown %+v", found, list)
			}
		}},
	}
}

// documentEntity is an entity of the document: its keys, with fields in braces.
type documentEntity struct {
	name, entityType string
	keys             map[string]string
	// instead has the keys that differ from the document's, and why.
	instead map[string]string
	why     string
}

func documentEntities() []documentEntity {
	return []documentEntity{
		{
			"Usuários", "USER",
			map[string]string{"PK": "USER#{userId}", "SK": "PROFILE"},
			map[string]string{"GSI1PK": "", "GSI1SK": ""},
			"an index refuses no second address, and ids that read as addresses would be found",
		},
		{
			"Posts", "POST",
			map[string]string{"PK": "POST#{postId}", "SK": "METADATA", "GSI1PK": "POST#STATUS#{status}", "GSI2PK": "CATEGORY#{categoryId}"},
			map[string]string{"GSI1SK": "{createdAt}#{postId}", "GSI2SK": "POST#{createdAt}#{postId}"},
			"posts of one moment have an order",
		},
		{
			"Comentários", "COMMENT",
			map[string]string{"PK": "POST#{postId}", "SK": "COMMENT#{commentId}", "GSI1PK": "COMMENT#{userId}"},
			map[string]string{"GSI1SK": "POST#{createdAt}#{commentId}"},
			"comments of one moment have an order",
		},
		{
			"Likes", "LIKE",
			map[string]string{"SK": "LIKE#{userId}", "GSI1PK": "USER#{userId}"},
			map[string]string{"PK": "POST#{postId}#LIKES", "GSI1SK": "LIKE#{createdAt}#{postId}"},
			"readers of a post do not page through its likes",
		},
		{
			"Categorias", "CATEGORY",
			map[string]string{"PK": "CATEGORY#{categoryId}", "SK": "METADATA"},
			map[string]string{"GSI1PK": "CATEGORIES", "GSI1SK": "{position}#{categoryId}"},
			"a marker finds a slug, which is one category's; the index lists all in their order",
		},
		{
			"Notificações", "NOTIFICATION",
			map[string]string{"PK": "USER#{userId}", "SK": "NOTIFICATION#{notificationId}"},
			map[string]string{"GSI1PK": "ACTOR#{actorId}", "GSI1SK": "NOTIFICATION#{notificationId}"},
			"the ids sort by time already; the index finds what is to be erased with somebody",
		},
		{
			"Bookmarks", "BOOKMARK",
			map[string]string{"PK": "USER#{userId}", "SK": "BOOKMARK#{postId}", "GSI1PK": "USER#{userId}"},
			map[string]string{"GSI1SK": "BOOKMARK#{createdAt}#{postId}"},
			"bookmarks of one moment have an order",
		},
	}
}

var fieldOfKey = regexp.MustCompile(`\{(\w+)\}`)

// line checks that an item of the entity has the document's keys.
func (e documentEntity) line(v *apitest.Server) apitest.Line {
	return apitest.Line{Says: e.name, Instead: e.why, Holds: func(t *testing.T) {
		t.Helper()
		e.stored(t, v)
	}}
}

// stored fails the test unless an item of the entity has the keys.
func (e documentEntity) stored(t *testing.T, v *apitest.Server) {
	t.Helper()
	var seen []table.Item
	for it := range items(t, v, "") {
		if text(it["entityType"]) != e.entityType {
			continue
		}
		seen = append(seen, it)
		holds := true
		for _, keys := range []map[string]string{e.keys, e.instead} {
			for name, template := range keys {
				want := fieldOfKey.ReplaceAllStringFunc(template, func(field string) string {
					if n, ok := it[field[1:len(field)-1]].(*types.AttributeValueMemberN); ok {
						return "0000"[:max(0, 4-len(n.Value))] + n.Value
					}
					return text(it[field[1:len(field)-1]])
				})
				holds = holds && text(it[name]) == want
			}
		}
		if holds {
			return
		}
	}
	t.Errorf("no %s has the keys %v and, because %s, %v: %v", e.entityType, e.keys, e.why, e.instead, seen)
}
