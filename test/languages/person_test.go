package languages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// personItem is an item of a person, as generated code exports it.
type personItem struct {
	Entity string
	Values map[string]value
	JSON   string
	Resume table.Cursor
}

// Export exports with both, resumes with both in the middle, and after an invalid cursor.
func (m *mirror) Export(ctx context.Context, p *table.Person, id string, after table.Cursor) iter.Seq2[table.PersonItem, error] {
	return func(yield func(table.PersonItem, error) bool) {
		want, got, err := m.export(ctx, p, id, after, after)
		if n := len(want) / 2; err == nil && n > 0 {
			_, _, err = m.export(ctx, p, id, want[n].Resume, got[n].Resume)
		}
		for _, after := range []table.Cursor{"99.x", "x", "0.x"} {
			if _, _, ended := m.export(ctx, p, id, after, after); err == nil && !errors.Is(ended, table.ErrCursor) {
				err = differs("export behind "+string(after), ended, table.ErrCursor)
			}
		}
		for _, x := range want {
			if !yield(x, nil) {
				return
			}
		}
		if err != nil {
			yield(table.PersonItem{}, err)
		}
	}
}

// export compares the exports of both, each after its own cursor.
func (m *mirror) export(ctx context.Context, p *table.Person, id string, after, own table.Cursor) ([]table.PersonItem, []personItem, error) {
	call := "export of " + id + " after " + string(after)
	var want []table.PersonItem
	var err error
	for x, fault := range m.db.Export(ctx, p, id, after) {
		if err = fault; err == nil {
			want = append(want, x)
		}
	}
	var got []personItem
	failed, ended := m.call("export", map[string]any{"id": id, "after": own}, &got)
	if ended != nil {
		return nil, nil, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return nil, nil, cmp.Or(different, err)
	}
	if len(got) != len(want) {
		return nil, nil, differs(call, fmt.Sprintf("%d items", len(got)), fmt.Sprintf("%d items", len(want)))
	}
	for i, x := range want {
		name := fmt.Sprintf("%s, item %d", call, i+1)
		if got[i].Entity != x.Entity || (got[i].Resume == "") != (x.Resume == "") {
			return nil, nil, differs(name, got[i], x)
		}
		if err := cmp.Or(sameValues(name, got[i].Values, x.Values), sameJSON(name, got[i].JSON, x)); err != nil {
			return nil, nil, err
		}
	}
	return want, got, nil
}

// sameJSON compares an item's JSON, regardless of escaping.
func sameJSON(call, got string, item table.PersonItem) error {
	want, err := json.Marshal(item)
	if err != nil {
		return err
	}
	var a, b any
	for text, to := range map[string]*any{got: &a, string(want): &b} {
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(to); err != nil {
			return differs(call+" as JSON", got, err)
		}
	}
	if got == string(want) || reflect.DeepEqual(a, b) {
		return nil
	}
	return differs(call+" as JSON", got, string(want))
}

// Erase erases with both, and compares the results, all tables, and what is kept by the design.
func (m *mirror) Erase(ctx context.Context, p *table.Person, id string) (table.Erased, error) {
	if err := m.follow(ctx); err != nil {
		return table.Erased{}, err
	}
	m.firstID += 1000
	m.id = m.firstID
	call := "erase " + id
	want, err := m.db.Erase(ctx, p, id)
	var got struct {
		Erased table.Erased
		Kept   []table.Kept
	}
	failed, ended := m.call("erase", map[string]any{"id": id, "firstID": m.firstID}, &got)
	if ended != nil {
		return want, ended
	}
	refused, different := m.sameError(call, failed, err)
	if different := cmp.Or(different, m.sameTables(ctx, call)); different != nil || refused {
		return want, cmp.Or(different, err)
	}
	if !reflect.DeepEqual(got.Erased, want) {
		return want, differs(call, got.Erased, want)
	}
	if kept := p.Kept(); len(got.Kept) != len(kept) || len(kept) > 0 && !reflect.DeepEqual(got.Kept, kept) {
		return want, differs(call+", what is kept", got.Kept, kept)
	}
	return want, nil
}

// diary is a design in which a person keeps writing notes.
const diary = `design: 1
name: Diary
person: userId
tables: { Diary: { key: { pk: PK, sk: SK } } }
entities:
  User: { key: { pk: "USER#{userId}", sk: PROFILE }, fields: { userId: id, password: secret } }
  Note: { key: { pk: "USER#{userId}", sk: "NOTE#{noteId}" }, fields: { userId: id, noteId: id, text: text } }
`

// writing is a server on which a person writes another note after each write.
type writing struct {
	http.Handler

	again func()
}

func (h *writing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Handler.ServeHTTP(w, r)
	if target := r.Header.Get("X-Amz-Target"); !strings.HasSuffix(target, ".Query") {
		h.again()
	}
}

// TestActiveWriterIsNotErased tests that a person who never stops writing is not erased, as in Go, and that an export has no password.
func TestActiveWriterIsNotErased(t *testing.T) {
	file := filepath.Join(t.TempDir(), "diary.design.yaml")
	if err := os.WriteFile(file, []byte(diary), 0o600); err != nil {
		t.Fatal(err)
	}
	inEach(t, file, erasureOfActiveWriter)
}

func erasureOfActiveWriter(t *testing.T, l language, d *design.Design, dir string) {
	t.Helper()
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	db := monotabletest.New(t)
	if err := provision.Apply(t.Context(), db.Client(), provision.Specs(d, nil), t.Logf); err != nil {
		t.Fatal(err)
	}
	write := func() {
		of := func(sk string) table.Item {
			return table.Item{"PK": textValue("USER#ann"), "SK": textValue(sk), "userId": textValue("ann")}
		}
		user, note := of("PROFILE"), of("NOTE#n")
		user["password"], note["noteId"], note["text"] = textValue("pass-word"), textValue("n"), textValue("<a> & \u2028")
		for _, item := range []table.Item{user, note} {
			if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Diary"), Item: item}); err != nil {
				t.Error(err)
			}
		}
	}
	write()
	server := httptest.NewServer(&writing{db.Handler(), write})
	t.Cleanup(server.Close)
	goes, err := table.Open(dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}), table.Config{Sequential: true}, p.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, l, dir)
	call := func(operation string, arguments map[string]any, result any) *failure {
		t.Helper()
		arguments["world"] = 1
		failed, err := n.call(operation, arguments, result)
		if err != nil {
			t.Fatal(err)
		}
		return failed
	}
	if failed := call("open", map[string]any{
		"endpoint": server.URL, "tables": map[string]string{}, "now": int64(1736942400000), "cursorKey": base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}, nil); failed != nil {
		t.Fatal(failed)
	}
	var items []personItem
	if failed := call("export", map[string]any{"id": "ann", "after": ""}, &items); failed != nil || len(items) != 2 {
		t.Fatalf("an export has %v, %v", items, failed)
	}
	for _, x := range items {
		if strings.Contains(x.JSON, "pass") {
			t.Errorf("a secret is exported: %s", x.JSON)
		}
	}
	_, want := goes.Erase(t.Context(), p.Person, "ann")
	failed := call("erase", map[string]any{"id": "ann", "firstID": 0}, nil)
	if failed == nil || !errors.Is(want, table.ErrStillWritten) || !slices.Contains(failed.Codes, "StillWritten") || failed.Message != want.Error() {
		t.Errorf("erasing ends in %v, and Go's in %v", failed, want)
	}
}
