package languages

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

// driver is a process that runs generated code.
type driver struct {
	t        *testing.T
	name     string // of the language
	in       io.Writer
	out      *bufio.Reader
	calls    int            // made by both
	composed map[string]int // results of transactions of several writes
	opened   int
}

func start(t *testing.T, l language, dir string) *driver {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), l.driver[0], append(slices.Clone(l.driver[1:]), dir)...) //nolint:gosec // of these tests
	cmd.Env = append(os.Environ(), "NODE_NO_WARNINGS=1")                                             // the SDK warns about future versions of Node
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
	})
	return &driver{t: t, name: l.name, in: in, out: bufio.NewReader(out), composed: map[string]int{}}
}

// failure is an error of generated code.
type failure struct {
	Name, Message, Stack string
	Codes                []string
	Lines                []int // of a batch
	TxWrite              *int  // the index of the write that failed a transaction
}

func (f *failure) Error() string { return f.Message }

// call makes a call and decodes its result, or its error.
func (n *driver) call(operation string, arguments map[string]any, result any) (*failure, error) {
	arguments["op"] = operation
	line, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	response, err := n.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf(broken+": %w", err)
	}
	out := struct {
		Result any
		Error  *failure
	}{Result: result}
	if err := json.Unmarshal(response, &out); err != nil {
		return nil, err
	}
	return out.Error, nil
}

// mirror runs patterns with package table on the trial's database, and with generated code on its own database, and
// compares.
type mirror struct {
	*driver

	world   int
	db      *table.DB
	under   trial.World
	memory  *monotable.DB
	server  *httptest.Server
	firstID int // of the next write
	id      int
	cursors map[table.Cursor]table.Cursor // of generated code, by Go's
	written []asked                       // executed writes, for transactions of several
	began   map[string]table.Item         // initial content of the trial's tables
	ending  error                         // of the last transaction of several writes, in Go
	stored  map[string]string             // in both, as texts
}

