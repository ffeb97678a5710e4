package api

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// TestOperationsOfSDK compares the methods of the SDK's clients with the table of operations: a new SDK's operation is noticed.
func TestOperationsOfSDK(t *testing.T) {
	streams := map[string]bool{}
	for _, o := range Operations() {
		streams[o.Name] = o.OfStreams
	}
	for _, client := range []struct {
		operations []string
		streams    bool
	}{
		{operationsOf[*dynamodb.Client](), false},
		{operationsOf[*dynamodbstreams.Client](), true},
	} {
		for _, name := range client.operations {
			switch of, served := streams[name]; {
			case !served:
				t.Errorf("%s is in the SDK, and not in the table of operations", name)
			case of != client.streams:
				t.Errorf("%s: OfStreams is %t", name, of)
			}
			delete(streams, name)
		}
	}
	for name := range streams {
		t.Errorf("%s is not in the SDK", name)
	}
}

// operationsOf are the methods of a client that take an input and options, and return an output or an error.
func operationsOf[Client any]() (names []string) {
	for m := range reflect.TypeFor[Client]().Methods() {
		if m.Type.IsVariadic() && m.Type.NumIn() == 4 && m.Type.NumOut() == 2 && m.Type.Out(1) == reflect.TypeFor[error]() {
			names = append(names, m.Name)
		}
	}
	return names
}

var rewrite = flag.Bool("rewrite", false, "write the lists of docs/compatibility-details.md anew")

// The lists of the page stand between these lines.
const (
	compatibilityPage = "../../../../docs/compatibility-details.md"
	listsBegin        = "<!-- lists: go test ./internal/database/dynamo/api -rewrite -->\n"
	listsEnd          = "<!-- end of lists -->\n"
)

// TestCompatibilityPage compares the lists of docs/compatibility-details.md with the table of operations.
func TestCompatibilityPage(t *testing.T) {
	page, err := os.ReadFile(compatibilityPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), listsBegin)
	old, after, ended := strings.Cut(rest, listsEnd)
	if !begun || !ended {
		t.Fatalf("%s lacks the line %s or %s", compatibilityPage, listsBegin, listsEnd)
	}
	lists := compatibilityLists()
	if old == lists {
		return
	}
	if !*rewrite {
		t.Fatalf("the lists of %s are not those of the table of operations; go test with -rewrite writes:\n%s", compatibilityPage, lists)
	}
	if err := os.WriteFile(compatibilityPage, []byte(before+listsBegin+lists+listsEnd+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOperationsPage: docs/api.md has each operation in exactly one row.
func TestOperationsPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, link := range regexp.MustCompile("\\[`([A-Za-z]+)`\\]\\(https://docs\\.aws\\.amazon\\.com/").FindAllSubmatch(page, -1) {
		rows[string(link[1])]++
	}
	for _, o := range Operations() {
		if rows[o.Name] != 1 {
			t.Errorf("%s is in %d rows", o.Name, rows[o.Name])
		}
		delete(rows, o.Name)
	}
	for name := range rows {
		t.Errorf("%s is not served", name)
	}
}

func compatibilityLists() string {
	var b strings.Builder
	var served []string
	refused := map[string][]string{}
	for _, o := range Operations() {
		served = append(served, o.Name)
		for f := range reflect.TypeOf(o.Input()).Elem().Fields() {
			if subject := f.Tag.Get("unsupported"); subject != "" {
				refused[subject] = append(refused[subject], o.Name+"."+f.Name)
			}
		}
	}
	fmt.Fprintf(&b, "All %d operations of the SDK are served: %s.\n", len(served), code(served))
	if len(refused) > 0 {
		b.WriteString("\nThese parameters are rejected with a `ValidationException` that names them:\n\n| Subject | Parameters |\n|---|---|\n")
		for _, subject := range slices.Sorted(maps.Keys(refused)) {
			fmt.Fprintf(&b, "| %s | %s |\n", subject, code(refused[subject]))
		}
	}
	return b.String()
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
