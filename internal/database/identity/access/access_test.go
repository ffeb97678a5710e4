package access

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestEveryOperationHasARule compares the table of operations with the API's.
func TestEveryOperationHasARule(t *testing.T) {
	known := map[string]bool{}
	for _, o := range api.Operations() {
		known[o.Name] = true
		if _, ok := rules[o.Name]; !ok {
			t.Errorf("%s has no rule", o.Name)
		}
	}
	for name := range rules {
		if !known[name] {
			t.Errorf("%s is no operation", name)
		}
	}
}

const (
	testAccount = "000000000000"
	testRegion  = "us-east-1"
)

// noted is an engine with the table Notes, and what its stream is known by.
type noted struct {
	access           *Access
	engine           *engine.Engine
	stream, iterator string
}

func input(tb testing.TB, operation, document string) any {
	tb.Helper()
	all := api.Operations()
	i := slices.IndexFunc(all, func(o api.Operation) bool { return o.Name == operation })
	if i < 0 {
		tb.Fatalf("%s is no operation", operation)
	}
	in := all[i].Input()
	if err := wire.Decode([]byte(document), in); err != nil {
		tb.Fatalf("%s %s: %v", operation, document, err)
	}
	return in
}

func openNotes(tb testing.TB) *noted {
	tb.Helper()
	e, err := engine.Open(tb.Context(), memkv.New(), engine.Options{TTLInterval: -1, Region: testRegion, AccountID: testAccount})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	created, err := e.CreateTable(tb.Context(), input(tb, "CreateTable", `{"TableName": "Notes", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": [{"AttributeName": "owner", "AttributeType": "S"}, {"AttributeName": "id", "AttributeType": "S"},
			{"AttributeName": "topic", "AttributeType": "S"}, {"AttributeName": "shelf", "AttributeType": "S"},
			{"AttributeName": "mood", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "id", "KeyType": "RANGE"}],
		"GlobalSecondaryIndexes": [{"IndexName": "ByTopic",
			"KeySchema": [{"AttributeName": "topic", "KeyType": "HASH"}, {"AttributeName": "id", "KeyType": "RANGE"}],
			"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["mood"]}}],
		"VectorIndexes": [{"IndexName": "Near", "DistanceFunction": "COSINE", "Dimensions": 1, "VectorAttribute": {"AttributeName": "v"},
			"SearchSchema": [{"AttributeName": "shelf", "SearchSchemaElementType": "HASH"},
				{"AttributeName": "mood", "SearchSchemaElementType": "INLINE_FILTER"}],
			"Projection": {"ProjectionType": "KEYS_ONLY"}}],
		"Tags": [{"Key": "Team", "Value": "blue"}],
		"StreamSpecification": {"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"}}`).(*api.CreateTableInput))
	if err != nil {
		tb.Fatal(err)
	}
	stream := created.TableDescription.LatestStreamArn
	described, err := e.DescribeStream(tb.Context(), &api.DescribeStreamInput{StreamArn: stream})
	if err != nil {
		tb.Fatal(err)
	}
	iterator, err := e.GetShardIterator(tb.Context(), &api.GetShardIteratorInput{
		StreamArn: stream, ShardId: described.StreamDescription.Shards[0].ShardId, ShardIteratorType: new("TRIM_HORIZON"),
	})
	if err != nil {
		tb.Fatal(err)
	}
	access := New(Options{Account: testAccount, Databases: map[string]Database{testRegion: e}, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	return &noted{access, e, *stream, *iterator.ShardIterator}
}

func (n *noted) call(tb testing.TB, operation, document string, r *http.Request) *call {
	tb.Helper()
	document = strings.NewReplacer("{stream}", n.stream, "{iterator}", n.iterator).Replace(document)
	return &call{a: n.access, region: testRegion, database: n.engine, http: r, operation: operation, in: input(tb, operation, document)}
}

// TestNeeds compares what each operation needs with testdata/needs.txt.
func TestNeeds(t *testing.T) {
	notes := openNotes(t)
	text, err := os.ReadFile("testdata/needs.txt")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	var request string
	var want, got []string
	check := func() {
		if !slices.Equal(want, got) {
			t.Errorf("%s\n got\t%s\nwant\t%s", request, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if need, ok := strings.CutPrefix(line, "\t"); ok {
			want = append(want, need)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		check()
		request, want, got = line, nil, nil
		operation, document, _ := strings.Cut(line, " ")
		shown[operation] = true
		c := notes.call(t, operation, document, nil)
		needs, err := c.needs(t.Context())
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for i := range needs {
			got = append(got, strings.ReplaceAll(show(c, &needs[i]), strings.TrimPrefix(notes.stream, prefix), "{stream}"))
		}
	}
	check()
	for _, o := range api.Operations() {
		if !shown[o.Name] {
			t.Errorf("%s is not in the file", o.Name)
		}
	}
}

const prefix = "arn:aws:dynamodb:" + testRegion + ":" + testAccount + ":"

// show writes a need as the file does.
func show(c *call, n *need) string {
	line := n.action + " " + strings.TrimPrefix(n.resource.arn, prefix)
	k := &keys{call: c, need: n}
	for _, key := range []struct{ name, of string }{
		{"keys", "leadingkeys"},
		{"attributes", "attributes"},
		{"select", "select"},
		{"returns", "returnvalues"},
		{"consumed", "returnconsumedcapacity"},
		{"enclosing", "enclosingoperation"},
		{"scans", "fulltablescan"},
	} {
		v := k.Key(service + key.of)
		texts := slices.Clone(v.Texts)
		if key.name == "attributes" {
			slices.Sort(texts)
			texts = slices.Compact(texts)
		}
		if v.Unbounded {
			texts = []string{"*"}
		}
		if len(texts) > 0 {
			line += " " + key.name + "=" + strings.Join(texts, ",")
		}
	}
	return line
}

// TestGeneralConditionKeys checks the condition keys that do not depend on the operation.
func TestGeneralConditionKeys(t *testing.T) {
	notes := openNotes(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://db.example/", nil)
	r.RemoteAddr = "203.0.113.7:4711"
	r.Header.Set("User-Agent", "aws-cli/2")
	r.Header.Set("Referer", "https://example.com/")
	plain := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://db.example/", nil)
	plain.RemoteAddr = "[2001:db8::1]:4711"
	const tag = `{"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Notes", "Tags": [{"Key": "Cost", "Value": "7"}, {"Key": "Team", "Value": "red"}]}`
	const untag = `{"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Notes", "TagKeys": ["Cost"]}`
	for _, c := range []struct {
		operation, document string
		r                   *http.Request
		key, want           string
	}{
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:sourceip", "203.0.113.7"},
		{"DescribeTable", `{"TableName": "Notes"}`, plain, "aws:sourceip", "2001:db8::1"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:securetransport", "true"},
		{"DescribeTable", `{"TableName": "Notes"}`, plain, "aws:securetransport", "false"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:useragent", "aws-cli/2"},
		{"DescribeTable", `{"TableName": "Notes"}`, plain, "aws:useragent", ""},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:referer", "https://example.com/"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:currenttime", "2027-01-15T08:00:00Z"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:epochtime", "1800000000"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:requestedregion", "us-east-1"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:viaawsservice", "false"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:resourcetag/team", "blue"},
		{"DescribeTable", `{"TableName": "Nothing"}`, r, "aws:resourcetag/team", ""},
		{"DescribeStream", `{"StreamArn": "{stream}"}`, r, "aws:resourcetag/team", "blue"},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:resourcetag/cost", ""},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:requesttag/team", ""},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:tagkeys", ""},
		{"TagResource", tag, r, "aws:requesttag/team", "red"},
		{"TagResource", tag, r, "aws:tagkeys", "Cost,Team"},
		{"TagResource", tag, r, "aws:resourcetag/team", "blue"},
		{"UntagResource", untag, r, "aws:tagkeys", "Cost"},
		{"UntagResource", untag, r, "aws:requesttag/cost", ""},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "aws:nothing", ""},
		{"DescribeTable", `{"TableName": "Notes"}`, r, "dynamodb:nothing", ""},
	} {
		call := notes.call(t, c.operation, c.document, c.r)
		needs, err := call.needs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v := (&keys{call: call, need: &needs[0]}).Key(c.key)
		if got := strings.Join(v.Texts, ","); got != c.want || v.Unbounded {
			t.Errorf("%s %s: %s is %q (unbounded %t), want %q", c.operation, c.document, c.key, got, v.Unbounded, c.want)
		}
	}
}

// BenchmarkAuthorize decides a GetItem by a condition on leading keys, from the operation's input on.
func BenchmarkAuthorize(b *testing.B) {
	notes := openNotes(b)
	p, err := policy.Parse(`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:Query"],
		"Resource": "arn:aws:dynamodb:*:*:table/Notes", "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}}}`, policy.Identity)
	if err != nil {
		b.Fatal(err)
	}
	who := &policy.Principal{ARN: "arn:aws:iam::" + testAccount + ":user/ann", Account: testAccount, Username: "ann", Identity: []*policy.Policy{p}}
	const get = `{"TableName": "Notes", "Key": {"owner": {"S": "ann"}, "id": {"S": "1"}}}`
	in, r := input(b, "GetItem", get), httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := notes.access.Authorize(context.Background(), who, r, testRegion, api.Operation{Name: "GetItem"}, in); err != nil {
			b.Fatal(err)
		}
	}
}
