package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// sessionMax is the maximum session duration of a role, as on AWS.
const (
	sessionMax = 12 * time.Hour
)

// Request is a request to manage the directory. Action determines which members are used:
//
//	user create NAME [Tags, Policies, Boundary]    user list    user show NAME    user delete NAME
//	role create NAME Trust [Tags, Policies, Boundary, MaxSession]   role list    role show NAME    role delete NAME
//	policy create NAME Document    policy list    policy show NAME    policy delete NAME
//	policy attach NAME, policy detach NAME: to and from User or Role
//	key create User    key list [User]    key rotate NAME [Grace]    key disable NAME    key enable NAME    key delete NAME
//
// The name of a key is its id; an empty User is the root. "policy create" replaces an existing policy with that name.
type Request struct {
	Action     string            `json:"action"`
	Name       string            `json:"name,omitempty"`
	User       string            `json:"user,omitempty"`
	Role       string            `json:"role,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	Policies   []string          `json:"policies,omitempty"`
	Boundary   string            `json:"boundary,omitempty"`
	Document   string            `json:"document,omitempty"`
	Trust      string            `json:"trust,omitempty"`
	MaxSession time.Duration     `json:"maxSession,omitempty"`
	// Grace is how long the old key remains valid after a rotation.
	Grace time.Duration `json:"grace,omitempty"`
}

// Result is what a Request created, changed or returned.
type Result struct {
	Users    []User   `json:"users,omitzero"`
	Roles    []Member `json:"roles,omitzero"`
	Policies []Policy `json:"policies,omitzero"`
	Keys     []Key    `json:"keys,omitzero"`
}

// Member is a user or role.
type Member struct {
	Name       string            `json:"name"`
	ARN        string            `json:"arn"`
	ID         string            `json:"id"`
	Created    time.Time         `json:"created"`
	Tags       map[string]string `json:"tags,omitempty"`
	Policies   []string          `json:"policies,omitempty"`
	Boundary   string            `json:"boundary,omitempty"`
	Trust      json.RawMessage   `json:"trust,omitempty"`
	MaxSession string            `json:"maxSession,omitempty"`
}

// User is a user with access keys.
type User struct {
	Member
	Keys []Key `json:"keys,omitempty"`
}

// Key is an access key.
type Key struct {
	ID string `json:"id"`
	// Secret is only set in the result of the request that creates the key.
	Secret  string    `json:"secret,omitempty"`
	User    string    `json:"user"`             // "" for the root
	Status  string    `json:"status,omitempty"` // active, inactive or expired
	Created time.Time `json:"created,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
}

// Policy is a policy with its document.
type Policy struct {
	Name     string          `json:"name"`
	ARN      string          `json:"arn,omitempty"` // "" for a policy within a user or role of a file: see Directory.Policy
	Created  time.Time       `json:"created"`
	Document json.RawMessage `json:"document"`
	Attached []string        `json:"attached,omitempty"` // ARNs of users and roles
}

// actions are the requests by name; those without changes are in shown.go.
var actions = map[string]func(*Directory, context.Context, *Request) (Result, error){
	"user create":   (*Directory).createUser,
	"user delete":   remove(kindUser, "user"),
	"role create":   (*Directory).createRole,
	"role delete":   remove(kindRole, "role"),
	"policy create": (*Directory).createPolicy,
	"policy delete": (*Directory).deletePolicy,
	"policy attach": (*Directory).attach,
	"policy detach": (*Directory).attach,
	"key create":    (*Directory).createKey,
	"key rotate":    (*Directory).rotateKey,
	"key disable":   (*Directory).changeKey,
	"key enable":    (*Directory).changeKey,
	"key delete":    (*Directory).changeKey,
}

// ReadOnly reports whether the request changes nothing.
func (r *Request) ReadOnly() bool { return shows[r.Action] != nil }

// Manage executes a request.
func (d *Directory) Manage(ctx context.Context, r *Request) (Result, error) {
	if show := shows[r.Action]; show != nil {
		result, err := show(d.view.Load(), r)
		result.expireKeys(d.options.Now())
		return result, err
	}
	action := actions[r.Action]
	switch {
	case action == nil:
		return Result{}, fmt.Errorf("unknown action %q", r.Action)
	case d.options.File != "":
		return Result{}, fmt.Errorf("users, roles and policies are declared in %s: change that file, then send the server SIGHUP, or call DB.ReloadIAM in a program", d.options.File)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if d.options.Shared {
			if err := d.renew(ctx); err != nil {
				return Result{}, err
			}
		}
		result, err := action(d, ctx, r)
		switch {
		case errors.Is(err, errChanged):
		case err != nil:
			return Result{}, err
		default:
			return result, d.reload(context.WithoutCancel(ctx)) // the change is durable, whoever still waits for it
		}
	}
}

// update changes the record with a name: change gets the current record, or nil, and returns the new one, or nil to delete it. It
// may use the reserve of a full disk, because it must be possible to delete a compromised key.
func update[T any](ctx context.Context, d *Directory, kind byte, name string, change func(*T) (*T, error)) error {
	key := keyenc.Identity(kind, name)
	return d.update(ctx, kv.Intent{Write: [][]byte{key}, Frees: true}, func(txn kv.Txn) error {
		data, err := txn.Get(key)
		if err != nil {
			return err
		}
		old, err := decode[T](data)
		if err != nil {
			return err
		}
		changed, err := change(old)
		switch {
		case err != nil:
			return err
		case changed == nil:
			txn.Delete(key)
			return nil
		}
		if data, err = json.Marshal(changed); err == nil {
			txn.Set(key, data)
		}
		return err
	})
}

// names are AWS's rules for names.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w+=,.@-]{1,64}$`) })

