package api

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// TestOperationsOfSDK compares the methods of the SDK's clients with the table of operations: an operation that is new in the
// SDK is either served or listed as unserved.
func TestOperationsOfSDK(t *testing.T) {
	const served, listed = "served", "unserved"
	known := map[string]string{}
	streams := map[string]bool{}
	for _, o := range Operations() {
		known[o.Name] = served
		streams[o.Name] = o.OfStreams
	}
	for _, names := range unserved {
		for _, name := range names {
			if known[name] != "" {
				t.Errorf("%s is listed as unserved and is %s", name, known[name])
			}
			known[name] = listed
		}
	}
	for _, client := range []struct {
		operations []string
		streams    bool
	}{
		{operationsOf[*dynamodb.Client](), false},
		{operationsOf[*dynamodbstreams.Client](), true},
	} {
		for _, name := range client.operations {
			switch how := known[name]; {
			case how == "":
				t.Errorf("%s is in the SDK, and neither in the table of operations nor listed as unserved", name)
			case how == served && streams[name] != client.streams:
				t.Errorf("%s: OfStreams is %t", name, streams[name])
			}
			delete(known, name)
		}
	}
	for name, how := range known {
		t.Errorf("%s is %s and not in the SDK", name, how)
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

var rewrite = flag.Bool("rewrite", false, "write the lists of docs/compatibility.md anew")

// The lists of the page stand between these lines.
const (
	compatibilityPage = "../../../../docs/compatibility.md"
	listsBegin        = "<!-- lists: go test ./internal/database/dynamo/api -rewrite -->\n"
	listsEnd          = "<!-- end of lists -->\n"
)

// TestCompatibilityPage compares the lists of docs/compatibility.md with the table of operations.
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
	total := len(served)
	for _, names := range unserved {
		total += len(names)
	}
	fmt.Fprintf(&b, "%d of the SDK's %d operations are served: %s.\n", len(served), total, code(served))
	if len(unserved) > 0 {
		b.WriteString("\nThese answer `UnknownOperationException`, with a message that says so:\n\n| Subject | Operations |\n|---|---|\n")
		for _, subject := range slices.Sorted(maps.Keys(unserved)) {
			fmt.Fprintf(&b, "| %s | %s |\n", subject, code(unserved[subject]))
		}
	}
	if len(refused) > 0 {
		b.WriteString("\nThese parameters are refused with a `ValidationException` that names them:\n\n| Subject | Parameters |\n|---|---|\n")
		for _, subject := range slices.Sorted(maps.Keys(refused)) {
			fmt.Fprintf(&b, "| %s | %s |\n", subject, code(refused[subject]))
		}
	}
	return b.String()
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
