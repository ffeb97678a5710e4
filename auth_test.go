package monotable_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable"
)

const allowTables = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["dynamodb:*","sts:*"],"Resource":"*"}}`

// guarded is a database that requires signatures, over a socket.
type guarded struct {
	*testing.T
	db  *monotable.DB
	url string
	now func() time.Time // of the database
}

func openGuarded(t *testing.T, dir string, o monotable.Options) *guarded {
	t.Helper()
	if o.Auth == nil {
		o.Auth = new(monotable.Auth)
	}
	o.Auth.Required = true
	db, err := monotable.Open(dir, &o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	return &guarded{t, db, server.URL, now}
}

func (g *guarded) manage(r monotable.IAMRequest) monotable.IAMResult {
	g.Helper()
	result, err := g.db.IAM(g.Context(), &r)
	if err != nil {
		g.Fatal(err)
	}
	return result
}

// user creates a user with a key.
func (g *guarded) user(name string, policies ...string) aws.CredentialsProvider {
	g.Helper()
	g.manage(monotable.IAMRequest{Action: "user create", Name: name, Policies: policies})
	key := g.manage(monotable.IAMRequest{Action: "key create", User: name}).Keys[0]
	return credentials.NewStaticCredentialsProvider(key.ID, key.Secret, "")
}

func (g *guarded) dynamodb(c aws.CredentialsProvider) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &g.url, Region: "us-east-1", Credentials: c, Retryer: aws.NopRetryer{}})
}

func (g *guarded) sts(c aws.CredentialsProvider) *sts.Client {
	return sts.New(sts.Options{BaseEndpoint: &g.url, Region: "us-east-1", Credentials: c, Retryer: aws.NopRetryer{}})
}

// lists returns the result of listing the tables: "", or the error's code and message.
func (g *guarded) lists(c aws.CredentialsProvider) string {
	g.Helper()
	_, err := g.dynamodb(c).ListTables(g.Context(), &dynamodb.ListTablesInput{})
	return refusal(err)
}

func refusal(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (g *guarded) want(what, got, want string) {
	g.Helper()
	if got != want {
		g.Errorf("%s: %q, want %q", what, got, want)
	}
}

const (
	unknown = "UnrecognizedClientException: The security token included in the request is invalid."
	missing = "MissingAuthenticationTokenException: Request is missing Authentication Token"
)

// TestAuthRequired: only requests signed with a known key are served; the owner in the process does not sign.
func TestAuthRequired(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{Auth: &monotable.Auth{RootAccessKeyID: "AKIAROOT", RootSecretAccessKey: "secret"}})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	ana := g.user("ana", "all")
	g.want("nobody", g.lists(aws.AnonymousCredentials{}), missing)
	g.want("somebody", g.lists(credentials.NewStaticCredentialsProvider("AKIA", "x", "")), unknown)
	g.want("root", g.lists(credentials.NewStaticCredentialsProvider("AKIAROOT", "secret", "")), "")
	g.want("user", g.lists(ana), "")
	own, err := ana.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wrong := g.lists(credentials.NewStaticCredentialsProvider(own.AccessKeyID, "x", ""))
	if !strings.HasPrefix(wrong, "InvalidSignatureException: The request signature we calculated does not match the signature you provided.") ||
		!strings.Contains(wrong, "The Canonical String for this request should have been\n'POST\n/\n\n") {
		t.Error(wrong)
	}
	g.want("key with a token", g.lists(credentials.NewStaticCredentialsProvider(own.AccessKeyID, own.SecretAccessKey, "token")), unknown)
	if _, err := g.db.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Error(err)
	}
}

// TestCloudWatchPolicies: reading metrics needs a policy, too.
func TestCloudWatchPolicies(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	g.manage(monotable.IAMRequest{
		Action: "policy create", Name: "list", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"cloudwatch:List*","Resource":"*"}}`,
	})
	client := cloudwatch.New(cloudwatch.Options{BaseEndpoint: &g.url, Region: "us-east-1", Credentials: g.user("ana", "list"), Retryer: aws.NopRetryer{}})
	_, err := client.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{})
	g.want("allowed", refusal(err), "")
	_, err = client.GetMetricStatistics(t.Context(), &cloudwatch.GetMetricStatisticsInput{
		Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String("x"), Period: aws.Int32(60), StartTime: aws.Time(time.Now()), EndTime: aws.Time(time.Now()),
	})
	g.want("not allowed", refusal(err),
		"AccessDenied: User: arn:aws:iam::000000000000:user/ana is not authorized to perform: cloudwatch:GetMetricStatistics")
}

