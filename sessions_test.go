package monotable_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable"
)

const roleARN = "arn:aws:iam::000000000000:role/"

// takes assumes a role, and returns the session and its source identity, or the refusal.
func (g *guarded) takes(who aws.CredentialsProvider, role string, change func(*sts.AssumeRoleInput)) (session aws.CredentialsProvider, source, failure string) {
	g.Helper()
	in := &sts.AssumeRoleInput{RoleArn: aws.String(roleARN + role), RoleSessionName: aws.String("work")}
	change(in)
	out, err := g.sts(who).AssumeRole(g.Context(), in)
	if err != nil {
		return nil, "", refusal(err)
	}
	c := out.Credentials
	return credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken), aws.ToString(out.SourceIdentity), ""
}

func tagged(tags ...string) func(*sts.AssumeRoleInput) {
	return func(in *sts.AssumeRoleInput) {
		for _, tag := range tags {
			key, value, _ := strings.Cut(tag, "=")
			in.Tags = append(in.Tags, ststypes.Tag{Key: &key, Value: &value})
		}
	}
}

// trustPolicy is a trust policy for some actions, with a condition.
func trustPolicy(actions, condition string) string {
	return `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"000000000000"},"Action":[` + actions + `],"Condition":` + condition + `}}`
}

// allowedIf allows everything to those of whom a condition is true.
func allowedIf(condition string) string {
	return `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["dynamodb:*","sts:*"],"Resource":"*","Condition":` + condition + `}}`
}

const (
	notAssumed = "AccessDenied: User: %s is not authorized to perform: %s on resource: " + roleARN + "%s"
	anaARN     = "arn:aws:iam::000000000000:user/ana"
	firstARN   = "arn:aws:sts::000000000000:assumed-role/first/work"
)

