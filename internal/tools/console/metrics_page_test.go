package console_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// busy returns a database that has been in use for some minutes.
func busy(t *testing.T) *monotable.DB {
	t.Helper()
	now := newClock(time.Now().Add(-4 * time.Minute))
	db := monotabletest.NewWith(t, &monotable.Options{Now: now.time})
	shop(t, db)
	now.advance(4 * time.Minute)
	if _, err := db.Client().UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{TableName: aws.String("shop"), ContributorInsightsAction: types.ContributorInsightsActionEnable}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("shop")}); err != nil {
			t.Fatal(err)
		}
	}
	change(t, db)
	_, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("shop"), Item: item{"PK": text("USER#u-01"), "SK": text("PROFILE")}, ConditionExpression: aws.String("attribute_not_exists(PK)"),
	})
	if err == nil {
		t.Fatal("the condition held")
	}
	return db
}

// TestMetrics: the requests of a table, and of all tables, are drawn and counted by operation, in each window size and theme. Each
// has a database of its own, because the page shows the keys of the last ten minutes and a parallel test may wait longer for its
// turn.
func TestMetrics(t *testing.T) {
	t.Parallel()
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, served(t, busy(t))+"/_console/#/tables/shop/metrics", with...)
			p.UntilText("UpdateItem")
			p.Until(`document.querySelectorAll(".chart canvas").length === 4`)
			p.UntilText("ConditionalCheckFailedRequests")
			p.UntilText("ORDER#2026-11-11")
			p.Until(`[...document.querySelectorAll("tr")].some((r) => r.textContent.startsWith("Scan") && r.textContent.includes("20"))`)
			look(p, "console-metrics")
			p.Eval(`location.hash = "#/server"`)
			p.UntilText("Scan")
			p.Until(`document.querySelectorAll(".chart canvas").length === 4`)
			look(p, "console-server")
			p.Eval(`location.hash = "#/tables"`)
			p.Wait(".rate")
			look(p, "console-rates")
		})
	}
}

// TestNoMetrics: without requests, the view says so.
func TestNoMetrics(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, served(t, monotabletest.New(t))+"/_console/#/server")
	p.Wait("h1")
	p.UntilText("Nothing has been measured lately")
	look(p, "console-metrics-none")
}

// TestHotKeys: if keys are not counted, the view explains the feature and turns it on.
func TestHotKeys(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/metrics")
	p.UntilText("Keys are not counted")
	p.Button("Turn on")
	p.UntilText("No key has been used")
	change(t, db)
	p.Button("Refresh")
	p.UntilText("Items, by units")
	p.UntilText("USER#u-01 · PROFILE")
	p.Button("USER#u-01 · PROFILE")
	p.Until(`location.hash.startsWith("#/tables/shop?pk=USER%23u-01&op=") && document.querySelector(".cost-text span").textContent === "1 item"`)
}