// TestKeysOverTime: keys are rotated with a grace period, disabled, and deleted, and survive a restart.
func TestKeysOverTime(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().Unix())
	dir, o := t.TempDir(), monotable.Options{Now: func() time.Time { return time.Unix(now.Load(), 0) }, Auth: &monotable.Auth{ClockSkew: 24 * time.Hour}}
	var first, second monotable.AccessKey
	provider := func(k monotable.AccessKey) aws.CredentialsProvider {
		return credentials.NewStaticCredentialsProvider(k.ID, k.Secret, "")
	}
	t.Run("before", func(t *testing.T) {
		g := openGuarded(t, dir, o)
		g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
		g.manage(monotable.IAMRequest{Action: "user create", Name: "ana", Policies: []string{"all"}})
		first = g.manage(monotable.IAMRequest{Action: "key create", User: "ana"}).Keys[0]
		second = g.manage(monotable.IAMRequest{Action: "key rotate", Name: first.ID, Grace: time.Hour}).Keys[0]
	})
	g := openGuarded(t, dir, o)
	g.want("rotated", g.lists(provider(first)), "")
	g.want("new", g.lists(provider(second)), "")
	now.Add(3600)
	g.want("rotated an hour ago", g.lists(provider(first)), unknown)
	g.manage(monotable.IAMRequest{Action: "key disable", Name: second.ID})
	g.want("disabled", g.lists(provider(second)), unknown)
	g.manage(monotable.IAMRequest{Action: "key enable", Name: second.ID})
	g.want("enabled", g.lists(provider(second)), "")
	g.manage(monotable.IAMRequest{Action: "key delete", Name: second.ID})
	g.want("deleted", g.lists(provider(second)), unknown)
	listed, err := json.Marshal(g.manage(monotable.IAMRequest{Action: "user list"}))
	if err != nil || strings.Contains(string(listed), first.Secret) || !strings.Contains(string(listed), first.ID) {
		t.Errorf("%s, %v", listed, err)
	}
}

// TestEnsureRootKey: it is created once, and kept.
func TestEnsureRootKey(t *testing.T) {
	dir := t.TempDir()
	var key *monotable.AccessKey
	t.Run("first start", func(t *testing.T) {
		g := openGuarded(t, dir, monotable.Options{})
		var err error
		if key, err = g.db.EnsureRootKey(t.Context()); err != nil || key == nil {
			t.Fatal(key, err)
		}
	})
	g := openGuarded(t, dir, monotable.Options{})
	again, err := g.db.EnsureRootKey(t.Context())
	if err != nil || again != nil {
		t.Error(again, err)
	}
	g.want("root", g.lists(credentials.NewStaticCredentialsProvider(key.ID, key.Secret, "")), "")
}

// TestMasterKey: secrets are sealed when a master key is first given, cannot be opened without it, and can be opened under the
// next one.
func TestMasterKey(t *testing.T) {
	dir := t.TempDir()
	one, two := []byte(strings.Repeat("1", 32)), []byte(strings.Repeat("2", 32))
	var ana aws.CredentialsProvider
	for _, c := range []struct {
		name             string
		master, previous []byte
		fault            bool
	}{
		{name: "none"},
		{name: "first", master: one},
		{name: "again", master: one},
		{name: "forgotten", fault: true},
		{name: "wrong", master: two, fault: true},
		{name: "next", master: two, previous: one},
		{name: "next alone", master: two},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := monotable.Options{MasterKey: c.master, PreviousMasterKey: c.previous, Auth: &monotable.Auth{Required: true}}
			if c.fault {
				if _, err := monotable.Open(dir, &options); !errors.Is(err, monotable.ErrSealed) {
					t.Error(err)
				}
				return
			}
			g := openGuarded(t, dir, options)
			if ana == nil {
				g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
				ana = g.user("ana", "all")
			}
			g.want("user", g.lists(ana), "")
		})
	}
	own, err := ana.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), own.SecretAccessKey) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

const trustAccount = `{"Version":"2012-10-17","Statement":[
  {"Effect":"Allow","Principal":{"AWS":"000000000000"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEqualsIfExists":{"sts:ExternalId":"42"}}}]}`

