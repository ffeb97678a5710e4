package identity

import (
	"context"
	"net/http"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// Unbounded is the server.Authorizer as long as nothing decides operation by operation what policies allow. It serves only those whose
// policies bound nothing, and refuses everyone else, whatever their policies allow: nobody gets more than they were given.
type Unbounded struct{}

// Authorize refuses who is neither the root nor allowed everything.
func (Unbounded) Authorize(_ context.Context, who *policy.Principal, _ *http.Request, _ string, op api.Operation, _ any) error {
	if who == nil || allowsEverything(who) {
		return nil
	}
	return apierr.PolicyUndecided.With(who.ARN, op.Name)
}

// allowsEverything reports whether a principal is allowed every action on every resource, without a condition, and nothing takes
// any of it away: no statement that denies, no boundary, no policy of a session.
func allowsEverything(who *policy.Principal) bool {
	if who.Boundary != nil || len(who.Session) > 0 {
		return false
	}
	allowed := who.Root
	for _, p := range who.Identity {
		for _, s := range p.Statements() {
			if s.Deny {
				return who.Root // whose own policies deny nothing
			}
			if !s.Conditional && (slices.Contains(s.Actions, "*") || slices.Contains(s.Actions, "dynamodb:*")) && !s.NotAction &&
				slices.Contains(s.Resources, "*") && !s.NotResource {
				allowed = true
			}
		}
	}
	return allowed
}