// TestChainedSessions: transitive tags and the source identity are inherited from session to session, need their permissions
// there, and cannot be changed; other tags end with their session.
func TestChainedSessions(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "blue", Document: allowedIf(`{"StringEquals":{"aws:PrincipalTag/team":"blue"}}`)})
	all := `"sts:AssumeRole","sts:TagSession","sts:SetSourceIdentity"`
	g.manage(monotable.IAMRequest{Action: "role create", Name: "first", Trust: trustPolicy(all, "{}"), Policies: []string{"all"}, Tags: map[string]string{"TEAM": "red"}})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "blue", Trust: trustPolicy(all, "{}"), Policies: []string{"blue"}})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "untagged", Trust: trustPolicy(`"sts:AssumeRole","sts:SetSourceIdentity"`, "{}")})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "unknown", Trust: trustPolicy(`"sts:AssumeRole","sts:TagSession"`, "{}")})
	g.manage(monotable.IAMRequest{
		Action: "role create", Name: "requested", Policies: []string{"blue"}, Trust: trustPolicy(all, `{"ForAllValues:StringEquals":{"sts:TransitiveTagKeys":["Team"]},"StringEquals":{"aws:RequestTag/team":"blue","sts:SourceIdentity":"ana"}}`),
	})
	ana := g.user("ana", "all")

	transitive := func(in *sts.AssumeRoleInput) {
		tagged("Team=blue", "case=7")(in)
		in.TransitiveTagKeys, in.SourceIdentity = []string{"team"}, aws.String("ana")
	}
	first, source, failure := g.takes(ana, "first", transitive)
	g.want("first", failure, "")
	g.want("first's source identity", source, "ana")
	none := func(*sts.AssumeRoleInput) {}
	for _, role := range []string{"blue", "requested"} {
		second, source, failure := g.takes(first, role, none)
		g.want(role, failure, "")
		if failure != "" {
			continue
		}
		g.want("its source identity", source, "ana")
		g.want("its tag", g.lists(second), "")
		third, source, failure := g.takes(second, "blue", none)
		g.want("third", failure, "")
		g.want("its source identity", source, "ana")
		g.want("its tag", g.lists(third), "")
	}
	for _, c := range []struct {
		name, role string
		change     func(*sts.AssumeRoleInput)
		want       string
	}{
		{"no sts:TagSession", "untagged", none, fmt.Sprintf(notAssumed, firstARN, "sts:TagSession", "untagged")},
		{"no sts:SetSourceIdentity", "unknown", none, fmt.Sprintf(notAssumed, firstARN, "sts:SetSourceIdentity", "unknown")},
		{"another source identity", "blue", func(in *sts.AssumeRoleInput) { in.SourceIdentity = aws.String("bob") }, fmt.Sprintf(notAssumed, firstARN, "sts:SetSourceIdentity", "blue")},
		{"the same", "blue", func(in *sts.AssumeRoleInput) { in.SourceIdentity = aws.String("ana") }, ""},
		{
			"another value", "blue", tagged("TEAM=red"),
			"InvalidParameterValue: One of the specified transitive tag keys can't be set because it conflicts with a transitive tag key from the calling session.",
		},
		{"a tag that was not transitive", "blue", tagged("Case=8"), ""},
		{
			"a transitive key without a tag", "blue", func(in *sts.AssumeRoleInput) { in.TransitiveTagKeys = []string{"case"} },
			"InvalidParameterValue: The specified transitive tag key must be included in the requested tags.",
		},
		{"a tag twice", "blue", tagged("a=1", "A=2"), "InvalidParameterValue: Duplicate tag keys found. Please note that Tag keys are case insensitive."},
	} {
		_, _, failure := g.takes(first, c.role, c.change)
		g.want(c.name, failure, c.want)
	}

	// Tags of a session override the role's, and those that are not transitive end with it.
	g.manage(monotable.IAMRequest{Action: "policy attach", Name: "blue", Role: "first"})
	g.manage(monotable.IAMRequest{Action: "policy detach", Name: "all", Role: "first"})
	for range 20 { // with two different tags, one of them would be found eventually
		g.want("over the role's tag", g.lists(first), "")
	}
	plain, _, failure := g.takes(ana, "first", tagged("team=blue"))
	g.want("plain", failure, "")
	second, _, failure := g.takes(plain, "blue", none)
	g.want("second", failure, "")
	if got := g.lists(second); !strings.HasPrefix(got, "AccessDeniedException") {
		t.Errorf("a tag that is not transitive is passed on: %q", got)
	}
	var large []string
	for i := range 50 {
		large = append(large, fmt.Sprintf("%0128d=%s", i, strings.Repeat("x", 256)))
	}
	_, _, failure = g.takes(ana, "first", tagged(large...))
	if !strings.HasPrefix(failure, "PackedPolicyTooLarge: Packed size of session tags consumes ") {
		t.Errorf("a session that no request could carry: %q", failure)
	}
}