// TestAssumeRole: the SDK's provider assumes a role, and the server accepts its sessions after a restart, until the role is
// deleted.
func TestAssumeRole(t *testing.T) {
	dir := t.TempDir()
	var session aws.Credentials
	t.Run("before", func(t *testing.T) {
		g := openGuarded(t, dir, monotable.Options{})
		g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
		g.manage(monotable.IAMRequest{Action: "role create", Name: "reader", Trust: trustAccount, Policies: []string{"all"}})
		ana, bob := g.user("ana", "all"), g.user("bob")
		const arn = "arn:aws:iam::000000000000:role/reader"
		provider := stscreds.NewAssumeRoleProvider(g.sts(ana), arn, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName, o.ExternalID = "work", aws.String("42")
			o.Tags = []ststypes.Tag{{Key: aws.String("team"), Value: aws.String("blue")}}
		})
		var err error
		if session, err = provider.Retrieve(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.want("session", g.lists(credentials.StaticCredentialsProvider{Value: session}), "")
		who, err := g.sts(credentials.StaticCredentialsProvider{Value: session}).GetCallerIdentity(t.Context(), nil)
		if err != nil || *who.Arn != "arn:aws:sts::000000000000:assumed-role/reader/work" || !strings.HasPrefix(*who.UserId, "AROA") || !strings.HasSuffix(*who.UserId, ":work") {
			t.Errorf("%+v, %v", who, err)
		}
		assume := func(c aws.CredentialsProvider, change func(*sts.AssumeRoleInput)) string {
			in := &sts.AssumeRoleInput{RoleArn: aws.String(arn), RoleSessionName: aws.String("work")}
			change(in)
			_, err := g.sts(c).AssumeRole(t.Context(), in)
			return refusal(err)
		}
		g.want("without permission", assume(bob, func(*sts.AssumeRoleInput) {}),
			"AccessDenied: User: arn:aws:iam::000000000000:user/bob is not authorized to perform: sts:AssumeRole on resource: "+arn)
		g.want("other external id", assume(ana, func(in *sts.AssumeRoleInput) { in.ExternalId = aws.String("43") }),
			"AccessDenied: User: arn:aws:iam::000000000000:user/ana is not authorized to perform: sts:AssumeRole on resource: "+arn)
		g.want("unknown role", assume(ana, func(in *sts.AssumeRoleInput) { in.RoleArn = aws.String(arn + "s") }),
			"AccessDenied: User: arn:aws:iam::000000000000:user/ana is not authorized to perform: sts:AssumeRole on resource: "+arn+"s")
		g.want("source identity", assume(ana, func(in *sts.AssumeRoleInput) { in.SourceIdentity = aws.String("ana") }),
			"AccessDenied: User: arn:aws:iam::000000000000:user/ana is not authorized to perform: sts:SetSourceIdentity on resource: "+arn)
		g.want("too long", assume(ana, func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(7200) }),
			"ValidationError: The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
		g.want("too short", assume(ana, func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(60) }),
			"ValidationError: 1 validation error detected: Value '60' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to 900")
		g.want("session policy", assume(ana, func(in *sts.AssumeRoleInput) { in.Policy = aws.String("{") }), "MalformedPolicyDocument: Syntax errors in policy. At line 1, column 2.")
		g.want("session name", assume(ana, func(in *sts.AssumeRoleInput) { in.RoleSessionName = aws.String("a b") }),
			`ValidationError: 1 validation error detected: Value 'a b' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w+=,.@-]*`)
		_, err = g.sts(credentials.NewStaticCredentialsProvider("AKIA", "x", "")).GetCallerIdentity(t.Context(), nil)
		g.want("unknown key", refusal(err), "InvalidClientTokenId: The security token included in the request is invalid.")
	})
	g := openGuarded(t, dir, monotable.Options{})
	provider := credentials.StaticCredentialsProvider{Value: session}
	g.want("after a restart", g.lists(provider), "")
	other := session
	other.AccessKeyID = "ASIAOTHER"
	g.want("another key's token", g.lists(credentials.StaticCredentialsProvider{Value: other}), unknown)
	other = session
	changed := []byte(session.SessionToken)
	if changed[40]++; changed[40] > 'z' || session.SessionToken[40] == 'Z' || session.SessionToken[40] == '9' {
		changed[40] = 'A'
	}
	other.SessionToken = string(changed)
	g.want("a changed token", g.lists(credentials.StaticCredentialsProvider{Value: other}), unknown)
	g.manage(monotable.IAMRequest{Action: "role delete", Name: "reader"})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "reader", Trust: trustAccount, Policies: []string{"all"}})
	g.want("role made anew", g.lists(provider), unknown)
}

