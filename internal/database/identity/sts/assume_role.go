package sts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// The limits of sessions, as on AWS.
const (
	sessionDefault = time.Hour
	sessionMin     = 15 * time.Minute
	chainedMax     = time.Hour
	policyMax      = 2048 // of the document and the ARNs together
	policyARNsMax  = 10
	// tokenMax leaves room for other headers: the server accepts 12 KB in total.
	tokenMax = 8 << 10
)

var (
	sessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w+=,.@-]{2,64}$`) })
	externalID  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w+=,.@:/-]+$`) })
)

// assumedRole is the result of AssumeRole.
type assumedRole struct {
	AssumedRoleUser assumedRoleUser
	Credentials     credentials
	SourceIdentity  string `xml:",omitempty"`
}

func (assumedRole) operation() string { return "AssumeRole" }

func (c *call) assumeRole(ctx context.Context) (any, error) {
	s, err := c.roleSession()
	if err != nil {
		return nil, err
	}
	if id := c.form.Get("ExternalId"); id != "" && (len(id) < 2 || len(id) > 1224 || !externalID().MatchString(id)) {
		return nil, pattern("externalId", id, `[\w+=,.@:\/-]*`)
	}
	if err := errors.Join(c.tag(s), c.setSourceIdentity(s)); err != nil {
		return nil, err
	}
	if c.who.Root {
		return nil, denied("Roles may not be assumed by root accounts.")
	}
	if err := c.withoutMFA(); err != nil {
		return nil, err
	}
	arn := c.form.Get("RoleArn")
	role, exists := c.h.options.Directory.Role(arn)
	for _, action := range actions("sts:AssumeRole", s) {
		request := policy.Request{Action: action, Resource: arn, Account: accountOf(arn), Keys: &keys{call: c, session: s}}
		if exists {
			request.Policy = role.Trust
		}
		if !exists || policy.EvaluateAssume(c.who, &request) != policy.Allowed {
			return nil, notAllowed(c.who.ARN, action, arn)
		}
	}
	if s.Duration, err = c.roleDuration(role, c.who.Role != ""); err != nil {
		return nil, err
	}
	issued, err := c.begin(ctx, role, s)
	if err != nil {
		return nil, err
	}
	return assumedRole{assumedRoleUser{issued.Principal.UserID, issued.Principal.ARN}, shown(issued), sourceIdentity(s.Keys)}, nil
}

// begin starts a session whose token fits into the headers of a request.
func (c *call) begin(ctx context.Context, role *identity.Role, s *identity.Session) (*identity.Credentials, error) {
	issued, err := c.h.options.Directory.AssumeRole(ctx, role, *s)
	if err == nil && len(issued.Token) > tokenMax {
		return nil, &fault{http.StatusBadRequest, "PackedPolicyTooLarge", fmt.Sprintf("Packed size of session tags consumes %d%% of allotted space.", 100*len(issued.Token)/tokenMax)}
	}
	return issued, err
}

func notAllowed(who, action, arn string) *fault {
	return denied("User: %s is not authorized to perform: %s on resource: %s", who, action, arn)
}

// withoutMFA rejects MFA codes, because MFA devices are not supported.
func (c *call) withoutMFA() error {
	if c.form.Get("SerialNumber") == "" && c.form.Get("TokenCode") == "" {
		return nil
	}
	return denied("MultiFactorAuthentication failed, unable to validate MFA code.  Please verify your MFA serial number is valid and associated with this user.")
}

// roleSession reads the session-specific parameters, except tags and the source identity, which web identities have in their
// tokens.
func (c *call) roleSession() (*identity.Session, error) {
	arn, name := c.form.Get("RoleArn"), c.form.Get("RoleSessionName")
	switch {
	case arn == "":
		return nil, validation("1 validation error detected: Value null at 'roleArn' failed to satisfy constraint: Member must not be null")
	case name == "":
		return nil, validation("1 validation error detected: Value null at 'roleSessionName' failed to satisfy constraint: Member must not be null")
	case !sessionName().MatchString(name):
		return nil, pattern("roleSessionName", name, `[\w+=,.@-]*`)
	case !strings.HasPrefix(arn, "arn:"):
		return nil, validation("%s is invalid", arn)
	}
	s := &identity.Session{Name: name, Keys: map[string][]string{
		"aws:tokenissuetime": {c.h.options.Now().UTC().Format(time.RFC3339)},
	}}
	return s, c.policies(s)
}