// TestManagedSessionPolicies: policies in PolicyArns restrict a session, with their contents at each request.
func TestManagedSessionPolicies(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	allow := func(actions string) string {
		return `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":` + actions + `,"Resource":"*"}}`
	}
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "lists", Document: allow(`"dynamodb:ListTables"`)})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "limits", Document: allow(`"dynamodb:DescribeLimits"`)})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "reader", Trust: trustAccount, Policies: []string{"all"}})
	ana := g.user("ana", "all")
	arns := func(names ...string) func(*sts.AssumeRoleInput) {
		return func(in *sts.AssumeRoleInput) {
			for _, name := range names {
				in.PolicyArns = append(in.PolicyArns, ststypes.PolicyDescriptorType{Arn: aws.String(name)})
			}
		}
	}
	const policy = "arn:aws:iam::000000000000:policy/"
	limits := func(c aws.CredentialsProvider) string {
		_, err := g.dynamodb(c).DescribeLimits(t.Context(), &dynamodb.DescribeLimitsInput{})
		code, _, _ := strings.Cut(refusal(err), ":")
		return code
	}
	session, _, failure := g.takes(ana, "reader", arns(policy+"lists"))
	g.want("one", failure, "")
	g.want("allowed", g.lists(session), "")
	g.want("not allowed", limits(session), "AccessDeniedException")
	both, _, failure := g.takes(ana, "reader", arns(policy+"lists", policy+"limits"))
	g.want("two", failure, "")
	g.want("allowed by the second", limits(both), "")
	limited, _, failure := g.takes(ana, "reader", func(in *sts.AssumeRoleInput) {
		arns(policy + "lists")(in)
		in.Policy = aws.String(allow(`"dynamodb:DescribeLimits"`))
	})
	g.want("a session policy in the request", failure, "")
	g.want("allowed by the document", limits(limited), "")
	g.want("allowed by the policy", g.lists(limited), "")

	eleven := make([]string, 11)
	for i := range eleven {
		eleven[i] = policy + "lists"
	}
	for _, c := range []struct {
		name   string
		change func(*sts.AssumeRoleInput)
		want   string
	}{
		{"unknown", arns(policy + "none"), "NoSuchEntity: Policy " + policy + "none does not exist or is not attachable."},
		{"another account's", arns("arn:aws:iam::aws:policy/ReadOnlyAccess"), "NoSuchEntity: Policy arn:aws:iam::aws:policy/ReadOnlyAccess does not exist or is not attachable."},
		{"no ARN", arns(policy[4:]), "ValidationError: " + policy[4:] + " is invalid"},
		{"too many", arns(eleven...), "ValidationError: 1 validation error detected: Value at 'policyArns' failed to satisfy constraint: Member must have length less than or equal to 10"},
		{"too long together", func(in *sts.AssumeRoleInput) {
			arns(policy + "lists")(in)
			in.Policy = aws.String(allow(`"dynamodb:DescribeLimits"`) + strings.Repeat(" ", 1940))
		}, "PackedPolicyTooLarge: Packed policy consumes 101% of allotted space, please use smaller policy."},
	} {
		_, _, failure := g.takes(ana, "reader", c.change)
		g.want(c.name, failure, c.want)
	}

	g.manage(monotable.IAMRequest{Action: "policy create", Name: "lists", Document: allow(`"dynamodb:DescribeLimits"`)})
	g.want("changed", limits(session), "")
	g.manage(monotable.IAMRequest{Action: "policy delete", Name: "lists"})
	g.want("deleted", limits(session), "AccessDeniedException")
}

// TestMFA: there are no MFA devices, so that actions that need one, and MFA codes, are rejected.
func TestMFA(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: `{"Version":"2012-10-17","Statement":[
	  {"Effect":"Allow","Action":"*","Resource":"*"},
	  {"Effect":"Deny","Action":"dynamodb:ListTables","Resource":"*","Condition":{"Bool":{"aws:MultiFactorAuthPresent":"false"}}}]}`})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "strict", Trust: trustPolicy(`"sts:AssumeRole"`, `{"Bool":{"aws:MultiFactorAuthPresent":"true"}}`)})
	g.manage(monotable.IAMRequest{Action: "role create", Name: "lax", Trust: trustPolicy(`"sts:AssumeRole"`, `{"BoolIfExists":{"aws:MultiFactorAuthPresent":"true"}}`), Policies: []string{"all"}})
	ana := g.user("ana", "all")
	const failed = "AccessDenied: MultiFactorAuthentication failed, unable to validate MFA code.  Please verify your MFA serial number is valid and associated with this user."
	none := func(*sts.AssumeRoleInput) {}
	_, _, failure := g.takes(ana, "strict", none)
	g.want("without a device", failure, fmt.Sprintf(notAssumed, anaARN, "sts:AssumeRole", "strict"))
	_, _, failure = g.takes(ana, "strict", func(in *sts.AssumeRoleInput) {
		in.SerialNumber, in.TokenCode = aws.String("arn:aws:iam::000000000000:mfa/ana"), aws.String("123456")
	})
	g.want("with a code", failure, failed)
	_, err := g.sts(ana).GetSessionToken(t.Context(), &sts.GetSessionTokenInput{TokenCode: aws.String("123456")})
	g.want("GetSessionToken with a code", refusal(err), failed)

	// The key is only present for sessions, and is false.
	g.want("an access key", g.lists(ana), "")
	session, _, failure := g.takes(ana, "lax", none)
	g.want("lax", failure, "")
	if got := g.lists(session); !strings.Contains(got, "with an explicit deny") {
		t.Errorf("a session without MFA: %q", got)
	}
	_, _, failure = g.takes(session, "lax", none)
	g.want("lax, from a session", failure, fmt.Sprintf(notAssumed, "arn:aws:sts::000000000000:assumed-role/lax/work", "sts:AssumeRole", "lax"))
}

