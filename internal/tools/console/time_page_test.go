package console_test

import (
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// everywhere lists the window sizes, themes and languages in which each view is tested.
var everywhere = map[string][]webtest.Option{
	"desk": {}, "dark": {webtest.Dark}, "phone": {webtest.Phone, webtest.Language("es-MX")}, "phone dark": {webtest.Phone, webtest.Dark, webtest.Language("pt-BR")},
}

// change updates an item of the shop and deletes another.
func change(t *testing.T, db *monotable.DB) {
	t.Helper()
	_, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("shop"), Key: item{"PK": text("USER#u-01"), "SK": text("PROFILE")}, UpdateExpression: aws.String("SET vip = :v, address.city = :c REMOVE tags"),
		ExpressionAttributeValues: item{":v": &types.AttributeValueMemberBOOL{Value: true}, ":c": text("Mérida")},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: item{"PK": text("USER#u-01"), "SK": text("ORDER#2026-11-11")}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTail: changes appear as they happen, with their differences. Older ones are loaded on request, and can be searched by key
// and kind.
func TestTail(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/stream")
	p.UntilText("Waiting for changes")
	look(p, "console-tail-waiting")
	change(t, db)
	p.UntilText("Mérida")
	p.UntilText("2 changes")
	p.Eval(`[...document.querySelectorAll(".tail-record summary")].find((s) => s.textContent.includes("Mérida")).focus()`)
	p.Press("\r") // opens a record by keyboard
	p.UntilText("address.city")
	p.UntilText("Open the item")
	look(p, "console-tail-open")
	p.Button("Deleted")
	p.Until(`document.querySelectorAll(".tail-record").length === 1`)
	p.Button("Pause")
	p.UntilText("Paused")
	p.Button("Resume")
	p.UntilText("Live")
	p.Eval(`(() => { const s = document.querySelector(".tail-bar select"); s.value = "oldest"; s.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	p.UntilText("80 changes")
	p.Type("input[type=search]", "u-03 order")
	p.Until(`document.querySelectorAll(".tail-record").length === 12`)
	p.Click(".tail-record summary")
	p.Button("Open the item")
	p.Wait("dialog[open]")
}

// TestItemHistory: the changes of an item are shown newest first. The last one can be undone, on condition that the item is
// unchanged, and a deleted item can be restored.
func TestItemHistory(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	change(t, db)
	address := served(t, db)
	p := webtest.Open(t, address+at("USER#u-01", "PROFILE"))
	p.Button("History")
	p.UntilText("All changes since")
	p.Until(`[...document.querySelectorAll(".history-change > header .badge")].map((b) => b.textContent).join() === "Changed,Created"`)
	look(p, "console-history")
	p.Button("Undo this write")
	p.UntilText("address.city")
	look(p, "console-put-back")
	p.Button("Write")
	p.Until(`[...document.querySelectorAll(".history-change > header .badge")].map((b) => b.textContent).join() === "Changed,Changed,Created"`)
	if got := stored(t, db, "USER#u-01", "PROFILE"); got["address"].(*m).Value["city"].(*s).Value != "Oaxaca" || got["tags"] == nil {
		t.Errorf("after undoing: %v", got)
	}
	if _, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: item{"PK": text("USER#u-02"), "SK": text("PROFILE")}}); err != nil {
		t.Fatal(err)
	}
	p.Eval(`location.hash = ` + strconv.Quote(strings.TrimPrefix(at("USER#u-02", "PROFILE"), "/_console/")))
	p.Button("History")
	p.Button("Undo this write")
	p.UntilText("The item is written again:")
	p.Button("Write")
	p.Until(`[...document.querySelectorAll(".history-change > header .badge")].map((b) => b.textContent).join() === "Created,Deleted,Created"`)
	if got := stored(t, db, "USER#u-02", "PROFILE"); got["name"].(*s).Value != "Lea Okafor" {
		t.Errorf("after undoing a deletion: %v", got)
	}
}

// TestPastStateIsComparedWithCurrent: a past state of a table is compared with the current one in each window size and theme, and an item is
// restored.
func TestPastStateIsComparedWithCurrent(t *testing.T) {
	t.Parallel()
	now := newClock(time.Now().Add(-time.Hour))
	db := monotabletest.NewWith(t, &monotable.Options{Now: now.time})
	shop(t, db)
	address := served(t, db)
	off := webtest.Open(t, address+"/_console/#/tables/shop/past")
	off.UntilText("This table's past is not kept")
	look(off, "console-past-off")
	_, err := db.Client().UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{TableName: aws.String("shop"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}})
	if err != nil {
		t.Fatal(err)
	}
	now.advance(10 * time.Minute)
	second := now.time().Unix()
	now.advance(10 * time.Minute)
	change(t, db)
	now.advance(10 * time.Minute)
	t.Run("looks", func(t *testing.T) {
		for name, with := range everywhere {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := webtest.Open(t, fmt.Sprintf("%s/_console/#/tables/shop/past?at=%d", address, second), with...)
				p.Until(`document.querySelectorAll(".tail-record").length === 2`)
				p.Eval(`[...document.querySelectorAll(".tail-record summary")].find((s) => s.textContent.includes("PROFILE")).click()`)
				p.Wait(".past-sides")
				look(p, "console-past")
			})
		}
	})
	p := webtest.Open(t, address+"/_console/#/tables/shop/past")
	p.UntilText("Choose a second to compare with")
	p.Button("Compare")
	p.UntilText("2 items")
	p.Eval(fmt.Sprintf(`location.hash = "#/tables/shop/past?all=1&at=%d"`, second))
	p.UntilText("50 items")
	p.UntilText("Unchanged")
	p.Eval(fmt.Sprintf(`location.hash = "#/tables/shop/past?at=%d"`, second))
	p.UntilText("2 items")
	p.Eval(`[...document.querySelectorAll(".tail-record summary")].find((s) => s.textContent.includes("Removed")).click()`)
	p.Button("Put back")
	p.Button("Write")
	p.UntilText("1 item")
	if n := items(t, db, "shop"); n != 78 {
		t.Errorf("%d items, want 78: the deleted one is put back", n)
	}
}

// TestTailInEachSizeAndTheme: the stream is shown in each window size and theme.
func TestTailInEachSizeAndTheme(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	change(t, db)
	address := served(t, db)
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/_console/#/tables/shop/stream", with...)
			p.Wait(".tail-bar select")
			p.Eval(`(() => { const s = document.querySelector(".tail-bar select"); s.value = "oldest"; s.dispatchEvent(new Event("input", {bubbles: true})); })()`)
			p.UntilText("Mérida")
			p.Type("input[type=search]", "u-01")
			p.Eval(`[...document.querySelectorAll(".tail-record summary")].find((s) => s.textContent.includes("Mérida")).click()`)
			p.UntilText("address.city")
			look(p, "console-tail")
		})
	}
}

// TestTurnOnStream: if the stream is off, the view explains it and turns it on. A read-only console does not offer that.
func TestTurnOnStream(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	if _, err := db.Client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String("shop"), StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)}}); err != nil {
		t.Fatal(err)
	}
	readOnly := webtest.Open(t, served(t, db, func(o *console.Options) { o.ReadOnly = true })+"/_console/#/tables/shop/stream")
	readOnly.UntilText("This table has no stream")
	readOnly.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent === "Turn on the stream")`)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/stream")
	p.UntilText("This table has no stream")
	look(p, "console-tail-off")
	p.Button("Turn on the stream")
	p.UntilText("Waiting for changes")
	change(t, db)
	p.UntilText("Mérida")
}

// TestServices: operations of other services are sent to their hosts on AWS and signed for them. Other endpoints have one host
// for all.
func TestServices(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ endpoint, operation, host, target, scope string }{
		{"https://dynamodb.eu-west-1.amazonaws.com/", "Query", "dynamodb.eu-west-1.amazonaws.com", "DynamoDB_20120810.Query", "/us-east-1/dynamodb/"},
		{"https://dynamodb.eu-west-1.amazonaws.com/", "GetRecords", "streams.dynamodb.eu-west-1.amazonaws.com", "DynamoDBStreams_20120810.GetRecords", "/us-east-1/dynamodb/"},
		{"https://dynamodb.cn-north-1.amazonaws.com.cn/", "GetMetricData", "monitoring.cn-north-1.amazonaws.com.cn", "GraniteServiceVersion20100801.GetMetricData", "/us-east-1/monitoring/"},
		{"http://127.0.0.1:8000/", "GetMetricData", "127.0.0.1:8000", "GraniteServiceVersion20100801.GetMetricData", "/us-east-1/monitoring/"},
		{"https://dynamodb.example.com/", "DescribeStream", "dynamodb.example.com", "DynamoDBStreams_20120810.DescribeStream", "/us-east-1/dynamodb/"},
	} {
		sent := make(recorder, 1)
		address := served(t, monotabletest.New(t), func(o *console.Options) { o.Endpoint, o.Client = test.endpoint, sent })
		post(t, address+"/_console/api/"+test.operation, `{}`)
		r := <-sent
		if r.URL.Host != test.host || r.Header.Get("X-Amz-Target") != test.target || !strings.Contains(r.Header.Get("Authorization"), test.scope) {
			t.Errorf("%s of %s: sent to %s, %s, signed %s", test.operation, test.endpoint, r.URL.Host, r.Header.Get("X-Amz-Target"), r.Header.Get("Authorization"))
		}
	}
}

// recorder is an endpoint that tests cannot reach: AWS.
type recorder chan *http.Request

func (c recorder) Do(r *http.Request) (*http.Response, error) {
	c <- r
	return nil, http.ErrServerClosed
}

func items(t *testing.T, db *monotable.DB, table string) int32 {
	t.Helper()
	out, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), Select: types.SelectCount})
	if err != nil {
		t.Fatal(err)
	}
	return out.Count
}

