// Package access decides whether a principal may carry out an operation of DynamoDB.
//
// An operation needs one or more actions, each on a resource, in circumstances that condition keys describe:
//
//	Query on an index          dynamodb:Query       …:table/Music/index/ByYear   dynamodb:LeadingKeys, dynamodb:Select …
//	TransactWriteItems         dynamodb:PutItem     …:table/Music                dynamodb:EnclosingOperation …
//	  of a Put and an Update   dynamodb:UpdateItem  …:table/Books
//	ListTables                 dynamodb:ListTables  *
//
// All of them must be allowed (package policy). operations.go is the table of operations, items.go and statement.go say what operations
// on items need, keys.go has the condition keys.
//
// # Leading keys and attributes
//
// dynamodb:LeadingKeys are the values of the partition key of every item that a request touches: of the index's partition key where it
// reads an index, of its first attribute where it has several. dynamodb:Attributes are the top-level attributes that a request names
// anywhere (projections, filters, conditions, targets and operands of updates, new items) or that it gets back. Both are found by the
// engine's own binder of expressions and its own lowering of statements, so what is decided is what is executed.
//
// Where a request does not bound them, the key is policy.Value.Unbounded, so that no statement with a condition on it allows the
// request: the leading keys of a Scan, of a stream or of a backup; the attributes of a Query without projection, of ALL_OLD.
//
// Both are looked for only where a policy asks for them.
//
// # Cache
//
// Most policies decide by principal, action and resource alone. Such a decision is cached for operations on the items of one table
// (memo.go), so only statements with conditions on the request are evaluated at every request.
//
// # Concurrency
//
// An Access serves any number of requests at once. It reads the catalog's cached tables and never the store, but to name the stream of
// an iterator whose table is gone.
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

// Database is what access control asks of the engine of a Region.
type Database interface {
	// Tables are the tables by name; read only.
	Tables() map[string]*catalog.Table
	// Reach is what a PartiQL statement reads or changes.
	Reach(operation string, text *string, parameters []attr.Value, showOld *string) (engine.Reach, error)
	// StreamOf is the ARN of the stream that a shard iterator reads, "" for none.
	StreamOf(ctx context.Context, iterator string) (string, error)
}

// Options of an Access.
type Options struct {
	// Account is the owner of all tables.
	Account string
	// Databases are the engines by Region.
	Databases map[string]Database
	// Now is the clock that aws:CurrentTime shows.
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

// Authorize returns nil, or the AccessDeniedException that refuses an operation with an input that passed api.Validate. Of a batch of
// statements it refuses each by itself, in the input. region is that
// of the engine that is to carry it out. who is nil where nobody is asked who they are.
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

// evaluate is Authorize by the statements of the policies.
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
	asked     bool // for a condition key
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

// ofPolicies are the actions that a resource's policy cannot take from the account's root, so that nobody is locked out for ever.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteResourcePolicy.html
var ofPolicies = map[string]bool{"PutResourcePolicy": true, "GetResourcePolicy": true, "DeleteResourcePolicy": true}

// keepsAccess refuses a policy after which its sender could not put another, unless they say that they want that. What cannot be read
// is left to the operation.
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

// The kinds of policies, as sentences name them.
const (
	ofIdentity = "identity-based policy"
	ofBoundary = "permissions boundary"
	ofSession  = "session policy"
	ofResource = "resource-based policy"
)

// refusal is AWS's sentence for a decision; nil for Allowed.
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
