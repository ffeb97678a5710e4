package run

import (
	"errors"
	"fmt"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// Access says whose tokens a system accepts.
type Access struct {
	Verifier api.Verifier
	// Issuer signs the tokens in this process, which also serves its documents; nil if a user pool signs them.
	Issuer *auth.Issuer
}

// SignedHere is the access to systems whose tokens are signed in this process, each by its own issuer.
func SignedHere(issuers ...*auth.Issuer) map[string]Access {
	access := map[string]Access{}
	for _, issuer := range issuers {
		access[issuer.System()] = accessOf(issuer)
	}
	return access
}

func accessOf(issuer *auth.Issuer) Access { return Access{Verifier: issuer.Verifier(), Issuer: issuer} }

// accessTo returns a system's access. It fails if there is none, or if it belongs to another system's issuer.
func (o Options) accessTo(system string) (Access, error) {
	access := o.Access[system]
	if access.Verifier == nil {
		return Access{}, errors.New("Access has no issuer")
	}
	if access.Issuer != nil && access.Issuer.System() != system {
		return Access{}, fmt.Errorf("Access has the issuer of %s: each system needs its own", access.Issuer.System())
	}
	return access, nil
}
