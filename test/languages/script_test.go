package languages

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/trial"
	"github.com/monotable/monotable/monotabletest"
)

// sdkClient is a client in the form that a mirror requires.
type sdkClient struct{ *dynamodb.Client }

func (c sdkClient) SDK() *dynamodb.Client { return c.Client }

// TestScripts tests that calls that random trials rarely make have the same results as in Go, with the same messages, and
// leave the same items.
func TestScripts(t *testing.T) {
	scripts := map[string]func(*script){
		"../generated/designs/patterns.design.yaml":                     func(s *script) { edits(s); ways(s) },
		"../../internal/tools/designer/trial/testdata/tags.design.yaml": tags, "../generated/designs/shop.design.yaml": orders,
		"testdata/nested.design.yaml": nested,
	}
	t.Run("TypeScript", func(t *testing.T) {
		installed(t)
		dir := t.TempDir()
		parsed := map[string]*design.Design{}
		for file := range scripts {
			parsed[file] = generated(t, typescript, file, filepath.Join(dir, filepath.Base(file)))
		}
		compiled(t, dir)
		for file, run := range scripts {
			follow(t, begin(t, typescript, parsed[file], filepath.Join(dir, "out", filepath.Base(file))), run)
		}
	})
	t.Run("Python", func(t *testing.T) {
		hasBoto3(t)
		for file, run := range scripts {
			dir := filepath.Join(t.TempDir(), strings.ReplaceAll(filepath.Base(file), ".", "_"))
			follow(t, begin(t, python, generated(t, python, file, dir), dir), run)
		}
	})
}

// script makes calls with a mirror.
type script struct {
	*mirror

	program *lower.Program
	ctx     context.Context
}

