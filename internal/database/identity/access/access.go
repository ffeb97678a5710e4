// Package access decides whether a principal may execute a DynamoDB operation.
//
// An operation needs one or more actions, each on a resource, in circumstances described by condition keys:
//
//	Query on an index          dynamodb:Query       …:table/Music/index/ByYear   dynamodb:LeadingKeys, dynamodb:Select …
//	TransactWriteItems         dynamodb:PutItem     …:table/Music                dynamodb:EnclosingOperation …
//	  of a Put and an Update   dynamodb:UpdateItem  …:table/Books
//	ListTables                 dynamodb:ListTables  *
//
// All of them must be allowed (package policy). operations.go is the table of operations, items.go and statement.go determine the
// needs of operations on items, keys.go has the condition keys.
//
// # Leading keys and attributes
//
// dynamodb:LeadingKeys are the partition key values of every item that a request touches: of the index's partition key if it
// reads an index, and of its first attribute if it has several. dynamodb:Attributes are the top-level attributes that a request
// names anywhere (projections, filters, conditions, targets and operands of updates, new items) or that it returns, also as the
// scores of a search. Both are determined by the engine's own expression binder and statement lowering, so the decision is about
// exactly what is executed.
//
// If a request does not limit them, the key is policy.Value.Unbounded, so that no statement with a condition on it allows the
// request: the leading keys of a Scan, of a stream or of a backup; the attributes of a Query without a projection, or of ALL_OLD.
//
// Both are only determined if a policy uses them.
//
// # Cache
//
// Most policies decide by principal, action and resource alone. Such decisions are cached for operations on the items of one
// table (memo.go), so only statements with conditions on the request are evaluated for every request.
//
// # Concurrency
//
// An Access serves any number of requests concurrently. It reads the catalog's cached tables and never the store, except to find
// the stream of an iterator whose table was deleted.
package access

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// Database is the part of a Region's engine that access control uses.
type Database interface {
	// Tables returns the tables by name; read only.
	Tables() map[string]*catalog.Table
	// Reach returns what a PartiQL statement reads or changes.
	Reach(operation string, text *string, parameters []attr.Value, showOld *string) (engine.Reach, error)
	// StreamOf returns the ARN of the stream that a shard iterator reads, or "".
	StreamOf(ctx context.Context, iterator string) (string, error)
}

// Options configure an Access.
type Options struct {
	// Account owns all tables.
	Account string
	// Databases are the engines by Region.
	Databases map[string]Database
	// Now is the clock for aws:CurrentTime.
	Now func() time.Time
}

// Access decides requests.
type Access struct {
	options  Options
	policies sync.Map // of tables and streams: REGION/TABLE/LABEL ▶ *attached
	allowed  memo
}

// New returns an Access.
func New(o Options) *Access { return &Access{options: o} }

// Authorize returns nil, or the AccessDeniedException that rejects an operation whose input has passed api.Validate. The
// statements of a batch are rejected individually, in the input. region is that of the executing engine. who is nil without
// authentication.
func (a *Access) Authorize(ctx context.Context, who *policy.Principal, r *http.Request, region string, op api.Operation, in any) error {
	if who == nil {
		return nil
	}
	c := call{a: a, region: region, database: a.options.Databases[region], http: r, operation: op.Name, in: in}
	if c.database == nil {
		return fmt.Errorf("access: no database of Region %q", region)
	}
	q, single := c.question(who)
	if single && a.allowed.has(q) {
		return nil
	}
	evaluated := c
	err := evaluated.evaluate(ctx, who)
	if single && err == nil && !evaluated.asked {
		a.allowed.keep(q)
	}
	return err
}

// evaluate decides by evaluating the policies.
func (c *call) evaluate(ctx context.Context, who *policy.Principal) error {
	if in, ok := c.in.(*api.BatchExecuteStatementInput); ok {
		c.batch(who, in)
		return nil
	}
	needs, err := c.needs(ctx)
	if err == nil {
		err = c.decideAll(who, needs)
	}
	if err != nil {
		return err
	}
	if in, ok := c.in.(*api.PutResourcePolicyInput); ok {
		return c.keepsAccess(who, &needs[0], in)
	}
	return nil
}

// call is one request.
type call struct {
	a         *Access
	region    string
	database  Database
	http      *http.Request
	operation string
	in        any
	asked     bool // whether a condition key was used
}

// need is one action on one resource.
type need struct {
	action   string // without the service's prefix
	resource resource
	facts    facts
}

const service = "dynamodb:"

// decideAll returns the first refusal.
func (c *call) decideAll(who *policy.Principal, needs []need) error {
	for i := range needs {
		if err := c.decide(who, &needs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) decide(who *policy.Principal, n *need) error {
	request := policy.Request{Action: service + n.action, Resource: n.resource.arn, Account: n.resource.account, Keys: &keys{call: c, need: n}}
	if attached := c.policy(&n.resource); attached != nil && (!who.Root || !ofPolicies[n.action]) {
		if request.Policy = attached.policy; attached.policy == nil {
			return apierr.AccessDeniedBy.With(who.ARN, request.Action, request.Resource, "a "+ofResource)
		}
	}
	return refusal(policy.Evaluate(who, &request), who.ARN, &request)
}

// ofPolicies are the actions that a resource's policy cannot deny to the account's root, so that nobody is locked out
// permanently. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteResourcePolicy.html
var ofPolicies = map[string]bool{"PutResourcePolicy": true, "GetResourcePolicy": true, "DeleteResourcePolicy": true}

// keepsAccess rejects a policy after which its sender could not put another, unless they confirm that. Unreadable documents are
// left to the operation.
func (c *call) keepsAccess(who *policy.Principal, n *need, in *api.PutResourcePolicyInput) error {
	if who.Root || in.ConfirmRemoveSelfResourceAccess != nil && *in.ConfirmRemoveSelfResourceAccess {
		return nil
	}
	next, err := policy.Parse(*in.Policy, policy.Resource)
	if err != nil {
		return nil //nolint:nilerr // the operation refuses it in the same words
	}
	request := policy.Request{
		Action: service + n.action, Resource: n.resource.arn, Account: n.resource.account, Policy: next, Keys: &keys{call: c, need: n},
	}
	if policy.Evaluate(who, &request) != policy.Allowed {
		return apierr.PolicyLocksOut.With()
	}
	return nil
}

// The kinds of policies, as named in messages.
const (
	ofIdentity = "identity-based policy"
	ofBoundary = "permissions boundary"
	ofSession  = "session policy"
	ofResource = "resource-based policy"
)

// refusal returns AWS's message for a decision; nil for Allowed.
func refusal(d policy.Decision, who string, r *policy.Request) error {
	denied := func(by string) error { return apierr.AccessDeniedBy.With(who, r.Action, r.Resource, by) }
	missing := func(of string) error { return apierr.AccessNotAllowed.With(who, r.Action, r.Resource, of, r.Action) }
	switch d {
	case policy.Allowed:
		return nil
	case policy.IdentityDenies:
		return denied("an " + ofIdentity)
	case policy.BoundaryDenies:
		return denied("a " + ofBoundary)
	case policy.SessionDenies:
		return denied("a " + ofSession)
	case policy.ResourceDenies:
		return denied("a " + ofResource)
	case policy.BoundaryAllowsNot:
		return missing(ofBoundary)
	case policy.SessionAllowsNot:
		return missing(ofSession)
	case policy.ResourceAllowsNot:
		return missing(ofResource)
	default:
		return missing(ofIdentity)
	}
}
