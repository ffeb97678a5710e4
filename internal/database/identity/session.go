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

// tokenVersion is the first byte of a session's token, and tokenMax more bytes than one has.
const (
	tokenVersion = 1
	tokenMax     = 64 << 10
)

// Session is what a session has of its own.
type Session struct {
	// Name is the role session's; "" for a session of a user or the root.
	Name string
	// Tags come before those of the role, whatever the case of their keys. Those of Transitive are passed on to sessions that this one begins.
	Tags       map[string]string
	Transitive []string
	// Keys are condition keys by name in lower case: the claims of a web identity, the source identity.
	Keys map[string][]string
	// Policies are documents, and Managed names of policies as the directory has them at each request, at least one of which must allow too.
	Policies, Managed []string
	Duration          time.Duration
}

// Credentials are those of a session.
type Credentials struct {
	Key
	Token   string
	Expires time.Time
	// Principal is who has them.
	Principal *policy.Principal
}

// sealedSession is what a token holds.
type sealedSession struct {
	KeyID    string              `json:"k"`
	Secret   string              `json:"s"`
	Role     string              `json:"r,omitempty"` // an ARN, and the id: another role of that name is another role
	User     string              `json:"u,omitempty"` // a name; "" with no role is the root
	ID       string              `json:"i"`
	Name     string              `json:"n,omitempty"`
	Tags     map[string]string   `json:"t,omitempty"`
	Keys     map[string][]string `json:"c,omitempty"`
	Passed   []string            `json:"x,omitempty"` // keys of Tags
	Policies []string            `json:"p,omitempty"`
	Managed  []string            `json:"m,omitempty"`
	Expires  int64               `json:"e"` // seconds since the epoch
}

// ErrGone is for a session whose role or user is there no more.
var ErrGone = errors.New("identity: the role or user of the session is gone")

// Role returns a role by its ARN.
func (d *Directory) Role(arn string) (*Role, bool) {
	r, ok := d.view.Load().roles[arn]
	return r, ok
}

// Policy returns the name of the policy that has an ARN. Those that a file has in its users and roles have none.
func (d *Directory) Policy(arn string) (name string, ok bool) {
	v := d.view.Load()
	name, ok = strings.CutPrefix(arn, "arn:aws:iam::"+d.options.Account+":policy/")
	return name, ok && names.MatchString(name) && v.policies[name] != nil
}

// Provider returns who issues the tokens of an issuer.
func (d *Directory) Provider(issuer string) (*Provider, bool) {
	p, ok := d.view.Load().providers[issuer]
	return p, ok
}

// Root is the account's root.
func (d *Directory) Root() *policy.Principal { return d.view.Load().root }

// AssumeRole begins a session of a role.
func (d *Directory) AssumeRole(ctx context.Context, role *Role, s Session) (*Credentials, error) {
	return d.begin(ctx, &sealedSession{Role: role.ARN, ID: role.ID}, s)
}

// UserSession begins a session of a user or the root.
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

// session returns the credential that a token is.
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

// principal is who a session is.
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
	p.Keys["aws:multifactorauthpresent"] = []string{"false"} // which keys that are no session's leave open, as on AWS
	for _, document := range s.Policies {
		parsed, err := policy.Parse(document, policy.Identity)
		if err != nil {
			return nil, err
		}
		p.Session = append(p.Session, parsed)
	}
	for _, name := range s.Managed {
		managed := v.policies[name]
		if managed == nil { // it has been deleted: it allows nothing more
			managed = new(policy.Policy)
		}
		p.Session = append(p.Session, managed)
	}
	return &p, nil
}

// overlaid are tags with others over them. Keys that differ in case only are one.
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

// HasTag reports whether there is a tag of a key, which may differ in case.
func HasTag(tags map[string]string, key string) bool {
	for other := range tags {
		if strings.EqualFold(other, key) {
			return true
		}
	}
	return false
}
