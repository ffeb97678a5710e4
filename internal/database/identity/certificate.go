package identity

import (
	"crypto/x509"
	"net/http"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// clientChain returns the verified certificate chain of an unsigned request, or nil if the request is signed or has no such
// certificate.
func clientChain(r *http.Request) []*x509.Certificate {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || r.Header.Get("Authorization") != "" || strings.Contains(r.URL.RawQuery, "X-Amz-") {
		return nil
	}
	return r.TLS.VerifiedChains[0]
}

// certified returns the user named by a certificate: by the ARN in a URI of its subject alternative names or, if there is none,
// by the common name of its subject. The root and roles cannot be named. An authority with name constraints cannot name users by
// a common name, because the constraints do not apply to that.
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

// constrained reports whether an authority may only certify some names.
func constrained(c *x509.Certificate) bool {
	return len(c.PermittedDNSDomains)+len(c.ExcludedDNSDomains)+len(c.PermittedIPRanges)+len(c.ExcludedIPRanges)+
		len(c.PermittedEmailAddresses)+len(c.ExcludedEmailAddresses)+len(c.PermittedURIDomains)+len(c.ExcludedURIDomains) > 0
}
