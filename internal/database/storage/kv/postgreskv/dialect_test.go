package postgreskv_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// newestSQL is the oldest version of PostgreSQL in which the store's SQL works.
const newestSQL = 13

// plainSQL is SQL that is older than PostgreSQL 7.2, and that other databases with its protocol also have.
const plainSQL = `
	alter and as bigint boolean bytea by coalesce column commit create default delete else exists false function having in index insert int
	into is key limit max min not null on or order primary replace returns schema select set smallint sum table text union update values void where from`

// undocumented is the SQL of the table that CockroachDB or YugabyteDB does not document, but the store works without. Session-level advisory locks are
// the exception: the store requires them.
const undocumented = "pg_advisory_lock pg_advisory_lock_shared pg_try_advisory_lock pg_advisory_unlock pg_advisory_unlock_shared set storage external vacuum analyze"

// names are those of the schema, and of columns and tables within statements.
const names = `
	a append_lock append_log b begin_update bytes c copies count counters d data deleted draw exclusive fail first flags floor go_on goes_on gone got held hold
	i id k kept kept_branches kept_kv kept_log kv kv_branches l log locks logs lowest m mark met meta n name number number_lock numbers p page r records s seq
	setting shard size sums through timed transaction trimmed u v version x y`

// TestDialect tests that each word of the SQL in the source is in the table of docs/postgresql.md, or plain, and that the
// table has nothing else, nothing too new, and nothing that CockroachDB or YugabyteDB does not document.
func TestDialect(t *testing.T) {
	table := readTable(t)
	known := map[string]bool{}
	for word := range strings.FieldsSeq(plainSQL + names) {
		known[word] = true
	}
	used := map[string]bool{}
	for _, statement := range statements(t) {
		if where := differs.FindString(quoted.ReplaceAllString(statement, " ")); where != "" {
			t.Errorf("%q means something else in CockroachDB, or nothing, in %.80q", where, statement)
		}
		for _, word := range words(statement) {
			used[word] = true
			if !known[word] && !table[word] {
				t.Errorf("%s is neither in the table of docs/postgresql.md nor plain SQL, in %.80q", word, statement)
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(table)) {
		if !used[word] {
			t.Errorf("no statement uses %s, which is in the table of docs/postgresql.md", word)
		}
	}
	if len(used) < 100 {
		t.Errorf("the source has only %d words of SQL: are statements found?", len(used))
	}
}

var inCode = regexp.MustCompile("`([^`]+)`")

// readTable returns the words of the table, and checks its versions.
func readTable(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "docs", "postgresql.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\n## Required SQL\n")
	section, _, _ := strings.Cut(after, "\n## ")
	table, pages := map[string]bool{}, [2]bool{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		for i, site := range []string{"cockroach", "yugabyte"} {
			if cell := cells[3+i]; strings.Contains(cell, "](https://") {
				pages[i] = strings.Contains(cell, site) && !strings.Contains(cell, "no: ")
			} else if !strings.HasPrefix(cell, " the same page") {
				pages[i] = false
			}
		}
		if since, err := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64); err != nil || since > newestSQL {
			t.Errorf("a row with the version %q, want one up to %d: %s", cells[2], newestSQL, line)
		}
		for _, code := range inCode.FindAllStringSubmatch(cells[1], -1) {
			for _, word := range words(code[1]) {
				table[word] = true
				if pages != [2]bool{true, true} && !slices.Contains(strings.Fields(undocumented), word) {
					t.Errorf("a row without a page of both databases' documentation: %s", line)
				}
			}
		}
	}
	return table
}

var (
	quoted  = regexp.MustCompile(`'[^']*'|"[^"]*"|--[^\n]*`)
	aWord   = regexp.MustCompile(`[a-z_][a-z0-9_]*`)
	isSQL   = regexp.MustCompile(`^\s*(select|insert|update|delete|with|create|alter|set|begin|commit|vacuum)( |$)`)
	hasArgs = regexp.MustCompile(`\$\d`)
	differs = regexp.MustCompile(`/|\bselect from\b`) // division of integers, and rows without columns
)

func words(sql string) []string { return aWord.FindAllString(quoted.ReplaceAllString(sql, " "), -1) }

// statements returns the package's SQL files, and the statements and parts of statements in the package's source.
func statements(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range []string{"schema.sql", "storage.sql", "functions.sql"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, string(text))
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr: // a concatenated statement
				if parts := literals(n); len(parts) > 0 && isSQL.MatchString(parts[0]) {
					found = append(found, parts...)
				}
			case *ast.BasicLit:
				if text := literals(n); len(text) > 0 && (isSQL.MatchString(text[0]) || hasArgs.MatchString(text[0])) {
					found = append(found, text[0])
				}
			}
			return true
		})
	}
	return found
}

// literals are the string literals in an expression.
func literals(e ast.Expr) (texts []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
