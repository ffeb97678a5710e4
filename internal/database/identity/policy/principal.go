package policy

// Principal is who sends a request, with the policies that speak of them. It is immutable and shared by requests.
type Principal struct {
	// ARN is arn:aws:iam::ACCOUNT:user/NAME, arn:aws:iam::ACCOUNT:root, or arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION.
	ARN string
	// Role is the ARN of the role that an assumed-role session has; "" for users. Policies of resources may name either.
	Role string
	// Account is 12 digits; UserID is what aws:userid is; Username what aws:username is, "" for sessions.
	Account, UserID, Username string
	// Root is the account's root: everything is allowed but for what a policy of a resource denies.
	Root bool
	// Tags are what aws:PrincipalTag/KEY is.
	Tags map[string]string
	// Transitive are the keys of those tags that a session passes on to the sessions which it begins.
	Transitive []string
	// Keys are further condition keys of the session, by name in lower case (the claims of a web identity, say).
	Keys map[string][]string
	// Identity are the policies attached to the user or role; at least one must allow. Boundary, where it is not nil, must allow
	// too, and where Session is not empty, one of it must.
	Identity []*Policy
	Boundary *Policy
	Session  []*Policy
}
