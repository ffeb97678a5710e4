package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const shopForModels = `design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK }, type_attr: none } }
types:
  Status: { enum: [open, paid] }
  Address: { fields: { city: text, zip: { type: "text?", attr: z } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    counters: { orders: Order }
    fields: { userId: id, name: text, password: secret, address: Address, tags: set<text>, orders: int }
    volume: { count: 10, size: 200 }
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    fields: { userId: id, orderId: id, status: Status, total: money, weight: decimal }
    volume: { per: User, typical: 3, max: 9, size: 100 }
reads:
  UserByID: { doc: Who somebody is., one: User, by: [userId] }
  OrdersOf: { many: Order, by: [userId], range: orderId, order: [orderId asc], page: 20 }
collections:
  UserWithOrders: { of: [User, Order], root: User, by: [userId] }
writes:
  Join: { do: [{ create: User }] }
  Place: { do: [{ create: Order, set: { status: "'open'" } }] }
`

// serveForModels starts a database with the design's table.
func serveForModels(t *testing.T, file string) (url string) {
	t.Helper()
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--memory"}, Environment{
			Program: "monotable", Getenv: func(string) string { return "" }, Stdout: writer, Stderr: io.Discard,
		})
		_ = writer.Close()
	}()
	t.Cleanup(func() { cancel(); <-done })
	url = endpointPattern.FindString(readUntil(reader, "Stop with Ctrl-C.\n"))
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	status := Run(t.Context(), []string{"provision", file, "--apply", "--endpoint", url}, Environment{
		Program: "monotable", Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: t.Output(),
	})
	if status != 0 {
		t.Fatal("the tables were not created")
	}
	return url
}

// connectModel starts the command and connects to its standard input and output.
func connectModel(t *testing.T, directory string, args ...string) *mcp.ClientSession {
	t.Helper()
	command := &exec.Cmd{Path: os.Args[0], Args: append([]string{"monotable", "mcp"}, args...), Dir: directory, Stderr: t.Output()}
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func callTool(t *testing.T, s *mcp.ClientSession, name string, arguments any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	var out strings.Builder
	for _, c := range r.Content {
		if x, is := c.(*mcp.TextContent); is {
			out.WriteString(x.Text)
		}
	}
	return out.String(), r.IsError
}

type object = map[string]any

func TestMCP(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "shop.design.yaml")
	if err := os.WriteFile(file, []byte(shopForModels), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serveForModels(t, file)
	var stderr strings.Builder
	if Run(t.Context(), []string{"mcp", file, "--endpoint", url, "--table", "Shopp"}, Environment{
		Program: "monotable", Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: &stderr,
	}) == 0 || !strings.Contains(stderr.String(), "table Shopp does not exist at this endpoint") {
		t.Errorf("a missing table: %s", stderr.String())
	}
	s := connectModel(t, directory, "shop.design.yaml", "--endpoint", url)

	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]*mcp.Tool{}
	var names []string
	for _, tool := range listed.Tools {
		tools[tool.Name] = tool
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if want := []string{"Join", "OrdersOf", "Place", "UserByID", "UserWithOrders", "check", "cost", "explain", "test"}; !slices.Equal(names, want) {
		t.Fatalf("tools %v, want %v", names, want)
	}
	if d := tools["UserByID"].Description; !strings.Contains(d, "Who somebody is.") || !strings.Contains(d, "GetItem") {
		t.Errorf("description %q", d)
	}
	for name, tool := range tools {
		write := name == "Join" || name == "Place"
		if tool.Annotations.ReadOnlyHint == write || write && !*tool.Annotations.DestructiveHint {
			t.Errorf("%s: %+v", name, tool.Annotations)
		}
	}
	schema, err := json.Marshal(tools["Place"].InputSchema)
	if err != nil || !strings.Contains(string(schema), `"total":{"description":"for Order.total","type":"integer"}`) || strings.Contains(string(schema), `"status"`) {
		t.Errorf("schema %s, %v", schema, err)
	}

	for _, step := range []struct {
		tool      string
		arguments any
		failed    bool
		want      []string
	}{
		{"Join", object{"userId": "u1", "name": "Ana", "password": "hunter2", "address": object{"city": "Lima", "zip": "15001"}, "tags": []string{"new", "vip"}}, false, []string{`"done":true`, `"zip":"15001"`, `"password":"(secret)"`}},
		{"Join", object{"userId": "u1", "name": "Ana", "password": "x", "address": object{"city": "Lima"}, "tags": []string{"a"}}, true, []string{"exist"}},
		{"Place", object{"userId": "u1", "orderId": "o1", "total": 9007199254740993, "weight": "1.50"}, false, []string{`"total":9007199254740993`, `"weight":"1.5`}},
		{"Place", object{"userId": "u1", "orderId": "o2", "total": 5, "weight": 2}, false, nil},
		{"UserByID", object{"userId": "u1"}, false, []string{`"orders":2`, `"city":"Lima"`, `"tags":["new","vip"]`, `"password":"(secret)"`}},
		{"UserByID", object{"userId": "nobody"}, true, []string{"not found"}},
		{"UserByID", object{"userId": "u1", "tenant": "x"}, true, []string{"unknown argument tenant"}},
		{"UserByID", object{"userId": 7}, true, []string{"userId"}},
		{"UserByID", object{}, true, []string{"userId"}},
		{"OrdersOf", object{"userId": "u1", "from": "o2"}, false, []string{`"orderId":"o2"`}},
		{"UserWithOrders", object{"userId": "u1"}, false, []string{`"entity":"User"`, `"entity":"Order"`}},
		{"check", object{}, false, []string{`"design":"Shop"`, `"findings"`}},
		{"check", object{"text": "design: 1\nname: X\ntables: {"}, false, []string{`"errors"`, `"line"`}},
		{"check", object{"file": "../../etc/passwd"}, true, []string{"../../etc/passwd is outside of "}},
		{"check", object{"file": "nowhere.design.yaml"}, true, []string{"there is no file nowhere.design.yaml in "}},
		{"check", object{"rule": "st102"}, false, []string{"different field values produce the same key"}},
		{"explain", object{"patterns": []string{"OrdersOf"}}, false, []string{`"keyCondition"`}},
		{"explain", object{"patterns": []string{"OrdersOf", "Nothing"}}, true, []string{"Shop has no pattern Nothing"}},
		{"explain", object{"patterns": []string{"OrdersOf", "OrdersOf"}}, false, []string{`"keyCondition"`}},
		{"cost", object{}, false, []string{`"region"`}},
		{"test", object{"items": 30}, false, []string{`"ok":true`}},
		{"test", object{"items": 1_000_000}, true, []string{"items must be from 1 to 1000"}},
		{"test", object{"items": -1}, true, []string{"items must be from 1 to 1000"}},
		{"test", object{"run": "Nothing"}, true, []string{`run "Nothing" matches no pattern or entity`}},
	} {
		text, failed := callTool(t, s, step.tool, step.arguments)
		if failed != step.failed {
			t.Errorf("%s %v: failed %v: %.400s", step.tool, step.arguments, failed, text)
		}
		for _, want := range step.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s %v: %.600s, want %s", step.tool, step.arguments, text, want)
			}
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s shows a secret: %s", step.tool, text)
		}
	}

	// Pages continue.
	text, _ := callTool(t, s, "OrdersOf", object{"userId": "u1", "limit": 1})
	var page struct {
		Items []object
		Next  string
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil || len(page.Items) != 1 || page.Next == "" {
		t.Fatalf("%s: %v", text, err)
	}
	if text, failed := callTool(t, s, "OrdersOf", object{"userId": "u1", "limit": 1, "after": page.Next}); failed || !strings.Contains(text, `"o2"`) {
		t.Errorf("the second page: %s", text)
	}
}

