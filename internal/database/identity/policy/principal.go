package policy

// Principal is the sender of a request, with its policies. It is immutable and shared by requests.
type Principal struct {
	// ARN is arn:aws:iam::ACCOUNT:user/NAME, arn:aws:iam::ACCOUNT:root, or arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION.
	ARN string
	// Role is the ARN of the role of an assumed-role session; "" for users. Policies of resources may name either.
	Role string
	// Account has 12 digits; UserID is aws:userid; Username is aws:username, "" for sessions.
	Account, UserID, Username string
	// Root is the account's root: everything is allowed unless a resource's policy denies it.
	Root bool
	// Tags are the values of aws:PrincipalTag/KEY.
	Tags map[string]string
	// Transitive are the keys of the tags that sessions started by this session inherit.
	Transitive []string
	// Keys are additional condition keys of the session by lower-case name, for example the claims of a web identity.
	Keys map[string][]string
	// Identity are the policies attached to the user or role; at least one must allow. Boundary, unless nil, must allow, too, and
	// so must one of Session, unless that is empty.
	Identity []*Policy
	Boundary *Policy
	Session  []*Policy
}
