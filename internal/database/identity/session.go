package identity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/identity/signature"
	"github.com/monotable/monotable/internal/seal"
)

// tokenVersion is the first byte of a session's token, and tokenMax an upper bound of a token's length.
const (
	tokenVersion = 1
	tokenMax     = 64 << 10
)

// Session is the session-specific part of a principal.
type Session struct {
	// Name is the role session's name; "" for a session of a user or the root.
	Name string
	// Tags override those of the role; keys are case-insensitive. The keys in Transitive are inherited by sessions started by
	// this one.
	Tags       map[string]string
	Transitive []string
	// Keys are condition keys by lower-case name: the claims of a web identity, the source identity.
	Keys map[string][]string
	// Policies are documents, and Managed names of policies, which are looked up at each request. At least one of them must
	// allow, too.
	Policies, Managed []string
	Duration          time.Duration
}

// Credentials are those of a session.
type Credentials struct {
	Key
	Token   string
	Expires time.Time
	// Principal is the owner of the credentials.
	Principal *policy.Principal
}

// sealedSession is the content of a token.
type sealedSession struct {
	KeyID    string              `json:"k"`
	Secret   string              `json:"s"`
	Role     string              `json:"r,omitempty"` // an ARN, and the id: a new role with that name is another role
	User     string              `json:"u,omitempty"` // a name; "" without a role is the root
	ID       string              `json:"i"`
	Name     string              `json:"n,omitempty"`
	Tags     map[string]string   `json:"t,omitempty"`
	Keys     map[string][]string `json:"c,omitempty"`
	Passed   []string            `json:"x,omitempty"` // keys of Tags
	Policies []string            `json:"p,omitempty"`
	Managed  []string            `json:"m,omitempty"`
	Expires  int64               `json:"e"` // seconds since the epoch
}

// ErrGone means that the session's role or user no longer exists.
var ErrGone = errors.New("identity: the role or user of the session no longer exists")

// Role returns a role by its ARN.
func (d *Directory) Role(arn string) (*Role, bool) {
	r, ok := d.view.Load().roles[arn]
	return r, ok
}

// Policy returns the name of the policy with an ARN. Policies within users and roles of a file have none.
func (d *Directory) Policy(arn string) (name string, ok bool) {
	v := d.view.Load()
	name, ok = strings.CutPrefix(arn, "arn:aws:iam::"+d.options.Account+":policy/")
	return name, ok && names().MatchString(name) && v.policies[name] != nil
}

// Provider returns the provider with an issuer.
func (d *Directory) Provider(issuer string) (*Provider, bool) {
	p, ok := d.view.Load().providers[issuer]
	return p, ok
}

// Root is the account's root.
func (d *Directory) Root() *policy.Principal { return d.view.Load().root }

// AssumeRole starts a session of a role.
func (d *Directory) AssumeRole(ctx context.Context, role *Role, s Session) (*Credentials, error) {
	return d.begin(ctx, &sealedSession{Role: role.ARN, ID: role.ID}, s)
}

// UserSession starts a session of a user or the root.
func (d *Directory) UserSession(ctx context.Context, who *policy.Principal, s Session) (*Credentials, error) {
	if who.Username == "" && !who.Root {
		return nil, ErrGone
	}
	return d.begin(ctx, &sealedSession{User: who.Username, ID: who.UserID}, s)
}

func (d *Directory) begin(ctx context.Context, of *sealedSession, s Session) (*Credentials, error) {
	key, err := d.newKey("ASIA")
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	data, err := d.dataKeyOf(ctx)
	for errors.Is(err, errChanged) { // another server may have created the data key
		if err = d.renew(ctx); err == nil {
			data, err = d.dataKeyOf(ctx)
		}
	}
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	expires := d.options.Now().Add(s.Duration).Truncate(time.Second).UTC()
	of.KeyID, of.Secret, of.Expires = key.ID, key.Secret, expires.Unix()
	of.Name, of.Tags, of.Passed, of.Keys, of.Policies, of.Managed = s.Name, s.Tags, s.Transitive, s.Keys, s.Policies, s.Managed
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	sealed, err := seal.Seal(d.options.Rand, data.sessions, text, forSession)
	if err != nil {
		return nil, err
	}
	who, err := d.view.Load().principal(of)
	if err != nil {
		return nil, err
	}
	token := base64.StdEncoding.EncodeToString(append([]byte{tokenVersion}, sealed...))
	return &Credentials{Key: key, Token: token, Expires: expires, Principal: who}, nil
}

