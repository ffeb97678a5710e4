package console_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

var (
	scaleItems = flag.Int("scale-items", 10_000, "the number of small items in TestScale, of which 10,000 are in one partition")
	scaleLarge = flag.Int("scale-large", 1, "the number of items of 400 KB in TestScale")
)

// large fills a table with small items, 10,000 of them in the partition BIG, and with items of almost 400 KB.
func large(t *testing.T, db *monotable.DB, small, large int) {
	t.Helper()
	shopTable(t, db)
	var batch []types.WriteRequest
	flush := func() {
		t.Helper()
		out, err := db.Client().BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"shop": batch}})
		if err != nil || len(out.UnprocessedItems) > 0 {
			t.Fatalf("%v, %d unprocessed", err, len(out.UnprocessedItems))
		}
		batch = batch[:0]
	}
	for i := range small {
		pk := "BIG"
		if i >= 10_000 {
			pk = fmt.Sprintf("USER#u-%06d", i/20)
		}
		batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item{
			"PK": text(pk), "SK": text(fmt.Sprintf("ORDER#%07d", i)), "total": number(fmt.Sprint(i)), "status": text("open"),
		}}})
		if len(batch) == 25 || i == small-1 {
			flush()
		}
	}
	for i := range large {
		var lines []types.AttributeValue
		for n := range 3000 {
			lines = append(lines, &m{Value: item{"sku": text(fmt.Sprintf("bean-%d", n)), "note": text(strings.Repeat("x", 100))}})
		}
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("shop"), Item: item{
			"PK": text("LARGE"), "SK": text(fmt.Sprint(i)), "name": text("a"), "lines": &l{Value: lines},
		}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScale: a large table, a partition of 10,000 items and an item of 400 KB can be paged through, scrolled and edited. It logs
// the duration of each step and, for the collection view, the longest time between two frames while scrolling.
func TestScale(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	begun := time.Now()
	step := func(what string) {
		t.Helper()
		t.Logf("%s: %s", what, time.Since(begun).Round(time.Millisecond))
		begun = time.Now()
	}
	large(t, db, *scaleItems, *scaleLarge)
	step("items loaded")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?pk=BIG&limit=1000")
	p.UntilText("1,000 items")
	step("page opened, 1,000 items shown")
	p.Button("Next")
	p.UntilText("Page 2")
	p.UntilText("ORDER#0001000")
	step("next page")
	p.Button("Previous")
	p.UntilText("Page 1")
	p.UntilText("ORDER#0000000")
	step("page before")
	p.Eval(`location.hash = "#/tables/shop?pk=BIG&limit=10000&view=collection"`)
	p.Until(`document.querySelectorAll(".partition .chunk").length === 200 && document.querySelector(".partition-items > li") !== null`)
	step("10,000 items as a collection")
	p.Eval(`(() => {
		window.longest = 0;
		window.scrolled = false;
		const begun = performance.now(), box = document.scrollingElement;
		let before = begun;
		const frame = (now) => {
			window.longest = Math.max(window.longest, now - before);
			before = now;
			box.scrollTop = (box.scrollHeight - box.clientHeight) * Math.min(1, (now - begun) / 2000);
			if (now - begun < 2000) requestAnimationFrame(frame); else window.scrolled = true;
		};
		requestAnimationFrame(frame);
	})()`)
	p.Until(`window.scrolled && document.scrollingElement.scrollTop > 10_000`)
	p.Eval(`document.body.append(Object.assign(document.createElement("output"), {id: "longest", textContent: String(Math.round(window.longest))}))`)
	step("scrolled to the end, the longest frame took " + p.Text("#longest") + " ms")
	p.Eval(`location.hash = "#/tables/shop?" + new URLSearchParams({item: JSON.stringify({PK: {S: "LARGE"}, SK: {S: "0"}})})`)
	p.UntilText("LARGE")
	p.Button("Edit")
	p.Until(`document.querySelector('[aria-label="Value of name"]') !== null`)
	step("an item of 400 KB in the editor")
	fill(p, "Value of name", "b")
	p.Button("Show 100 more")
	fill(p, "Value of lines[99].sku", "tea-99")
	p.Button("Review changes")
	p.UntilText("Save these changes?")
	step("its changes reviewed")
	p.Button("Save")
	p.UntilText("The item is saved.")
	step("saved")
	got := stored(t, db, "LARGE", "0")
	lines := got["lines"].(*l).Value
	if len(lines) != 3000 || got["name"].(*s).Value != "b" || lines[99].(*m).Value["sku"].(*s).Value != "tea-99" {
		t.Errorf("the saved item has the name %v and %d lines", got["name"], len(lines))
	}
}
