// Package policy is AWS's policy language: it reads documents and decides requests.
//
//	{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem",
//	  "Resource": "arn:aws:dynamodb:*:*:table/Music",
//	  "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}}]}
//
// Parse compiles a document once: names of actions and resources become patterns, operands of conditions become what their operator
// compares. Evaluate decides a request on compiled policies, in AWS's order:
//
//  1. A statement of any policy that denies, denies.
//  2. A resource's own policy that names the user or the session itself allows, whatever other policies leave open. One that names the
//     role of a session takes the place of the role's policies; one that names the account leaves the decision to them.
//  3. Else one of the principal's policies must allow.
//  4. The permissions boundary and a session's policies, where there are any, must allow too.
//  5. A principal of another account needs both: its own policies and the resource's.
//
// A condition key may stand for values that the request does not bound: Value.Unbounded, the leading keys of a Scan, say. AWS leaves
// such a key out of the request, so that ForAllValues is true of it. Here a statement that allows never applies to it, and a statement
// that denies always does, except for the operator Null, which sees an absent key. So no request reaches by a wide read what a
// statement bounds by its keys.
//
// Likewise an operator without ForAllValues or ForAnyValue that meets several values must be true of all to allow, and of one to deny.
//
// The package is pure: it knows no operation of DynamoDB and keeps nothing. Policies are immutable; all functions may be called at once.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
package policy

// Kind is what a policy is attached to.
type Kind uint8

// The kinds.
const (
	Identity Kind = iota // a user or role: permissions, boundaries, policies of sessions
	Resource             // a table, a stream
	Trust                // a role: who may take it
)

// Policy is a compiled document.
type Policy struct {
	statements []Statement
}

// Statements are the policy's statements in their order. Read only.
func (p *Policy) Statements() []Statement { return p.statements }

// Statement is one statement: its texts as they stand, and what they compile to.
type Statement struct {
	Sid  string
	Deny bool
	// Principals are those of Principal, or with NotPrincipal all others. Nil in policies of identities.
	Principals   []PrincipalName
	NotPrincipal bool
	// Actions and Resources are likewise those of Action and Resource, or all others.
	Actions     []string
	NotAction   bool
	Resources   []string
	NotResource bool
	// Conditional is true where the statement has a condition.
	Conditional bool

	actions    []pattern
	resources  []resource
	conditions []condition
}

// PrincipalName is one principal as a document names it.
type PrincipalName struct {
	Kind string // AWS, Service, Federated or CanonicalUser
	Name string // "*" is everybody

	account string // of a name that stands for a whole account
}

// Everybody reports whether the name stands for all principals.
func (n PrincipalName) Everybody() bool { return n.Kind == "AWS" && n.Name == "*" }