// open creates the database of generated code and lets the code load it.
func (n *driver) open(ctx context.Context, under trial.World) (trial.Runner, error) {
	n.opened++
	m := &mirror{driver: n, world: n.opened, under: under, cursors: map[table.Cursor]table.Cursor{}}
	config := under.Config
	config.NewID, config.Sequential = m.newID, true
	var err error
	if m.db, err = table.Open(under.Client, config, under.Program.Tables...); err != nil {
		return nil, err
	}
	if m.memory, err = monotable.OpenMemory(&monotable.Options{Now: config.Clock}); err != nil {
		return nil, err
	}
	m.server = httptest.NewServer(m.memory.Handler())
	if err := provision.Apply(ctx, m.memory.Client(), under.Specs, func(string, ...any) {}); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	records := []map[string]any{}
	for _, r := range under.Records {
		records = append(records, map[string]any{"entity": r.Entity.Name, "values": jsonValues(r.Values)})
	}
	for _, step := range []struct {
		operation string
		arguments map[string]any
	}{
		{"open", map[string]any{
			"endpoint": m.server.URL, "tables": config.Tables, "now": config.Clock().UnixMilli(),
			"cursorKey": base64.StdEncoding.EncodeToString(config.CursorKey),
		}},
		{"load", map[string]any{"records": records}},
	} {
		failed, err := m.call(step.operation, step.arguments, nil)
		if failed != nil {
			err = failed
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", step.operation, err), m.Close())
		}
	}
	if m.began, err = m.theirs(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, m.sameTables(ctx, "load")
}

func (m *mirror) Close() error {
	if err := m.composeAll(context.Background()); err != nil {
		m.t.Error(err) // the trial has ended, and does not report errors
	}
	failed, err := m.call("close", map[string]any{}, nil)
	if failed != nil {
		err = failed
	}
	m.server.Close()
	return errors.Join(err, m.memory.Close())
}

// call makes a call in the mirror's world.
func (m *mirror) call(operation string, arguments map[string]any, result any) (*failure, error) {
	arguments["world"] = m.world
	return m.driver.call(operation, arguments, result)
}

// newID generates the same IDs as the drivers.
func (m *mirror) newID(k table.Kind) string {
	m.id++
	switch k {
	case "uuid":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", m.id-1)
	case "ksuid":
		return fmt.Sprintf("%027d", m.id-1)
	default:
		return fmt.Sprintf("%026d", m.id-1)
	}
}

// Prefixes of errors that do not come from the trial itself.
const (
	difference = "generated code differs"
	broken     = "the driver ended"
)

// differs is an error for a difference in a call.
func differs(call string, got, want any) error {
	text := func(v any) string {
		if f, ok := v.(*failure); ok && f != nil {
			return fmt.Sprintf("%s %v\n%s", f.Name, f.Codes, f.Stack)
		}
		return fmt.Sprint(v)
	}
	return fmt.Errorf(difference+": %s\n  it:  %s\n  Go:  %s", call, text(got), text(want))
}

// sameError compares errors, and reports whether there is one. Messages of the SDKs differ.
func (m *mirror) sameError(call string, failed *failure, want error) (bool, error) {
	m.calls++
	switch {
	case failed == nil && want == nil:
		return false, nil
	case failed == nil:
		return true, differs(call, "no error", want)
	case want == nil:
		return true, differs(call, failed, "no error")
	}
	codes := map[string]error{
		"NotFound": table.ErrNotFound, "Exists": table.ErrExists, "Conflict": table.ErrConflict, "Cursor": table.ErrCursor, "Reused": table.ErrReused,
		"Refused": table.ErrRefused, "Overlap": table.ErrOverlap, "Lines": table.ErrLines,
	}
	for code, err := range codes {
		if errors.Is(want, err) != slices.Contains(failed.Codes, code) {
			return true, differs(call, failed, want)
		}
	}
	if _, ofValue := errors.AsType[*table.ValueError](want); ofValue != (failed.Name == "ValueError") {
		return true, differs(call, failed, want)
	}
	if len(failed.Codes) > 0 && failed.Message != want.Error() {
		return true, differs(call, failed, want)
	}
	return true, nil
}

// sameValues compares values. An empty list, set or map equals an absent one.
func sameValues(call string, got map[string]value, want table.Values) error {
	if (got == nil) != (want == nil) {
		return differs(call, jsonText(got), jsonText(jsonValues(want)))
	}
	a, b := valuesOf(got), maps.Clone(want)
	for _, v := range []table.Values{a, b} {
		maps.DeleteFunc(v, func(_ string, v types.AttributeValue) bool {
			switch v := v.(type) {
			case *types.AttributeValueMemberL:
				return len(v.Value) == 0
			case *types.AttributeValueMemberM:
				return len(v.Value) == 0
			default:
				return false
			}
		})
	}
	if !sdk.Item(a).Equal(sdk.Item(b)) {
		return differs(call, jsonText(jsonValues(a)), jsonText(jsonValues(b)))
	}
	return nil
}

func valuesOf(from map[string]value) table.Values {
	out := table.Values{}
	for name, v := range from {
		out[name] = v.AttributeValue
	}
	return out
}

func sameLists(call string, got []map[string]value, want []table.Values) error {
	if len(got) != len(want) {
		return differs(call, fmt.Sprintf("%d items", len(got)), fmt.Sprintf("%d items", len(want)))
	}
	for i := range got {
		if err := sameValues(fmt.Sprintf("%s, item %d", call, i+1), got[i], want[i]); err != nil {
			return err
		}
	}
	return nil
}

func jsonInput(in table.Input) map[string]any {
	out := map[string]any{"values": jsonValues(in.Values)}
	if in.From != nil {
		out["from"] = jsonValue(in.From)
	}
	if in.To != nil {
		out["to"] = jsonValue(in.To)
	}
	var lines []any
	for _, line := range in.Lines {
		lines = append(lines, jsonValues(line))
	}
	out["lines"] = lines
	return out
}

func describe(call, pattern string, in table.Input) string {
	return call + " " + pattern + " " + jsonText(jsonInput(in))
}

func (m *mirror) Get(ctx context.Context, r *table.Read, in table.Input) (table.Values, error) {
	want, err := m.db.Get(ctx, r, in)
	call := describe("get", r.Pattern, in)
	var got map[string]value
	failed, ended := m.call("get", map[string]any{"pattern": r.Pattern, "input": jsonInput(in)}, &got)
	if ended != nil {
		return nil, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return nil, cmp.Or(different, err)
	}
	return want, sameValues(call, got, want)
}

func (m *mirror) Batch(ctx context.Context, r *table.Read, in []table.Input) ([]table.Values, error) {
	want, err := m.db.Batch(ctx, r, in)
	if r.Place.Kind == table.MarkerPlace {
		return want, err // there is no such method
	}
	call := fmt.Sprintf("batch %s of %d", r.Pattern, len(in))
	inputs := []any{}
	for _, one := range in {
		inputs = append(inputs, jsonInput(one))
	}
	var got []map[string]value
	failed, ended := m.call("batch", map[string]any{"pattern": r.Pattern, "inputs": inputs}, &got)
	if ended != nil {
		return nil, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return nil, cmp.Or(different, err)
	}
	return want, sameLists(call, got, want)
}

func (m *mirror) Page(ctx context.Context, r *table.Read, in table.Input, o table.PageOptions) (table.Page[table.Values], error) {
	if v, ok := in.Values[r.Prefix].(*types.AttributeValueMemberS); ok && v.Value == "" { // generated code does not send it
		in.Values = maps.Clone(in.Values)
		delete(in.Values, r.Prefix)
	}
	want, err := m.db.Page(ctx, r, in, o)
	call := describe(fmt.Sprintf("page of %d", o.Limit), r.Pattern, in)
	var got struct {
		Items []map[string]value
		Next  table.Cursor
	}
	arguments := map[string]any{"pattern": r.Pattern, "input": jsonInput(in), "limit": r.Limit, "size": o.Limit, "after": m.cursors[o.After]}
	failed, ended := m.call("page", arguments, &got)
	if ended != nil {
		return want, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return want, cmp.Or(different, err)
	}
	return want, cmp.Or(m.cursor(call, got.Next, want.Next), sameLists(call, got.Items, want.Items))
}

// cursor stores the generated code's cursor for Go's, which the trial gets.
func (m *mirror) cursor(call string, got, want table.Cursor) error {
	if (got == "") != (want == "") {
		return differs(call+", the cursor", got, want)
	}
	m.cursors[want] = got
	return nil
}

// Count runs a read that counts.
func (m *mirror) Count(ctx context.Context, r *table.Read, in table.Input) (int, error) {
	want, err := m.db.Count(ctx, r, in)
	call := describe("count", r.Pattern, in)
	got := 0
	failed, ended := m.call("count", map[string]any{"pattern": r.Pattern, "input": jsonInput(in)}, &got)
	if ended != nil {
		return 0, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return 0, cmp.Or(different, err)
	}
	if got != want {
		return 0, differs(call, got, want)
	}
	return want, nil
}

func (m *mirror) List(ctx context.Context, r *table.Read, in table.Input) ([]table.Values, error) {
	want, err := m.db.List(ctx, r, in)
	call := describe("all", r.Pattern, in)
	var got []map[string]value
	failed, ended := m.call("all", map[string]any{"pattern": r.Pattern, "input": jsonInput(in), "limit": r.Limit}, &got)
	if ended != nil {
		return nil, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return nil, cmp.Or(different, err)
	}
	return want, sameLists(call, got, want)
}

func (m *mirror) All(ctx context.Context, r *table.Read, in table.Input) iter.Seq2[table.Values, error] {
	return func(yield func(table.Values, error) bool) {
		list, err := m.List(ctx, r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (m *mirror) Collect(ctx context.Context, c *table.Collection, in table.Input, o table.PageOptions) (table.Page[table.Found], error) {
	want, err := m.db.Collect(ctx, c, in, o)
	call := describe(fmt.Sprintf("collect %d of", o.Limit), c.Pattern, in)
	var got struct {
		Members [][]map[string]value
		Next    table.Cursor
	}
	failed, ended := m.call("collect", map[string]any{"pattern": c.Pattern, "input": jsonInput(in), "size": o.Limit, "after": m.cursors[o.After]}, &got)
	if ended != nil {
		return want, ended
	}
	if refused, different := m.sameError(call, failed, err); refused {
		return want, cmp.Or(different, err)
	}
	for i := range c.Members {
		var list []table.Values
		for _, f := range want.Items {
			if f.Member == i {
				list = append(list, f.Values)
			}
		}
		if err := sameLists(call+", "+c.Members[i].Entity.Name, got.Members[i], list); err != nil {
			return want, err
		}
	}
	return want, m.cursor(call, got.Next, want.Next)
}

func (m *mirror) Write(ctx context.Context, w *table.Write, in table.Input) (table.Outcome, error) {
	if err := m.follow(ctx); err != nil {
		return table.Outcome{}, err
	}
	m.firstID += 1000
	m.id = m.firstID
	want, err := m.db.Write(ctx, w, in)
	call := describe("write", w.Pattern, in)
	if !w.Batch {
		m.written = append(m.written, asked{w, in})
	}
	var got outcome
	failed, ended := m.call("write", map[string]any{"pattern": w.Pattern, "input": jsonInput(in), "firstID": m.firstID}, &got)
	if ended != nil {
		return want, ended
	}
	if err == nil && want.Replayed && failed != nil && slices.Contains(failed.Codes, "NotFound") {
		return want, m.sameTables(ctx, call) // the design's replay finds nothing, which package table does not ask for
	}
	refused, different := m.sameError(call, failed, err)
	if different := cmp.Or(different, m.sameTables(ctx, call)); different != nil || refused {
		return want, cmp.Or(different, err)
	}
	return want, got.same(call, want)
}

// outcome is the result of a write.
type outcome struct {
	Items    map[int][]map[string]value
	Replayed bool
	Record   map[string]value
}

func (got *outcome) same(call string, want table.Outcome) error {
	if got.Replayed != want.Replayed {
		return differs(call, got.Replayed, want.Replayed)
	}
	if want.Replayed {
		return sameValues(call+", the record", got.Record, want.Record)
	}
	for step, list := range got.Items {
		if err := sameLists(fmt.Sprintf("%s, step %d", call, step+1), list, want.Items[step]); err != nil {
			return err
		}
	}
	return nil
}

// tables are the items of all tables on a client, by table and key.
func (m *mirror) tables(ctx context.Context, client *dynamodb.Client) (map[string]table.Item, error) {
	out := map[string]table.Item{}
	for _, t := range m.under.Program.Tables {
		name := m.under.Config.Tables[t.Name]
		pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(name), ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, it := range page.Items {
				out[name+"\x00"+jsonText(jsonValues(keyOf(t, it)))] = it
			}
		}
	}
	return out, nil
}

func keyOf(t *table.Table, it table.Item) table.Values {
	key := table.Values{t.PK.Name: it[t.PK.Name]}
	if t.SK.Name != "" {
		key[t.SK.Name] = it[t.SK.Name]
	}
	return key
}

// texts are items in their wire format.
func texts(items map[string]table.Item) map[string]string {
	out := make(map[string]string, len(items))
	for key, it := range items {
		out[key] = jsonText(jsonValues(it))
	}
	return out
}

// theirs are the items of the trial's tables.
func (m *mirror) theirs(ctx context.Context) (map[string]table.Item, error) {
	return m.tables(ctx, m.under.Client.(sdkOwner).SDK())
}

// sdkOwner is implemented by the trial's client.
type sdkOwner interface{ SDK() *dynamodb.Client }

// sameTables compares what both have stored, byte for byte in the wire format.
func (m *mirror) sameTables(ctx context.Context, call string) error {
	theirs, err := m.theirs(ctx)
	if err != nil {
		return err
	}
	own, err := m.tables(ctx, m.memory.Client())
	if err != nil {
		return err
	}
	got, want := texts(own), texts(theirs)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			return differs(call+", the item "+strings.ReplaceAll(key, "\x00", " "), got[key], want[key])
		}
	}
	for key, text := range got {
		if want[key] == "" {
			return differs(call+", an item", text, "none")
		}
	}
	m.stored = want
	return nil
}

// follow makes the database of generated code equal to the trial's, which the trial itself may have changed.
func (m *mirror) follow(ctx context.Context) error {
	want, err := m.theirs(ctx)
	if err != nil {
		return err
	}
	return replace(ctx, m.memory.Client(), m.stored, want)
}

// replace replaces the items of the tables on a client.
func replace(ctx context.Context, client *dynamodb.Client, has map[string]string, want map[string]table.Item) error {
	for key, it := range want {
		if has[key] == jsonText(jsonValues(it)) {
			continue
		}
		name, _, _ := strings.Cut(key, "\x00")
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(name), Item: it}); err != nil {
			return err
		}
	}
	for key := range has {
		if want[key] != nil {
			continue
		}
		name, text, _ := strings.Cut(key, "\x00")
		var own map[string]value
		if err := json.Unmarshal([]byte(text), &own); err != nil {
			return err
		}
		if _, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(name), Key: valuesOf(own)}); err != nil {
			return err
		}
	}
	return nil
}
