package monotable_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/observe"
)

// auditSink accepts records, or fails.
type auditSink struct {
	mu   sync.Mutex
	b    bytes.Buffer
	full bool
}

func (s *auditSink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return 0, errors.New("full")
	}
	return s.b.Write(p)
}

func (s *auditSink) fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// take returns the records since the last call, as text and decoded.
func (s *auditSink) take(t *testing.T) (string, []map[string]any) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.b.String()
	s.b.Reset()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(line, err)
		}
		all = append(all, r)
	}
	return text, all
}

// at returns a member of a record by its path.
func at(r map[string]any, path string) any {
	var v any = r
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// TestAudit: each request is recorded before its response, with the caller, the operation and the result, but without values.
func TestAudit(t *testing.T) {
	sink := &auditSink{}
	g := openGuarded(t, t.TempDir(), monotable.Options{Audit: &monotable.Audit{Writer: sink}})
	want := func(name string, paths map[string]any) {
		t.Helper()
		text, records := sink.take(t)
		if strings.Contains(text, "SECRET") {
			t.Errorf("%s: the record shows a value: %s", name, text)
		}
		if len(records) != 1 {
			t.Errorf("%s: %d records: %s", name, len(records), text)
			return
		}
		for path, want := range paths {
			if got := at(records[0], path); got != want {
				t.Errorf("%s: %s is %v, want %v: %s", name, path, got, want, text)
			}
		}
	}
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	want("policy", map[string]any{"eventSource": "iam.amazonaws.com", "eventName": "CreatePolicy", "requestParameters.name": "all", "readOnly": false, "userIdentity.type": "AWSService"})
	ana, bob := g.user("ana", "all"), g.user("bob")
	sink.take(t)
	key, err := ana.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.dynamodb(ana).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want("CreateTable", map[string]any{
		"eventVersion": "1.11", "eventName": "CreateTable", "eventSource": "dynamodb.amazonaws.com", "eventCategory": "Management", "managementEvent": true,
		"readOnly": false, "requestParameters.billingMode": "PAY_PER_REQUEST", "userIdentity.type": "IAMUser", "userIdentity.userName": "ana",
		"userIdentity.arn": "arn:aws:iam::000000000000:user/ana", "userIdentity.accessKeyId": key.AccessKeyID, "awsRegion": "us-east-1",
		"sourceIPAddress": "127.0.0.1", "eventType": "AwsApiCall", "recipientAccountId": "000000000000",
	})
	put := func(who aws.CredentialsProvider, condition *string) error {
		_, err := g.dynamodb(who).PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("things"), ConditionExpression: condition,
			Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "SECRET"}},
		})
		return err
	}
	if err := put(ana, nil); err != nil {
		t.Fatal(err)
	}
	want("PutItem", map[string]any{"eventName": "PutItem", "eventCategory": "Data", "managementEvent": false, "readOnly": false, "requestParameters.tableName": "things", "errorCode": nil})
	if put(ana, aws.String("attribute_not_exists(pk)")) == nil {
		t.Error("the condition holds")
	}
	want("condition", map[string]any{"errorCode": "ConditionalCheckFailedException", "errorMessage": "The conditional request failed"})
	if put(bob, nil) == nil {
		t.Error("bob may put")
	}
	want("denied", map[string]any{"errorCode": "AccessDeniedException", "userIdentity.userName": "bob", "requestParameters.tableName": "things"})
	if put(ana, aws.String("pk = SECRET AND")) == nil {
		t.Error("the condition is right")
	}
	want("validation", map[string]any{"errorCode": "ValidationException", "errorMessage": nil})
	if put(credentials.NewStaticCredentialsProvider("AKIANOBODY", "x", ""), nil) == nil {
		t.Error("an anonymous caller may put")
	}
	want("unknown key", map[string]any{"errorCode": "UnrecognizedClientException", "userIdentity.type": "Unknown", "userIdentity.accessKeyId": "AKIANOBODY", "requestParameters": nil})
	_, err = g.dynamodb(ana).ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT * FROM "things" WHERE pk = 'SECRET'`)})
	if err != nil {
		t.Fatal(err)
	}
	want("statement", map[string]any{"eventName": "ExecuteStatement", "readOnly": true, "requestParameters.statement": `SELECT * FROM "things" WHERE pk = ***`})
	who, err := g.sts(ana).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil || *who.Account != "000000000000" {
		t.Fatal(err)
	}
	want("sts", map[string]any{"eventSource": "sts.amazonaws.com", "eventName": "GetCallerIdentity", "userIdentity.userName": "ana"})
	_, err = g.sts(ana).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String("arn:aws:iam::000000000000:role/none"), RoleSessionName: aws.String("session"),
	})
	if err == nil {
		t.Error("the role was created")
	}
	want("no role", map[string]any{"eventName": "AssumeRole", "errorCode": "AccessDenied", "requestParameters.roleArn": "arn:aws:iam::000000000000:role/none"})

	wrong := credentials.NewStaticCredentialsProvider(key.AccessKeyID, "wrong", "")
	if _, err = g.sts(wrong).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); err == nil {
		t.Error("another secret is right")
	}
	want("wrong signature", map[string]any{"eventName": "GetCallerIdentity", "errorCode": "SignatureDoesNotMatch", "userIdentity.type": "Unknown"})

	// An Authorization header that was meant for another server.
	foreign, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer SECRET", "X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0",
	} {
		foreign.Header.Set(name, value)
	}
	if resp, err := http.DefaultClient.Do(foreign); err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusBadRequest {
		t.Error(resp, err)
	}
	want("foreign header", map[string]any{"errorCode": "IncompleteSignatureException", "errorMessage": nil, "userIdentity.accessKeyId": nil})

	// The owner's own client, and the resources of a record.
	if _, err := g.db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("things")}); err != nil {
		t.Fatal(err)
	}
	_, records := sink.take(t)
	if len(records) != 1 || at(records[0], "userIdentity.invokedBy") != "monotable" {
		t.Fatal(records)
	}
	resources, _ := records[0]["resources"].([]any)
	if len(resources) != 1 || at(resources[0].(map[string]any), "ARN") != "arn:aws:dynamodb:us-east-1:000000000000:table/things" {
		t.Error(resources)
	}

	// What cannot be recorded does not happen, once that is known; reads continue.
	sink.fill(true)
	for range 2 {
		if put(ana, nil) == nil {
			t.Error("a request was acknowledged without a record")
		}
	}
	if _, err := g.dynamodb(ana).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("things")}); err != nil {
		t.Error(err)
	}
	sink.fill(false)
	if err := put(ana, nil); err != nil {
		t.Error(err)
	}
	// The lost records are those of the first put, of the second, which was rejected, and of the Scan.
	if _, records := sink.take(t); len(records) != 2 || at(records[0], "additionalEventData.lostRecords") != "3" {
		t.Error(records)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(request); err != nil || resp.Body.Close() != nil {
		t.Error(err)
	}
	if _, records := sink.take(t); len(records) != 0 { // what calls nothing is not recorded
		t.Error(records)
	}
}

// TestAuditNamesEveryTable: records name tables that metrics do not distinguish.
func TestAuditNamesEveryTable(t *testing.T) {
	sink := &auditSink{}
	g := openGuarded(t, t.TempDir(), monotable.Options{Audit: &monotable.Audit{Writer: sink}, Durability: monotable.DurabilityNone})
	pk := aws.String("pk")
	item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "x"}}
	var writes []types.TransactWriteItem
	for i := range observe.TablesMax + 2 {
		name := fmt.Sprintf("table%03d", i)
		if _, err := g.db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: pk, AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: pk, KeyType: types.KeyTypeHash}},
		}); err != nil {
			t.Fatal(err)
		}
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: &name, Item: item}})
	}
	for _, items := range [][]types.TransactWriteItem{writes[:100], writes[100:200], writes[200:]} {
		sink.take(t)
		if _, err := g.db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items}); err != nil {
			t.Fatal(err)
		}
		_, records := sink.take(t)
		named := map[string]bool{}
		resources, _ := records[0]["resources"].([]any)
		for _, r := range resources {
			named[at(r.(map[string]any), "ARN").(string)] = true
		}
		for _, w := range items {
			if arn := "arn:aws:dynamodb:us-east-1:000000000000:table/" + *w.Put.TableName; !named[arn] {
				t.Errorf("%s is missing", arn)
			}
		}
		if len(named) != len(items) {
			t.Errorf("%d tables are named, want %d", len(named), len(items))
		}
	}
}

// TestUnrecordedChangesOfUsers: users do not change either while that cannot be recorded, once that is known, but can be listed.
func TestUnrecordedChangesOfUsers(t *testing.T) {
	sink := &auditSink{}
	g := openGuarded(t, t.TempDir(), monotable.Options{Audit: &monotable.Audit{Writer: sink}})
	create := func(name string) string {
		_, err := g.db.IAM(t.Context(), &monotable.IAMRequest{Action: "user create", Name: name})
		return refusal(err)
	}
	users := func() int {
		t.Helper()
		return len(g.manage(monotable.IAMRequest{Action: "user list"}).Users)
	}
	sink.fill(true)
	g.want("the first", create("ana"), "monotable: the request succeeded, but could not be recorded in the audit log")
	g.want("the second", create("eva"), "the audit log cannot be written, so nothing was changed: full")
	if n := users(); n != 1 {
		t.Errorf("%d users", n)
	}
	sink.fill(false)
	g.want("the third", create("ida"), "")
	if n := users(); n != 2 {
		t.Errorf("%d users", n)
	}
	// The lost records are those of the first two requests and the list.
	if _, records := sink.take(t); len(records) != 3 || at(records[0], "additionalEventData.lostRecords") != "3" {
		t.Error(records)
	}
}

// TestAuditRecordsSTSRequests: an STS request is recorded in whatever form it is sent, with exactly what was executed.
func TestAuditRecordsSTSRequests(t *testing.T) {
	sink := &auditSink{}
	g := openGuarded(t, t.TempDir(), monotable.Options{Audit: &monotable.Audit{Writer: sink}})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "reader", Trust: trustAccount})
	key, err := g.user("ana", "all").Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const form, other = "Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::000000000000:role/reader&RoleSessionName=work", "Action=GetCallerIdentity&Version=2011-06-15"
	const usual = "application/x-www-form-urlencoded"
	for name, c := range map[string]struct {
		method, query, contentType, encoding, body string
		secret                                     string
		event, code                                string
	}{
		"as SDKs do":               {http.MethodPost, "", usual, "", form, "", "AssumeRole", ""},
		"capitals":                 {http.MethodPost, "", "Application/X-WWW-Form-Urlencoded", "", form, "", "AssumeRole", ""},
		"a query beside":           {http.MethodPost, other, usual, "", form, "", "AssumeRole", ""},
		"the query":                {http.MethodGet, form, "", "", "", "", "AssumeRole", ""},
		"the query and its type":   {http.MethodGet, form, usual, "", "", "", "AssumeRole", ""},
		"the query, and a body":    {http.MethodGet, form, usual, "", other, "", "AssumeRole", ""},
		"compressed":               {http.MethodPost, "", usual, "gzip", form, "", "AssumeRole", ""},
		"compressed and not right": {http.MethodPost, "", usual, "gzip", form, "wrong", "", "SignatureDoesNotMatch"},
		"not to be read":           {http.MethodPost, "", usual, "", form + "&%zz", "", "", "MalformedInput"},
		"no version":               {http.MethodPost, "", usual, "", "Action=AssumeRole", "", "AssumeRole", "InvalidAction"},
	} {
		body := []byte(c.body)
		if c.encoding != "" {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write(body); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			body = b.Bytes()
		}
		request, err := http.NewRequestWithContext(t.Context(), c.method, g.url+"/?"+c.query, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": c.contentType, "Content-Encoding": c.encoding} {
			if value != "" {
				request.Header.Set(name, value)
			}
		}
		signer := key
		if c.secret != "" {
			signer.SecretAccessKey = c.secret
		}
		sum := sha256.Sum256(body)
		if err := v4.NewSigner().SignHTTP(t.Context(), signer, request, hex.EncodeToString(sum[:]), "sts", "us-east-1", time.Now()); err != nil {
			t.Fatal(err)
		}
		sink.take(t)
		var session [2]string // the key's id and the token
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.event, "Assume") && c.code == "" {
			_, rest, _ := strings.Cut(string(text), "<AccessKeyId>")
			id, _, _ := strings.Cut(rest, "<")
			_, rest, _ = strings.Cut(string(text), "<SessionToken>")
			token, _, _ := strings.Cut(rest, "<")
			session = [2]string{id, token}
		}
		if succeeds := c.code == ""; succeeds != strings.Contains(string(text), "<"+c.event+"Result>") || succeeds != (response.StatusCode == http.StatusOK) {
			t.Errorf("%s: %d %s", name, response.StatusCode, text)
		}
		recorded, records := sink.take(t)
		if len(records) != 1 || records[0]["eventName"] != c.event || c.code != "" && records[0]["errorCode"] != c.code || c.code == "" && records[0]["errorCode"] != nil {
			t.Errorf("%s: recorded %s", name, recorded)
			continue
		}
		if c.code == "" && (at(records[0], "responseElements.credentials.accessKeyId") != session[0] || strings.Contains(recorded, session[1])) {
			t.Errorf("%s: the session is %s, recorded %s", name, session[0], recorded)
		}
	}
}

// TestAuditIdentifiesSessions: records show the owner of a session, by the record of its start and by its source identity.
func TestAuditIdentifiesSessions(t *testing.T) {
	i := newIssuer(t)
	name := strings.TrimPrefix(i.URL, "http://")
	file := filepath.Join(t.TempDir(), "iam.yaml")
	err := os.WriteFile(file, []byte(strings.NewReplacer("ISSUER", i.URL, "NAME", name).Replace(`