// TestSessionExpires: a session ends at its expiry time.
func TestSessionExpires(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().Unix())
	g := openGuarded(t, t.TempDir(), monotable.Options{Now: func() time.Time { return time.Unix(now.Load(), 0) }, Auth: &monotable.Auth{ClockSkew: 100 * time.Hour}})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	issued, err := g.sts(g.user("ana", "all")).GetSessionToken(t.Context(), &sts.GetSessionTokenInput{DurationSeconds: aws.Int32(900)})
	if err != nil {
		t.Fatal(err)
	}
	c := issued.Credentials
	session := credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
	now.Add(899)
	g.want("session", g.lists(session), "")
	who, err := g.sts(session).GetCallerIdentity(t.Context(), nil)
	if err != nil || *who.Arn != "arn:aws:iam::000000000000:user/ana" {
		t.Errorf("%+v, %v", who, err)
	}
	_, err = g.sts(session).GetSessionToken(t.Context(), nil)
	g.want("session of a session", refusal(err), "AccessDenied: Cannot call GetSessionToken with session credentials")
	now.Add(1)
	g.want("over", g.lists(session), "ExpiredTokenException: The security token included in the request is expired")
	_, err = g.sts(session).GetCallerIdentity(t.Context(), nil)
	g.want("over, for STS", refusal(err), "ExpiredToken: The security token included in the request is expired")
}

