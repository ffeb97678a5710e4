// Package policy implements AWS's policy language: it parses documents and decides requests.
//
//	{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem",
//	  "Resource": "arn:aws:dynamodb:*:*:table/Music",
//	  "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}}]}
//
// Parse compiles a document once: names of actions and resources become patterns, operands of conditions become the values that
// their operators compare. Evaluate decides a request using compiled policies, in AWS's order:
//
//  1. A deny statement in any policy denies.
//  2. A resource's own policy that names the user or the session itself allows, even if no other policy does. One that names the role
//     of a session replaces the role's policies; one that names the account leaves the decision to them.
//  3. Otherwise one of the principal's policies must allow.
//  4. The permissions boundary and a session's policies, if present, must allow, too.
//  5. A principal of another account needs both: its own policies and the resource's.
//
// A condition key may have values that the request does not limit: Value.Unbounded, for example the leading keys of a Scan. AWS
// omits such a key from the request, which makes ForAllValues true. Here an allow statement never applies to it, and a deny
// statement always does, except for the operator Null, which sees a missing key. So a wide read never reaches anything that a
// statement limits by its keys.
//
// Likewise, an operator without ForAllValues or ForAnyValue on several values must be true for all of them to allow, and for one
// of them to deny.
//
// The package is pure and stateless, and does not depend on DynamoDB's operations. Policies are immutable; all functions are safe
// for concurrent use.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
package policy

// Kind is what a policy is attached to.
type Kind uint8

// The kinds.
const (
	Identity Kind = iota // a user or role: permissions, boundaries, session policies
	Resource             // a table, a stream
	Trust                // a role: who may assume it
)

// Policy is a compiled document.
type Policy struct {
	statements []Statement
}

// Statements returns the policy's statements in order. Read only.
func (p *Policy) Statements() []Statement { return p.statements }

// Statement is one statement: its texts, and their compiled form.
type Statement struct {
	Sid  string
	Deny bool
	// Principals are those of Principal or, with NotPrincipal, all others. Nil in identity policies.
	Principals   []PrincipalName
	NotPrincipal bool
	// Actions and Resources are likewise those of Action and Resource, or all others.
	Actions     []string
	NotAction   bool
	Resources   []string
	NotResource bool
	// Conditional means that the statement has a condition.
	Conditional bool

	actions    []pattern
	resources  []resource
	conditions []condition
}

// PrincipalName is a principal as named in a document.
type PrincipalName struct {
	Kind string // AWS, Service, Federated or CanonicalUser
	Name string // "*" is everybody

	account string // if the name stands for a whole account
}

// Everybody reports whether the name stands for all principals.
func (n PrincipalName) Everybody() bool { return n.Kind == "AWS" && n.Name == "*" }