func begin(t *testing.T, l language, d *design.Design, dir string) *script {
	t.Helper()
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	placeholders := map[string]string{"stage": "test"}
	specs := provision.Specs(d, placeholders)
	for i := range specs {
		specs[i].TTLAttr = "" // the calls' times are not the database's
	}
	db := monotabletest.New(t)
	if err := provision.Apply(t.Context(), db.Client(), specs, func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	for i, x := range p.Tables {
		tables[x.Name] = specs[i].Name
	}
	runner, err := start(t, l, dir).open(t.Context(), trial.World{
		Program: p, Client: sdkClient{db.Client()}, Specs: specs,
		Config: table.Config{Tables: tables, CursorKey: make([]byte, 32), Clock: func() time.Time { return time.UnixMilli(1736942400000) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := runner.(*mirror) // opened by a driver
	return &script{mirror: m, program: p, ctx: t.Context()}
}

func follow(t *testing.T, s *script, run func(*script)) {
	t.Helper()
	run(s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// write runs a write; want is part of its error, "" for none.
func (s *script) write(want, name string, in table.Input) {
	s.t.Helper()
	i := slices.IndexFunc(s.program.Writes, func(w *lower.Write) bool { return w.Design.Name == name })
	_, err := s.Write(s.ctx, s.program.Writes[i].Run, in)
	s.ended(want, name, err)
}

func (s *script) read(name string) *table.Read {
	i := slices.IndexFunc(s.program.Reads, func(r *lower.Read) bool { return r.Design.Name == name })
	return s.program.Reads[i].Run
}

// ended checks the error of a call, which must not be a difference between the languages.
func (s *script) ended(want, name string, err error) {
	s.t.Helper()
	switch {
	case err == nil && want == "":
	case err == nil:
		s.t.Errorf("%s succeeds, want %s", name, want)
	case want == "", strings.Contains(err.Error(), difference), strings.Contains(err.Error(), broken), !strings.Contains(err.Error(), want):
		s.t.Errorf("%s: %v\nwant %s", name, err, want)
	}
}

// given are values: strings, whole numbers, sets of strings, maps and lists, and nil for NULL.
func given(pairs ...any) table.Input {
	in := table.Input{Values: table.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		in.Values[pairs[i].(string)] = storedValue(pairs[i+1])
	}
	return in
}

func storedValue(x any) types.AttributeValue {
	switch x := x.(type) {
	case types.AttributeValue:
		return x
	case string:
		return textValue(x)
	case int:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(x)}
	case []string:
		return &types.AttributeValueMemberSS{Value: x}
	case []any:
		list := []types.AttributeValue{}
		for _, e := range x {
			list = append(list, storedValue(e))
		}
		return &types.AttributeValueMemberL{Value: list}
	case map[string]any:
		m := map[string]types.AttributeValue{}
		for name, e := range x {
			m[name] = storedValue(e)
		}
		return &types.AttributeValueMemberM{Value: m}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

func edits(s *script) {
	parcel := func(sku string, quantity int) any { return map[string]any{"sku": sku, "quantity": quantity} }
	s.write("", "Open", given("shop", "s"))
	s.write("", "Begin", given("cart", "c", "shop", "s", "parcels", []any{}, "tags", []string{"a"}))

	// Sets and lists.
	s.write("", "Tag", given("cart", "c", "tags", []string{"b", "a"}))
	s.write("", "Untag", given("cart", "c", "tags", []string{"a", "b", "z"})) // the last members
	s.write("", "Untag", given("cart", "c", "tags", []string{"a"}))
	s.write("document path provided in the update expression is invalid", "Recount", given("cart", "c", "quantity", 3, "gift", "g")) // the parcel does not exist
	s.write("", "Pack", given("cart", "c", "parcels", []any{parcel("x", 1), parcel("y", 2), parcel("z", 3)}, "log", []any{"first"}))
	s.write("", "Pack", given("cart", "c", "parcels", []any{}, "log", []any{"third", "second"}))
	s.write("", "Recount", given("cart", "c", "quantity", 7, "gift", "for you")) // removes the second
	s.write("", "More", given("cart", "c"))
	s.write("", "Keep", given("cart", "new", "shop", "s", "tags", []string{"t"}, "log", []any{"l"}, "parcels", []any{parcel("x", 1)}))
	s.write("", "Keep", given("cart", "new", "shop", "other", "tags", []string{"u"}, "log", []any{"m"}, "parcels", []any{}))
	s.write("", "Keep", given("cart", "new", "shop", "other", "log", []any{}, "parcels", []any{})) // leaves the log unchanged
	s.write("not found", "Tag", given("cart", "none", "tags", []string{"b"}))

	// Keys of maps.
	address := map[string]any{"street": "Main"}
	s.write("", "Publish", given("post", "p", "shop", "s"))
	s.write("settings has an empty key, which DynamoDB cannot store", "Publish", given("post", "q", "shop", "s", "settings", map[string]any{"": "x"}))
	for _, c := range []struct{ kind, other, want string }{
		{"up", "down", ""},
		{"up", "up", "reactions.up is changed twice"},
		{"a.b", "c", ""},
		{"up", "", "other is not an id"},
		{"[0]", "c", "kind is not an id"},
	} {
		s.write(c.want, "React", given("post", "p", "kind", c.kind, "other", c.other))
	}
	for _, c := range []struct{ setting, want string }{
		{"mood", ""},
		{"[x]", ""},
		{"", "setting is a map key and must be a non-empty text"},
		{"[0]", "setting is [0], which is not a map key but a list index"},
		{"[+12]", "setting is [+12], which is not a map key but a list index"},
		{"[-1]", ""},
		{"[99999999999999999999]", ""},
	} {
		s.write(c.want, "Configure", given("post", "p", "setting", c.setting, "value", "v", "place", "home", "address", address))
	}
	s.write("", "Unreact", given("post", "p", "kind", "up"))
	s.write("", "Unreact", given("post", "p", "kind", "never"))
	each := table.Input{Values: table.Values{}, Lines: []table.Values{
		given("post", "p", "kind", "up", "times", 2).Values, given("post", "p", "kind", "down", "times", 2).Values,
	}}
	s.write("lines 1 and 2 touch one item", "ReactEach", each)

	// Patches.
	s.write("", "Offer", given("product", "x", "shop", "s", "code", "c-1", "name", "X", "status", "live", "price", 5, "brand", "b", "offer", 3, "origin", address))
	s.write("", "Offer", given("product", "y", "shop", "s", "code", "c-2", "name", "Y", "status", "draft", "price", 5, "origin", address))
	s.write("", "Change", given("product", "x")) // changes nothing
	s.write("", "Change", given("product", "x", "brand", nil, "offer", nil, "endsAt", nil))
	s.write("", "Change", given("product", "x", "brand", nil, "shop", "s", "code", "c-3"))
	s.write("product code is taken", "Change", given("product", "y", "code", "c-3"))
	s.write("brand is not a slug", "Change", given("product", "y", "brand", "No Slug"))
	s.write("not found", "Change", given("product", "none", "note", nil))
	s.write("not offered", "EndOffer", given("product", "x"))
	s.write("", "Unbrand", given("product", "y", "note", "n"))

	// Names of steps.
	s.write("", "Visit", given("visitor", "v"))
	s.write("", "Visit", given("visitor", "w"))
	s.write("", "Swap", given("from", "v", "to", "w"))
	s.write("Swap, giver: ", "Swap", given("from", "v", "to", "w"))
	s.write("makes steps giver and taker touch one item", "Swap", given("from", "v", "to", "v"))
	s.write("", "Leave", given("visitor", "v"))
	s.write("", "Visit", given("visitor", "v")) // removes what Leave has set

	// Batches.
	batch := table.Input{Values: table.Values{}}
	s.write("there are none", "Replace", batch)
	for i := range 120 {
		batch.Lines = append(batch.Lines, given("visitor", fmt.Sprint("b", i), "other", fmt.Sprint("o", i)).Values)
	}
	s.write("", "Replace", batch)
	batch.Lines = append(batch.Lines, given("visitor", "o7", "other", "v").Values)
	s.write("lines 121 and 8 touch one item", "Replace", batch)
}

func ways(s *script) {
	for i, day := range []string{"2024-02-28T23:59:59.999Z", "2024-02-29T00:00:00.000Z", "2024-03-01T12:00:00.000Z", "2024-03-20T12:00:00.000Z", "9999-12-31T23:59:59.999Z"} {
		s.write("", "Tell", given("source", "s", "at", day, "text", fmt.Sprint(i)))
	}
	for _, c := range []struct {
		from, to string
		limit    int
		want     string
	}{
		{"2024-02-28T00:00:00.000Z", "2024-03-20T12:00:00.000Z", 2, ""},
		{"2024-02-28T23:59:59.999Z", "2024-02-29T00:00:00.000Z", 20, ""},
		{"2024-03-20T12:00:00.000Z", "2024-02-28T00:00:00.000Z", 20, ""}, // swapped
		{"9999-12-31T00:00:00.000Z", "9999-12-31T23:59:59.999Z", 20, ""},
		{"0001-01-01T00:00:00.000Z", "0001-01-02T00:00:00.000Z", 20, ""},
		{"1969-12-31T23:00:00.000Z", "1970-01-01T01:00:00.000Z", 20, ""},
		{"2024-02-28T00:00:00.000Z", "2024-04-28T00:00:00.000Z", 20, "at has bounds that are more than 31 partitions apart"},
	} {
		in := given("source", "s")
		in.From, in.To = textValue(c.from), textValue(c.to)
		o := table.PageOptions{Limit: c.limit}
		for {
			page, err := s.Page(s.ctx, s.read("EventsBetween"), in, o)
			s.ended(c.want, "EventsBetween", err)
			if o.After = page.Next; page.Next == "" {
				break
			}
		}
		_, err := s.List(s.ctx, s.read("EventsBetween"), in)
		s.ended(c.want, "EventsBetweenAll", err)
	}
	var many []table.Input
	for i := range 251 {
		many = append(many, given("visitor", fmt.Sprint("b", i))) // of which the batches have put 120
	}
	_, err := s.Batch(s.ctx, s.read("Visitors"), many)
	s.ended("there are 251, but the maximum is 250", "Visitors", err)
	_, err = s.Batch(s.ctx, s.read("Visitors"), many[:250])
	s.ended("", "Visitors", err)
	_, err = s.Batch(s.ctx, s.read("Visitors"), nil)
	s.ended("", "Visitors", err)
	in := given("source", "s", "at", "2024-02-29T10:00:00.000Z")
	if n, err := s.Count(s.ctx, s.read("HowManyOfDay"), in); err != nil || n != 1 {
		s.t.Errorf("there are %d, %v", n, err)
	}
}

// tags: a counter whose key does not change is not touched, and so need not exist.
func tags(s *script) {
	in := func(tag string) table.Input {
		in := given("noteId", "01HV6X3Z5Q8Y9W2T4R6P8N0M1K", "tag", tag, "shelf", "s", "words", 3)
		in.Values["public"] = &types.AttributeValueMemberBOOL{Value: true}
		return in
	}
	s.write("", "AddTag", given("tag", "Go", "shelf", "s"))
	s.write("", "AddNote", in("Go"))
	client := s.under.Client.(sdkClient)
	if _, err := client.DeleteItem(s.ctx, &dynamodb.DeleteItemInput{TableName: aws.String("Tags"), Key: table.Item{"PK": textValue("TAG#go"), "SK": textValue("SHELF#s")}}); err != nil {
		s.t.Fatal(err)
	}
	s.write("", "Retag", in("GO"))
	s.write("not found", "Retag", in("other"))
}

// nested: an empty set cannot be stored, and must not be left out of a list, in which it has a position.
// sums are additions whose result cannot be stored, or not be decoded.
func sums(s *script) {
	decimal := func(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
	coin := func(id string, worth int) table.Values {
		return given("coinId", id, "jarId", "j", "worth", worth, "mass", 1).Values
	}
	drop := func(want string, lines ...table.Values) {
		s.write(want, "Drop", table.Input{Lines: lines})
	}
	const most, whole = math.MaxInt64, "is not a whole number of 64 bits"
	s.write("", "Take", given("docId", "e", "taken", most))
	s.write("left "+whole, "Take", given("docId", "e", "taken", most))
	s.write("", "Take", given("docId", "e", "taken", -most))
	s.write("", "Set", given("jarId", "j"))
	drop("coins "+whole, coin("a", most), coin("b", 1))
	drop("", coin("a", most-4), coin("b", 1))
	drop("", coin("c", -most), coin("d", 1))
	drop("coins "+whole, coin("e", -most), coin("f", -1<<60))
	s.write("worth "+whole, "Grow", given("coinId", "a", "more", 5, "dust", 0)) // it is read because of its copy
	s.write("mass is a sum that DynamoDB cannot store: decimal: more than 38 significant digits", "Grow",
		given("coinId", "a", "more", 0, "dust", decimal("1E-38")))
	s.write("", "Grow", given("coinId", "a", "more", 1, "dust", decimal("0.1")))
	s.write("document path provided in the update expression is invalid", "Widen", given("coinId", "a", "more", 1)) // before what it adds to
	s.write("", "Melt", given("coinId", "a"))
}

func nested(s *script) {
	some, none := []string{"a"}, []string{}
	part := func(groups ...any) any { return map[string]any{"groups": groups} }
	s.write("", "Keep", given("docId", "d", "groups", []any{some, some}, "byName", map[string]any{}, "part", part(some)))
	s.write("groups[1] is an empty set, which DynamoDB cannot store: leave it out", "Keep",
		given("docId", "d", "groups", []any{some, none, some}, "byName", map[string]any{}, "part", part()))
	s.write("part.groups[0] is an empty set", "Keep", given("docId", "d", "groups", []any{}, "byName", map[string]any{}, "part", part(none)))
	s.write("groups[0] is an empty set", "Extend", given("docId", "d", "groups", []any{none}))
	s.write("", "Extend", given("docId", "d", "groups", []any{some}))
	s.write("", "Take", given("docId", "d", "taken", 2))
	s.write("", "Take", given("docId", "d")) // takes nothing

	s.write("", "Label", given("docId", "d", "labels", some))
	s.write("", "Label", given("docId", "d", "labels", none)) // no labels

	// A key has only the second of a time.
	s.write("", "Beat", given("at", "2024-05-01T12:00:00.250Z", "pulseId", "p"))
	for at, want := range map[string]string{"2024-05-01T12:00:00.250Z": "", "2024-05-01T12:00:00.251Z": "not found"} {
		_, err := s.Get(s.ctx, s.read("PulseAt"), given("at", at, "pulseId", "p"))
		s.ended(want, "PulseAt", err)
	}

	// An else that names an error that any write can return.
	s.write("Reset: conflicts with other writes", "Reset", given("docId", "d"))
	s.write("", "Take", given("docId", "d", "taken", -2))
	s.write("Reset: already exists", "Reset", given("docId", "d"))
	s.write("Reset: doc: not found", "Reset", given("docId", "none"))
	s.write("", "Keep", given("docId", "e", "groups", []any{}, "byName", map[string]any{}, "part", part()))
	s.write("Reset: not found", "Reset", given("docId", "e"))
	sums(s)

	// Absent fields are not those of JavaScript's objects.
	read := func() (*failure, error) {
		return s.call("get", map[string]any{"pattern": "DocByID", "input": jsonInput(given("docId", "d"))}, nil)
	}
	if failed, err := read(); failed != nil || err != nil {
		s.t.Errorf("a Doc cannot be read: %v, %v", failed, err)
	}

	// A time that Go has, and the other languages do not.
	if _, err := s.memory.Client().UpdateItem(s.ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("nested"), Key: table.Item{"PK": textValue("DOC#d")}, UpdateExpression: aws.String("SET #u = :u"),
		ExpressionAttributeNames:  map[string]string{"#u": "until"},
		ExpressionAttributeValues: table.Values{":u": &types.AttributeValueMemberN{Value: "9223372036854775807"}},
	}); err != nil {
		s.t.Fatal(err)
	}
	if failed, err := read(); err != nil || failed == nil || failed.Name != "DecodeError" {
		s.t.Errorf("a time beyond those of the language is read: %v, %v", failed, err)
	}
}