// session returns the credential of a token.
func (d *Directory) session(v *view, id, token string) (*credential, error) {
	v.mu.RLock()
	c := v.sessions[token]
	v.mu.RUnlock()
	if c == nil {
		var err error
		if c, err = d.openSession(v, token); err != nil {
			return nil, apierr.KeyUnknown.With()
		}
		v.mu.Lock()
		if len(v.sessions) >= sessionsMax {
			clear(v.sessions)
		}
		v.sessions[token] = c
		v.mu.Unlock()
	}
	if c.id != id {
		return nil, apierr.KeyUnknown.With()
	}
	return c, nil
}

func (d *Directory) openSession(v *view, token string) (*credential, error) {
	if len(token) > tokenMax {
		return nil, ErrGone
	}
	sealed, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(sealed) == 0 || sealed[0] != tokenVersion {
		return nil, errors.Join(ErrGone, err)
	}
	d.mu.Lock()
	data := d.data
	d.mu.Unlock()
	if data == nil {
		return nil, ErrSealed
	}
	text, err := seal.Open(data.sessions, sealed[1:], forSession)
	if err != nil {
		return nil, err
	}
	var s sealedSession
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	who, err := v.principal(&s)
	if err != nil {
		return nil, err
	}
	return &credential{id: s.KeyID, secret: signature.NewSecret(s.Secret), who: who, expires: time.Unix(s.Expires, 0)}, nil
}

// principal returns the principal of a session.
func (v *view) principal(s *sealedSession) (*policy.Principal, error) {
	var p policy.Principal
	switch {
	case s.Role != "":
		role := v.roles[s.Role]
		if role == nil || role.ID != s.ID {
			return nil, ErrGone
		}
		p = role.principal
		p.ARN = fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", p.Account, role.Name, s.Name)
		p.UserID = role.ID + ":" + s.Name
	case s.User != "":
		user := v.users[s.User]
		if user == nil || user.UserID != s.ID {
			return nil, ErrGone
		}
		p = *user
	case s.ID == v.root.UserID:
		p = *v.root
	default:
		return nil, ErrGone
	}
	p.Tags, p.Transitive = overlaid(p.Tags, s.Tags), s.Passed
	p.Keys = maps.Clone(s.Keys)
	if p.Keys == nil {
		p.Keys = map[string][]string{}
	}
	p.Keys["aws:multifactorauthpresent"] = []string{"false"} // missing for keys without a session, as on AWS
	for _, document := range s.Policies {
		parsed, err := policy.Parse(document, policy.Identity)
		if err != nil {
			return nil, err
		}
		p.Session = append(p.Session, parsed)
	}
	for _, name := range s.Managed {
		managed := v.policies[name]
		if managed == nil { // it has been deleted: it no longer allows anything
			managed = new(policy.Policy)
		}
		p.Session = append(p.Session, managed)
	}
	return &p, nil
}

// overlaid returns tags overridden by others. Keys that differ only in case are the same.
func overlaid(tags, over map[string]string) map[string]string {
	if len(over) == 0 {
		return tags
	}
	all := maps.Clone(over)
	for key, value := range tags {
		if !HasTag(over, key) {
			all[key] = value
		}
	}
	return all
}

// HasTag reports whether there is a tag with a key, ignoring case.
func HasTag(tags map[string]string, key string) bool {
	for other := range tags {
		if strings.EqualFold(other, key) {
			return true
		}
	}
	return false
}
