package policy

// Decision is whether a request is allowed, and if not, why.
type Decision uint8

// The decisions.
const (
	Allowed Decision = iota
	IdentityDenies
	BoundaryDenies
	SessionDenies
	ResourceDenies
	IdentityAllowsNot
	BoundaryAllowsNot
	SessionAllowsNot
	ResourceAllowsNot
)

// Evaluate decides a request.
func Evaluate(who *Principal, r *Request) Decision {
	e := evaluation{lookup: lookup{who: who, r: r}, action: lower(r.Action)}
	return e.decide(false)
}

// EvaluateAssume decides whether a principal may assume a role: r.Resource is the role, r.Policy its trust policy, which must
// always allow it; one that names the account leaves the decision to the policies of its users.
func EvaluateAssume(who *Principal, r *Request) Decision {
	e := evaluation{lookup: lookup{who: who, r: r}, action: lower(r.Action)}
	return e.decide(true)
}

// EvaluateFederated decides whether a caller authenticated by a provider may assume a role: r.Policy is its trust policy, and
// provider the name under Federated in the policy's Principal.
func EvaluateFederated(provider string, r *Request) Decision {
	e := evaluation{lookup: lookup{who: new(Principal), r: r}, action: lower(r.Action), provider: provider}
	switch level, denied := e.resource(); {
	case denied:
		return ResourceDenies
	case level == unnamed:
		return ResourceAllowsNot
	default:
		return Allowed
	}
}

// evaluation is the evaluation of a request.
type evaluation struct {
	lookup
	action   string // in lower case
	provider string // of a caller without a principal
}

// level is how specifically a resource's policy names a principal.
type level uint8

const (
	unnamed level = iota
	account       // leaves the decision to the account's own policies
	role          // replaces the role's policies
	direct        // the user or the session itself
)

func (e *evaluation) decide(mustTrust bool) Decision {
	who := e.who
	level, denied := e.resource()
	identity, identityDenies := e.any(who.Identity)
	boundary, boundaryDenies := true, false
	if who.Boundary != nil {
		boundary, boundaryDenies = e.of(who.Boundary, false)
	}
	session, sessionDenies := true, false
	if len(who.Session) > 0 {
		session, sessionDenies = e.any(who.Session)
	}
	switch {
	case denied:
		return ResourceDenies
	case who.Root:
		identity, boundary, session = true, true, true
	case identityDenies:
		return IdentityDenies
	case boundaryDenies:
		return BoundaryDenies
	case sessionDenies:
		return SessionDenies
	}
	foreign := e.r.Account != "" && e.r.Account != who.Account
	if !foreign && level == direct {
		return Allowed
	}
	switch {
	case !identity && (foreign || level < role):
		return IdentityAllowsNot
	case !boundary:
		return BoundaryAllowsNot
	case !session:
		return SessionAllowsNot
	case level == unnamed && (foreign || mustTrust):
		return ResourceAllowsNot
	default:
		return Allowed
	}
}

// any returns the combined result of policies.
func (e *evaluation) any(policies []*Policy) (allows, denies bool) {
	for _, p := range policies {
		if allows, denies = e.of(p, allows); denies {
			break
		}
	}
	return allows, denies
}

// of returns the result of a principal's policy; allowed is whether an earlier one allows.
func (e *evaluation) of(p *Policy, allowed bool) (allows, denies bool) {
	allows = allowed
	for i := range p.statements {
		s := &p.statements[i]
		if !s.Deny && allows || !e.applies(s) {
			continue
		}
		if s.Deny {
			return allows, true
		}
		allows = true
	}
	return allows, false
}

// resource returns the result of the resource's own policy.
func (e *evaluation) resource() (allows level, denies bool) {
	if e.r.Policy == nil {
		return unnamed, false
	}
	for i := range e.r.Policy.statements {
		s := &e.r.Policy.statements[i]
		named := e.named(s)
		if named == unnamed || !e.applies(s) {
			continue
		}
		if s.Deny {
			return allows, true
		}
		allows = max(allows, named)
	}
	return allows, false
}

// named returns how specifically a statement names the principal. NotPrincipal names all others: to be exempt from a denial, a
// principal must be listed itself, but to be excluded from an allowance, its account is enough.
func (e *evaluation) named(s *Statement) level {
	closest := unnamed
	for _, n := range s.Principals {
		closest = max(closest, e.names(n))
	}
	if !s.NotPrincipal {
		return closest
	}
	if closest >= role || closest == account && !s.Deny {
		return unnamed
	}
	return e.everybody()
}

// everybody returns how specifically "*" names the principal: as its user, or as the role of its session.
func (e *evaluation) everybody() level {
	if e.who.Role != "" {
		return role
	}
	return direct
}

func (e *evaluation) names(n PrincipalName) level {
	who := e.who
	switch {
	case n.Everybody():
		return e.everybody()
	case n.Kind == "Federated" && e.provider != "" && n.Name == e.provider:
		return direct
	case n.Kind != "AWS" || who.ARN == "":
		return unnamed
	case n.Name == who.ARN:
		return direct
	case n.Name == who.Role:
		return role
	case n.account != "" && n.account == who.Account:
		if who.Root {
			return direct
		}
		return account
	default:
		return unnamed
	}
}

// applies reports whether a statement applies to the action, the resource and the circumstances.
func (e *evaluation) applies(s *Statement) bool {
	if e.acts(s) == s.NotAction || !e.concerns(s) {
		return false
	}
	for i := range s.conditions {
		if !s.conditions[i].holds(&e.lookup, s.Deny) {
			return false
		}
	}
	return true
}

func (e *evaluation) acts(s *Statement) bool {
	for _, a := range s.actions {
		if a.match(e.action, &e.lookup) {
			return true
		}
	}
	return false
}

// concerns reports whether the resource is one of the statement's. A comparison with an unresolved variable does not allow
// anything.
func (e *evaluation) concerns(s *Statement) bool {
	e.unresolved = false
	for i := range s.resources {
		if s.resources[i].match(e.r.Resource, &e.lookup) {
			return !s.NotResource
		}
	}
	return s.NotResource && (s.Deny || !e.unresolved)
}