// policies reads the session's policies: a document in Policy, and the directory's policies with the ARNs in PolicyArns.
func (c *call) policies(s *identity.Session) error {
	document := c.form.Get("Policy")
	if len(document) > policyMax {
		return tooLong("policy", policyMax)
	}
	if document != "" {
		if _, err := policy.Parse(document, policy.Identity); err != nil {
			return &fault{http.StatusBadRequest, "MalformedPolicyDocument", err.Error()}
		}
		s.Policies = []string{document}
	}
	arns, err := c.list("PolicyArns", ".arn")
	if err != nil {
		return err
	}
	if len(arns) > policyARNsMax {
		return tooLong("policyArns", policyARNsMax)
	}
	size := len(document)
	for _, arn := range arns {
		if !strings.HasPrefix(arn, "arn:") {
			return validation("%s is invalid", arn)
		}
		name, exists := c.h.options.Directory.Policy(arn)
		if !exists {
			return &fault{http.StatusBadRequest, "NoSuchEntity", fmt.Sprintf("Policy %s does not exist or is not attachable.", arn)}
		}
		s.Managed, size = append(s.Managed, name), size+len(arn)
	}
	if size > policyMax {
		return &fault{http.StatusBadRequest, "PackedPolicyTooLarge", fmt.Sprintf("Packed policy consumes %d%% of allotted space, please use smaller policy.", 100*size/policyMax)}
	}
	return nil
}

// pattern returns AWS's error for a value that does not match.
func pattern(member, value, expression string) *fault {
	return validation("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: %s", value, member, expression)
}

// tooLong returns AWS's error for a value that is too long.
func tooLong(member string, most int) *fault {
	return validation("1 validation error detected: Value at '%s' failed to satisfy constraint: Member must have length less than or equal to %d", member, most)
}

// duration reads DurationSeconds.
func (c *call) duration(usual, longest time.Duration) (time.Duration, error) {
	text := c.form.Get("DurationSeconds")
	if text == "" {
		return usual, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 32)
	d := time.Duration(seconds) * time.Second
	switch {
	case err != nil:
		return 0, &fault{http.StatusBadRequest, "MalformedInput", "DurationSeconds is not an integer"}
	case d < sessionMin:
		return 0, validation("1 validation error detected: Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to %d", seconds, int(sessionMin/time.Second))
	case d > longest:
		return 0, validation("1 validation error detected: Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value less than or equal to %d", seconds, int(longest/time.Second))
	}
	return d, nil
}

// roleDuration returns the duration of a role's session. It is short for role chaining.
func (c *call) roleDuration(role *identity.Role, chained bool) (time.Duration, error) {
	d, err := c.duration(min(sessionDefault, role.MaxSession), 12*time.Hour)
	switch {
	case err != nil:
		return 0, err
	case chained && d > chainedMax:
		return 0, validation("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.")
	case d > role.MaxSession:
		return 0, validation("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	return d, nil
}

// actions returns all actions needed to assume a role for a session. Inherited tags and source identities need them, too.
func actions(first string, s *identity.Session) []string {
	needed := []string{first}
	if len(s.Tags) > 0 {
		needed = append(needed, "sts:TagSession")
	}
	if sourceIdentity(s.Keys) != "" {
		needed = append(needed, "sts:SetSourceIdentity")
	}
	return needed
}

// accountOf returns the account in an ARN.
func accountOf(arn string) string {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		return parts[4]
	}
	return ""
}

// keys are the condition keys of a request to assume a role.
type keys struct {
	call    *call
	session *identity.Session
	claims  map[string][]string // of a web identity
}

// Key returns the value of a condition key.
func (k *keys) Key(name string) policy.Value {
	if tag, is := strings.CutPrefix(name, "aws:requesttag/"); is {
		for key, value := range k.session.Tags {
			if strings.EqualFold(key, tag) {
				return policy.One(value)
			}
		}
		return policy.Value{}
	}
	switch name {
	case "sts:externalid":
		return policy.OneIf(k.call.form.Get("ExternalId"))
	case "sts:rolesessionname":
		return policy.OneIf(k.session.Name)
	case "sts:sourceidentity":
		return policy.OneIf(sourceIdentity(k.session.Keys))
	case "sts:transitivetagkeys":
		return policy.Value{Texts: slices.Sorted(slices.Values(k.session.Transitive))}
	case "aws:tagkeys":
		return policy.Value{Texts: slices.Sorted(maps.Keys(k.session.Tags))}
	}
	if texts, claimed := k.claims[name]; claimed {
		return policy.Value{Texts: texts}
	}
	return policy.Circumstances{Request: k.call.r, Now: k.call.h.options.Now}.Key(name)
}

var errUnavailable = errors.New("sts: the keys of the identity provider are not available")
