package conform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/conform"
)

// forum has items that identify people in all supported ways.
const forum = `
design: 1
name: Forum
person: userId
tables: { Forum: { key: { pk: PK, sk: SK }, ttl_attr: until, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK } } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    unique: { Email: { pk: "EMAIL#{email|lower}", sk: UNIQUE } }
    fields: { userId: id, email: email }
  Post:
    key: { pk: "POST#{postId}", sk: POST }
    copies: { byUser: { pk: "USER#{userId}", sk: "POST#{postId}", fields: all } }
    fields: { postId: id, userId: id, body: text }
    personal: { userId: delete }
  Invoice:
    key: { pk: "INVOICE#{invoiceId}", sk: INVOICE }
    index: { GSI1: { pk: "INVOICES#{userId}", sk: "{invoiceId}" } }
    fields: { invoiceId: id, userId: id, actorId: id }
    personal:
      userId: { keep: The books. }
      actorId: { keep: The books., set: { actorId: "'gone'" } }
  Line: { key: { pk: "INVOICE#{invoiceId}", sk: "LINE#{n}" }, fields: { invoiceId: id, n: int, remark: text } }
  Visit:
    key: { pk: "VISIT#{visitId}", sk: VISIT }
    fields: { visitId: id, userId: id, friends: "list<id>", until: ttl }
    ttl: { attr: until, after: 1h }
    personal: { userId: expires }
`

// with is an item with another attribute.
func with(item table.Item, name string, value types.AttributeValue) table.Item {
	item[name] = value
	return item
}

func TestErasedPersonIsReported(t *testing.T) {
	user := of("PK=USER#ana", "SK=PROFILE", "userId=ana", "email=Ana@x.org")
	marker := of("PK=EMAIL#ana@x.org", "SK=UNIQUE", "userId=ana", "email=Ana@x.org")
	post := of("PK=POST#p", "SK=POST", "postId=p", "userId=ana", "body=…")
	copied := of("PK=USER#ana", "SK=POST#p", "postId=p", "userId=ana", "body=…")
	visit := of("PK=VISIT#v", "SK=VISIT", "visitId=v", "userId=ana", "until=4102444800")
	visit["friends"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{s("bo"), s("ana")}}
	invoice := of("PK=INVOICE#i", "SK=INVOICE", "invoiceId=i", "userId=ana", "actorId=bo", "GSI1PK=INVOICES#ana", "GSI1SK=i")
	line := of("PK=INVOICE#i", "SK=LINE#1", "invoiceId=i", "n=1", "remark=for ana")
	for _, c := range []struct {
		name  string
		items []table.Item
		left  string // the findings about people
		kept  string
	}{
		{"nothing", []table.Item{of("PK=USER#anabel", "SK=PROFILE", "userId=anabel", "email=b.ana@x.org"), of("PK=EMAIL#b.ana@x.org", "SK=UNIQUE", "userId=anabel", "email=b.ana@x.org")}, "", ""},
		{"their own item", []table.Item{user, marker}, "User.Email 1, User.key 1", ""},
		{"a marker of nobody", []table.Item{of("PK=EMAIL#ana@x.org", "SK=UNIQUE", "userId=other", "email=Ana@x.org")}, "User.Email 1", ""},
		{"a copy", []table.Item{post, copied}, "Post.byUser 1, Post.key 1", ""},
		{"in a text of another's", []table.Item{of("PK=POST#q", "SK=POST", "postId=q", "userId=bo", "body=Thank you, Ana."), of("PK=USER#bo", "SK=POST#q", "postId=q", "userId=bo", "body=Thank you, Ana.")}, "Post.byUser 1, Post.key 1", ""},
		{"in an index key alone", []table.Item{of("PK=POST#q", "SK=POST", "postId=q", "userId=bo", "body=…", "GSI1PK=OLD#ana", "GSI1SK=x"), of("PK=USER#bo", "SK=POST#q", "postId=q", "userId=bo", "body=…")}, "Post.key 1", ""},
		{"in what is no entity's", []table.Item{of("PK=LEGACY#ana", "SK=X")}, "Forum 1", ""},
		{"in a number or bytes", []table.Item{
			with(of("PK=OLD#1", "SK=X"), "of", &types.AttributeValueMemberN{Value: "5551234"}), with(of("PK=OLD#2", "SK=X"), "of", &types.AttributeValueMemberN{Value: "55512345"}),
			with(of("PK=OLD#3", "SK=X"), "of", &types.AttributeValueMemberNS{Value: []string{"1", "5551234"}}), with(of("PK=OLD#4", "SK=X"), "of", &types.AttributeValueMemberB{Value: []byte("USER#Ana")}),
			with(of("PK=OLD#5", "SK=X"), "of", &types.AttributeValueMemberBS{Value: [][]byte{{0xff}, []byte("ana")}}), with(of("PK=OLD#6", "SK=X"), "of", &types.AttributeValueMemberB{Value: []byte("anabel")}),
		}, "Forum 4", ""},
		{"kept", []table.Item{invoice, line}, "", "Invoice 1 The books., Line 1 The books."},
		{"kept, and another field names them", []table.Item{of("PK=INVOICE#i", "SK=INVOICE", "invoiceId=i", "userId=bo", "actorId=ana", "GSI1PK=INVOICES#bo", "GSI1SK=i")}, "Invoice.key 1", ""},
		{"expiring", []table.Item{visit}, "", "Visit 1 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := conform.Check(parsed(t, forum), passes(map[string][]table.Item{"Forum": c.items}), conform.Options{Examples: 2, Persons: []string{"ana", "ANA@x.org", "5551234"}})
			if err != nil {
				t.Fatal(err)
			}
			var left, kept []string
			for _, f := range report.Findings {
				if f.Kind == conform.PersonLeft {
					left = append(left, fmt.Sprintf("%s %d", f.Subject, f.Items))
				}
			}
			for _, k := range report.Kept {
				kept = append(kept, fmt.Sprintf("%s %d %s", k.Entity, k.Items, k.Reason))
			}
			if got := strings.Join(left, ", "); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
			if got := strings.Join(kept, ", "); got != c.kept {
				t.Errorf("kept %q, want %q", got, c.kept)
			}
		})
	}
}