// TestMCPFiles tests that the server's own design can be outside of the directory from which designs may be read, and is the
// only file there that can be read; and that a file that cannot be a design is not read at all.
func TestMCPFiles(t *testing.T) {
	elsewhere := t.TempDir()
	for _, name := range []string{"shop.design.yaml", "other.design.yaml"} {
		if err := os.WriteFile(filepath.Join(elsewhere, name), []byte(shopForModels), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(elsewhere, "shop.design.yaml")
	directory := t.TempDir()
	s := connectModel(t, directory, file)
	for _, arguments := range []object{{}, {"file": file}} {
		if text, failed := callTool(t, s, "check", arguments); failed || !strings.Contains(text, `"design":"Shop"`) {
			t.Errorf("%v: %s", arguments, text)
		}
	}
	for name, want := range map[string]string{"huge.json": "it has 5000000 bytes", "folder.yaml": "not a regular file", "notes.txt": "want .yaml, .json or .md"} {
		path := filepath.Join(directory, name)
		if name == "folder.yaml" {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "huge.json" {
			if err := os.Truncate(path, 5e6); err != nil {
				t.Fatal(err)
			}
		}
		if text, failed := callTool(t, s, "check", object{"file": name}); !failed || !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", name, text, want)
		}
	}
	if text, failed := callTool(t, s, "check", object{"file": filepath.Join(elsewhere, "other.design.yaml")}); !failed {
		t.Errorf("another file: %s", text)
	}
}

func TestMCPReadOnly(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "shop.design.yaml")
	if err := os.WriteFile(file, []byte(shopForModels), 0o600); err != nil {
		t.Fatal(err)
	}
	s := connectModel(t, directory, "shop.design.yaml", "--endpoint", serveForModels(t, file), "--read-only")
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s writes", tool.Name)
		}
	}
	if _, failed := callTool(t, s, "Place", object{"userId": "u", "orderId": "o", "total": 1, "weight": 1}); !failed {
		t.Error("a write was executed")
	}
}