func checkName(what, name string) error {
	if !names().MatchString(name) {
		return fmt.Errorf("%q is not a valid name of a %s: want up to 64 letters, digits and any of +=,.@_-", name, what)
	}
	return nil
}

// checkTags rejects keys that differ only in case, which policies cannot distinguish.
func checkTags(tags map[string]string) error {
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if HasTag(seen, key) {
			return fmt.Errorf("there are two tags %q: their keys must differ in more than case", key)
		}
		seen[key] = ""
	}
	return nil
}

func (d *Directory) checkPolicies(policies []string, boundary string) error {
	if boundary != "" {
		policies = append(slices.Clone(policies), boundary)
	}
	for _, name := range policies {
		if !slices.ContainsFunc(d.view.Load().records.policies, func(p policyRecord) bool { return p.Name == name }) {
			return fmt.Errorf("there is no policy %s", name)
		}
	}
	return nil
}

func (d *Directory) createUser(ctx context.Context, r *Request) (Result, error) {
	id, idErr := d.newID("AIDA", 17)
	if err := errors.Join(checkName("user", r.Name), checkTags(r.Tags), d.checkPolicies(r.Policies, r.Boundary), idErr); err != nil {
		return Result{}, err
	}
	u := &userRecord{
		Format: recordFormat, Name: r.Name, ID: id, Created: d.options.Now().UTC(), Tags: r.Tags, Policies: r.Policies, Boundary: r.Boundary,
	}
	err := update(ctx, d, kindUser, r.Name, func(old *userRecord) (*userRecord, error) {
		if old != nil {
			return nil, fmt.Errorf("there is a user %s", r.Name)
		}
		return u, nil
	})
	return Result{Users: []User{d.view.Load().shownUser(u)}}, err
}

func (d *Directory) createRole(ctx context.Context, r *Request) (Result, error) {
	id, idErr := d.newID("AROA", 17)
	if err := errors.Join(checkName("role", r.Name), checkTags(r.Tags), d.checkPolicies(r.Policies, r.Boundary), idErr); err != nil {
		return Result{}, err
	}
	if _, err := policy.Parse(r.Trust, policy.Trust); err != nil {
		return Result{}, fmt.Errorf("trust policy: %w", err)
	}
	if r.MaxSession != 0 && (r.MaxSession < time.Hour || r.MaxSession > sessionMax) {
		return Result{}, fmt.Errorf("the longest session is %v: want from 1h to 12h", r.MaxSession)
	}
	record := &roleRecord{
		Format: recordFormat, Name: r.Name, ID: id, Created: d.options.Now().UTC(), Tags: r.Tags, Policies: r.Policies, Boundary: r.Boundary,
		Trust: r.Trust, MaxSession: int(r.MaxSession / time.Second),
	}
	err := update(ctx, d, kindRole, r.Name, func(old *roleRecord) (*roleRecord, error) {
		if old != nil {
			return nil, fmt.Errorf("there is a role %s", r.Name)
		}
		return record, nil
	})
	return Result{Roles: []Member{d.view.Load().shownRole(record)}}, err
}

// remove deletes a role, or a user with its access keys.
func remove(kind byte, what string) func(*Directory, context.Context, *Request) (Result, error) {
	return func(d *Directory, ctx context.Context, r *Request) (Result, error) {
		return Result{}, update(ctx, d, kind, r.Name, func(old *userRecord) (*userRecord, error) {
			if old == nil {
				return nil, fmt.Errorf("there is no %s %s", what, r.Name)
			}
			return nil, nil //nolint:nilnil // deletes it
		})
	}
}

func (d *Directory) createPolicy(ctx context.Context, r *Request) (Result, error) {
	if err := checkName("policy", r.Name); err != nil {
		return Result{}, err
	}
	if _, err := policy.Parse(r.Document, policy.Identity); err != nil {
		return Result{}, fmt.Errorf("policy document: %w", err)
	}
	p := &policyRecord{Format: recordFormat, Name: r.Name, Created: d.options.Now().UTC(), Document: r.Document}
	err := update(ctx, d, kindPolicy, r.Name, func(*policyRecord) (*policyRecord, error) { return p, nil })
	return Result{Policies: []Policy{d.view.Load().shownPolicy(p)}}, err
}

func (d *Directory) deletePolicy(ctx context.Context, r *Request) (Result, error) {
	if attached := d.view.Load().attached(r.Name); len(attached) > 0 {
		return Result{}, fmt.Errorf("policy %s is attached to %s: detach it first", r.Name, strings.Join(attached, ", "))
	}
	return remove(kindPolicy, "policy")(d, ctx, r)
}

// attach attaches a policy to a user or role, or detaches it.
func (d *Directory) attach(ctx context.Context, r *Request) (Result, error) {
	detach := r.Action == "policy detach"
	if (r.User == "") == (r.Role == "") {
		return Result{}, errors.New("a policy is attached to a user or a role: name exactly one of them")
	}
	if err := d.checkPolicies([]string{r.Name}, ""); err != nil {
		return Result{}, err
	}
	change := func(policies []string) []string {
		policies = slices.DeleteFunc(policies, func(name string) bool { return name == r.Name })
		if !detach {
			policies = append(policies, r.Name)
		}
		return policies
	}
	if r.User != "" {
		return Result{}, update(ctx, d, kindUser, r.User, func(u *userRecord) (*userRecord, error) {
			if u == nil {
				return nil, fmt.Errorf("there is no user %s", r.User)
			}
			u.Policies = change(u.Policies)
			return u, nil
		})
	}
	return Result{}, update(ctx, d, kindRole, r.Role, func(role *roleRecord) (*roleRecord, error) {
		if role == nil {
			return nil, fmt.Errorf("there is no role %s", r.Role)
		}
		role.Policies = change(role.Policies)
		return role, nil
	})
}
