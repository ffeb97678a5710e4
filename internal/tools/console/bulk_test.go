package console_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// all returns the items of a table by their keys.
func all(t *testing.T, db *monotable.DB, table string) map[string]item {
	t.Helper()
	found := map[string]item{}
	pages := dynamodb.NewScanPaginator(db.Client(), &dynamodb.ScanInput{TableName: aws.String(table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			found[i["PK"].(*s).Value+" "+i["SK"].(*s).Value] = i
		}
	}
	return found
}

var values = cmpopts.IgnoreUnexported(s{}, n{}, m{}, l{}, types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberB{}, types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{})

// pick selects the rows whose keys contain a text.
func pick(p *webtest.Page, text string) {
	p.Wait(".data-grid tbody .pick")
	p.Until(fmt.Sprintf(`(() => { const boxes = [...document.querySelectorAll(".data-grid tbody .pick input")].filter((b) => b.getAttribute("aria-label").includes(%q)); boxes.forEach((b) => { if (!b.checked) b.click(); }); return boxes.length > 0 && boxes.every((b) => b.checked); })()`, text))
}

// TestBulkDelete: the selected items are deleted, except for those that another user has changed meanwhile. The deletion can be
// undone.
func TestBulkDelete(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	before := all(t, db, "shop")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?limit=100", webtest.Expect("400"))
	pick(p, "USER#u-01 ORDER#")
	p.UntilText("12 selected")
	look(p, "console-picked")
	p.Button("Delete selected")
	p.UntilText("Delete 12 items?")
	p.UntilText("Costs about 16 WCU, 4 of them for indexes.")
	look(p, "console-bulk-delete")
	if _, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("shop"), Key: item{"PK": text("USER#u-01"), "SK": text("ORDER#2026-11-11")}, UpdateExpression: aws.String("SET #s = :s"),
		ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: item{":s": text("returned")},
	}); err != nil {
		t.Fatal(err)
	}
	p.Button("Delete")
	p.UntilText("1 item was left alone")
	look(p, "console-bulk-changed")
	if left := len(all(t, db, "shop")); left != 78-11 {
		t.Errorf("%d items are left, want %d", left, 78-11)
	}
	p.Button("Done")
	p.UntilText("67 items")
	p.Button("Undo")
	p.UntilText("78 items")
	before["USER#u-01 ORDER#2026-11-11"]["status"] = text("returned")
	if diff := cmp.Diff(before, all(t, db, "shop"), values); diff != "" {
		t.Errorf("after undo: %s", diff)
	}
}

// TestBulkEdit: changes are shown item by item before they are written, and can be undone as long as nobody else has written the
// items.
func TestBulkEdit(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	before := all(t, db, "shop")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?index=GSI1&pk=STATUS%23open&project=total", webtest.Expect("400"))
	p.UntilText("6 items")
	p.Click(`input[aria-label="Select all items of the page"]`)
	p.Button("Edit selected")
	p.Type("input[name=bulk-name-0]", "PK")
	p.Button("Review changes")
	p.UntilText("another key is another item")
	p.Until(`(() => { const e = document.querySelector("input[name=bulk-name-0]"); e.value = "status"; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
	p.Type("input[name=bulk-value-0]", "sent")
	p.Button("Add change")
	p.Type("input[name=bulk-name-1]", "GSI1PK")
	p.Type("input[name=bulk-value-1]", "STATUS#sent")
	look(p, "console-bulk-edit")
	p.Button("Review changes")
	p.UntilText("Selected items that will change: 6 of 6.")
	p.UntilText("Costs about 18 WCU, 12 of them for indexes.")
	look(p, "console-bulk-review")
	p.Button("Change 6 items")
	p.UntilText("6 items changed.")
	for _, i := range all(t, db, "shop") {
		if status, ok := i["status"].(*s); ok && (status.Value == "open" || status.Value == "sent" && i["GSI1PK"].(*s).Value != "STATUS#sent") {
			t.Errorf("after the change: %v", i)
		}
	}
	if _, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: item{"PK": text("USER#u-02"), "SK": text("ORDER#2026-11-18")}}); err != nil {
		t.Fatal(err)
	}
	p.Button("Undo")
	p.UntilText("1 item was left alone")
	p.UntilText("5 items are as they were before.")
	delete(before, "USER#u-02 ORDER#2026-11-18")
	if diff := cmp.Diff(before, all(t, db, "shop"), values); diff != "" {
		t.Errorf("after undo: %s", diff)
	}
}
