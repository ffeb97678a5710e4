package generate_test

import (
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/generate"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

var rewrite = flag.Bool("rewrite", false, "generate the packages of test/generated and of the systems again")

// root is the module's directory.
var root = filepath.Join("..", "..", "..", "..")

// TestPackages compares the packages in test/generated and in the systems with the output for their designs.
func TestPackages(t *testing.T) {
	check := func(name, file, dir string) {
		t.Run(name, func(t *testing.T) {
			files := packageOf(t, file)
			if *rewrite {
				if err := generate.Write(dir, files); err != nil {
					t.Fatal(err)
				}
			}
			if d, err := generate.Compare(dir, files); d != nil || err != nil {
				t.Errorf("%v, %v (-rewrite writes it again)", d, err)
			}
		})
	}
	generated := filepath.Join(root, "test", "generated")
	for _, name := range []string{"kinds", "patterns", "shop"} {
		check(name, filepath.Join(generated, "designs", name+".design.yaml"), filepath.Join(generated, name))
	}
	for _, name := range []string{"appcore", "catfecito", "portfolio", "transporteapp", "trinity"} {
		dir := filepath.Join(root, "systems", name)
		check(name, filepath.Join(dir, name+".design.yaml"), filepath.Join(dir, name+"db"))
	}
}

func packageOf(t *testing.T, file string) []generate.File {
	t.Helper()
	d, err := design.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return files(t, d)
}

func files(t *testing.T, d *design.Design) []generate.File {
	t.Helper()
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate.Package(p, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shop is a small design to which tests add sections.
const shop = `
design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK } } }
`

func parse(t *testing.T, sections string) (*lower.Program, error) {
	t.Helper()
	d, err := design.Parse("shop.yaml", []byte(shop+sections))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	_, err = generate.Package(p, "")
	return p, err
}

// TestNameConflictNamesLanguage tests that a conflict names the language that is generated.
func TestNameConflictNamesLanguage(t *testing.T) {
	p, _ := parse(t, "types: { User: { enum: [a] } }\nentities: { User: { key: { pk: \"{userId}\", sk: A }, fields: { userId: id } } }")
	for language, files := range map[string]func(*lower.Program) ([]generate.File, error){"TypeScript": generate.TypeScript, "Python": generate.Python} {
		_, err := files(p)
		if err == nil || !strings.Contains(err.Error(), "two things with the name User in "+language+", ") {
			t.Errorf("%s: %v", language, err)
		}
	}
}

// TestRecordOfRepetition tests that no item has the name of the record that a repetition returns in languages other than Go.
func TestRecordOfRepetition(t *testing.T) {
	p, err := parse(t, `entities:
  Record: { key: { pk: "R#{id}", sk: A }, fields: { id: id } }
  Done: { key: { pk: "D#{key}", sk: A }, fields: { key: id, id: id } }
reads: { RecordByID: { one: Record, by: [id] } }
writes: { Add: { params: { key: id }, idempotent: { with: Done, replay: RecordByID }, do: [{ create: Record }] } }`)
	if err != nil {
		t.Fatal(err)
	}
	for language, files := range map[string]func(*lower.Program) ([]generate.File, error){"TypeScript": generate.TypeScript, "Python": generate.Python} {
		const want = "Add has two things with the name Record in %s, the field record and entity Record: give one of them another name"
		if _, err := files(p); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(want, language)) {
			t.Errorf("%s: %v", language, err)
		}
	}
}

// TestNameConflicts tests that conflicting Go names are rejected with their position, unless the generator can choose another.
func TestNameConflicts(t *testing.T) {
	const user = `entities: { User: { key: { pk: "USER#{userId}", sk: A }, fields: { userId: id } } }`
	for _, c := range []struct{ design, want string }{
		{
			`entities: { User: { key: { pk: "{userId}", sk: A }, fields: { userId: id, userID: text } } }`,
			"5:75: User has two things with the name UserID in Go, field userId and field userID: give one of them another name in the design",
		},
		{
			`entities: { Config: { key: { pk: "{id}", sk: A }, fields: { id: id } } }`,
			"5:13: Config has two things with the name Config in Go, the type Config and entity Config: give one of them another name in the design",
		},
		{
			"types: { Tx_Status: { enum: [a] }, TxStatus: { enum: [a] } }\n" + user,
			"5:36: TxStatus has two things with the name TxStatus in Go, enumeration Tx_Status and enumeration TxStatus",
		},
		{
			user + "\nreads: { Users: { many: User, by: [userId] }, UsersAll: { one: User, by: [userId] } }",
			"UsersAll has two things with the name UsersAll in Go, iterator of Users and pattern UsersAll",
		},
		{
			user + "\nreads: { Load: { one: User, by: [userId] } }",
			"Load has two things with the name Load in Go, the method Load and pattern Load",
		},
		{
			user + "\nwrites: { Tx: { do: [{ create: User }] } }",
			"Tx has two things with the name Tx in Go, the method Tx and pattern Tx",
		},
		{
			`entities: { User: { key: { pk: "{userId}", sk: A }, fields: { userId: id } }, GetInput: { key: { pk: "{x}", sk: B }, fields: { x: id } } }
reads: { Get: { one: User, by: [userId] } }`,
			"Get has two things with the name GetInput in Go, entity GetInput and input of Get",
		},
		{
			`entities: { User: { key: { pk: "{userId}", sk: "{at}" }, fields: { userId: id, at: time, atFrom: text } } }
reads: { Get: { many: User, by: [userId], range: at, filter: "atFrom = :atFrom" } }`,
			"Get has two things with the name AtFrom in Go, input atFrom and bound of at",
		},
		{
			`entities: { User: { key: { pk: "{userId}", sk: A }, fields: { userId: id, record: text, recordValue: text } } }`,
			"User has two things with the name RecordValue in Go, field record and field recordValue",
		},
		{
			`entities:
  User: { key: { pk: "{userId}", sk: "{x}" }, fields: { userId: id, x: id } }
  Done: { key: { pk: "D#{key}", sk: A }, fields: { key: id } }
reads: { UserByID: { one: User, by: [userId, x] } }
writes: { Add: { params: { key: id }, idempotent: { with: Done, replay: UserByID }, do: [{ create: User, by: { x: "'1'" } }] } }`,
			"Add is replayed by UserByID, which needs x: neither Done nor the write has it",
		},
		{"go: { package: main }\n" + user, "a package main cannot be imported"},
	} {
		if _, err := parse(t, c.design); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n\t%v\n\twant %s", c.design, err, c.want)
		}
	}
}

// TestFaultsHavePlaces tests that each conflict is reported with its own position.
func TestFaultsHavePlaces(t *testing.T) {
	_, err := parse(t, `entities: { User: { key: { pk: "{userId}", sk: A }, fields: { userId: id, userID: text, user_id: text } } }`)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 2 {
		t.Fatalf("%v, want two faults", err)
	}
	for _, part := range joined.Unwrap() {
		if f, ok := errors.AsType[*lower.FaultError](part); !ok || f.Pos.Line != 5 {
			t.Errorf("%v is no fault of line 5", part)
		}
	}
}

// TestNoPatterns tests that a design with only tables and entities has a package without empty files.
func TestNoPatterns(t *testing.T) {
	d, err := design.Parse("shop.yaml", []byte(shop+`entities: { User: { key: { pk: "{userId}", sk: A }, fields: { userId: id } } }`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files(t, d) {
		names = append(names, f.Name)
		if _, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Content, parser.AllErrors); err != nil {
			t.Error(err)
		}
		if first, _, _ := strings.Cut(string(f.Content), "\n"); first != "// Code generated by monotable from shop.yaml; DO NOT EDIT." {
			t.Errorf("%s begins with %s", f.Name, first)
		}
	}
	if got := strings.Join(names, " "); got != "shop.go types.go codecs.go descriptors.go" {
		t.Errorf("the package has %s", got)
	}
}

// TestDirectory tests that the package is written to a directory, and that other files are left alone.
func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	const head = "// Code generated by monotable from shop.yaml; DO NOT EDIT.\n\npackage shop\n"
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			return "nothing"
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	differs := func(files []generate.File, want string) {
		t.Helper()
		d, err := generate.Compare(dir, files)
		switch {
		case err != nil:
			t.Error(err)
		case d == nil && want != "", d != nil && d.String() != filepath.Join(dir, want):
			t.Errorf("the difference is %v, want %s", d, want)
		}
	}
	first := []generate.File{{Name: "a.go", Content: []byte(head + "\nvar A int\n")}, {Name: "b.go", Content: []byte(head)}}
	differs(first, "a.go:1: is missing")
	if err := generate.Write(dir, first); err != nil {
		t.Fatal(err)
	}
	differs(first, "")
	write("own.go", "package shop\n")
	write("b.go", strings.ReplaceAll(head, "\n", "\r\n")) // as in some checkouts
	differs(first, "")
	write("a.go", head+"\nvar B int\n")
	differs(first, "a.go:5: differs from the generated code")

	second := []generate.File{{Name: "a.go", Content: []byte(head + "\nvar C int\n")}}
	if err := generate.Write(dir, second[:0]); err != nil { // a.go and b.go were generated, own.go was not
		t.Fatal(err)
	}
	if got := read("a.go") + read("b.go") + read("own.go"); got != "nothingnothingpackage shop\n" {
		t.Errorf("the directory has %q", got)
	}
	write("b.go", head)
	differs(nil, "b.go:1: was generated, but the design no longer needs it")
	write("a.go", "package shop // by hand\n")
	if err := generate.Write(dir, second); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "a.go")+" is not a generated file and is not overwritten") {
		t.Errorf("it was overwritten: %v", err)
	}
	if got := read("a.go") + read("b.go"); got != "package shop // by hand\n"+head {
		t.Errorf("a refused generation has changed the directory: %q", got)
	}
}