// TestBackups: a backup is created, restored as another table and deleted by typing its name. A table is restored to a second.
func TestBackups(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db)
	p := webtest.Open(t, address+"/_console/#/tables/shop/backups", webtest.Expect("400")) // some operations reject a table while it is being restored
	p.UntilText("There are no backups")
	look(p, "console-backups-none")
	p.Button("Create backup")
	p.Wait("dialog[open] input[name=backup]")
	p.Eval(`document.querySelector("input[name=backup]").select()`)
	p.Type("dialog[open] input[name=backup]", "before")
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog[open] button")].find((b) => b.textContent === "Create backup"); b.click(); return true; })()`)
	p.UntilText("AVAILABLE")
	change(t, db)
	p.Button("Restore")
	p.Wait("dialog[open] input[name=target]")
	look(p, "console-restore")
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog[open] button")].find((b) => b.textContent === "Restore"); b.click(); return true; })()`)
	p.Until(`location.hash === "#/tables/shop-restored/settings"`)
	p.Until(`[...document.querySelectorAll("h1")].some((h) => h.textContent === "shop-restored") && !document.body.textContent.includes("CREATING")`)
	p.UntilText("GSI1PK")
	if n := items(t, db, "shop-restored"); n != 78 {
		t.Errorf("restored %d items, want 78", n)
	}
	p.Eval(`location.hash = "#/backups"`)
	p.UntilText("before")
	p.UntilText("There are no imports")
	p.Click(`button[aria-label="Delete before"]`)
	p.Wait("dialog[open] input[name=confirm]")
	p.Type("dialog[open] input[name=confirm]", "before")
	p.Button("Delete")
	p.UntilText("before is deleted.")
	p.UntilText("There are no backups")
}

