package sts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

const (
	webTokenMax = 20000 // characters, as on AWS
	webSkew     = time.Minute
)

// webIdentity is the result of AssumeRoleWithWebIdentity.
type webIdentity struct {
	SubjectFromWebIdentityToken string
	Audience                    string
	AssumedRoleUser             assumedRoleUser
	Credentials                 credentials
	Provider                    string
	SourceIdentity              string `xml:",omitempty"`
}

func (webIdentity) operation() string { return webIdentityAction }

func invalidToken(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "InvalidIdentityToken", fmt.Sprintf(format, args...)}
}

func (c *call) assumeRoleWithWebIdentity(ctx context.Context) (any, error) {
	s, err := c.roleSession()
	if err != nil {
		return nil, err
	}
	token := c.form.Get("WebIdentityToken")
	if len(token) < 4 || len(token) > webTokenMax {
		return nil, validation("1 validation error detected: Value at 'webIdentityToken' failed to satisfy constraint: Member must have length between 4 and %d", webTokenMax)
	}
	select {
	case c.h.turns <- struct{}{}:
		defer func() { <-c.h.turns }()
	case <-ctx.Done():
		return nil, errThrottled
	}
	verified, provider, audience, err := c.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	subject, _ := verified.Subject()
	name := providerName(provider.Issuer)
	claims := map[string][]string{strings.ToLower(name + ":sub"): {subject}, strings.ToLower(name + ":aud"): {audience}}
	for _, claim := range []string{"amr", "azp", "email", "oaud"} {
		if texts := textsOf(verified, claim); len(texts) > 0 {
			claims[strings.ToLower(name+":"+claim)] = texts
		}
	}
	arn := "arn:aws:iam::" + c.h.options.Account + ":oidc-provider/" + name
	claims["aws:federatedprovider"] = []string{arn}
	if err := claimed(verified, s); err != nil {
		return nil, err
	}
	role, exists := c.h.options.Directory.Role(c.form.Get("RoleArn"))
	for _, action := range actions("sts:"+webIdentityAction, s) {
		if !exists {
			return nil, denied("Not authorized to perform %s", action)
		}
		request := policy.Request{
			Action: action, Resource: role.ARN, Account: c.h.options.Account, Policy: role.Trust, Keys: &keys{call: c, session: s, claims: claims},
		}
		if policy.EvaluateFederated(arn, &request) != policy.Allowed {
			return nil, denied("Not authorized to perform %s", action)
		}
	}
	maps.Copy(s.Keys, claims)
	if s.Duration, err = c.roleDuration(role, false); err != nil {
		return nil, err
	}
	issued, err := c.begin(ctx, role, s)
	if err != nil {
		return nil, err
	}
	return webIdentity{subject, audience, assumedRoleUser{issued.Principal.UserID, issued.Principal.ARN}, shown(issued), arn, sourceIdentity(s.Keys)}, nil
}

// providerName returns the name of an issuer in policies.
func providerName(issuer string) string {
	_, name, found := strings.Cut(issuer, "://")
	if !found {
		name = issuer
	}
	return strings.TrimSuffix(name, "/")
}

// verify verifies a token: its issuer is a provider, it is signed by one of the provider's keys, and it is valid now.
func (c *call) verify(ctx context.Context, token string) (verified jwt.Token, p *identity.Provider, audience string, err error) {
	unverified, err := jwt.ParseInsecure([]byte(token))
	if err != nil {
		return nil, nil, "", invalidToken("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	}
	issuer, _ := unverified.Issuer()
	p, known := c.h.options.Directory.Provider(issuer)
	if !known {
		return nil, nil, "", invalidToken("No OpenIDConnect provider found in your account for %s", issuer)
	}
	if verified, err = c.h.keySet(p.JWKS).verify(ctx, token); errors.Is(err, errUnavailable) {
		c.h.options.Logger.WarnContext(ctx, "cannot fetch the keys of an identity provider", "provider", issuer, "error", err)
		return nil, nil, "", &fault{http.StatusBadRequest, "IDPCommunicationError", "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"}
	}
	if err != nil {
		return nil, nil, "", invalidToken("The web identity token's signature could not be verified")
	}
	now := c.h.options.Now()
	expires, has := verified.Expiration()
	if !has {
		return nil, nil, "", invalidToken("Missing a required claim: exp")
	}
	if !now.Before(expires.Add(webSkew)) {
		return nil, nil, "", &fault{http.StatusBadRequest, "ExpiredTokenException", fmt.Sprintf("Token expired: current date/time %d must be before the expiration date/time%d", now.Unix(), expires.Unix())}
	}
	if begins, has := verified.NotBefore(); has && now.Before(begins.Add(-webSkew)) {
		return nil, nil, "", invalidToken("The token is not valid yet")
	}
	if subject, _ := verified.Subject(); subject == "" {
		return nil, nil, "", invalidToken("Missing a required claim: sub")
	}
	audience, ok := audienceOf(verified, p)
	if !ok {
		return nil, nil, "", invalidToken("Incorrect token audience")
	}
	return verified, p, audience, nil
}

// audienceOf returns the audience of a token: azp if present, like AWS, else aud, else the client of Cognito's access tokens.
func audienceOf(t jwt.Token, p *identity.Provider) (audience string, ok bool) {
	var all []string
	for _, claim := range []string{"azp", "aud", "client_id"} {
		all = append(all, textsOf(t, claim)...)
	}
	for _, a := range all {
		if slices.Contains(p.Audiences, a) {
			return a, true
		}
	}
	return "", false
}

// textsOf returns a claim that is a string or a list of strings.
func textsOf(t jwt.Token, claim string) []string {
	if claim == "aud" {
		all, _ := t.Audience()
		return all
	}
	var value any
	if t.Get(claim, &value) != nil {
		return nil
	}
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		var texts []string
		for _, v := range value {
			if text, ok := v.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	default:
		return nil
	}
}
