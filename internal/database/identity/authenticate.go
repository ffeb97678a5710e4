package identity

import (
	"net/http"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// Services, as named in credential scopes.
const (
	serviceDynamoDB   = "dynamodb"
	serviceSTS        = "sts"
	serviceCloudWatch = "monitoring"
)

// Authenticate returns who has signed a request or, for an unsigned request, the user named by its client certificate; see
// server.Authenticator.
func (d *Directory) Authenticate(r *http.Request, body []byte) (*policy.Principal, error) {
	if chain := clientChain(r); chain != nil {
		return d.certified(chain)
	}
	s, err := d.parser.Parse(r)
	if err != nil {
		return nil, err
	}
	if err := s.InScope(servicesOf(r)...); err != nil {
		return nil, err
	}
	c, err := d.credential(s.KeyID, s.Token)
	if err != nil {
		return nil, err
	}
	if err := s.Verify(c.secret, r, body); err != nil {
		return nil, err
	}
	now := d.options.Now()
	if err := s.Timely(now, d.options.Skew); err != nil {
		return nil, err
	}
	if !c.expires.IsZero() && !now.Before(c.expires) {
		if s.Token == "" {
			return nil, apierr.KeyUnknown.With()
		}
		return nil, apierr.TokenExpired.With()
	}
	d.parser.Keep(&s)
	return c.who, nil
}

// servicesOf returns the services that a request may be for. A form is for the service that it is signed for.
func servicesOf(r *http.Request) []string {
	target := ""
	if values := r.Header["X-Amz-Target"]; len(values) > 0 {
		target = values[0]
	}
	switch {
	case strings.HasPrefix(target, "GraniteServiceVersion20100801."), strings.HasPrefix(r.URL.Path, "/service/GraniteServiceVersion20100801/"):
		return ofCloudWatch
	case target != "":
		return ofDynamoDB
	default:
		return ofForms
	}
}

var (
	ofDynamoDB   = []string{serviceDynamoDB}
	ofCloudWatch = []string{serviceCloudWatch}
	ofForms      = []string{serviceDynamoDB, serviceSTS, serviceCloudWatch}
)

// credential returns what a signature is verified with. An unknown key, and a token that does not belong to it, give the same
// error.
func (d *Directory) credential(id, token string) (*credential, error) {
	v := d.view.Load()
	if token != "" {
		return d.session(v, id, token)
	}
	if c := v.keys[id]; c != nil {
		return c, nil
	}
	return nil, apierr.KeyUnknown.With()
}
