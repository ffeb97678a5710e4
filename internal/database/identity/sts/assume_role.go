package sts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// The bounds of sessions, as on AWS.
const (
	sessionDefault = time.Hour
	sessionMin     = 15 * time.Minute
	chainedMax     = time.Hour
	tagsMax        = 50
	policyMax      = 2048
)

var (
	sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	externalID  = regexp.MustCompile(`^[\w+=,.@:/-]+$`)
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
	if id := c.form.Get("ExternalId"); id != "" && (len(id) < 2 || len(id) > 1224 || !externalID.MatchString(id)) {
		return nil, pattern("externalId", id, `[\w+=,.@:\/-]*`)
	}
	if c.who.Root {
		return nil, denied("Roles may not be assumed by root accounts.")
	}
	arn := c.form.Get("RoleArn")
	role, exists := c.h.options.Directory.Role(arn)
	for _, action := range c.actions("sts:AssumeRole", s) {
		request := policy.Request{Action: action, Resource: arn, Account: accountOf(arn), Keys: &keys{call: c, session: s}}
		if exists {
			request.Policy = role.Trust
		}
		if !exists || policy.EvaluateAssume(c.who, &request) != policy.Allowed {
			return nil, denied("User: %s is not authorized to perform: %s on resource: %s", c.who.ARN, action, arn)
		}
	}
	if s.Duration, err = c.roleDuration(role, c.who.Role != ""); err != nil {
		return nil, err
	}
	made, err := c.h.options.Directory.AssumeRole(ctx, role, *s)
	if err != nil {
		return nil, err
	}
	return assumedRole{assumedRoleUser{made.Principal.UserID, made.Principal.ARN}, shown(made), c.form.Get("SourceIdentity")}, nil
}

// roleSession reads what a session of a role has of its own.
func (c *call) roleSession() (*identity.Session, error) {
	arn, name := c.form.Get("RoleArn"), c.form.Get("RoleSessionName")
	switch {
	case arn == "":
		return nil, validation("1 validation error detected: Value null at 'roleArn' failed to satisfy constraint: Member must not be null")
	case name == "":
		return nil, validation("1 validation error detected: Value null at 'roleSessionName' failed to satisfy constraint: Member must not be null")
	case !sessionName.MatchString(name):
		return nil, pattern("roleSessionName", name, `[\w+=,.@-]*`)
	case !strings.HasPrefix(arn, "arn:"):
		return nil, validation("%s is invalid", arn)
	}
	s := &identity.Session{Name: name, Keys: map[string][]string{
		"aws:tokenissuetime": {c.h.options.Now().UTC().Format(time.RFC3339)},
	}}
	var err error
	if s.Tags, err = c.tags(); err != nil {
		return nil, err
	}
	if source := c.form.Get("SourceIdentity"); source != "" {
		if !sessionName.MatchString(source) {
			return nil, pattern("sourceIdentity", source, `[\w+=,.@-]*`)
		}
		s.Keys["aws:sourceidentity"] = []string{source}
	}
	if c.form.Get("PolicyArns.member.1.arn") != "" {
		return nil, validation("This server has no managed policies for sessions: give the session policy in Policy")
	}
	if document := c.form.Get("Policy"); document != "" {
		if len(document) > policyMax {
			return nil, validation("1 validation error detected: Value at 'policy' failed to satisfy constraint: Member must have length less than or equal to %d", policyMax)
		}
		if _, err := policy.Parse(document, policy.Identity); err != nil {
			return nil, &fault{http.StatusBadRequest, "MalformedPolicyDocument", err.Error()}
		}
		s.Policies = []string{document}
	}
	return s, nil
}

// pattern is AWS's sentence for a value that does not match.
func pattern(member, value, expression string) *fault {
	return validation("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: %s", value, member, expression)
}

// tags are Tags.member.1.Key and so on.
func (c *call) tags() (map[string]string, error) {
	tags := map[string]string{}
	for i := 1; c.form.Has(fmt.Sprintf("Tags.member.%d.Key", i)); i++ {
		key, value := c.form.Get(fmt.Sprintf("Tags.member.%d.Key", i)), c.form.Get(fmt.Sprintf("Tags.member.%d.Value", i))
		switch {
		case i > tagsMax:
			return nil, validation("1 validation error detected: Value at 'tags' failed to satisfy constraint: Member must have length less than or equal to %d", tagsMax)
		case key == "" || len(key) > 128 || len(value) > 256:
			return nil, validation("1 validation error detected: Value at 'tags.%d.member.key' failed to satisfy constraint: Member must have length between 1 and 128", i)
		}
		for other := range tags {
			if strings.EqualFold(other, key) {
				return nil, &fault{http.StatusBadRequest, "InvalidParameterValue", "Duplicate tag keys found. Please note that Tag keys are case insensitive."}
			}
		}
		tags[key] = value
	}
	return tags, nil
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
		return 0, &fault{http.StatusBadRequest, "MalformedInput", "DurationSeconds is no integer"}
	case d < sessionMin:
		return 0, validation("1 validation error detected: Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to %d", seconds, int(sessionMin/time.Second))
	case d > longest:
		return 0, validation("1 validation error detected: Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value less than or equal to %d", seconds, int(longest/time.Second))
	}
	return d, nil
}

// roleDuration is how long a session of a role is to be. One that a session of another role takes is short.
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

// actions are all that taking a role for a session needs.
func (c *call) actions(first string, s *identity.Session) []string {
	needed := []string{first}
	if len(s.Tags) > 0 {
		needed = append(needed, "sts:TagSession")
	}
	if len(s.Keys["aws:sourceidentity"]) > 0 && c.form.Get("SourceIdentity") != "" {
		needed = append(needed, "sts:SetSourceIdentity")
	}
	return needed
}

// accountOf is the account in an ARN.
func accountOf(arn string) string {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		return parts[4]
	}
	return ""
}

// keys are the condition keys of a request to take a role.
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
	now := k.call.h.options.Now().UTC()
	switch name {
	case "sts:externalid":
		return given(k.call.form.Get("ExternalId"))
	case "sts:rolesessionname":
		return given(k.session.Name)
	case "sts:sourceidentity":
		return given(k.call.form.Get("SourceIdentity"))
	case "aws:tagkeys":
		var names []string
		for key := range k.session.Tags {
			names = append(names, key)
		}
		slices.Sort(names)
		return policy.Value{Texts: names}
	case "aws:currenttime":
		return policy.One(now.Format(time.RFC3339))
	case "aws:epochtime":
		return policy.One(strconv.FormatInt(now.Unix(), 10))
	case "aws:sourceip":
		host, _, err := net.SplitHostPort(k.call.r.RemoteAddr)
		if err != nil {
			host = ""
		}
		return given(host)
	case "aws:securetransport":
		return policy.One(strconv.FormatBool(k.call.r.TLS != nil))
	case "aws:useragent":
		return given(k.call.r.UserAgent())
	default:
		return policy.Value{Texts: k.claims[name]}
	}
}

func given(text string) policy.Value {
	if text == "" {
		return policy.Value{}
	}
	return policy.One(text)
}

var errUnavailable = errors.New("sts: the keys of the identity provider cannot be had")