// TestWebIdentityUsesTokenTags: tags, transitive ones and the source identity are those of the token, whatever the form says.
func TestWebIdentityUsesTokenTags(t *testing.T) {
	i := newIssuer(t)
	name := strings.TrimPrefix(i.URL, "http://")
	file := filepath.Join(t.TempDir(), "iam.yaml")
	text := strings.NewReplacer("ISSUER", i.URL, "NAME", name).Replace(`
providers: [{issuer: ISSUER, jwks: ISSUER/keys, audiences: [shop]}]
roles:
  - name: customer
    trust: {Version: "2012-10-17", Statement: {Effect: Allow, Principal: {Federated: "arn:aws:iam::000000000000:oidc-provider/NAME"}, Action: ["sts:AssumeRoleWithWebIdentity", "sts:TagSession", "sts:SetSourceIdentity"]}}
    policies: [{Version: "2012-10-17", Statement: {Effect: Allow, Action: ["dynamodb:*", "sts:*"], Resource: "*"}}]
  - name: named
    trust: {Version: "2012-10-17", Statement: {Effect: Allow, Principal: {AWS: "000000000000"}, Action: ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"]}}
    policies: [{Version: "2012-10-17", Statement: {Effect: Allow, Action: "dynamodb:*", Resource: "*", Condition: {StringEquals: {"aws:PrincipalTag/team": blue, "aws:SourceIdentity": ana}}}}]
`)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := openGuarded(t, t.TempDir(), monotable.Options{Auth: &monotable.Auth{File: file}})
	token := func(claims map[string]any) string {
		return i.token(t, func(b *jwt.Builder) {
			for name, value := range claims {
				b.Claim(name, value)
			}
		})
	}
	take := func(token string) (aws.CredentialsProvider, string) {
		issued, err := stscreds.NewWebIdentityRoleProvider(g.sts(aws.AnonymousCredentials{}), roleARN+"customer", staticToken(token)).Retrieve(t.Context())
		return credentials.StaticCredentialsProvider{Value: issued}, refusal(err)
	}
	const tags, source = "https://aws.amazon.com/tags", "https://aws.amazon.com/source_identity"
	session, failure := take(token(map[string]any{
		tags: map[string]any{"principal_tags": map[string]any{"Team": []string{"blue"}}, "transitive_tag_keys": []string{"team"}}, source: "ana",
	}))
	g.want("token", failure, "")
	named, _, failure := g.takes(session, "named", func(*sts.AssumeRoleInput) {})
	g.want("next role", failure, "")
	g.want("tag and source identity", g.lists(named), "")

	const badTags = "InvalidIdentityToken: The principal tags of the token are not valid"
	for _, c := range []struct {
		name   string
		claims map[string]any
		want   string
	}{
		{"two tags of a key", map[string]any{tags: map[string]any{"principal_tags": map[string]any{"a": "1", "A": "2"}}}, badTags},
		{"no list", map[string]any{tags: map[string]any{"principal_tags": map[string]any{"a": "1"}, "transitive_tag_keys": "a"}}, badTags},
		{
			"no such tag",
			map[string]any{tags: map[string]any{"principal_tags": map[string]any{"a": "1"}, "transitive_tag_keys": []string{"b"}}},
			"InvalidParameterValue: The specified transitive tag key must be included in the requested tags.",
		},
		{"source identity", map[string]any{source: "a b"}, "InvalidIdentityToken: The source identity of the token is not valid"},
	} {
		_, failure := take(token(c.claims))
		g.want(c.name, failure, c.want)
	}

	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {roleARN + "customer"}, "RoleSessionName": {"work"},
		"WebIdentityToken": {token(nil)}, "SourceIdentity": {"root"}, "Tags.member.1.Key": {"team"}, "Tags.member.1.Value": {"blue"},
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || strings.Contains(string(body), "<SourceIdentity>") {
		t.Errorf("%s: %s", response.Status, body)
	}
}
