package engine_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// openShelves opens an engine with a table of 5 shelves of 4 books each, with a global index by year.
func openShelves(tb testing.TB) *engine.Engine {
	tb.Helper()
	e, err := engine.Open(tb.Context(), memkv.New(), engine.Options{TTLInterval: -1, StreamShardRotation: -1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	if _, err := perform(tb.Context(), e, "create-table", `{"TableName":"books","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"shelf","KeyType":"HASH"},{"AttributeName":"place","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"shelf","AttributeType":"S"},{"AttributeName":"place","AttributeType":"N"},
			{"AttributeName":"year","AttributeType":"N"}],
		"GlobalSecondaryIndexes":[{"IndexName":"by-year","KeySchema":[{"AttributeName":"year","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"}}]}`); err != nil {
		tb.Fatal(err)
	}
	for shelf := range 5 {
		for place := range 4 {
			in := &api.ExecuteStatementInput{
				Statement:  new("INSERT INTO books VALUE {'shelf': ?, 'place': ?, 'year': ?}"),
				Parameters: []attr.Value{attr.String(fmt.Sprint(shelf)), attr.Number(strconv.Itoa(place)), attr.Number(strconv.Itoa(1900 + place%2))},
			}
			if _, err := e.ExecuteStatement(tb.Context(), in); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return e
}

// books reads all pages of a SELECT, and returns the items of each as shelf/place.
func books(tb testing.TB, e *engine.Engine, in api.ExecuteStatementInput) [][]string {
	tb.Helper()
	var pages [][]string
	for {
		out, err := e.ExecuteStatement(tb.Context(), &in)
		if err != nil {
			tb.Fatalf("%s: %v", *in.Statement, err)
		}
		page := []string{}
		for _, item := range out.Items {
			page = append(page, bookOf(tb, item))
		}
		out.Release()
		pages = append(pages, page)
		if out.NextToken == nil {
			return pages
		}
		in.NextToken = out.NextToken
		if len(pages) > 100 {
			tb.Fatalf("%s: no end after 100 pages", *in.Statement)
		}
	}
}

func bookOf(tb testing.TB, stored itemenc.Item) string {
	tb.Helper()
	item, err := stored.Select([]string{"place", "shelf"})
	if err != nil {
		tb.Fatal(err)
	}
	shelf, _ := item.Get("shelf")
	place, _ := item.Get("place")
	return shelf.Text() + "/" + place.Text()
}

// TestStatementPages: the pages of a SELECT together are its result, in order and without duplicates, whatever the Limit.
func TestStatementPages(t *testing.T) {
	e := openShelves(t)
	for _, tt := range []struct {
		statement string
		want      string
	}{
		{"SELECT * FROM books WHERE shelf = '2'", "2/0 2/1 2/2 2/3"},
		{"SELECT * FROM books WHERE shelf = '2' ORDER BY place DESC", "2/3 2/2 2/1 2/0"},
		{"SELECT * FROM books WHERE shelf = '2' AND place >= 1 AND place < 3", "2/1 2/2"},
		{"SELECT * FROM books WHERE shelf IN ['3', '1', 'none', '4'] AND place > 1", "3/2 3/3 1/2 1/3 4/2 4/3"},
		{"SELECT * FROM books WHERE shelf IN ['3', '1', '4'] ORDER BY shelf DESC, place DESC", "4/3 4/2 4/1 4/0 3/3 3/2 3/1 3/0 1/3 1/2 1/1 1/0"},
		{"SELECT * FROM books WHERE shelf IN ['3', '1'] AND place = 2", "3/2 1/2"},
		{"SELECT * FROM books WHERE shelf = '0' OR shelf = '4' AND place = 3", "0/0 0/1 0/2 0/3 4/3"},
		{`SELECT * FROM "books"."by-year" WHERE "year" = 1901 AND shelf > '2'`, "3/1 3/3 4/1 4/3"},
		{"SELECT * FROM books WHERE place = 3 AND shelf BETWEEN '1' AND '2'", "1/3 2/3"},
	} {
		for _, limit := range []int64{0, 1, 2, 3, 7, 100} {
			in := api.ExecuteStatementInput{Statement: &tt.statement}
			if limit > 0 {
				in.Limit = &limit
			}
			got := slices.Concat(books(t, e, in)...)
			want := strings.Fields(tt.want)
			if !strings.Contains(tt.statement, "shelf =") && !strings.Contains(tt.statement, "IN") { // no order is promised
				slices.Sort(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, limit %d (-want +got)\n%s", tt.statement, limit, diff)
			}
		}
	}
}

// A page of several partitions ends after ten items, as AWS documents for IN.
func TestStatementPagesOfTen(t *testing.T) {
	e := openShelves(t)
	statement := "SELECT * FROM books WHERE shelf IN ['0', '1', '2', '3', '4']"
	var sizes []int
	for _, page := range books(t, e, api.ExecuteStatementInput{Statement: &statement}) {
		sizes = append(sizes, len(page))
	}
	if diff := cmp.Diff([]int{10, 10, 0}, sizes); diff != "" {
		t.Errorf("items of the pages: %v", sizes)
	}
}

// A token is only valid for its own statement and parameters. Any other, or modified, token is rejected or continues within the
// statement's own range.
func TestStatementTokens(t *testing.T) {
	e := openShelves(t)
	first := api.ExecuteStatementInput{
		Statement: new("SELECT * FROM books WHERE shelf IN ?"), Limit: new(int64(2)),
		Parameters: []attr.Value{attr.List([]attr.Value{attr.String("1"), attr.String("2")})},
	}
	out, err := e.ExecuteStatement(t.Context(), &first)
	if err != nil {
		t.Fatal(err)
	}
	token := *out.NextToken
	for name, change := range map[string]func(*api.ExecuteStatementInput){
		"another statement": func(in *api.ExecuteStatementInput) { in.Statement = new("SELECT shelf FROM books WHERE shelf IN ?") },
		"other parameters": func(in *api.ExecuteStatementInput) {
			in.Parameters = []attr.Value{attr.List([]attr.Value{attr.String("1"), attr.String("3")})}
		},
		"no base64": func(in *api.ExecuteStatementInput) { in.NextToken = new("?") },
		"too short": func(in *api.ExecuteStatementInput) { in.NextToken = new("AAAA") },
	} {
		in := first
		in.NextToken = &token
		change(&in)
		if _, err := e.ExecuteStatement(t.Context(), &in); !isValidation(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	raw, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for _, b := range []byte{0, 1, 2, 0x7f, 0x80, 0xff, raw[i] + 1} {
			changed := slices.Clone(raw)
			changed[i] = b
			checkToken(t, e, first, changed)
		}
		checkToken(t, e, first, raw[:i])
		checkToken(t, e, first, append(slices.Clone(raw), raw[:i+1]...))
	}
}

// checkToken expects a rejection, or items of the two selected shelves.
func checkToken(t *testing.T, e *engine.Engine, in api.ExecuteStatementInput, token []byte) {
	t.Helper()
	in.NextToken = new(base64.StdEncoding.EncodeToString(token))
	if *in.NextToken == "" {
		return
	}
	out, err := e.ExecuteStatement(t.Context(), &in)
	if err != nil {
		if !isValidation(err) {
			t.Errorf("token %q: %v", token, err)
		}
		return
	}
	for _, item := range out.Items {
		if book := bookOf(t, item); !strings.HasPrefix(book, "1/") && !strings.HasPrefix(book, "2/") {
			t.Errorf("token %q: %s", token, book)
		}
	}
}

func isValidation(err error) bool {
	known, ok := errors.AsType[*apierr.Error](err)
	return ok && known.Code == apierr.ValidationException
}

// A batch reserves memory before a statement once the items of its response are large. Without memory, the statement is throttled
// and has not been executed.
func TestBatchStatementsReserveMemory(t *testing.T) {
	e := openShelves(t)
	update := "UPDATE books SET text = ? WHERE shelf = '1' AND place = ? RETURNING ALL NEW *"
	in := &api.BatchExecuteStatementInput{}
	for place := range 4 {
		in.Statements = append(in.Statements, api.BatchStatementRequest{
			Statement: &update, Parameters: []attr.Value{attr.String(strings.Repeat("x", 40<<10)), attr.Number(strconv.Itoa(place))},
		})
	}
	asked := 0
	ctx := api.WithRoom(t.Context(), func(int64, bool) error {
		if asked++; asked > 1 {
			return apierr.Overloaded.With()
		}
		return nil
	})
	out, err := e.BatchExecuteStatement(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, r := range out.Responses {
		code := ""
		if r.Error != nil {
			code = *r.Error.Code
		}
		codes = append(codes, code)
	}
	if diff := cmp.Diff([]string{"", "", "", "ThrottlingError"}, codes); diff != "" {
		t.Errorf("codes (-want +got)\n%s", diff)
	}
	changed := books(t, e, api.ExecuteStatementInput{Statement: new("SELECT * FROM books WHERE shelf = '1' AND size(text) > 1")})
	if diff := cmp.Diff([][]string{{"1/0", "1/1", "1/2"}}, changed); diff != "" {
		t.Errorf("changed (-want +got)\n%s", diff)
	}
}

// FuzzStatement: no statement, parameter or token causes an internal error.
func FuzzStatement(f *testing.F) {
	for _, seed := range []string{
		"SELECT place, a.b[1] FROM books WHERE shelf = ? AND place BETWEEN 1 AND 3 ORDER BY place DESC",
		`SELECT * FROM "books"."by-year" WHERE "year" IN [1900, ?] AND begins_with(shelf, '1')`,
		"INSERT INTO books VALUE {'shelf': 'x', 'place': 1, 'l': [?, <<1, 2>>]}",
		"UPDATE books SET a = a + ?, s = set_add(s, <<'x'>>) REMOVE b[1] WHERE shelf = '1' AND place = 2 AND NOT year IS MISSING RETURNING ALL NEW *",
		"DELETE FROM books WHERE shelf = '1' AND place = 3 AND size(l) > ? RETURNING ALL OLD *",
		"EXISTS(SELECT * FROM books WHERE shelf = '1' AND place = 1 AND year = ?)",
	} {
		f.Add(seed, "p", "AAAAAAAAAAAAAAAAAAAAAAACAQFhAgEy")
	}
	e := openShelves(f)
	f.Fuzz(func(t *testing.T, statement, parameter, token string) {
		parameters := []attr.Value{attr.String(parameter), attr.ParseNumber(parameter), attr.List([]attr.Value{attr.String(parameter)})}
		for n := range parameters {
			for _, ps := range [][]attr.Value{parameters[:n], parameters[n:]} {
				_, err := e.ExecuteStatement(t.Context(), &api.ExecuteStatementInput{Statement: &statement, Parameters: ps})
				wantNoFault(t, err)
				_, err = e.ExecuteStatement(t.Context(), &api.ExecuteStatementInput{Statement: &statement, Parameters: ps, NextToken: &token})
				wantNoFault(t, err)
				_, err = e.BatchExecuteStatement(t.Context(), &api.BatchExecuteStatementInput{
					Statements: []api.BatchStatementRequest{{Statement: &statement, Parameters: ps}},
				})
				wantNoFault(t, err)
				_, err = e.ExecuteTransaction(t.Context(), &api.ExecuteTransactionInput{
					TransactStatements: []api.ParameterizedStatement{{Statement: &statement, Parameters: ps}},
				})
				wantNoFault(t, err)
			}
		}
	})
}

func wantNoFault(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*apierr.Error](err); err != nil && !ok {
		t.Error(err)
	}
}