// TestRecovery: recovery is turned on, its window is shown, and the table is restored to a second of it, exported and imported.
func TestRecovery(t *testing.T) {
	t.Parallel()
	now := newClock(time.Now())
	db := monotabletest.NewWith(t, &monotable.Options{S3Dir: t.TempDir(), Now: now.time})
	shop(t, db)
	address := served(t, db)
	p := webtest.Open(t, address+"/_console/#/tables/shop/backups", webtest.Expect("400")) // some operations reject a table while it is being restored
	p.Until(`[...document.querySelectorAll(".choice")].find((c) => c.textContent.startsWith("Turn on point-in-time")).click() === undefined`)
	p.UntilText("Recovery has just been turned on")
	now.advance(time.Minute)
	change(t, db)
	now.advance(time.Minute)
	p.Reload()
	p.Button("Restore to a time")
	p.Wait("dialog[open] input[name=target]")
	p.Until(`[...document.querySelectorAll("dialog[open] .choice")][0].click() === undefined`)
	at := now.time().Add(-90 * time.Second).Local().Format("2006-01-02T15:04:05")
	choose(p, "As it was at", at)
	look(p, "console-restore-time")
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog[open] button")].find((b) => b.textContent === "Restore"); b.click(); return true; })()`)
	p.Until(`location.hash === "#/tables/shop-restored/settings"`)
	p.UntilText("GSI1PK")
	if n := items(t, db, "shop-restored"); n != 78 {
		t.Errorf("restored %d items, want 78: those of the second before the deletion", n)
	}
	p.Eval(`location.hash = "#/tables/shop/backups"`)
	p.Button("Export")
	p.Wait("dialog[open] input[name=bucket]")
	p.Type("dialog[open] input[name=bucket]", "exports")
	look(p, "console-export")
	choose(p, "What is exported", "INCREMENTAL_EXPORT")
	p.Wait("dialog[open] input[name=from]")
	look(p, "console-export-incremental")
	choose(p, "What is exported", "FULL_EXPORT")
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog[open] button")].find((b) => b.textContent === "Export"); if (b.disabled) return false; b.click(); return true; })()`)
	p.UntilText("COMPLETED")
	p.UntilText("s3://exports/")
	p.Eval(`location.hash = "#/backups"`)
	p.Button("Import as a new table")
	p.Wait("dialog[open] input[name=bucket]")
	p.Type("dialog[open] input[name=bucket]", "exports")
	p.Type("dialog[open] input[name=prefix]", exported(t, db)+"/data/")
	p.Type("dialog[open] input[name=target]", "imported")
	look(p, "console-import")
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog[open] button")].find((b) => b.textContent === "Import as a new table"); b.click(); return true; })()`)
	p.Until(`document.querySelector("[role=region][aria-label=Imports]")?.textContent.includes("COMPLETED")`)
	if n := items(t, db, "imported"); n != 77 {
		t.Errorf("imported %d items, want 77", n)
	}
}

