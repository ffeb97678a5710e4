package demo

import (
	"fmt"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

// openIssuer opens a system's issuer. Its keys are in the data directory, or in memory if data is "".
func openIssuer(system, data, base string) (*auth.Issuer, error) {
	if data == "" {
		return auth.NewIssuer(system, base, nil)
	}
	return auth.OpenIssuer(system, run.KeyPath(data, run.IssuerKeys(system)), base, nil)
}

// openIssuers returns the access to systems, each with its own issuer.
func openIssuers(systems []system.System, data, base string) (map[string]run.Access, error) {
	issuers := make([]*auth.Issuer, len(systems))
	for n, s := range systems {
		var err error
		if issuers[n], err = openIssuer(s.Name, data, base); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return run.SignedHere(issuers...), nil
}
