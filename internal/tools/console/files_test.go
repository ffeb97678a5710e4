package console_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// downloads lets a page save files, and returns their directory.
func downloads(t *testing.T, p *webtest.Page) string {
	t.Helper()
	folder := t.TempDir()
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID})
		return err
	}))
	return folder
}

// upload chooses files in the page.
func upload(p *webtest.Page, input string, files ...string) {
	p.Do(chromedp.WaitReady(input), chromedp.SetUploadFiles(input, files))
}

// unusualValues returns values that a careless file format would change.
func unusualValues() []item {
	return []item{
		{"PK": text("CSV"), "SK": text("1"), "text": text("quotes \" and, commas;\r\nlines\nand ñ 😀 "), "code": text("007"), "n": number("12345678901234567890123456789012345678")},
		{"PK": text("CSV"), "SK": text("2"), "text": text(""), "code": text("true"), "n": number("-0.5"), "flag": &types.AttributeValueMemberBOOL{Value: true}},
		{"PK": text("CSV"), "SK": text("3"), "text": text(`{"N":"1"}`), "code": number("7"), "flag": text("yes"), "nothing": &types.AttributeValueMemberNULL{Value: true}},
		{
			"PK": text("CSV"), "SK": text("4"), "price:N": text("not a number"), "a,b": text("comma"), "two words ": text(" both "), "bytes": &types.AttributeValueMemberB{Value: []byte{0, 255}}, //nolint:gocritic // a name may end with a space
			"sets": &m{Value: item{"n": &types.AttributeValueMemberNS{Value: []string{"0.1"}}, "b": &types.AttributeValueMemberBS{Value: [][]byte{{1}}}}}, "list": &l{Value: []types.AttributeValue{text("x"), number("1")}},
		},
	}
}

