package identity

import (
	"crypto/x509"
	"net/http"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// clientChain is the verified certificate of a request that has no signature, and those above it; nil where it has one, or there is no such
// certificate.
func clientChain(r *http.Request) []*x509.Certificate {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || r.Header.Get("Authorization") != "" || strings.Contains(r.URL.RawQuery, "X-Amz-") {
		return nil
	}
	return r.TLS.VerifiedChains[0]
}

// certified is the user whom a certificate names: by the ARN in a URI of its subject alternative names, or, where there is none, by the common name
// of its subject. The root and roles cannot be named. An authority whose names are constrained can name nobody by a common name, of which the
// constraints say nothing.
func (d *Directory) certified(chain []*x509.Certificate) (*policy.Principal, error) {
	c := chain[0]
	name := c.Subject.CommonName
	if slices.ContainsFunc(chain[1:], constrained) {
		name = ""
	}
	for _, uri := range c.URIs {
		if arn := uri.String(); strings.HasPrefix(arn, "arn:") {
			user, ok := strings.CutPrefix(arn, "arn:aws:iam::"+d.options.Account+":user/")
			if !ok || len(c.URIs) > 1 {
				return nil, apierr.KeyUnknown.With()
			}
			name = user
		}
	}
	if who := d.view.Load().users[name]; who != nil {
		return who, nil
	}
	return nil, apierr.KeyUnknown.With()
}

// constrained reports whether an authority may certify some names only.
func constrained(c *x509.Certificate) bool {
	return len(c.PermittedDNSDomains)+len(c.ExcludedDNSDomains)+len(c.PermittedIPRanges)+len(c.ExcludedIPRanges)+
		len(c.PermittedEmailAddresses)+len(c.ExcludedEmailAddresses)+len(c.PermittedURIDomains)+len(c.ExcludedURIDomains) > 0
}