// TestElseKnown tests that all languages have the same error for an else that names one that any write can return.
func TestElseKnown(t *testing.T) {
	p, err := parse(t, `
entities: { Post: { key: { pk: "POST#{postId}", sk: POST }, fields: { postId: ulid, shown: bool } } }
writes: { Hide: { do: [{ update: Post, set: { shown: false }, when: shown = true, else: NotFound }] } }
`)
	if err != nil {
		t.Fatal(err)
	}
	for language, of := range map[string]func(*lower.Program) ([]generate.File, error){
		`table.Else{{Err: table.ErrNotFound}}`: func(p *lower.Program) ([]generate.File, error) { return generate.Package(p, "") },
		`[{ "err": "ErrNotFound" }]`:           generate.TypeScript,
		`"else": [{ "err": "ErrNotFound" }]`:   generate.Python,
	} {
		out, err := of(p)
		if err != nil {
			t.Error(err)
		}
		if !anyContains(out, language) || anyContains(out, `"ErrNotFound": {`) {
			t.Errorf("no file has %s, or one declares the error", language)
		}
	}
}

// TestTimeToLive tests that TypeScript's requests turn expiry on, on the configured tables.
func TestTimeToLive(t *testing.T) {
	d, err := design.Parse("log.yaml", []byte(`
design: 1
name: Log
tables: { log: { name: "log-{stage}", key: { pk: PK }, ttl_attr: goes }, other: { key: { pk: PK } } }
entities: { Line: { table: log, key: { pk: "LINE#{lineId}" }, fields: { lineId: id, goes: ttl }, ttl: { attr: goes } } }
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate.TypeScript(p)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, f := range out {
		if f.Name == "index.ts" {
			_, text, _ = strings.Cut(string(f.Content), "export function timeToLive(")
		}
	}
	if !strings.Contains(text, `config.tables?.["log"] ?? "log-{stage}"`) || !strings.Contains(text, `"AttributeName": "goes"`) || strings.Contains(text, `"other"`) {
		t.Errorf("timeToLive is %q", text)
	}
}

func anyContains(files []generate.File, text string) bool {
	return slices.ContainsFunc(files, func(f generate.File) bool { return strings.Contains(string(f.Content), text) })
}
