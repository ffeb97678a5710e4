package sts

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/identity"
)

// callerIdentity is the result of GetCallerIdentity.
type callerIdentity struct {
	ARN     string `xml:"Arn"`
	UserID  string `xml:"UserId"`
	Account string
}

func (callerIdentity) operation() string { return "GetCallerIdentity" }

// getCallerIdentity needs no permission, as on AWS.
func (c *call) getCallerIdentity() any { return callerIdentity{c.who.ARN, c.who.UserID, c.who.Account} }

// sessionToken is the result of GetSessionToken.
type sessionToken struct{ Credentials credentials }

func (sessionToken) operation() string { return "GetSessionToken" }

// The durations of sessions of users and of the root.
const (
	userSessionDefault = 12 * time.Hour
	userSessionMax     = 36 * time.Hour
	rootSessionMax     = time.Hour
)

// getSessionToken needs no permission, as on AWS.
func (c *call) getSessionToken(ctx context.Context) (any, error) {
	if c.who.Role != "" || c.who.Keys != nil {
		return nil, denied("Cannot call GetSessionToken with session credentials")
	}
	if err := c.withoutMFA(); err != nil {
		return nil, err
	}
	duration, err := c.duration(userSessionDefault, userSessionMax)
	if err != nil {
		return nil, err
	}
	if c.who.Root {
		duration = min(duration, rootSessionMax)
	}
	// The condition key distinguishes the session from the user who started it.
	keys := map[string][]string{"aws:tokenissuetime": {c.h.options.Now().UTC().Format(time.RFC3339)}}
	issued, err := c.h.options.Directory.UserSession(ctx, c.who, identity.Session{Duration: duration, Keys: keys})
	if err != nil {
		return nil, err
	}
	return sessionToken{shown(issued)}, nil
}