// TestIncrementalExport: the changes between two points in time are exported from the page by keyboard alone.
func TestIncrementalExport(t *testing.T) {
	t.Parallel()
	now := newClock(time.Now().Add(-time.Hour).Truncate(time.Minute))
	db := monotabletest.NewWith(t, &monotable.Options{S3Dir: t.TempDir(), Now: now.time})
	shop(t, db)
	if _, err := db.Client().UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{TableName: aws.String("shop"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}}); err != nil {
		t.Fatal(err)
	}
	now.advance(20 * time.Minute)
	change(t, db)
	now.advance(20 * time.Minute)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/backups")
	p.UntilText("There are no exports")
	tabTo(t, p, `e.textContent === "Export"`)
	p.Press("\r")
	p.Wait("dialog[open] input[name=bucket]")
	p.Type("dialog[open] input[name=bucket]", "changes")
	choose(p, "What is exported", "INCREMENTAL_EXPORT")
	p.Wait("dialog[open] input[name=from]")
	tabTo(t, p, `e.closest("dialog") && e.textContent === "Export"`)
	p.Press("\r")
	p.Until(`document.querySelector("dialog[open]") === null`)
	p.UntilText("COMPLETED")
	look(p, "console-exported-changes")
	list, err := db.Client().ListExports(t.Context(), &dynamodb.ListExportsInput{})
	if err != nil || len(list.ExportSummaries) != 1 {
		t.Fatalf("exports %v, %v", list, err)
	}
	about, err := db.Client().DescribeExport(t.Context(), &dynamodb.DescribeExportInput{ExportArn: list.ExportSummaries[0].ExportArn})
	if err != nil {
		t.Fatal(err)
	}
	if d := about.ExportDescription; d.ExportType != types.ExportTypeIncrementalExport || aws.ToInt64(d.ItemCount) != 2 {
		t.Errorf("export %s with %d items, want an incremental one with the 2 changed items", d.ExportType, aws.ToInt64(d.ItemCount))
	}
}

// exported returns the prefix of the only export.
func exported(t *testing.T, db *monotable.DB) string {
	t.Helper()
	list, err := db.Client().ListExports(t.Context(), &dynamodb.ListExportsInput{})
	if err != nil || len(list.ExportSummaries) != 1 {
		t.Fatalf("exports %v, %v", list, err)
	}
	return "AWSDynamoDB/" + path.Base(*list.ExportSummaries[0].ExportArn)
}

// TestBackupsInEachSizeAndTheme: backups are shown in each window size and theme. A read-only console offers no writes.
func TestBackupsInEachSizeAndTheme(t *testing.T) {
	t.Parallel()
	db := monotabletest.NewWith(t, &monotable.Options{S3Dir: t.TempDir()})
	shop(t, db)
	_, err := db.Client().UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{TableName: aws.String("shop"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"before-migration", "weekly-2026-11-22"} {
		if _, err := db.Client().CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String("shop"), BackupName: aws.String(name)}); err != nil {
			t.Fatal(err)
		}
	}
	arn := aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/shop")
	if _, err := db.Client().ExportTableToPointInTime(t.Context(), &dynamodb.ExportTableToPointInTimeInput{TableArn: arn, S3Bucket: aws.String("exports")}); err != nil {
		t.Fatal(err)
	}
	address := served(t, db)
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/_console/#/tables/shop/backups", with...)
			p.UntilText("before-migration")
			p.UntilText("COMPLETED")
			p.Wait(".window")
			look(p, "console-backups")
			p.Eval(`location.hash = "#/backups"`)
			p.UntilText("weekly-2026-11-22")
			p.UntilText("s3://exports/")
			look(p, "console-backups-all")
		})
	}
	p := webtest.Open(t, served(t, db, func(o *console.Options) { o.ReadOnly = true })+"/_console/#/tables/shop/backups")
	p.UntilText("before-migration")
	p.UntilText("COMPLETED")
	for _, word := range []string{"Create backup", "Restore", "Export", "Restore to a time"} {
		p.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent === ` + strconv.Quote(word) + `)`)
	}
}