// saved waits until the browser has saved a file.
func saved(t *testing.T, file string) string {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-ticks.C {
		if _, err := os.Stat(file); err == nil {
			return file
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// choose sets a select element of the open dialog, or of the page.
func choose(p *webtest.Page, label, value string) {
	p.Until(fmt.Sprintf(`(() => {
		const labels = [...document.querySelectorAll("label")].filter((l) => l.checkVisibility() && l.textContent.startsWith(%q));
		const e = document.getElementById(labels.pop().htmlFor);
		e.value = %q;
		e.dispatchEvent(new Event("input", { bubbles: true }));
		return e.value === %q;
	})()`, label, value, value))
}

// TestFiles: exported items, as JSON or CSV, compressed or not, are imported again unchanged, type by type.
func TestFiles(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	put := func(i item) {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("shop"), Item: i}); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range unusualValues() {
		put(i)
	}
	before := all(t, db, "shop")
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop?limit=10", webtest.Expect("400"))
	folder := downloads(t, p)
	for n, c := range []struct{ format, ending, there string }{{"json", "json", "keep"}, {"json", "json.gz", "replace"}, {"csv", "csv", "replace"}, {"csv", "csv.gz", "keep"}} {
		p.Eval(`location.hash = "#/tables/shop?limit=10"`)
		p.Button("Export")
		choose(p, "Items", "all")
		choose(p, "Format", c.format)
		if strings.HasSuffix(c.ending, ".gz") {
			p.Click("dialog[open] .choice input")
		}
		p.Button("Download")
		p.UntilText("saved,")
		p.UntilText("82 items")
		if n == 0 {
			look(p, "console-download")
		}
		p.Button("Done")
		file := saved(t, filepath.Join(folder, "shop."+c.ending))
		for key, i := range before {
			switch {
			case strings.HasPrefix(key, "USER#u-00"):
				put(item{"PK": i["PK"], "SK": i["SK"], "changed": text("since")})
			default:
				if _, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: item{"PK": i["PK"], "SK": i["SK"]}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.Eval(`location.hash = "#/tables/shop/import"`)
		upload(p, "input[name=files]", file)
		p.UntilText("The first 20 items")
		choose(p, "If an item with the key exists", c.there)
		if c.ending == c.format { // only once per format
			look(p, "console-import-"+c.format)
		}
		p.Button("Import items")
		p.UntilText("Import finished")
		want := before
		if c.there == "keep" {
			p.UntilText("13 were there already")
			want = all(t, db, "shop")
			for key, i := range before {
				if !strings.HasPrefix(key, "USER#u-00") {
					want[key] = i
				} else if want[key]["changed"] == nil {
					t.Errorf("%s was replaced", key)
				}
			}
		}
		p.UntilText(map[string]string{"keep": "69 written", "replace": "82 written"}[c.there])
		if diff := cmp.Diff(want, all(t, db, "shop"), values); diff != "" {
			t.Errorf("%s: %s", c.ending, diff)
		}
		for _, i := range before {
			put(i)
		}
	}
}

// TestImportFaults: invalid lines are reported by number and the others are written. An export with a missing file is rejected.
func TestImportFaults(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/#/tables/shop/import", webtest.Language("es-MX"), webtest.Phone, webtest.Expect("400"))
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p.UntilText("Elija archivos")
	look(p, "console-import-empty")
	upload(p, "input[name=files]", file("lines.jsonl", `{"PK":{"S":"a"},"SK":{"S":"1"}}
{"Item":{"PK":{"S":"a"},"SK":{"S":"2"},"GSI1PK":{"N":"1"},"GSI1SK":{"S":"x"}}}
{"PK":"a","SK":"3"}
{"PK":{"S":"a"}}
{"PK":{"S":"a"},"SK":{"S":"1"},"again":{"BOOL":true}}
`))
	p.UntilText("lines.jsonl:3")
	choose(p, "Un elemento cuya clave ya existe", "replace")
	p.Button("Importar elementos")
	p.UntilText("Importación terminada")
	p.UntilText("2 escritos")
	p.UntilText("3 no escritos")
	p.UntilText("Falta el atributo de la clave SK")
	look(p, "console-import-faults")
	got := all(t, db, "shop")
	if got["a 1"]["again"] == nil || got["a 2"] != nil {
		t.Errorf("imported %v, %v: want the last of two items of one key, and nothing of another type than the index's", got["a 1"], got["a 2"])
	}
	p.Eval(`location.hash = "#/tables/shop"`)
	p.Eval(`location.hash = "#/tables/shop/import"`)
	upload(p, "input[name=files]", file("long.csv", "PK,SK,note\na,7,cheap, cheerful\na,8,plain,\n"))
	p.UntilText("Campos de la línea: 4, del encabezado: 3")
	p.Button("Importar elementos")
	p.UntilText("1 escrito")
	if got := all(t, db, "shop"); got["a 7"] != nil || got["a 8"] == nil {
		t.Errorf("imported %v, %v: want only the line with as many fields as the header", got["a 7"], got["a 8"])
	}
	p.Eval(`location.hash = "#/tables/shop"`)
	p.Eval(`location.hash = "#/tables/shop/import"`)
	manifest := `{"itemCount":1,"dataFileS3Key":"AWSDynamoDB/1/data/a.json"}` + "\n" + `{"itemCount":1,"dataFileS3Key":"AWSDynamoDB/1/data/b.json"}`
	export := file("AWSDynamoDB/1/manifest-files.json", manifest)
	summary := file("AWSDynamoDB/1/manifest-summary.json", `{"outputFormat":"DYNAMODB_JSON","exportType":"FULL_EXPORT"}`)
	data := file("AWSDynamoDB/1/data/a.json", `{"Item":{"PK":{"S":"b"},"SK":{"S":"1"}}}`)
	upload(p, "input[name=files]", export, summary, data)
	p.UntilText("La exportación no está completa: su manifiesto nombra b.json")
	upload(p, "input[name=files]", export, summary, data, file("AWSDynamoDB/1/data/b.json", `{"Item":{"PK":{"S":"b"},"SK":{"S":"2"}}}`))
	p.UntilText("2 elementos")
	p.Button("Importar elementos")
	p.UntilText("2 escritos")
}