providers: [{issuer: ISSUER, jwks: ISSUER/keys, audiences: [shop]}]
roles:
  - name: customer
    trust: {Version: "2012-10-17", Statement: {Effect: Allow, Principal: {Federated: "arn:aws:iam::000000000000:oidc-provider/NAME"}, Action: ["sts:AssumeRoleWithWebIdentity", "sts:SetSourceIdentity"]}}
    policies: [{Version: "2012-10-17", Statement: {Effect: Allow, Action: "dynamodb:*", Resource: "*"}}]
`)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	sink := &auditSink{}
	g := openGuarded(t, t.TempDir(), monotable.Options{Audit: &monotable.Audit{Writer: sink}, Auth: &monotable.Auth{File: file}})
	token := i.token(t, func(b *jwt.Builder) { b.Claim("https://aws.amazon.com/source_identity", "ana") })
	session, err := stscreds.NewWebIdentityRoleProvider(g.sts(aws.AnonymousCredentials{}), roleARN+"customer", staticToken(token)).Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.want("session", g.lists(credentials.StaticCredentialsProvider{Value: session}), "")
	text, records := sink.take(t)
	if len(records) != 2 || strings.Contains(text, token) || strings.Contains(text, session.SessionToken) || strings.Contains(text, session.SecretAccessKey) {
		t.Fatal(text)
	}
	for path, want := range map[string]string{
		"userIdentity.type": "WebIdentityUser", "userIdentity.userName": "user-1", "responseElements.credentials.accessKeyId": session.AccessKeyID,
		"responseElements.subjectFromWebIdentityToken": "user-1", "responseElements.sourceIdentity": "ana",
	} {
		if got := at(records[0], path); got != want {
			t.Errorf("%s is %v, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{"userIdentity.accessKeyId": session.AccessKeyID, "userIdentity.sessionContext.sourceIdentity": "ana"} {
		if got := at(records[1], path); got != want {
			t.Errorf("%s is %v, want %s", path, got, want)
		}
	}
}
