package identity

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// shows are the requests without changes.
var shows = map[string]func(*view, *Request) (Result, error){
	"user list":   func(v *view, _ *Request) (Result, error) { return Result{Users: v.shownUsers()}, nil },
	"role list":   func(v *view, _ *Request) (Result, error) { return Result{Roles: v.shownRoles()}, nil },
	"policy list": func(v *view, _ *Request) (Result, error) { return Result{Policies: v.shownPolicies()}, nil },
	"user show": func(v *view, r *Request) (Result, error) {
		found, err := one("user", r.Name, v.shownUsers(), func(u User) string { return u.Name })
		return Result{Users: found}, err
	},
	"role show": func(v *view, r *Request) (Result, error) {
		found, err := one("role", r.Name, v.shownRoles(), func(m Member) string { return m.Name })
		return Result{Roles: found}, err
	},
	"policy show": func(v *view, r *Request) (Result, error) {
		found, err := one("policy", r.Name, v.shownPolicies(), func(p Policy) string { return p.Name })
		return Result{Policies: found}, err
	},
	"key list": func(v *view, r *Request) (Result, error) {
		keys := v.shownKeys()
		if r.User == "" {
			return Result{Keys: keys}, nil
		}
		_, err := one("user", r.User, v.shownUsers(), func(u User) string { return u.Name })
		return Result{Keys: slices.DeleteFunc(keys, func(k Key) bool { return k.User != r.User })}, err
	},
}

// one returns the element with a name.
func one[T any](what, name string, all []T, nameOf func(T) string) ([]T, error) {
	for _, element := range all {
		if nameOf(element) == name {
			return []T{element}, nil
		}
	}
	return nil, fmt.Errorf("there is no %s %s", what, name)
}

func (v *view) arn(kind, name string) string {
	return "arn:aws:iam::" + v.root.Account + ":" + kind + "/" + name
}

func (v *view) shownUsers() []User {
	users := make([]User, 0, len(v.records.users))
	for i := range v.records.users {
		users = append(users, v.shownUser(&v.records.users[i]))
	}
	return users
}

func (v *view) shownUser(u *userRecord) User {
	return User{
		Member: Member{
			Name: u.Name, ARN: v.arn("user", u.Name), ID: u.ID, Created: u.Created, Tags: u.Tags, Policies: u.Policies, Boundary: u.Boundary,
		},
		Keys: shownKeysOf(u),
	}
}

func (v *view) shownRoles() []Member {
	roles := make([]Member, 0, len(v.records.roles))
	for i := range v.records.roles {
		roles = append(roles, v.shownRole(&v.records.roles[i]))
	}
	return roles
}

func (v *view) shownRole(r *roleRecord) Member {
	longest := time.Duration(r.MaxSession) * time.Second
	if longest == 0 {
		longest = time.Hour
	}
	return Member{
		Name: r.Name, ARN: v.arn("role", r.Name), ID: r.ID, Created: r.Created, Tags: r.Tags, Policies: r.Policies, Boundary: r.Boundary,
		Trust: json.RawMessage(r.Trust), MaxSession: longest.String(),
	}
}

func (v *view) shownPolicies() []Policy {
	policies := make([]Policy, 0, len(v.records.policies))
	for i := range v.records.policies {
		policies = append(policies, v.shownPolicy(&v.records.policies[i]))
	}
	return policies
}

func (v *view) shownPolicy(p *policyRecord) Policy {
	shown := Policy{Name: p.Name, Created: p.Created, Document: json.RawMessage(p.Document), Attached: v.attached(p.Name)}
	if names().MatchString(p.Name) {
		shown.ARN = v.arn("policy", p.Name)
	}
	return shown
}

// attached returns the ARNs of users and roles that use a policy, as a policy or as a boundary.
func (v *view) attached(name string) []string {
	var to []string
	for _, u := range v.records.users {
		if u.Boundary == name || slices.Contains(u.Policies, name) {
			to = append(to, v.arn("user", u.Name))
		}
	}
	for _, r := range v.records.roles {
		if r.Boundary == name || slices.Contains(r.Policies, name) {
			to = append(to, v.arn("role", r.Name))
		}
	}
	return to
}

func (v *view) shownKeys() []Key {
	keys := []Key{}
	if v.records.root != nil {
		keys = append(keys, shownKeysOf(v.records.root)...)
	}
	for i := range v.records.users {
		keys = append(keys, shownKeysOf(&v.records.users[i])...)
	}
	return keys
}

// shownKeysOf returns the access keys of a user without their secrets.
func shownKeysOf(u *userRecord) []Key {
	var keys []Key
	for _, k := range u.Keys {
		status := "active"
		if k.Inactive {
			status = "inactive"
		}
		keys = append(keys, Key{ID: k.ID, User: u.Name, Status: status, Created: k.Created, Expires: k.Expires})
	}
	return keys
}

// ownerOf returns the owner of an access key: a user, or "" for the root.
func (v *view) ownerOf(id string) (user string, err error) {
	for _, k := range v.shownKeys() {
		if k.ID == id {
			return k.User, nil
		}
	}
	return "", fmt.Errorf("there is no access key %s", id)
}

// expireKeys sets the status of the keys whose grace period is over.
func (r *Result) expireKeys(now time.Time) {
	lists := [][]Key{r.Keys}
	for i := range r.Users {
		lists = append(lists, r.Users[i].Keys)
	}
	for _, keys := range lists {
		for i := range keys {
			if isOver(keys[i].Expires, now) {
				keys[i].Status = "expired"
			}
		}
	}
}