// issuer is an identity provider.
type issuer struct {
	*httptest.Server
	key jwk.Key
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := new(issuer)
	i.rotate(t, "one")
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		set := jwk.NewSet()
		public, err := i.key.PublicKey()
		if err == nil {
			err = set.AddKey(public)
		}
		if err == nil {
			err = json.NewEncoder(w).Encode(set)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) rotate(t *testing.T, kid string) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if i.key, err = jwk.Import(private); err == nil {
		err = errors.Join(i.key.Set(jwk.KeyIDKey, kid), i.key.Set(jwk.AlgorithmKey, jwa.RS256()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (i *issuer) token(t *testing.T, change func(*jwt.Builder)) string {
	t.Helper()
	b := jwt.NewBuilder().Issuer(i.URL).Subject("user-1").Audience([]string{"shop"}).Expiration(time.Now().Add(time.Hour))
	change(b)
	token, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.RS256(), i.key))
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

// staticToken is a token for the SDK's provider.
type staticToken string

func (s staticToken) GetIdentityToken() ([]byte, error) { return []byte(s), nil }

// TestWebIdentity: the owner of a token from a provider in the file assumes the role that trusts it, without any key.
func TestWebIdentity(t *testing.T) {
	i := newIssuer(t)
	name := strings.TrimPrefix(i.URL, "http://")
	file := filepath.Join(t.TempDir(), "iam.yaml")
	text := strings.NewReplacer("ISSUER", i.URL, "NAME", name).Replace(`
providers:
  - issuer: ISSUER
    jwks: ISSUER/keys
    audiences: [shop]
roles:
  - name: customer
    trust:
      Version: "2012-10-17"
      Statement:
        - Effect: Allow
          Principal: {Federated: "arn:aws:iam::000000000000:oidc-provider/NAME"}
          Action: sts:AssumeRoleWithWebIdentity
          Condition: {StringLike: {"NAME:sub": "user-*"}}
    policies:
      - Version: 2012-10-17
        Statement: {Effect: Allow, Action: "dynamodb:*", Resource: "*"}
`)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := openGuarded(t, t.TempDir(), monotable.Options{Auth: &monotable.Auth{File: file}})
	take := func(token string) (aws.CredentialsProvider, string) {
		p := stscreds.NewWebIdentityRoleProvider(g.sts(aws.AnonymousCredentials{}), "arn:aws:iam::000000000000:role/customer", staticToken(token))
		issued, err := p.Retrieve(context.Background())
		return credentials.StaticCredentialsProvider{Value: issued}, refusal(err)
	}
	session, failure := take(i.token(t, func(*jwt.Builder) {}))
	g.want("token", failure, "")
	g.want("session", g.lists(session), "")
	for _, c := range []struct {
		name, want string
		change     func(*jwt.Builder)
	}{
		{"other issuer", "InvalidIdentityToken: No OpenIDConnect provider found in your account for https://evil", func(b *jwt.Builder) { b.Issuer("https://evil") }},
		{"other audience", "InvalidIdentityToken: Incorrect token audience", func(b *jwt.Builder) { b.Audience([]string{"other"}) }},
		{"other subject", "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity", func(b *jwt.Builder) { b.Subject("admin") }},
	} {
		_, failure := take(i.token(t, c.change))
		g.want(c.name, failure, c.want)
	}
	_, failure = take(i.token(t, func(b *jwt.Builder) { b.Expiration(time.Now().Add(-time.Hour)) }))
	if !strings.HasPrefix(failure, "ExpiredTokenException: Token expired: current date/time ") {
		t.Error(failure)
	}
	old := i.token(t, func(*jwt.Builder) {})
	i.rotate(t, "two")
	_, failure = take(i.token(t, func(*jwt.Builder) {}))
	g.want("new key, soon after a fetch", failure, "InvalidIdentityToken: The web identity token's signature could not be verified")
	_, failure = take(old)
	g.want("old key, still kept", failure, "")
	forged := old[:strings.LastIndexByte(old, '.')+1]
	_, failure = take(forged)
	g.want("no signature", failure, "InvalidIdentityToken: The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
}

// TestPublicRequestHasNoPermissions: a request that seems to have a web identity's token, but turns out to be another when
// decompressed, has no permissions.
func TestPublicRequestHasNoPermissions(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	for _, action := range []string{"GetSessionToken", "GetCallerIdentity", "AssumeRole"} {
		var body bytes.Buffer
		w := gzip.NewWriter(&body)
		w.Name = "&Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"
		if _, err := w.Write([]byte("Version=2011-06-15&Action=" + action)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url, &body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Content-Encoding", "gzip")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusForbidden ||
			!strings.Contains(string(text), "<Code>MissingAuthenticationToken</Code>") {
			t.Errorf("%s: %s %s %v", action, response.Status, text, err)
		}
	}
}

// TestIAMFile: an invalid file is rejected at reload, and the previous configuration stays in effect.
func TestIAMFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "iam.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"users": [{"name": "ana", "accessKeys": [{"id": "AKIAANA", "secret": "s1"}], "tags": {"team": "blue"}, "policies": [` + allowTables + `]}]}`)
	g := openGuarded(t, t.TempDir(), monotable.Options{Auth: &monotable.Auth{File: file}})
	key := func(secret string) aws.CredentialsProvider {
		return credentials.NewStaticCredentialsProvider("AKIAANA", secret, "")
	}
	g.want("user", g.lists(key("s1")), "")
	for _, c := range []struct{ text, want string }{
		{`{`, "users and roles: " + file},
		{`{"users": [{"name": "ana", "colour": 1}]}`, "unknown field"},
		{`{"users": [{"name": "a b"}]}`, `users[0] a b: "a b" is not a valid name of a user`},
		{`{"users": [{"name": "ana"}, {"name": "ana"}]}`, "users[1] ana: there are two users of this name"},
		{`{"users": [{"name": "ana", "accessKeys": [{"id": "AKIAANA"}]}]}`, "users[0] ana: an access key needs an id and a secret"},
		{`{"users": [{"name": "ana", "policies": [{"Version": "2012-10-17", "Statement": {"Effect": "Perhaps", "Action": "*", "Resource": "*"}}]}]}`, "users[0] ana: policies[0]: Invalid effect: Perhaps."},
		{`{"users": [{"name": "ana", "accessKeys": [{"id": "AKIA1", "secret": "a"}]}, {"name": "bob", "accessKeys": [{"id": "AKIA1", "secret": "b"}]}]}`, "there are two access keys AKIA1"},
		{`{"roles": [{"name": "r"}]}`, "roles[0] r: trust: "},
		{`{"providers": [{"issuer": "x"}]}`, "providers[0]: a provider needs an issuer and a jwks"},
	} {
		write(c.text)
		if err := g.db.ReloadIAM(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
		g.want("user", g.lists(key("s1")), "")
	}
	write("users:\n- name: ana\n  accessKeys: [{id: AKIAANA, secret: s2}]\n  policies:\n  - {Version: 2012-10-17, Statement: [{Effect: Allow, Action: 'dynamodb:*', Resource: '*'}]}\n")
	if err := g.db.ReloadIAM(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.want("user", g.lists(key("s2")), "")
	if got := g.lists(key("s1")); !strings.HasPrefix(got, "InvalidSignatureException: ") {
		t.Error(got)
	}
	if _, err := g.db.IAM(t.Context(), &monotable.IAMRequest{Action: "user create", Name: "bob"}); err == nil || !strings.Contains(err.Error(), "SIGHUP") {
		t.Error(err)
	}
}
